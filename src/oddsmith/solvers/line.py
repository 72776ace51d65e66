"""The straight line in log-odds: Newton's method for L = a·s + b on points of any number and size.

Labels enter a logistic fit only through two sums, so no sort is needed. Long data are first reduced to a histogram;
the fit to it is so close that one exact pass over all rows, or none, remains.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import expit

from oddsmith import _kernels
from oddsmith._types import Floats, Weights
from oddsmith.solvers.targets import Targets
from oddsmith.table import ScoreTable
from oddsmith.table.rows import ScoreRows, binary_scale, slices

_MAX_STEPS = 100

#: A step below this share of the parameters leaves an error of about its square.
_STEP = 1e-6

#: A gain of so little log-likelihood per case of the rarer class is none.
_ENOUGH = 1e-10

#: Log-odds beyond this are certain to the last bit.
_CERTAIN = 700.0

#: Scores whose median serves as the centre.
_SOME = 10_000

#: More points than this are first reduced to a histogram.
_LONG = 30_000

#: Cells of the histogram: of counts, and of counts with moments.
_COUNT_CELLS = 8192
_MOMENT_CELLS = 2048

#: Largest slope × half cell width at which a cell with three moments is as good as its points.
_FINE = 1e-2


@dataclass(frozen=True)
class Line:
    """L = intercept + slope·(s − centre)/scale, and how the search for it ended."""

    slope: float
    intercept: float
    centre: float
    scale: float
    converged: bool

    @property
    def a(self) -> float:
        """Slope on the original scores."""
        return self.slope / self.scale

    @property
    def b(self) -> float:
        """Log-odds at score 0."""
        return self.intercept - self.slope * (self.centre / self.scale)


class Problem(NamedTuple):
    """What is minimised beside the loss: ½(a, b)·penalty·(a, b), b being the level at 0; and whether b is free."""

    penalty_aa: float
    penalty_ab: float
    penalty_bb: float
    fit_intercept: bool
    #: Cases of the rarer class, which say how large a gain in likelihood matters.
    cases: float


class Derivatives(NamedTuple):
    """Gradient and Hessian with respect to the slope and to the level at the centre."""

    ga: float
    gb: float
    haa: float
    hab: float
    hbb: float


class Place(NamedTuple):
    """The line z = a(x − centre) + b."""

    a: float
    b: float
    centre: float = 0.0

    def moved(self, da: float, db: float) -> "Place":
        """Return the line with other parameters."""
        return Place(self.a + da, self.b + db, self.centre)

    def about(self, centre: float) -> "Place":
        """Return the same line by its level at another centre."""
        return Place(self.a, self.b + self.a * (centre - self.centre), centre)


def fit_line(
    data: ScoreTable | ScoreRows,
    targets: Targets,
    l2: float = 0.0,
    fit_intercept: bool = True,
) -> Line:
    """Minimise Σ v[log(1 + eᶻ) − t z] + λ(a² + b²), z = as + b, with target t for each class.

    Parameters
    ----------
    data : ScoreTable or ScoreRows
        With both classes and at least two distinct scores.
    targets : Targets
        Of the two classes: the labels, or Platt's.
    l2 : float
        The penalty λ, on the original scale of the scores.
    fit_intercept : bool
        Whether b is free, or 0.
    """
    centre, scale = _standard(data, centred=fit_intercept, l2=l2)
    shift = centre / scale
    scores, weight = data.marginal()
    histogram = _histogram(data, scale, shift) if len(scores) > _LONG else None
    sum_pos, sum_neg = data.class_sums(scale, shift) if histogram is None else histogram.class_sums
    # λ(a² + b²) as a quadratic form in slope and intercept of the standardised scores.
    penalty = (2 * l2 * (1 / scale / scale + shift * shift), -2 * l2 * shift, 2 * l2) if l2 else (0.0, 0.0, 0.0)
    problem = Problem(*penalty, fit_intercept, min(data.n_pos, data.n_neg))
    points, share = (scores / scale - shift, weight) if histogram is None else histogram[:2]
    level = math.log((data.n_pos + 1) / (data.n_neg + 1)) if fit_intercept else 0.0
    starts = [Place(0.0, level)]
    if not l2:  # a slope that the penalty forbids might be too large to square
        starts.append(_first_guess(points, share, (sum_pos, sum_neg), (data.n_pos, data.n_neg), fit_intercept))
    if histogram is not None:
        sums = targets.up(sum_pos, sum_neg), targets.up(data.n_pos, data.n_neg)
        cells = _Cells(points, histogram.share, *sums)
        rough, converged = newton(cells, problem, starts)
        if converged and abs(rough.a) * histogram.width / 2 <= _FINE:
            return _line(rough, converged, centre, scale)
        starts = [rough, starts[0]]
    rows = Rows.of(data, scale, shift, targets)
    return _line(*newton(rows, problem, starts), centre, scale)


def _line(place: Place, converged: bool, centre: float, scale: float) -> Line:
    return Line(place.a, place.about(0.0).b, centre, scale, converged)


def _standard(data: ScoreTable | ScoreRows, centred: bool, l2: float) -> tuple[float, float]:
    """Return a centre within the scores and a power of two that brings their distances from it to at most 1."""
    low, high = data.span()
    centre = 0.0
    if centred:
        # About the median, of some scores, no outlier takes the others' digits.
        centre = (
            float(np.median(data.scores[:: max(1, len(data.scores) // _SOME)]))
            if high / 2 - low / 2 < 1e300
            else low / 2 + high / 2
        )
    # Without a centre the scores reach from 0. With a penalty 1/scale² must stay finite; scores that small have no say
    # against it anyway.
    scale = binary_scale(min(low, centre), max(high, centre))
    return centre, max(scale, math.ldexp(1.0, -400)) if l2 else scale


def _first_guess(
    x: Floats, weight: Weights | None, sums: tuple[float, float], counts: tuple[float, float], fit_intercept: bool
) -> Place:
    """Return the line of two Gaussians with one variance."""
    (n_pos, n_neg), (mean_pos, mean_neg) = counts, (total / count for total, count in zip(sums, counts, strict=True))
    square = float(x.dot(x) if weight is None else (weight * x).dot(x))
    if not fit_intercept:
        # Newton's step from 0.
        return Place(2 * (sums[0] - sums[1]) / square if square > 0 else 0.0, 0.0)
    variance = (square - n_pos * mean_pos**2 - n_neg * mean_neg**2) / (n_pos + n_neg)
    gap = mean_pos - mean_neg
    a = gap / variance if variance > 0.1 * gap * gap else 0.0
    return Place(a, math.log((n_pos + 1) / (n_neg + 1)) - a * (mean_pos + mean_neg) / 2)


class _Points(Protocol):
    """Points of a fit: their loss, but for a constant, and its derivatives."""

    def loss(self, at: Place) -> float: ...

    def derivatives(self, at: Place) -> Derivatives: ...


class _Penalised(NamedTuple):
    """Points with a penalty, which there is about the centre 0 only."""

    points: _Points
    problem: Problem

    def loss(self, at: Place) -> float:
        paa, pab, pbb, *_ = self.problem
        return self.points.loss(at) + (paa * at.a * at.a + 2 * pab * at.a * at.b + pbb * at.b * at.b) / 2

    def derivatives(self, at: Place) -> Derivatives:
        paa, pab, pbb, *_ = self.problem
        ga, gb, haa, hab, hbb = self.points.derivatives(at)
        return Derivatives(ga + paa * at.a + pab * at.b, gb + pab * at.a + pbb * at.b, haa + paa, hab + pab, hbb + pbb)


def newton(points: _Points, problem: Problem, starts: Sequence[Place]) -> tuple[Place, bool]:
    """Newton's method from the best of some starts; returns the line and whether it converged.

    Every step lowers the objective. Where the slope along the step has not changed its sign, that follows from
    convexity; else the objective is looked at. It has converged when the gain that the gradient promises, g·H⁻¹g/2, is
    too small to matter.
    """
    if problem.penalty_bb:
        points = _Penalised(points, problem)
    place, value = starts[0], None
    if len(starts) > 1:
        value, place = min((points.loss(start), start) for start in starts)
    at = points.derivatives(place)
    for _ in range(_MAX_STEPS):
        da, db = _direction(at, problem)
        gain = -(at.ga * da + at.gb * db)
        if _negligible(gain, (da, db), place, problem):
            return place.moved(da, db), True
        if not (gain > 0 and math.isfinite(da) and math.isfinite(db)):
            return place, False
        trial = place.moved(da, db)
        there = points.derivatives(trial)
        if there.ga * da + there.gb * db > 0:
            value = points.loss(place) if value is None else value
            # Near the optimum the objective changes by less than its own rounding.
            found = _backtrack(points, place, (da, db), gain, value, 1e-14 * abs(value))
            if found is None:
                return place, gain <= _ENOUGH * (1 + problem.cases)
            trial, value = found
            there = points.derivatives(trial)
        else:
            value = None
        place, at = trial, there
        if _lopsided(at) and problem.fit_intercept and not problem.penalty_bb:
            # The curvature lies far from the centre, compared with its spread: about its own centre nothing cancels.
            place = place.about(place.centre + at.hab / at.hbb)
            at = points.derivatives(place)
    return place, False


def _backtrack(
    points: _Points, place: Place, step: tuple[float, float], gain: float, value: float, slack: float
) -> tuple[Place, float] | None:
    """Halve the step until the objective falls enough; None if it never does."""
    size = 1.0
    while size > 1e-15:
        trial = place.moved(size * step[0], size * step[1])
        there = points.loss(trial)
        if there <= value - 1e-4 * size * gain + slack:
            return trial, there
        size /= 2
    return None


def _negligible(gain: float, step: tuple[float, float], place: Place, problem: Problem) -> bool:
    """Whether a step leaves an error of about its square, or gains nothing that the objective could show."""
    (da, db), cases = step, 1 + problem.cases
    if not gain <= _ENOUGH * cases:
        return False
    small = abs(da) <= _STEP * abs(place.a) and abs(db) <= _STEP * max(abs(place.b), 1e-3)
    return small or gain <= 1e-20 * cases


def _lopsided(at: Derivatives) -> bool:
    square = at.haa * at.hbb
    return 0 < square and square - at.hab * at.hab < 1e-9 * square


def _direction(at: Derivatives, problem: Problem) -> tuple[float, float]:
    """Solve the two-by-two Newton system; Cramer's rule does not mind how differently the two are scaled."""
    if not problem.fit_intercept:
        return (-at.ga / at.haa if at.haa > 0 else 0.0), 0.0
    square = at.haa * at.hbb
    det = square - at.hab * at.hab
    if det > 1e-15 * square:
        return (at.hab * at.gb - at.hbb * at.ga) / det, (at.hab * at.ga - at.haa * at.gb) / det
    # All curvature in one direction, to rounding: treat the two parameters one by one.
    return (-at.ga / at.haa if at.haa > 0 else 0.0), (-at.gb / at.hbb if at.hbb > 0 else 0.0)


