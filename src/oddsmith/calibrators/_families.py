"""Class-conditional densities: six families, all with one mode and a tail of its own on each side of it.

Every density here is log p(x) = peak − rate·|d| − curve·d², d = x − θ, with one rate and curve left of θ and another
right of it; so the log-odds of any pair is piecewise quadratic, and one function builds it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from oddsmith._types import Floats
from oddsmith.calibrators._mode import ClassScores, Mode, find_mode
from oddsmith.data import slices, weighted_median

_ROOT = math.sqrt(math.pi / 2)
_LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)


class ScaleLimits(NamedTuple):
    """Continuity constants on the standardized scale: steepest and flattest tails that a fit may have."""

    rate_low: float
    rate_high: float
    sigma_low: float
    sigma_high: float


class Side(NamedTuple):
    """One tail: −log p grows by rate·|d| + curve·d²."""

    rate: float
    curve: float


@dataclass(frozen=True)
class Density:
    """A fitted density; tails and peak on the standardized scale, θ and parameters on the scale of the scores."""

    theta: float
    peak: float
    left: Side
    right: Side
    parameters: dict[str, float]
    log_likelihood: float
    spike: bool = False

    def tail(self, place: float) -> Side:
        """Return the tail that holds at a place."""
        return self.left if place <= self.theta else self.right


class ModeSearch(NamedTuple):
    """Which modes are tried, as for `find_mode`, and whether the other class lies to the left."""

    subdivisions: int
    min_side: float
    inner_left: bool


#: Fits one density to one class, by maximum likelihood.
Family = Callable[[ClassScores, ScaleLimits, ModeSearch], Density]


def gaussian(sample: ClassScores, limits: ScaleLimits, _search: ModeSearch) -> Density:
    """Mean and standard deviation."""
    mu, variance = moments(sample)
    return gaussian_with(sample, mu, variance, min(max(math.sqrt(variance), limits.sigma_low), limits.sigma_high))


def gaussian_with(sample: ClassScores, mu: float, variance: float, sigma: float) -> Density:
    """Return a Gaussian whose standard deviation may be another than that of the class."""
    side = Side(0.0, 1 / (2 * sigma**2))
    peak = -_LOG_ROOT_2PI - math.log(sigma)
    fitted = sample.n * (peak - variance * side.curve)
    return _density(sample, mu, peak, (side, side), {"mu": mu, "sigma": sigma * sample.scale}, fitted)


def laplace(sample: ClassScores, limits: ScaleLimits, _search: ModeSearch) -> Density:
    """Median, of a middle interval the midpoint, and mean absolute deviation."""
    weight = np.ones(len(sample.scores), np.int64) if sample.weight is None else sample.weight
    theta, left, right = sample.mode_at(weighted_median(sample.scores, weight), (1, 1))
    b = min(max((left + right) / sample.n, 1 / limits.rate_high), 1 / limits.rate_low)
    side, peak = Side(1 / b, 0.0), -math.log(2 * b)
    fitted = sample.n * peak - (left + right) / b
    return _density(sample, theta, peak, (side, side), {"theta": theta, "b": b * sample.scale}, fitted)


def exponential(sample: ClassScores, limits: ScaleLimits, _search: ModeSearch) -> Density:
    """One-sided: the mode at the likelier end of the class; beyond it the tail is the steepest allowed."""
    low, high = (sample.mode_at(end, (1, 1)) for end in sample.ends())
    return replace(asymmetric_laplace_at(high if high.left < low.right else low, sample, limits), spike=False)


def asymmetric_laplace(sample: ClassScores, limits: ScaleLimits, search: ModeSearch) -> Density:
    """Mode, and an exponential tail of its own on each side; θ minimizes √D_l + √D_r."""
    mode = find_mode(sample, (1, 1), lambda left, right: np.sqrt(left) + np.sqrt(right), *search[:2])
    return asymmetric_laplace_at(mode, sample, limits)


def asymmetric_laplace_at(mode: Mode, sample: ClassScores, limits: ScaleLimits) -> Density:
    """Return the best density with its mode at θ."""
    n, (theta, left, right) = sample.n, mode
    cross = math.sqrt(left) * math.sqrt(right)
    beta, gamma = (min(n / (own + cross), limits.rate_high) if own > 0 else limits.rate_high for own in (left, right))
    if n == 0:
        beta = gamma = limits.rate_low
    peak = -math.log(1 / beta + 1 / gamma)
    parameters = {"theta": theta, "beta": beta / sample.scale, "gamma": gamma / sample.scale}
    fitted = n * peak - beta * left - gamma * right
    return _density(sample, theta, peak, (Side(beta, 0.0), Side(gamma, 0.0)), parameters, fitted, 0 in (left, right))


def asymmetric_gaussian(sample: ClassScores, limits: ScaleLimits, search: ModeSearch) -> Density:
    """Mode, and a half-Gaussian tail of its own on each side; θ minimizes ∛D_l2 + ∛D_r2."""
    mode = find_mode(sample, (2, 2), lambda left, right: np.cbrt(left) + np.cbrt(right), *search[:2])
    return asymmetric_gaussian_at(mode, sample, limits)


def asymmetric_gaussian_at(mode: Mode, sample: ClassScores, limits: ScaleLimits) -> Density:
    """Return the best density with its mode at θ."""
    n, (theta, left, right) = sample.n, mode
    a, b = math.cbrt(left), math.cbrt(right)
    sigma_l, sigma_r = (
        min(max(root * math.sqrt((a + b) / n), limits.sigma_low), limits.sigma_high) if n else limits.sigma_high
        for root in (a, b)
    )
    peak = math.log(2) - _LOG_ROOT_2PI - math.log(sigma_l + sigma_r)
    sides = Side(0.0, 1 / (2 * sigma_l**2)), Side(0.0, 1 / (2 * sigma_r**2))
    parameters = {"theta": theta, "sigma_l": sigma_l * sample.scale, "sigma_r": sigma_r * sample.scale}
    fitted = n * peak - sides[0].curve * left - sides[1].curve * right
    return _density(sample, theta, peak, sides, parameters, fitted, 0 in (left, right))


def hybrid(sample: ClassScores, limits: ScaleLimits, search: ModeSearch) -> Density:
    """Exponential on the inner side, towards the other class, and Gaussian on the outer side; θ minimizes −log L/N."""

    def objective(left: Floats, right: Floats) -> Floats:
        inner, outer = (left, right) if search.inner_left else (right, left)
        return hybrid_loss(inner / sample.n, outer / sample.n)

    mode = find_mode(sample, (1, 2) if search.inner_left else (2, 1), objective, *search[:2])
    return hybrid_at(mode, sample, limits, search.inner_left)


def hybrid_at(mode: Mode, sample: ClassScores, limits: ScaleLimits, inner_left: bool) -> Density:
    """Return the best density with its mode at θ."""
    n, theta = sample.n, mode.theta
    inner, outer = (mode.left, mode.right) if inner_left else (mode.right, mode.left)
    means = np.array(inner / n), np.array(outer / n)  # which may be 0 where the sums are not
    t = float(_hybrid_root(*means, 6)[0]) ** 6 if any(means) else 0.0
    u = max(math.sqrt(inner * t / n), 1 / limits.rate_high)
    sigma = max(math.cbrt(outer * t / (_ROOT * n)), limits.sigma_low)
    peak = -math.log(u + _ROOT * sigma)
    tails = Side(1 / u, 0.0), Side(0.0, 1 / (2 * sigma**2))
    parameters = {"theta": theta, "beta": 1 / u / sample.scale, "sigma": sigma * sample.scale}
    fitted = n * peak - inner / u - outer * tails[1].curve
    sides = tails if inner_left else tails[::-1]
    return _density(sample, theta, peak, sides, parameters, fitted, 0 in (inner, outer))


FAMILIES: dict[str, Family] = {
    family.__name__: family
    for family in (asymmetric_gaussian, asymmetric_laplace, exponential, gaussian, hybrid, laplace)
}


def moments(sample: ClassScores) -> tuple[float, float]:
    """Return the mean, as a score, and the variance (divided by N) on the standardized scale.

    Distances are taken from a score in the middle of the class: nothing cancels, and the mean of equal scores is
    exactly that score.
    """
    reference = _middle(sample)
    at = reference / sample.scale
    first = second = 0.0
    for part in slices(len(sample.scores)):
        distance = sample.scores[part] / sample.scale - at
        weighted = sample.w(part) * distance
        first += float(weighted.sum())
        second += float(weighted.dot(distance))
    offset = first / sample.n
    return (at + offset) * sample.scale, max(second / sample.n - offset * offset, 0.0)


def _middle(sample: ClassScores) -> float:
    """Return a score of the class near its median: the middle one of some."""
    thin = slice(None, None, max(1, len(sample.scores) // 10_001))
    some = sample.scores[thin]
    if sample.weight is not None:
        held = sample.weight[thin] > 0
        some = some[held] if held.any() else sample.scores[sample.weight > 0]
    return float(np.sort(some)[len(some) // 2])


def _hybrid_root(inner: Floats, outer: Floats, steps: int) -> tuple[Floats, Floats]:
    """Return w = T^(1/6), the positive root of w⁴ − Aw − B, and B, from the mean deviations D₁/N and D₂/N."""
    a, b = np.sqrt(inner), _ROOT ** (2 / 3) * np.cbrt(outer)
    # Within 3 % of the root, and right of the minimum of a convex function: Newton's steps square the error.
    w = np.sqrt(np.sqrt(a * np.cbrt(a) + b))
    for _ in range(steps):
        cube = w * w * w
        w = (3 * cube * w + b) / (4 * cube - a)
    return w, b


def hybrid_loss(inner: Floats, outer: Floats) -> Floats:
    """Return −log L/N of the best hybrid density with mean deviations D₁/N and D₂/N, to ten digits.

    With u/T = A/w³ and kσ/T = B/w⁴, which add up to 1, it is log T + 1 − ½B/w⁴.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        w, b = _hybrid_root(inner, outer, 3)
        square = w * w
        loss = 6 * np.log(w) + 1 - b / (2 * square * square)
    # No deviation at all: a single score, of infinite density.
    return np.where(np.isnan(loss), -np.inf, loss)


def _density(
    sample: ClassScores,
    theta: float,
    peak: float,
    sides: tuple[Side, Side],
    parameters: dict[str, float],
    fitted: float,
    spike: bool = False,
) -> Density:
    # Likelihoods are reported on the scale of the scores: densities change by the factor 1/scale.
    return Density(theta, peak, *sides, parameters, fitted - sample.n * math.log(sample.scale), spike)
