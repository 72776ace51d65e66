"""The straight line in log-odds: Newton's method for L = a·s + b on points of any number and size.

Labels enter a logistic fit only through two sums, so no sort is needed. Long data are first reduced to a histogram;
the fit to it is so close that one exact pass over all rows, or none, remains.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from oddsmith import _kernels
from oddsmith._check import Floats, Weights
from oddsmith.table import ScoreRows, ScoreTable

_MAX_STEPS = 100

#: A step below this share of the parameters leaves an error of about its square.
_STEP = 1e-6

#: More points than this are first reduced to a histogram.
_LONG = 30_000

#: Cells of the histogram: of counts, and of counts with moments.
_COUNT_CELLS = 16_384
_MOMENT_CELLS = 4096

#: Largest slope × half cell width at which a cell with three moments is as good as its points.
_FINE = 5e-3


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
    sum_pos, sum_neg = data.class_sums(scale, shift)
    # λ(a² + b²) as a quadratic form in slope and intercept of the standardised scores.
    penalty = (2 * l2 * (1 / scale / scale + shift * shift), -2 * l2 * shift, 2 * l2) if l2 else (0.0, 0.0, 0.0)
    problem = Problem(
        target_pos * sum_pos + target_neg * sum_neg,
        target_pos * data.n_pos + target_neg * data.n_neg,
        *penalty,
        fit_intercept,
    )
    start = (0.0, math.log((data.n_pos + 1) / (data.n_neg + 1)) if fit_intercept else 0.0)
    scores, weight = data.marginal()
    if len(scores) <= _LONG:
        a, b, converged = newton(scores / scale - shift, weight, problem, start)
    else:
        a, b, converged = _fit_long(scores, weight, scale, shift, problem, start)
    return Line(a, b, centre, scale, converged)


def _standard(data: ScoreTable | ScoreRows, centred: bool, l2: float) -> tuple[float, float]:
    """Return a centre within the scores and a power of two that brings their distances from it to at most 1."""
    low, high = data.span()
    centre = 0.0
    if centred:
        # The mean is close to where the fit turns; near the largest doubles its sum would overflow.
        safe = max(abs(low), abs(high)) < 1e300
        centre = min(max(float(data.scores.mean()), low), high) if safe else low / 2 + high / 2
    reach = max(abs(high / 2 - centre / 2), abs(low / 2 - centre / 2))
    exponent = math.frexp(reach)[1] + 1
    # With a penalty 1/scale² must stay finite; scores that small have no say against it anyway.
    return centre, math.ldexp(1.0, max(min(exponent, 1023), -400 if l2 else -1020))


def newton(
    x: Floats, weight: Weights | None, problem: Problem, start: tuple[float, float]
) -> tuple[float, float, bool]:
    """Newton's method with backtracking; returns slope, intercept and whether it converged."""
    a, b = start
    loss, at = _evaluate(x, weight, problem, a, b)
    for _ in range(_MAX_STEPS):
        da, db = _direction(at, problem)
        if _small(da, db, a, b):
            return a + da, b + db, True
        gain = -(at.ga * da + at.gb * db)
        step = 1.0
        while gain > 0:
            trial_loss, trial = _evaluate(x, weight, problem, a + step * da, b + step * db)
            # Near the optimum the objective changes by less than its own rounding.
            if trial_loss <= loss - 1e-4 * step * gain + 1e-13 * abs(loss):
                break
            step /= 2
            if step < 1e-10:
                return a, b, False
        else:
            return a, b, True  # the gradient is zero to the last bit
        a, b, loss, at = a + step * da, b + step * db, trial_loss, trial
    return a, b, False


