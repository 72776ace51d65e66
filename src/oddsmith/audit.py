"""Calibration of segments: which groups of rows have probabilities that are too high or too low.

`audit` goes through the values of columns and their crossings. In each segment it compares the observed positives with
the expected ones, the sum of the probabilities, and corrects the p-values for the number of segments.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.data import Grid, power_of_two
from oddsmith.frames import BadRowPolicy, Crossings, Extent, Groups, value_of
from oddsmith.metrics import Result, checked_level, holm, range_of_brownian_motion

__all__ = ["Audit", "AuditedSegment", "audit"]

#: Width of the cells of log-odds, in which sums of P are exact.
_WIDTH = 2.0**-4

#: Offsets are searched within this bound; where all labels are equal they are infinite.
_LARGEST_OFFSET = 60.0

_NEWTON_STEPS = 60

#: Halvings of the range of offsets in which a limit lies.
_BISECTIONS = 40


@dataclass(frozen=True, eq=False)
class AuditedSegment(Result):
    """The calibration of one segment.

    Attributes
    ----------
    where : dict of str to (str or None)
        The value of each column that defines the segment, None for a missing one; empty for all rows.
    rows : int
        Number of rows.
    weight : float
        Their weight; the number of rows without weights.
    observed, expected : float
        Weight of the positives, and weighted sum of the probabilities.
    ratio, ratio_low, ratio_high : float
        Observed/expected with its interval: that of the offsets of the log-odds at which the test does not reject.
    z : float
        (observed − expected)/√Σw²P(1 − P).
    p_value, p_holm : float
        Two-sided, of calibration in the large of the segment, and after Holm's correction for all segments.
    offset : float
        What has to be added to the log-odds for observed and expected to agree; infinite if all labels are equal.
    gain : float
        Log-loss in nats that this offset saves in all rows of the segment together.
    ecce, ecce_sigma : float
        Range of the cumulative differences between labels and probabilities in the order of the probabilities, and
        that divided by its standard deviation (estimated cumulative calibration error).

    See Also
    --------
    Audit : Contains one per segment.
    """

    where: dict[str, str | None]
    rows: int
    weight: float
    observed: float
    expected: float
    ratio: float
    ratio_low: float
    ratio_high: float
    z: float
    p_value: float
    p_holm: float
    offset: float
    gain: float
    ecce: float
    ecce_sigma: float

    @property
    def name(self) -> str:
        """The segment in words."""
        shown = {None: "missing", "missing": "'missing'"}
        parts = [f"{column} {shown.get(value, value)}" for column, value in self.where.items()]
        return " & ".join(parts) or "all rows"

    def __repr__(self) -> str:
        return (
            f"AuditedSegment({self.name}: rows={self.rows:,}, observed/expected={self.ratio:.3g} "
            f"[{self.ratio_low:.3g}, {self.ratio_high:.3g}], p_holm={self.p_holm:.2g})"
        )


@dataclass(frozen=True, eq=False)
class Audit(Result):
    """Calibration by segment.

    Attributes
    ----------
    overall : AuditedSegment
        All rows.
    segments : tuple of AuditedSegment
        Segments with enough rows: those with a significant difference first, each part by ``gain``.
    level : float
        Level of intervals; a difference is significant where ``p_holm`` ≤ 1 − level.
    multicalibration_error : float
        Largest ``ecce_sigma`` of all rows and all segments, times the standard deviation of all rows.
    multicalibration_sigma : float
        That largest ``ecce_sigma``.
    multicalibration_p_value : float
        P-value of the largest, as if it were the only one: the chance that the range of a Brownian motion is larger.
    multicalibration_p_holm : float
        The same with Bonferroni's correction for the number of segments.
    small : int
        Number of segments with fewer than ``min_rows`` rows, which are left out.
    min_rows : int
    skipped : dict of str to str
        Columns that cannot be used, and why.

    See Also
    --------
    audit : Returns it.
    oddsmith.plots.AuditDisplay : Draws it.

    References
    ----------
    I. Guy, D. Haimovich, F. Linder, N. Okati, L. Perini, N. Tax & M. Tygert, Measuring multi-calibration,
    arXiv:2506.11251, 2025.
    """

    overall: AuditedSegment
    segments: tuple[AuditedSegment, ...]
    level: float
    multicalibration_error: float
    multicalibration_sigma: float
    multicalibration_p_value: float
    multicalibration_p_holm: float
    small: int
    min_rows: int
    skipped: dict[str, str]

    @property
    def significant(self) -> tuple[AuditedSegment, ...]:
        """Segments whose observed and expected positives differ after correction, largest gain first."""
        return tuple(segment for segment in self.segments if segment.p_holm <= 1 - self.level)

    @property
    def verdict(self) -> str:
        """The result in words."""
        found, n = self.significant, len(self.segments)
        few = f"fewer than {self.min_rows} rows"
        left = f" {self.small:,} segments have {few} and are left out." if self.small else ""
        left = f" 1 segment has {few} and is left out." if self.small == 1 else left
        segments = "1 segment" if n == 1 else f"{n:,} segments"
        if not n:
            return f"No segment has {self.min_rows} rows.{left}"
        if not found:
            return (
                f"No significant difference between observed and expected positives in {segments} "
                f"(Holm's correction, level {self.level:g}).{left}"
            )
        worst = found[0]
        too = "low" if worst.observed > worst.expected else "high"
        return (
            f"Probabilities are significantly off in {len(found):,} of {n:,} segments (Holm's correction, level "
            f"{self.level:g}); worst: {worst.name}, where they are too {too} ({worst.observed:,.6g} positives, "
            f"{worst.expected:,.6g} expected, ratio {worst.ratio:.3g}).{left}"
        )

    def __repr__(self) -> str:
        return f"Audit(segments={len(self.segments)}, significant={len(self.significant)}, small={self.small})"


def audit(
    frame: Any,
    by: str | Sequence[str],
    *,
    probability: str = "probability",
    label: str = "label",
    weight: str | None = None,
    pos_label: Any = None,
    depth: int = 2,
    bins: int = 4,
    max_values: int = 1000,
    min_rows: int = 50,
    level: float = 0.95,
    resolution: float | None = _WIDTH,
    bad_rows: BadRowPolicy = "refuse",
) -> Audit:
    r"""Measure the calibration of segments: values of columns, and their crossings.

    In each segment the observed positives O are compared with the expected ones, E = ΣP. The p-value is that of the
    sum of independent labels with these probabilities (saddlepoint approximation with continuity correction; for float
    weights normal), so that rare positives and small segments raise no false alarms. Rows that depend on each other,
    such as those of one patient or of one ranked list, make p-values too small: pass one row of each, or compare a
    segment by `oddsmith.metrics.interval` with ``groups``.

    Parameters
    ----------
    frame : data frame or table of an engine
        pandas, Polars (eager or lazy), PyArrow, DuckDB relation, Dask, PySpark, Ibis. One query reads the range of the
        probabilities, one per column lists its values (two for numbers that are cut), and one per column and crossing
        counts.
    by : str or sequence of str
        Columns that define segments. A missing value is a segment of its own; values with the same text are one
        segment.
    probability, label, weight, pos_label
        Names of the columns, and the positive label.
    depth : {1, 2}, default 2
        1 for single columns, 2 for crossings of two as well.
    bins : int, default 4
        Numbers with more than ten distinct values are cut into this many bins of about equal numbers of rows.
    max_values : int, default 1000
        Columns with more values are skipped.
    min_rows : int, default 50
        Smaller segments are left out, and counted.
    level : float, default 0.95
        Level of intervals, and of significance after Holm's correction.
    resolution : float or None, default 2**-4
        Width of the cells of log-odds, a power of two. Sums of probabilities do not depend on it;
        only the cumulative error does. None keeps every distinct probability.
    bad_rows : {"refuse", "skip"}, default "refuse"
        What to do with rows whose probability, label or weight is missing or not finite.

    Returns
    -------
    Audit

    See Also
    --------
    oddsmith.pooling.PooledCalibrator : Repairs segments by shrunken effects.
    oddsmith.plots.AuditDisplay : Draws the worst segments.

    References
    ----------
    H. E. Daniels, Tail probability approximations, International Statistical Review 1987.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"shop": ["a", "b"] * 200, "probability": 0.5, "label": [1, 0, 1, 1, 0, 0] * 66 + [1] * 4})
    >>> print(*audit(rows, "shop").significant, sep="\n")
    AuditedSegment(shop a: rows=200, observed/expected=1.34 [1.2, 1.47], p_holm=3.5e-06)
    AuditedSegment(shop b: rows=200, observed/expected=0.68 [0.549, 0.82], p_holm=7.1e-06)
    """
    names = (by,) if isinstance(by, str) else tuple(by)
    if not names or len(set(names)) < len(names):
        _check.fail("by must name different columns", f"by={by!r}", "pass a list of column names")
    for value, name, least in ((bins, "bins", 2), (max_values, "max_values", 2), (min_rows, "min_rows", 1)):
        _check.whole_number(value, name, low=least)
    _check.one_of(depth, "depth", (1, 2))
    checked_level(level)
    grid = None if resolution is None else Grid(power_of_two(resolution, "resolution"), log_odds=True)
    crossings = Crossings.of(frame, probability, label, weight, names, bins=bins, max_values=max_values)
    if not crossings.columns:
        reasons = "; ".join(f"{name}: {why}" for name, why in crossings.skipped.items())
        _check.fail(
            "some column must define segments", reasons, "pass columns with fewer values, or a larger max_values"
        )
    _refuse_no_probabilities(crossings.rows.extent(), probability)
    every: list[AuditedSegment] = []
    overall, small = None, 0
    for columns in _crossings(crossings.columns, depth):
        groups = crossings.groups(columns, grid, pos_label, bad_rows)
        if overall is None:
            (whole,) = _measure(_Cells.of(groups, whole=True), level)
            overall = replace(whole, p_holm=whole.p_value)
        cells = _Cells.of(groups)
        enough = cells.rows >= min_rows
        small += int((~enough).sum())
        for segment, key in zip(_measure(cells.at(enough), level), _at(groups.keys, enough), strict=True):
            every.append(replace(segment, where=dict(zip(columns, map(value_of, key), strict=True))))
    assert overall is not None
    corrected = holm([segment.p_value for segment in every]) if every else np.empty(0)
    found = [replace(segment, p_holm=float(p)) for segment, p in zip(every, corrected, strict=True)]
    found.sort(key=lambda segment: (segment.p_holm > 1 - level, -segment.gain))
    sigma = max(segment.ecce_sigma for segment in (overall, *found))
    deviation = overall.ecce / overall.ecce_sigma if overall.ecce_sigma > 0 else 0.0
    p_value = range_of_brownian_motion(sigma)
    return Audit(
        overall,
        tuple(found),
        level,
        sigma * deviation,
        sigma,
        p_value,
        min(1.0, p_value * (1 + len(found))),
        small,
        min_rows,
        crossings.skipped,
    )


def _crossings(columns: Sequence[str], depth: int) -> Iterator[tuple[str, ...]]:
    for size in range(1, depth + 1):
        yield from combinations(columns, size)


def _at(keys: list[Any], kept: Any) -> list[Any]:
    return [key for key, keep in zip(keys, kept, strict=True) if keep]


def _refuse_no_probabilities(extent: Extent, name: str) -> None:
    if extent.span is not None and (extent.span[0] < 0 or extent.span[1] > 1):
        got, hint = "values from {:g} to {:g}".format(*extent.span), "fit and apply a calibrator first"
        _check.fail(f"column {name!r} must have probabilities", got, hint)


class _Cells(NamedTuple):
    """Cells of several segments, sorted by segment and probability; ``starts`` are the first ones of segments."""

    starts: Any
    prob: Floats
    weight: Floats
    weight_sq: Floats
    excess: Floats  # observed − expected
    rows: Any  # per segment
    observed: Floats  # per segment
    counts: bool

    @staticmethod
    def of(groups: Groups, *, whole: bool = False) -> "_Cells":
        """Put the two classes of each cell together; ``whole``: all rows as one segment."""
        segment = np.zeros_like(groups.segment) if whole else groups.segment
        order = np.lexsort((groups.cells, segment))
        segment, cells = segment[order], groups.cells[order]
        first = np.flatnonzero(np.diff(segment, prepend=-1) | (np.diff(cells, prepend=np.nan) != 0))
        positive, prob = groups.positive[order], np.clip(groups.means[order], 0.0, 1.0)
        weight = groups.weight[order].astype(np.float64)
        squares = weight if groups.weight_sq is None else groups.weight_sq[order]

        def add(values: Any) -> Any:
            return np.add.reduceat(values, first)

        total = add(weight)
        at = segment[first]
        starts = np.flatnonzero(np.diff(at, prepend=-1))
        return _Cells(
            starts,
            np.clip(add(weight * prob) / total, 0.0, 1.0),
            total,
            add(squares),
            add(weight * (positive - prob)),
            np.bincount(segment, groups.rows[order]).astype(np.int64),
            np.asarray(np.bincount(segment, weight * positive), dtype=np.float64),
            groups.weight_sq is None,
        )

    def at(self, kept: Any) -> "_Cells":
        """Return some of the segments."""
        sizes = np.diff(np.append(self.starts, len(self.prob)))
        cells = np.repeat(kept, sizes)
        starts = np.concatenate([[0], np.cumsum(sizes[kept])[:-1]]).astype(np.intp) if kept.any() else np.empty(0, int)
        prob, weight, weight_sq, excess = (values[cells] for values in self[1:5])
        return _Cells(starts, prob, weight, weight_sq, excess, self.rows[kept], self.observed[kept], self.counts)

    def add(self, values: Floats) -> Floats:
        """Add up values of cells by segment."""
        return np.asarray(np.add.reduceat(values, self.starts))

    def spread(self, values: Floats) -> Floats:
        """Return a value per cell from one per segment."""
        return np.repeat(values, np.diff(np.append(self.starts, len(self.prob))))


def _measure(cells: _Cells, level: float) -> list[AuditedSegment]:
    """Measure every segment."""
    if not len(cells.rows):
        return []
    weight, observed = cells.add(cells.weight), cells.observed
    expected = cells.add(cells.weight * cells.prob)
    variance = cells.add(cells.weight_sq * cells.prob * (1 - cells.prob))
    effective = weight**2 / cells.add(cells.weight_sq)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(variance > 0, (observed - expected) / np.sqrt(variance), _sure(observed - expected))
        ratio, ratio_low, ratio_high = (
            np.where(expected > 0, positives / expected, np.where(positives > 0, np.inf, np.nan))
            for positives in (observed, *_limits(cells, observed, effective / weight, level))
        )
        offset, gain = _offset(cells, observed)
        p_value = 2 * ndtr(-np.abs(z))
        if cells.counts:
            p_value = _two_sided(cells, observed, expected, p_value)
        gain *= effective / weight
        ecce = _range(cells, weight)
        deviation = np.sqrt(variance) / weight
        sigma = np.where(deviation > 0, ecce / deviation, np.where(ecce > 0, np.inf, 0.0))
    numbers = {
        "weight": weight,
        "observed": observed,
        "expected": expected,
        "ratio": ratio,
        "ratio_low": ratio_low,
        "ratio_high": ratio_high,
        "z": z,
        "p_value": p_value,
        "offset": offset,
        "gain": gain,
        "ecce": ecce,
        "ecce_sigma": sigma,
    }
    each = zip(*(values.tolist() for values in numbers.values()), strict=True)
    return [
        AuditedSegment(where={}, rows=rows, p_holm=math.nan, **dict(zip(numbers, values, strict=True)))
        for rows, values in zip(cells.rows.tolist(), each, strict=True)
    ]


def _sure(difference: Floats) -> Floats:
    """Return z where every probability is 0 or 1: infinite if any was wrong."""
    return np.where(np.abs(difference) > 1e-9, np.copysign(np.inf, difference), 0.0)


def _limits(cells: _Cells, observed: Floats, unit: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the expected positives at the offsets at which the observed ones are just not rejected."""
    half = 0.5 / unit if cells.counts else np.zeros_like(observed)
    return _limit(cells, observed - half, unit, level, -1), _limit(cells, observed + half, unit, level, 1)


