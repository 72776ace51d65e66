"""The straight line in log-odds: Newton's method for L = a·s + b on points of any number and size.

Labels enter a logistic fit only through two sums, so no sort is needed. Long data are first reduced to a histogram;
the fit to it is so close that one exact pass over all rows, or none, remains.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from oddsmith import _kernels
from oddsmith._check import Floats, Weights
from oddsmith.rows import ScoreRows, binary_scale
from oddsmith.table import ScoreTable

_MAX_STEPS = 100

#: A step below this share of the parameters leaves an error of about its square.
_STEP = 1e-6

#: Scores whose mean serves as the centre.
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
    """Σ v log(1 + eᶻ) − targets·(a, b) + ½(a, b)·penalty·(a, b) for z = ax + b, to be minimised."""

    target_a: float
    target_b: float
    penalty_aa: float
    penalty_ab: float
    penalty_bb: float
    fit_intercept: bool


class Derivatives(NamedTuple):
    """Gradient and Hessian of Σ v log(1 + eᶻ)."""

    ga: float
    gb: float
    haa: float
    hab: float
    hbb: float


def fit_line(
    data: ScoreTable | ScoreRows,
    target_pos: float,
    target_neg: float,
    l2: float = 0.0,
    fit_intercept: bool = True,
) -> Line:
    """Minimise Σ v[log(1 + eᶻ) − t z] + λ(a² + b²), z = as + b, with target t for each class.

    Parameters
    ----------
    data : ScoreTable or ScoreRows
        With both classes and at least two distinct scores.
    target_pos, target_neg : float
        Targets of the two classes: 1 and 0, or Platt's.
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
    problem = Problem(
        target_pos * sum_pos + target_neg * sum_neg,
        target_pos * data.n_pos + target_neg * data.n_neg,
        *penalty,
        fit_intercept,
    )
    points, share = (scores / scale - shift, weight) if histogram is None else histogram[:2]
    start = _first_guess(points, share, (sum_pos, sum_neg), (data.n_pos, data.n_neg), fit_intercept)
    if l2:
        start = (0.0, start[1])  # a slope that the penalty forbids might be too large to square
    if histogram is None:
        a, b, converged = newton(points, share, problem, start)
    else:
        a, b, converged = _fit_long(scores, weight, scale, shift, histogram, problem, start)
    return Line(a, b, centre, scale, converged)


