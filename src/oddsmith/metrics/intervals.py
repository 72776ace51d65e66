"""Confidence intervals of measures, by resampling the cells of the table.

Calibration errors are 0 at best and biased upwards, so their percentile bootstrap misses: its interval for a perfect
forecast never holds 0. Theirs is found by inverting a test, and stands beside the band of a perfect forecast.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, SupportsFloat

import numpy as np
from scipy.special import ndtr, stdtrit

from oddsmith import _check
from oddsmith._check import Floats
from oddsmith.errors import InvalidInputError
from oddsmith.metrics._measure import Null, as_forecast, value_of
from oddsmith.metrics._resampled import equal_rows, labels_again, rows_again
from oddsmith.metrics._result import Result
from oddsmith.metrics._truths import supposed_truths
from oddsmith.metrics.provenance import is_in_sample
from oddsmith.resample import RandomState, pooled
from oddsmith.table import ScoreTable

__all__ = ["Interval", "interval"]

Function = Callable[..., SupportsFloat]

#: Tables of more cells are drawn from in so many groups of neighbours.
_CELLS = 2048

#: Log-odds that are as good as infinite, where groups have a mean.
_CERTAIN = 30.0


class Asked(NamedTuple):
    """A measure with its options, and what makes it 0."""

    measure: Function
    options: dict[str, Any]
    null: Null | None

    def of(self, table: ScoreTable) -> float:
        """Return the measure, NaN where it is undefined."""
        try:
            return value_of(self.measure, table, self.options)
        except InvalidInputError:
            return math.nan


@dataclass(frozen=True)
class Interval(Result):
    """A measure with its confidence interval.

    Attributes
    ----------
    value : float
        The measure on the data.
    low, high : float
        The interval.
    level : float
        Its nominal coverage.
    method : str
        How it was made.
    corrected : float or None
        For non-negative measures the median-unbiased estimate, less than ``value`` by the bias.
    consistency : tuple of float, or None
        For non-negative measures the band that holds the measure under its null hypothesis: of a perfectly calibrated
        forecast, or for discrimination of one that says nothing.
    in_sample : bool
        Whether the forecast is known to have been fitted on these rows; then the interval flatters it.
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    corrected: float | None = None
    consistency: tuple[float, float] | None = None
    in_sample: bool = field(default=False, kw_only=True)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        text = f"{self.value:.6g}, {self.level:.0%} interval [{self.low:.6g}, {self.high:.6g}] ({self.method})"
        if self.corrected is not None and self.consistency is not None:
            low, high = self.consistency
            text += f"; bias-corrected {self.corrected:.6g}; by chance alone within [{low:.6g}, {high:.6g}]"
        return f"{text}; in-sample" if self.in_sample else text


def interval(
    measure: Function,
    forecast: ScoreTable,
    *,
    options: Mapping[str, Any] | None = None,
    level: float = 0.95,
    n_boot: int = 2000,
    random_state: RandomState = None,
    nonnegative: bool | None = None,
) -> Interval:
    """Return a confidence interval of a measure.

    Parameters
    ----------
    measure : callable
        A function of a forecast table whose result has ``float``, such as any measure of `oddsmith.metrics`.
    forecast : ScoreTable
        Scores are log-odds. Float weights enter with their squares.
    options : mapping, optional
        Keyword arguments of the measure.
    level : float, default 0.95
    n_boot : int, default 2000
        Number of samples; for non-negative measures of all supposed truths together.
    random_state : int, Generator or None
    nonnegative : bool, optional
        Whether the measure is 0 for perfect calibration and never below; by default what the measure says of itself.

    Notes
    -----
    Percentiles of the bootstrap for most measures, taken further out for few rows of the rarer class: at
    Φ(−√(n/(n − 1)) t_{n−1}) instead of (1 − level)/2. Samples on which the measure is undefined (one class only) are
    left out.

    For non-negative ones the truth is supposed to be p + λ(q − p), where q is a spline recalibration of the forecast
    and λ runs from 0 through 1, up to 24 standard errors beyond. The interval holds the true values under which the
    observed one is neither among the smallest nor the largest (1 − level)/2; λ = 0 gives the consistency band. An
    upper limit is never below the one of the median sample of a perfect forecast: luck is no evidence.

    Tables of more than 2048 cells are resampled in so many groups of neighbouring forecasts; the measure itself is
    exact.

    References
    ----------
    T. Hesterberg, What teachers should know about the bootstrap, The American Statistician 2015.
    J. Bröcker and L. Smith, Increasing the reliability of reliability diagrams, Weather and Forecasting 2007.

    Examples
    --------
    >>> from oddsmith.metrics.proper import squared_error
    >>> from oddsmith import ScoreTable
    >>> forecast = ScoreTable.from_arrays([-1.0, 0.5, 2.0], [0, 1, 1], [40, 30, 30])
    >>> found = interval(squared_error, forecast, random_state=0)
    >>> found.low < found.value < found.high
    True
    """
    null: Null | None = getattr(measure, "null", None)
    if nonnegative is not None:
        null = (null or "calibrated") if nonnegative else None
    asked = {"": Asked(measure, dict(options or {}), null)}
    return intervals(asked, forecast, level=level, n_boot=n_boot, random_state=random_state)[""]