def _limit(cells: _Cells, edge: Floats, unit: Floats, level: float, side: int) -> Floats:
    """Return the limit on one side, by bisection of the offset; where there is none, the end of what is possible."""
    low, high = cells.add(cells.weight * (cells.prob == 1)), cells.add(cells.weight * (cells.prob > 0))
    inner = (edge > low) & (edge < high)
    saddle = _solve_offsets(cells, np.where(inner, edge, cells.add(cells.weight * cells.prob)))
    log_moment, _, variance = _cumulant_function(cells, saddle)
    near, far = saddle.copy(), np.full_like(saddle, side * _LARGEST_OFFSET)
    for _ in range(_BISECTIONS):
        offset = (near + far) / 2
        here, _, _ = _cumulant_function(cells, offset)
        # With an offset the cumulants are differences, and the saddlepoint of an edge stays in its place.
        tail = _tail(saddle - offset, unit * (edge * (saddle - offset) - (log_moment - here)), unit * variance)
        inside = tail > (1 - level) / 2
        near, far = np.where(inside, offset, near), np.where(inside, far, offset)
    _, mean, _ = _cumulant_function(cells, (near + far) / 2)
    return np.where(inner, mean, low if side < 0 else high)


def _tail(t: Floats, gap: Floats, variance: Floats) -> Floats:
    """Return the saddlepoint approximation to the smaller tail of a sum on a lattice (Lugannani and Rice)."""
    with np.errstate(all="ignore"):
        w = np.sqrt(np.maximum(2 * gap, 0.0))
        u = 2 * np.sinh(np.abs(t) / 2) * np.sqrt(variance)
        density = np.exp(-(w**2) / 2) / math.sqrt(2 * math.pi)
        tail = ndtr(-w) + density * (1 / u - 1 / w)
    # Next to the mean the formula is 0/0.
    return np.where((w > 1e-4) & np.isfinite(tail), np.clip(tail, 0.0, 1.0), 0.5)