def _evaluate(
    x: Floats, weight: Weights | None, problem: Problem, a: float, b: float
) -> tuple[float, Derivatives]:
    """Return the objective with its derivatives, in forms that neither overflow nor cancel."""
    z = a * x + b
    e = np.exp(-np.abs(z))
    q = 1 / (1 + e)
    p = np.where(z >= 0, q, e * q)
    h = e * q * q
    loss = np.log1p(e) + np.maximum(z, 0)
    if weight is not None:
        p, h, loss = p * weight, h * weight, loss * weight
    hx = h * x
    value = float(loss.sum()) - problem.target_a * a - problem.target_b * b
    value += (problem.penalty_aa * a * a + 2 * problem.penalty_ab * a * b + problem.penalty_bb * b * b) / 2
    sums = Derivatives(float(p.dot(x)), float(p.sum()), float(hx.dot(x)), float(hx.sum()), float(h.sum()))
    return value, _complete(sums, problem, a, b)


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


def _fit_long(
    scores: Floats,
    weight: Weights | None,
    scale: float,
    shift: float,
    problem: Problem,
    start: tuple[float, float],
) -> tuple[float, float, bool]:
    """Fit a histogram of the points, then polish on the points themselves where the histogram is too coarse."""
    fast = _kernels.compiled(len(scores)) if weight is None else None
    low, high = float(scores.min()) / scale - shift, float(scores.max()) / scale - shift
    if fast is not None:
        width = (high - low) / _MOMENT_CELLS
        sums = fast.cell_moments(scores, 1 / scale, shift, low, 1 / width, _MOMENT_CELLS)
        centres = low + width * (np.arange(_MOMENT_CELLS) + 0.5)
        points, share = _kernels.gauss_points(centres, width, sums)
    else:
        points, share = _count_histogram(scores, weight, scale, shift, low, high)
    a, b, converged = newton(points, share, problem, start)
    if converged and fast is not None and abs(a) * width / 2 <= _FINE:
        return a, b, True
    for _ in range(_MAX_STEPS if converged else 0):
        at = _complete(exact_pass(scores, weight, scale, shift, a, b), problem, a, b)
        da, db = _direction(at, problem)
        if _small(da, db, a, b):
            return a + da, b + db, True
        if abs(da) > 0.5 * abs(a):
            break  # too far for a full step without a look at the objective
        a, b = a + da, b + db
    return newton(scores / scale - shift, weight, problem, (a, b))


def _count_histogram(
    scores: Floats, weight: Weights | None, scale: float, shift: float, low: float, high: float
) -> tuple[Floats, Floats]:
    """Return centres and weights of the occupied cells."""
    counts = np.zeros(_COUNT_CELLS)
    per_cell = _COUNT_CELLS / (high - low)
    for start in range(0, len(scores), _kernels.CHUNK):
        part = slice(start, start + _kernels.CHUNK)
        place = scores[part] / scale
        place -= shift  # exact where scores are close together, which one combined offset would not be
        place -= low
        place *= per_cell
        np.minimum(place, _COUNT_CELLS - 1, out=place)
        share = None if weight is None else weight[part]
        counts += np.bincount(place.astype(np.intp), share, _COUNT_CELLS)
    held = np.flatnonzero(counts)
    return low + (held + 0.5) * ((high - low) / _COUNT_CELLS), counts[held]


def exact_pass(
    scores: Floats, weight: Weights | None, scale: float, shift: float, a: float, b: float
) -> Derivatives:
    """Sum the derivatives over all points, a cache-sized piece at a time; no objective, for speed."""
    total = np.zeros(5)
    ones = np.ones(min(len(scores), _kernels.CHUNK))
    with np.errstate(over="ignore"):
        for start in range(0, len(scores), _kernels.CHUNK):
            x = scores[start : start + _kernels.CHUNK] / scale
            x -= shift
            one = ones[: len(x)]
            p = x * -a
            p -= b
            np.exp(p, out=p)
            p += 1
            np.divide(1, p, out=p)
            h = p * p
            np.subtract(p, h, out=h)
            if weight is not None:
                v = weight[start : start + _kernels.CHUNK]
                p, h = p * v, h * v
            hx = h * x
            total += (p.dot(x), p.dot(one), hx.dot(x), hx.dot(one), h.dot(one))
    return Derivatives(*total.tolist())