def intervals(
    asked: Mapping[str, Asked],
    forecast: ScoreTable,
    *,
    level: float = 0.95,
    n_boot: int = 2000,
    random_state: RandomState = None,
) -> dict[str, Interval]:
    """Return the intervals of several measures, from the same samples."""
    table = as_forecast(forecast)
    share = _level(level)
    draws = _check.whole_number(n_boot, "n_boot", low=20)
    rng = np.random.default_rng(random_state)
    values = {name: value_of(one.measure, table, one.options) for name, one in asked.items()}
    for value in values.values():
        if not math.isfinite(value):
            _check.fail("an interval needs a finite measure", f"{value}", "clip forecasts of exactly 0 or 1")
    drawn_from = table.map(lambda scores: scores)
    shifts = dict.fromkeys(values, 0.0)
    if len(table) > _CELLS:
        drawn_from = pooled(table.map(lambda scores: np.clip(scores, -_CERTAIN, _CERTAIN)), _CELLS)
        # What the groups change in a measure is taken off again.
        shifts = {name: value - asked[name].of(drawn_from) for name, value in values.items()}
    found: dict[str, Interval] = {}
    for null in dict.fromkeys(one.null for one in asked.values()):
        group = {name: one for name, one in asked.items() if one.null == null}
        if null is None:
            limits = _by_percentiles(group, drawn_from, share, draws, rng)
        else:
            seen = {name: values[name] - shifts[name] for name in group}
            limits = _by_inversion(group, seen, drawn_from, null, share, draws, rng)
        for name, one in limits.items():
            found[name] = _interval(one, values[name], shifts[name], share, is_in_sample(table))
    return {name: found[name] for name in asked}


class Limits(NamedTuple):
    """What resampling says of a measure."""

    low: float
    high: float
    method: str
    corrected: float | None = None
    consistency: tuple[float, float] | None = None


def _interval(limits: Limits, value: float, shift: float, level: float, in_sample: bool) -> Interval:
    bound = -math.inf if limits.corrected is None else 0.0

    def moved(limit: float) -> float:
        return max(limit + shift, bound)

    corrected = None if limits.corrected is None else moved(limits.corrected)
    band = None if limits.consistency is None else (moved(limits.consistency[0]), moved(limits.consistency[1]))
    return Interval(
        value, moved(limits.low), moved(limits.high), level, limits.method, corrected, band, in_sample=in_sample
    )


def _by_percentiles(
    asked: Mapping[str, Asked], table: ScoreTable, level: float, draws: int, rng: np.random.Generator
) -> dict[str, Limits]:
    samples = _values(asked, rows_again(table, draws, rng))
    tail = _tail(table, level)
    method = f"percentile bootstrap of {draws} tables, tails of {tail:.3g}"
    ends = {name: _order_statistics(values, tail, 1 - tail) for name, values in samples.items()}
    return {name: Limits(low, high, method) for name, (low, high) in ends.items()}