@dataclass(frozen=True)
class _Cells:
    """Cells of a histogram, whose labels are known only by the sums of their targets, Σ t x and Σ t."""

    x: Floats
    weight: Floats
    target_a: float
    target_b: float

    def loss(self, at: Place) -> float:
        """Return Σ v log(1 + eᶻ) − t z."""
        z = at.a * (self.x - at.centre) + at.b
        loss = float(((np.log1p(np.exp(-np.abs(z))) + np.maximum(z, 0)) * self.weight).sum())
        return loss - self.target_a * at.a - self.target_b * at.about(0.0).b

    def derivatives(self, at: Place) -> Derivatives:
        """Sum over the cells."""
        x = self.x - at.centre
        p = expit(at.a * x + at.b)
        pull = self.weight * p
        h = pull * (1 - p)
        hx = h * x
        ga = float(pull.dot(x)) - (self.target_a - at.centre * self.target_b)
        return Derivatives(ga, float(pull.sum()) - self.target_b, float(hx.dot(x)), float(hx.sum()), float(h.sum()))


@dataclass(frozen=True)
class Rows:
    """All points with their own targets: sums of what is left, in which nothing large cancels.

    Attributes
    ----------
    scores : ndarray of shape (n,)
    scale, shift : float
        The standardised score is s/scale − shift.
    up, down : ndarray of shape (n,)
        How much of the weight pulls the forecast up, and how much down.
    aside : ndarray of shape (n,) or None
        By how much cells pull at the slope beyond their mean scores.
    """

    scores: Floats
    scale: float
    shift: float
    up: Floats
    down: Floats
    aside: Floats | None

    @classmethod
    def of(cls, data: ScoreTable | ScoreRows, scale: float, shift: float, targets: Targets) -> "Rows":
        """Let every point pull as its class does."""
        scores, weight = data.marginal()
        pos = data.positive_weight(slice(None))
        neg = 1 - pos if weight is None else weight - pos
        up = targets.up(pos, neg)
        aside = None
        if isinstance(data, ScoreTable) and data.pos_sum is not None and data.neg_sum is not None:
            aside = targets.up(data.pos_sum, data.neg_sum) / scale - up * (scores / scale)
        return cls(scores, scale, shift, up, targets.down(pos, neg), aside)

    def part(self, start: int, stop: int) -> "Rows":
        """Return some of the points."""
        here = slice(start, stop)
        aside = None if self.aside is None else self.aside[here]
        return Rows(self.scores[here], self.scale, self.shift, self.up[here], self.down[here], aside)

    @cached_property
    def _pull(self) -> float:
        return 0.0 if self.aside is None else float(self.aside.sum())

    def _pieces(self, at: Place) -> Iterator[tuple[Floats, Floats, Floats, Floats]]:
        """Walk over x − centre, z, and what pulls up and down, a cache-sized piece at a time."""
        for part in slices(len(self.scores)):
            x = self.scores[part] * (1 / self.scale)
            x -= self.shift
            if at.centre:
                x -= at.centre
            z = at.a * x
            z += at.b
            yield x, z, self.up[part], self.down[part]

    def loss(self, at: Place) -> float:
        """Return Σ v log(1 + eᶻ) − t z, as a sum of terms none of which is negative."""
        total = -self._pull * at.a
        for _, z, up, down in self._pieces(at):
            size = np.abs(z)
            rest = np.log1p(np.exp(-size))
            total += float(rest.dot(up) + rest.dot(down) + np.where(z >= 0, down, up).dot(size))
        return total

    def derivatives(self, at: Place) -> Derivatives:
        """Sum over the points."""
        total = np.zeros(5)
        for x, z, up, down in self._pieces(at):
            np.clip(z, -_CERTAIN, _CERTAIN, out=z)
            odds = np.exp(-z)
            p = 1 / (1 + odds)
            q = odds * p
            h = p * q
            h *= up + down
            p *= down
            q *= up
            p -= q
            hx = h * x
            total += (p.dot(x), p.sum(), hx.dot(x), hx.sum(), h.sum())
        ga, gb, haa, hab, hbb = total.tolist()
        return Derivatives(ga - self._pull, gb, haa, hab, hbb)