def _cumulant_function(cells: _Cells, offset: Floats) -> tuple[Floats, Floats, Floats]:
    """Return K, K′ and K″ at an offset per segment; K(t) = Σ w log(1 − p + p eᵗ)."""
    t = cells.spread(offset)
    up = t > 0
    # The larger of the two terms is taken out, so that nothing overflows.
    small = np.exp(-np.abs(t))
    p, q = np.where(up, cells.prob, 1 - cells.prob), np.where(up, 1 - cells.prob, cells.prob)
    inside = p + q * small
    share = np.where(up, p, q * small) / inside
    with np.errstate(divide="ignore"):
        log_moment = np.where(up, t, 0.0) + np.log(inside)
    return (
        cells.add(cells.weight * log_moment),
        cells.add(cells.weight * share),
        cells.add(cells.weight * share * (1 - share)),
    )


def _solve_offsets(cells: _Cells, wanted: Floats) -> Floats:
    """Return the offsets at which the expected positives are as many as wanted, by bracketed Newton steps."""
    low, high = np.full(len(wanted), -_LARGEST_OFFSET), np.full(len(wanted), _LARGEST_OFFSET)
    offset = np.zeros(len(wanted))
    for _ in range(_NEWTON_STEPS):
        _, mean, variance = _cumulant_function(cells, offset)
        miss = wanted - mean
        low, high = np.where(miss > 0, offset, low), np.where(miss > 0, high, offset)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = offset + miss / variance
        inside = (step > low) & (step < high)
        moved = np.where(inside, step, (low + high) / 2)
        if np.all(np.abs(moved - offset) <= 1e-12 * (1 + np.abs(offset))):
            break
        offset = moved
    return offset


