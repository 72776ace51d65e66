"""The straight line in log-odds: Newton's method for L = a·s + b on points of any number and size.

Labels enter a logistic fit only through two sums, so no sort is needed. Long data are first reduced to a histogram;
the fit to it is so close that one exact pass over all rows, or none, remains.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import NamedTuple

import numpy as np

from oddsmith._kernels import CHUNK, load_compiled
from oddsmith._types import Floats, Weights
from oddsmith.data import Sample, ScoreTable, binary_scale
from oddsmith.fitting.cells import Histogram, core, pooling_error
from oddsmith.fitting.newton import sure_share
from oddsmith.fitting.targets import Targets

_MAX_STEPS = 100

#: A step below this share of the parameters leaves an error of about its square.
_STEP = 1e-6

#: A gain of so little log-likelihood per case of the rarer class is none.
_ENOUGH = 1e-10

#: Log-odds beyond this are certain to the last bit.
_CERTAIN = 700.0

#: Scores whose median serves as the center.
_SOME = 4_000

#: Points handled at a time; their temporaries stay in the second-level cache, and BLAS starts no threads.
_PIECE = CHUNK

#: More points than this are first reduced to a histogram.
_LONG = 30_000

#: An error of the curvature of cells, as a share of it, up to which the best line for them is near that for all points.
_GUIDE = 4e-5

#: An error in the parameters, as a share of them, that need not be removed.
_LEFT = 2e-11


@dataclass(frozen=True)
class Line:
    """L = intercept + slope·(s − center)/scale, and how the search for it ended."""

    slope: float
    intercept: float
    center: float
    scale: float
    converged: bool

    @property
    def a(self) -> float:
        """Slope on the original scores."""
        return self.slope / self.scale

    @property
    def b(self) -> float:
        """Log-odds at score 0."""
        return self.intercept - self.slope * (self.center / self.scale)


class Derivatives(NamedTuple):
    """Gradient and Hessian with respect to the slope and to the level at the center."""

    ga: float
    gb: float
    haa: float
    hab: float
    hbb: float


class Place(NamedTuple):
    """The line z = a(x − center) + b."""

    a: float
    b: float
    center: float = 0.0

    def move(self, da: float, db: float) -> "Place":
        """Return the line with other parameters."""
        return Place(self.a + da, self.b + db, self.center)

    def about(self, center: float) -> "Place":
        """Return the same line by its level at another center."""
        return Place(self.a, self.b + self.a * (center - self.center), center)


class Problem(NamedTuple):
    """What is minimized beside the loss: ½(a, b)·penalty·(a, b), b being the level at 0; and whether b is free."""

    penalty_aa: float
    penalty_ab: float
    penalty_bb: float
    fit_intercept: bool
    #: Cases of the rarer class, which say how large a gain in likelihood matters.
    cases: float

    def loss(self, points: "Points", at: Place) -> float:
        """Return the loss of the points with the penalty, which there is about the center 0 only."""
        paa, pab, pbb, *_ = self
        penalty = (paa * at.a * at.a + 2 * pab * at.a * at.b + pbb * at.b * at.b) / 2 if pbb else 0.0
        return points.loss(at) + penalty

    def derivatives(self, points: "Points", at: Place) -> Derivatives:
        """Return its derivatives."""
        sums = points.derivatives(at)
        return self.add_penalty(at, sums) if self.penalty_bb else sums

    def add_penalty(self, at: Place, sums: Derivatives) -> Derivatives:
        """Add the derivatives of the penalty."""
        (paa, pab, pbb, *_), (ga, gb, haa, hab, hbb) = self, sums
        return Derivatives(ga + paa * at.a + pab * at.b, gb + pab * at.a + pbb * at.b, haa + paa, hab + pab, hbb + pbb)


def fit_line(data: Sample, targets: Targets, penalty: float = 0.0, fit_intercept: bool = True) -> Line:
    """Minimize Σ v[log(1 + eᶻ) − t z] + λ(a² + b²), z = as + b, with target t for each class.

    The data hold both classes and at least two distinct scores, on whose own scale the penalty λ is; without an
    intercept b is 0.
    """
    center, scale = _standard(data, fit_intercept, penalty)
    shift = center / scale
    # λ(a² + b²) as a quadratic form in slope and intercept of the standardized scores.
    twice = 2 * penalty
    form = (twice * (1 / scale / scale + shift * shift), -twice * shift, twice) if penalty else (0.0, 0.0, 0.0)
    problem = Problem(*form, fit_intercept, min(data.n_pos, data.n_neg))
    place, converged = _search(data, targets, problem, scale, shift)
    return Line(place.a, place.about(0.0).b, center, scale, converged)


def _search(data: Sample, targets: Targets, problem: Problem, scale: float, shift: float) -> tuple[Place, bool]:
    counts, (scores, weight) = (data.n_pos, data.n_neg), data.marginal()
    level = Place(0.0, math.log((data.n_pos + 1) / (data.n_neg + 1)) if problem.fit_intercept else 0.0)
    rows = LineRows(data, scale, shift, targets)
    if len(scores) <= _LONG:
        guess = _first_guess(scores / scale - shift, weight, data.class_sums(scale, shift), counts, problem)
        return newton(rows, problem, [level, guess])
    histogram = Histogram.of(data, scale, shift, core(_some(scores) / scale - shift))
    guess = _first_guess(histogram.points, histogram.share, histogram.class_sums, counts, problem)
    sums = targets.up(*histogram.class_sums), targets.up(*counts)
    loops = load_compiled(len(scores)) if weight is None else None
    cells = Marginal(histogram.points, histogram.share, 1.0, 0.0, *sums, loops)
    rough, converged = newton(cells, problem, [level, guess])
    error = _error(histogram, rough) if converged else math.inf
    if error <= _GUIDE:
        points = Marginal(scores, weight, scale, shift, *sums, loops)
        ga, gb = points.gradient(rough)
        step = _direction(problem.add_penalty(rough, cells.derivatives(rough)._replace(ga=ga, gb=gb)), problem)
        size = _share(step, rough)
        # Of cells without moments the curvature is off by about the root of that, or as much as their line: so is this.
        if size * max(size, math.sqrt(error)) <= _LEFT:
            return rough.move(*step), True
        place, converged = newton(points, problem, [rough])
        if converged:
            return place, True
    return newton(rows, problem, [rough, level])


def _error(histogram: Histogram, at: Place) -> float:
    x = histogram.points - at.center
    columns = np.column_stack([x, np.ones_like(x)])
    return pooling_error(histogram.share, at.a * x + at.b, abs(at.a) * histogram.widths / 2, columns)


def _standard(data: Sample, centered: bool, penalty: float) -> tuple[float, float]:
    """Return a center within the scores, and a scale that brings their distances from it to at most 1.

    The scale is a power of two. About the median, of some scores, no outlier takes the others' digits.
    """
    low, high = data.span()
    some = _some(data.scores)
    center = float(np.partition(some, len(some) // 2)[len(some) // 2]) if centered else 0.0
    # Without a center the scores reach from 0. With a penalty 1/scale² must stay finite; scores that small have no say
    # against it anyway.
    scale = binary_scale(min(low, center), max(high, center))
    if penalty:
        scale = max(scale, math.ldexp(1.0, -400))
    return center, scale


def _some(scores: Floats) -> Floats:
    """Return a few thousand scores, evenly spaced."""
    return scores[:: max(1, len(scores) // _SOME)]


def _first_guess(
    x: Floats, weight: Weights | None, sums: tuple[float, float], counts: tuple[float, float], problem: Problem
) -> Place:
    """Return the line of two Gaussians with one variance."""
    if problem.penalty_bb:
        return Place(0.0, 0.0)  # a slope that the penalty forbids might be too large to square
    (n_pos, n_neg), (mean_pos, mean_neg) = counts, (total / count for total, count in zip(sums, counts, strict=True))
    # Not by BLAS, which may start threads at this length.
    square = float(np.einsum("i,i", x, x) if weight is None else np.einsum("i,i", weight * x, x))
    if not problem.fit_intercept:
        # Newton's step from 0.
        return Place(2 * (sums[0] - sums[1]) / square if square > 0 else 0.0, 0.0)
    variance = (square - n_pos * mean_pos**2 - n_neg * mean_neg**2) / (n_pos + n_neg)
    gap = mean_pos - mean_neg
    a = gap / variance if variance > 0.1 * gap * gap else 0.0
    return Place(a, math.log((n_pos + 1) / (n_neg + 1)) - a * (mean_pos + mean_neg) / 2)


def newton(points: "Points", problem: Problem, starts: Sequence[Place]) -> tuple[Place, bool]:
    """Newton's method from the best of some starts; returns the line and whether it converged.

    Every step lowers the objective. Where the slope along the step has not changed its sign, that follows from
    convexity; else the objective is looked at. It has converged when the gain that the gradient promises, g·H⁻¹g/2, is
    too small to matter.
    """
    cases = 1 + problem.cases
    value: float | None = None
    place = starts[0]
    if len(starts) > 1:
        value, place = min((problem.loss(points, start), start) for start in starts)
    at = problem.derivatives(points, place)
    for _ in range(_MAX_STEPS):
        da, db = _direction(at, problem)
        gain = -(at.ga * da + at.gb * db)
        if gain <= _ENOUGH * cases and (_share((da, db), place) <= _STEP or gain <= 1e-20 * cases):
            # What is left is about the square of the step, or nothing that the objective could show.
            return place.move(da, db), True
        if not (gain > 0 and math.isfinite(da) and math.isfinite(db)):
            return place, False
        trial = place.move(da, db)
        there = problem.derivatives(points, trial)
        if there.ga * da + there.gb * db > 0:
            before = problem.loss(points, place) if value is None else value
            size = 1.0
            # Near the optimum the objective changes by less than its own rounding.
            while not (value := problem.loss(points, trial)) <= before - 1e-4 * size * gain + 1e-14 * abs(before):
                size /= 2
                if size < 1e-15 and not 2 * size >= sure_share(2 * abs(da) + abs(db)):  # |x − center| is 2 at most
                    return place, gain <= _ENOUGH * cases
                trial = place.move(size * da, size * db)
            there = problem.derivatives(points, trial)
        else:
            value = None
        place, at = trial, there
        square = at.haa * at.hbb
        lopsided = 0 < square and square - at.hab * at.hab < 1e-9 * square
        if lopsided and problem.fit_intercept and not problem.penalty_bb:
            # The curvature lies far from the center, compared with its spread: about its own center nothing cancels.
            place = place.about(place.center + at.hab / at.hbb)
            at = points.derivatives(place)
    return place, False


def _share(step: tuple[float, float], place: Place) -> float:
    """Return the size of a step as a share of the parameters."""
    (da, db), a = step, abs(place.a)
    return max(abs(da) / a if a else math.inf if da else 0.0, abs(db) / max(abs(place.b), 1e-3))


def _direction(at: Derivatives, problem: Problem) -> tuple[float, float]:
    """Solve the two-by-two Newton system; Cramer's rule is insensitive to the scales of the two columns."""
    if not problem.fit_intercept:
        return (-at.ga / at.haa if at.haa > 0 else 0.0), 0.0
    square = at.haa * at.hbb
    det = square - at.hab * at.hab
    if det > 1e-15 * square:
        return (at.hab * at.gb - at.hbb * at.ga) / det, (at.hab * at.ga - at.haa * at.gb) / det
    # All curvature in one direction, to rounding: treat the two parameters one by one.
    return (-at.ga / at.haa if at.haa > 0 else 0.0), (-at.gb / at.hbb if at.hbb > 0 else 0.0)