class Histogram(NamedTuple):
    """Long data in few points, on the standardised scale.

    Attributes
    ----------
    points, share : ndarray
        Where the weight is taken to be, and how much.
    width : float
        Width of the cells whose first three moments the points keep; infinite if they keep none.
    class_sums : tuple of float
        Sum of all scores of the positive, and of the negative class.
    """

    points: Floats
    share: Floats
    width: float
    class_sums: tuple[float, float]


def _histogram(data: ScoreTable | ScoreRows, scale: float, shift: float) -> Histogram:
    scores, weight = data.marginal()
    low, high = (end / scale - shift for end in data.span())
    fast = _kernels.compiled(len(scores)) if weight is None else None
    if fast is None:
        return _count(data, scale, shift, low, high)
    width = (high - low) / _MOMENT_CELLS
    positive = data.positive if isinstance(data, ScoreRows) else data.pos > 0
    sums, sum_pos = fast.cell_moments(
        np.ascontiguousarray(scores),
        np.ascontiguousarray(positive),
        1 / scale,
        shift,
        low,
        1 / width,
        _MOMENT_CELLS,
    )
    centres = low + width * np.arange(0.5, _MOMENT_CELLS)
    sum_all = float(np.sum(centres * sums[0] + width * sums[1]))
    return Histogram(*_kernels.gauss_points(centres, width, sums), width, (sum_pos, sum_all - sum_pos))