def _tail(table: ScoreTable, level: float) -> float:
    """Return the share beyond a percentile that makes up for few rows of the rarer class."""
    sides = ((table.pos, table.pos_sq), (table.neg, table.neg_sq))
    rows = min(float(equal_rows(side, side if squares is None else squares)[0].sum()) for side, squares in sides)
    n = max(rows, 2.0)
    return float(ndtr(-math.sqrt(n / (n - 1)) * stdtrit(n - 1, (1 + level) / 2)))


def _by_inversion(
    asked: Mapping[str, Asked],
    seen: dict[str, float],
    table: ScoreTable,
    null: Null,
    level: float,
    draws: int,
    rng: np.random.Generator,
) -> dict[str, Limits]:
    truths = supposed_truths(table, null)
    # The null hypothesis is drawn most often: its band is shown, and decides whether 0 is covered.
    first = math.ceil(draws / 4)
    each = math.ceil((draws - first) / max(len(truths) - 1, 1))
    samples = [
        _values(asked, labels_again(table, truth.prob, first if k == 0 else each, rng))
        for k, truth in enumerate(truths)
    ]
    method = f"test inversion over {len(truths)} supposed truths, {first} + {len(truths) - 1} x {each} tables"
    found = {}
    for name, one in asked.items():
        true = np.array([0.0, *(one.of(truth.population) for truth in truths[1:])])
        low, middle, high = _quantile_curves([sample[name] for sample in samples], (1 - level) / 2)
        if not np.all(np.isfinite([*true, *low, *middle, *high])):
            _check.fail("an interval needs finite measures", "infinite ones in samples", "clip forecasts of 0 or 1")
        # Larger truths give larger measures; the simulation's noise must not say otherwise.
        true, low, middle, high = (np.maximum.accumulate(curve) for curve in (true, low, middle, high))
        found[name] = Limits(
            float(np.interp(seen[name], high, true)),
            float(np.interp(max(seen[name], middle[0]), low, true)),
            method,
            float(np.interp(seen[name], middle, true)),
            (float(low[0]), float(high[0])),
        )
    return found


def _quantile_curves(samples: list[Floats], tail: float) -> tuple[Floats, Floats, Floats]:
    """Return the outer quantiles and the median under each truth, the shape of the law being taken from neighbours."""
    means, spreads = (np.array([function(values) for values in samples]) for function in (np.mean, np.std))
    scaled = [
        (values - mean) / max(spread, 1e-300) for values, mean, spread in zip(samples, means, spreads, strict=True)
    ]
    shapes = []
    for k in range(len(samples)):
        near = scaled[:1] if k == 0 else scaled[max(k - 1, 1) : k + 2]
        shapes.append(_order_statistics(np.concatenate(near), tail, 0.5, 1 - tail))
    low, middle, high = (means + spreads * shape for shape in np.array(shapes).T)
    return low, middle, high


def _values(asked: Mapping[str, Asked], tables: Iterable[ScoreTable]) -> dict[str, Floats]:
    """Return the measures of tables on which they are defined."""
    rows = np.array([[one.of(table) for one in asked.values()] for table in tables])
    defined = {name: column[~np.isnan(column)] for name, column in zip(asked, rows.T, strict=True)}
    for values in defined.values():
        if 2 * len(values) < len(rows):
            _check.fail(
                "the measure must be defined on most samples",
                f"{len(values)} of {len(rows)}",
                "collect more rows of the rarer class",
            )
    return defined


def _order_statistics(values: Floats, *shares: float) -> tuple[float, ...]:
    """Return quantiles that are values themselves, so that infinite ones do no harm; from the tails the outer ones."""
    ordered, n = np.sort(values), len(values)
    places = [math.floor((n + 1) * share) if share <= 0.5 else math.ceil((n + 1) * share) for share in shares]
    return tuple(float(ordered[min(max(place, 1), n) - 1]) for place in places)


def _level(level: float) -> float:
    share = _check.number(level, "level", low=0, strict=True)
    if share >= 1:
        _check.fail("level must be below 1", f"level={level!r}", "pass a share such as 0.95")
    return share