def _offset(cells: _Cells, observed: Floats) -> tuple[Floats, Floats]:
    """Return the offset of the log-odds with the highest likelihood, and its gain in nats."""
    low, high = cells.add(cells.weight * (cells.prob == 1)), cells.add(cells.weight * (cells.prob > 0))
    inner = (observed > low) & (observed < high)
    middle = cells.add(cells.weight * cells.prob)
    found = _solve_offsets(cells, np.where(inner, observed, middle))
    log_moment, _, _ = _cumulant_function(cells, found)
    gain = np.maximum(found * observed - log_moment, 0.0)
    with np.errstate(divide="ignore"):
        none = -cells.add(cells.weight * np.log1p(-np.where(cells.prob == 1, 0, cells.prob)))
        every = -cells.add(cells.weight * np.log(np.where(cells.prob == 0, 1, cells.prob)))
    impossible = (observed < low) | (observed > high)
    gain = np.where(inner, gain, np.where(impossible, np.inf, np.where(observed <= low, none, every)))
    at_end = np.where(low == high, 0.0, np.where(observed <= low, -np.inf, np.inf))
    return np.where(inner, found, at_end), gain


def _two_sided(cells: _Cells, observed: Floats, expected: Floats, normal: Floats) -> Floats:
    """Return two-sided p-values of the sums of independent labels, by the saddlepoint approximation for lattices."""
    above = observed > expected
    edge = np.where(above, observed - 0.5, observed + 0.5)
    low, high = cells.add(cells.weight * (cells.prob == 1)), cells.add(cells.weight * (cells.prob > 0))
    inner = (edge > low) & (edge < high)
    t = _solve_offsets(cells, np.where(inner, edge, expected))
    log_moment, _, variance = _cumulant_function(cells, t)
    tail = _tail(t, t * edge - log_moment, variance)
    # An edge on the other side of the mean: more than half of the mass is beyond it.
    past = np.where(above, edge <= expected, edge >= expected)
    usable = inner & ~past
    beyond = ~inner & ((observed < low) | (observed > high))
    result = np.where(usable, np.minimum(2 * tail, 1.0), np.where(past, 1.0, normal))
    return np.where(beyond, 0.0, result)


def _range(cells: _Cells, weight: Floats) -> Floats:
    """Return the range of the cumulative differences, from 0 on, over the weight."""
    total = np.cumsum(cells.excess)
    before = np.concatenate([[0.0], total])[cells.starts]
    walk = total - cells.spread(before)
    highest = np.maximum(np.maximum.reduceat(walk, cells.starts), 0.0)
    lowest = np.minimum(np.minimum.reduceat(walk, cells.starts), 0.0)
    return np.asarray((highest - lowest) / weight)