def _count(data: ScoreTable | ScoreRows, scale: float, shift: float, low: float, high: float) -> Histogram:
    """Count in equal cells that are taken to be at their centres."""
    scores, weight = data.marginal()
    counts = np.zeros(_COUNT_CELLS + 1)  # the largest score falls in a cell of its own
    per_cell, per_score = _COUNT_CELLS / (high - low), 1 / scale
    lowest = data.span()[0] * per_score
    sum_pos = sum_all = 0.0
    for start in range(0, len(scores), 4 * _kernels.CHUNK):
        part = slice(start, start + 4 * _kernels.CHUNK)
        place = scores[part] * per_score
        place -= lowest
        share = None if weight is None else weight[part]
        # Not by BLAS, which may start threads at this length.
        sum_pos += float(np.einsum("i,i", data.positive_weight(part), place))
        sum_all += float(place.sum() if share is None else np.einsum("i,i", share, place))
        place *= per_cell
        counts += np.bincount(place.astype(np.intp), share, len(counts))
    held = np.flatnonzero(counts)
    points = np.asarray(low + (held + 0.5) * ((high - low) / _COUNT_CELLS), dtype=np.float64)
    sums = sum_pos + low * data.n_pos, sum_all - sum_pos + low * data.n_neg
    if isinstance(data, ScoreTable) and data.resolution is not None:
        sums = data.class_sums(scale, shift)  # cells know them exactly
    return Histogram(points, counts[held], math.inf, sums)