def _pieces(scores: Floats, scale: float, shift: float, at: Place) -> Iterator[tuple[slice, Floats, Floats]]:
    """Walk over x − center and z, a cache-sized piece at a time."""
    for start in range(0, len(scores), _PIECE):
        part = slice(start, start + _PIECE)
        x = scores[part] * (1 / scale)
        x -= shift
        if at.center:
            x -= at.center
        z = at.a * x
        z += at.b
        yield part, x, z


@dataclass(frozen=True)
class Marginal:
    """Points x = s/scale − shift whose labels are known only by the sums of their targets, Σ t x and Σ t."""

    scores: Floats
    weight: Weights | None
    scale: float
    shift: float
    target_a: float
    target_b: float
    #: The compiled loops, if they are worth their call.
    loops: ModuleType | None = None

    def loss(self, at: Place) -> float:
        """Return Σ v log(1 + eᶻ) − t z."""
        total = -self.target_a * at.a - self.target_b * at.about(0.0).b
        for part, _, z in _pieces(self.scores, self.scale, self.shift, at):
            loss = np.log1p(np.exp(-np.abs(z))) + np.maximum(z, 0)
            total += float(loss.sum() if self.weight is None else loss.dot(self.weight[part]))
        return total

    def _forecasts(self, at: Place) -> Iterator[tuple[Floats, Floats, Weights | None]]:
        """Walk over x − center, probabilities and weights."""
        for part, x, p in _pieces(self.scores, self.scale, self.shift, at):
            np.negative(p, out=p)
            np.exp(p, out=p)
            p += 1
            np.divide(1, p, out=p)
            yield x, p, None if self.weight is None else self.weight[part]

    def _less_targets(self, at: Place, of_x: float, of_one: float) -> tuple[float, float]:
        return of_x + at.center * self.target_b - self.target_a, of_one - self.target_b

    def gradient(self, at: Place) -> tuple[float, float]:
        """Sum over the points."""
        of_x = of_one = 0.0
        if self.loops is not None and self.weight is None:
            scores = np.ascontiguousarray(self.scores)
            of_x, of_one = self.loops.line_gradient(scores, 1 / self.scale, self.shift, *at)
        else:
            for x, p, weight in self._forecasts(at):
                if weight is not None:
                    p *= weight
                of_x += float(p.dot(x))
                of_one += float(p.sum())
        return self._less_targets(at, of_x, of_one)

    def derivatives(self, at: Place) -> Derivatives:
        """Sum over the points."""
        total = np.zeros(5)
        if self.loops is not None:
            scores = np.ascontiguousarray(self.scores)
            total += self.loops.line_derivatives(scores, self.weight, 1 / self.scale, self.shift, *at)
        else:
            for x, p, weight in self._forecasts(at):
                h = p * (1 - p)
                if weight is not None:
                    p *= weight
                    h *= weight
                hx = h * x
                total += (p.dot(x), p.sum(), hx.dot(x), hx.sum(), h.sum())
        of_x, of_one, *curvature = total.tolist()
        return Derivatives(*self._less_targets(at, of_x, of_one), *curvature)