def _standard(data: ScoreTable | ScoreRows, centred: bool, l2: float) -> tuple[float, float]:
    """Return a centre within the scores and a power of two that brings their distances from it to at most 1."""
    low, high = data.span()
    centre = 0.0
    if centred:
        # About the mean, of some scores, the fit is well conditioned; near the largest doubles its sum would overflow.
        some = data.scores[:: max(1, len(data.scores) // _SOME)]
        safe = max(abs(low), abs(high)) < 1e300
        centre = min(max(float(some.mean()), low), high) if safe else low / 2 + high / 2
    # Without a centre the scores reach from 0. With a penalty 1/scale² must stay finite; scores that small have no say
    # against it anyway.
    scale = binary_scale(min(low, centre), max(high, centre))
    return centre, max(scale, math.ldexp(1.0, -400)) if l2 else scale


def _first_guess(
    x: Floats, weight: Weights | None, sums: tuple[float, float], counts: tuple[float, float], fit_intercept: bool
) -> tuple[float, float]:
    """Return the line of two Gaussians with one variance, held to log-odds of a few units."""
    (n_pos, n_neg), (mean_pos, mean_neg) = counts, (total / count for total, count in zip(sums, counts, strict=True))
    square = float(x.dot(x) if weight is None else (weight * x).dot(x))
    if not fit_intercept:
        # Newton's step from 0: far from 0 the two Gaussians have log-odds so large that nothing would move them.
        return 2 * (sums[0] - sums[1]) / square if square > 0 else 0.0, 0.0
    variance = (square - n_pos * mean_pos**2 - n_neg * mean_neg**2) / (n_pos + n_neg)
    gap = mean_pos - mean_neg
    a = gap / variance if variance > 0.1 * gap * gap else 0.0
    return a, math.log((n_pos + 1) / (n_neg + 1)) - a * (mean_pos + mean_neg) / 2


def newton(
    x: Floats, weight: Weights | None, problem: Problem, start: tuple[float, float]
) -> tuple[float, float, bool]:
    """Newton's method with backtracking; returns slope, intercept and whether it converged."""
    a, b = start
    at = _derivatives(x, weight, problem, a, b)
    for _ in range(_MAX_STEPS):
        da, db = _direction(at, problem)
        if _small(da, db, a, b):
            return a + da, b + db, True
        fall = at.ga * da + at.gb * db
        if not fall < 0:
            return a, b, True  # the gradient is zero to the last bit
        trial = _derivatives(x, weight, problem, a + da, b + db)
        step = 1.0
        # Where the slope along the step has halved, the objective has fallen; else it is looked at.
        if abs(trial.ga * da + trial.gb * db) > -0.5 * fall:
            loss = _objective(x, weight, problem, a, b)
            # Near the optimum the objective changes by less than its own rounding.
            slack = 1e-13 * abs(loss)
            while _objective(x, weight, problem, a + step * da, b + step * db) > loss + 1e-4 * step * fall + slack:
                step /= 2
                if step < 1e-10:
                    return a, b, False
            trial = _derivatives(x, weight, problem, a + step * da, b + step * db)
        a, b, at = a + step * da, b + step * db, trial
    return a, b, False


def _objective(x: Floats, weight: Weights | None, problem: Problem, a: float, b: float) -> float:
    """Return what is minimised, in a form that neither overflows nor cancels."""
    z = a * x + b
    loss = np.log1p(np.exp(-np.abs(z))) + np.maximum(z, 0)
    total = float(loss.sum() if weight is None else (loss * weight).sum())
    penalty = problem.penalty_aa * a * a + 2 * problem.penalty_ab * a * b + problem.penalty_bb * b * b
    return total + penalty / 2 - problem.target_a * a - problem.target_b * b


def _derivatives(x: Floats, weight: Weights | None, problem: Problem, a: float, b: float) -> Derivatives:
    p = expit(a * x + b)
    h = p * (1 - p)
    if weight is not None:
        p, h = p * weight, h * weight
    hx = h * x
    sums = Derivatives(float(p.dot(x)), float(p.sum()), float(hx.dot(x)), float(hx.sum()), float(h.sum()))
    return _complete(sums, problem, a, b)


def _complete(sums: Derivatives, problem: Problem, a: float, b: float) -> Derivatives:
    """Add targets and penalty to the derivatives."""
    _, _, paa, pab, pbb, _ = problem
    return Derivatives(
        sums.ga - problem.target_a + paa * a + pab * b,
        sums.gb - problem.target_b + pab * a + pbb * b,
        sums.haa + paa,
        sums.hab + pab,
        sums.hbb + pbb,
    )


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


def _small(da: float, db: float, a: float, b: float) -> bool:
    return abs(da) <= _STEP * abs(a) and abs(db) <= _STEP * max(abs(b), 1e-3)


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


def _fit_long(
    scores: Floats,
    weight: Weights | None,
    scale: float,
    shift: float,
    histogram: Histogram,
    problem: Problem,
    start: tuple[float, float],
) -> tuple[float, float, bool]:
    """Fit the histogram, then polish on the points themselves where it is too coarse."""
    a, b, converged = newton(histogram.points, histogram.share, problem, start)
    if converged and abs(a) * histogram.width / 2 <= _FINE:
        return a, b, True
    for _ in range(_MAX_STEPS if converged else 0):
        at = _complete(exact_pass(scores, weight, scale, shift, a, b), problem, a, b)
        if min(at.haa, at.hbb) <= 0:
            a, b = start  # the histogram has led to where everything is 0 or 1 to the last bit
            break
        da, db = _direction(at, problem)
        if _small(da, db, a, b):
            return a + da, b + db, True
        if abs(da) > 0.5 * abs(a):
            break  # too far for a full step without a look at the objective
        a, b = a + da, b + db
    return newton(scores / scale - shift, weight, problem, (a, b))


def exact_pass(scores: Floats, weight: Weights | None, scale: float, shift: float, a: float, b: float) -> Derivatives:
    """Sum the derivatives over all points, a cache-sized piece at a time; no objective, for speed."""
    total = np.zeros(6)
    per_score = 1 / scale
    ones = np.ones(min(len(scores), _kernels.CHUNK))
    with np.errstate(over="ignore"):
        for start in range(0, len(scores), _kernels.CHUNK):
            x = scores[start : start + _kernels.CHUNK] * per_score
            x -= shift
            p = x * -a
            p -= b
            np.exp(p, out=p)
            p += 1
            np.divide(1, p, out=p)
            v = ones[: len(x)] if weight is None else weight[start : start + _kernels.CHUNK].astype(np.float64)
            vp = p if weight is None else p * v
            square = vp * p
            xx = x * x
            total += (vp.dot(x), p.dot(v), vp.dot(xx), square.dot(xx), square.dot(x), square.dot(ones[: len(x)]))
    px, p0, pxx, qxx, qx, q = total.tolist()
    # p(1 − p) as p − p²: the curvature needs no more digits than that.
    return Derivatives(px, p0, pxx - qxx, px - qx, p0 - q)