@dataclass(frozen=True)
class LineRows:
    """All points x = s/scale − shift with their own targets: sums of what is left, in which nothing large cancels."""

    data: Sample
    scale: float
    shift: float
    targets: Targets

    @cached_property
    def _first(self) -> tuple[Floats, Floats, Floats]:
        return self._part(slice(0, _PIECE))

    def _part(self, part: slice) -> tuple[Floats, Floats, Floats]:
        """Return x of some points, and how much of their weight pulls the forecast up, and how much down."""
        x = self.data.scores[part] * (1 / self.scale)
        x -= self.shift
        return x, *self._weights(part)

    def _pieces(self, at: Place) -> Iterator[tuple[Floats, Floats, Floats, Floats]]:
        """Walk over x − center, z and what pulls up and down, a cache-sized piece at a time."""
        for start in range(0, len(self.data.scores), _PIECE):
            x, up, down = self._part(slice(start, start + _PIECE)) if start else self._first
            if at.center:
                x = x - at.center
            z = at.a * x
            z += at.b
            yield x, z, up, down

    def _weights(self, part: slice) -> tuple[Floats, Floats]:
        pos = self.data.positive_weight(part)
        if isinstance(self.data, ScoreTable):
            neg = self.data.neg[part].astype(np.float64)
        else:
            neg = 1 - pos if self.data.weight is None else self.data.weight[part] - pos
        return self.targets.up(pos, neg), self.targets.down(pos, neg)

    @cached_property
    def _aside(self) -> float:
        """By how much cells pull at the slope beyond their mean scores."""
        if not isinstance(self.data, ScoreTable) or self.data.pos_sum is None or self.data.neg_sum is None:
            return 0.0
        up, _ = self._weights(slice(None))
        sums = self.targets.up(self.data.pos_sum, self.data.neg_sum)
        return float((sums / self.scale - up * (self.data.scores / self.scale)).sum())

    def loss(self, at: Place) -> float:
        """Return Σ v log(1 + eᶻ) − t z, as a sum of terms none of which is negative."""
        if not at.a:  # one forecast for all
            counts = self.data.n_pos, self.data.n_neg
            rise, fall = np.logaddexp(0.0, (-at.b, at.b))
            return float(self.targets.up(*counts) * rise + self.targets.down(*counts) * fall)
        total = -self._aside * at.a
        for _, z, up, down in self._pieces(at):
            size = np.abs(z)
            rest = np.log1p(np.exp(-size))
            total += float(rest.dot(up) + rest.dot(down) + np.where(z >= 0, down, up).dot(size))
        return total

    def derivatives(self, at: Place) -> Derivatives:
        """Sum over the points."""
        sums = [-self._aside, 0.0, 0.0, 0.0, 0.0]
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
            new = p.dot(x), p.sum(), hx.dot(x), hx.sum(), h.sum()
            sums = [float(one + more) for one, more in zip(sums, new, strict=True)]
        return Derivatives(*sums)


#: Points of a fit: their loss, but for a constant, and its derivatives.
Points = Marginal | LineRows
