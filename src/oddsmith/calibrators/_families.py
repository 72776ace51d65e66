"""Class-conditional densities: six families, all with one mode and a tail of its own on each side of it.

Every density here is log p(x) = peak − rate·|d| − curve·d², d = x − θ, with one rate and curve left of θ and another
right of it; so the log-odds of any pair is piecewise quadratic, and one function builds it.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from oddsmith import _kernels
from oddsmith._types import Floats
from oddsmith.calibrators._mode import ClassScores, Mode, Power, find_mode
from oddsmith.table.quantiles import weighted_median

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


class Family(ABC):
    """How to fit one density to one class."""

    name: ClassVar[str]

    @abstractmethod
    def fit(
        self, sample: ClassScores, limits: ScaleLimits, inner_left: bool, subdivisions: int, min_side: float
    ) -> Density:
        """Fit by maximum likelihood; ``inner_left`` says that the other class lies to the left."""


class Gaussian(Family):
    """Mean and standard deviation."""

    name = "gaussian"

    def fit(
        self, sample: ClassScores, limits: ScaleLimits, inner_left: bool, subdivisions: int, min_side: float
    ) -> Density:
        """Return the maximum-likelihood Gaussian, its standard deviation at least the limit."""
        del inner_left, subdivisions, min_side
        mu, variance = moments(sample)
        sigma = min(max(math.sqrt(variance), limits.sigma_low), limits.sigma_high)
        side = Side(0.0, 1 / (2 * sigma**2))
        peak = -_LOG_ROOT_2PI - math.log(sigma)
        fitted = sample.n * (peak - variance * side.curve)
        return _density(sample, mu, peak, side, side, {"mu": mu, "sigma": sigma * sample.scale}, fitted)


class Laplace(Family):
    """Median and mean absolute deviation."""

    name = "laplace"

    def fit(
        self, sample: ClassScores, limits: ScaleLimits, inner_left: bool, subdivisions: int, min_side: float
    ) -> Density:
        """Return the maximum-likelihood Laplace density; of a middle interval the midpoint."""
        del inner_left, subdivisions, min_side
        weight = np.ones(len(sample.scores), np.int64) if sample.weight is None else sample.weight
        theta, left, right = sample.mode_at(weighted_median(sample.scores, weight), (1, 1))
        b = min(max((left + right) / sample.n, 1 / limits.rate_high), 1 / limits.rate_low)
        side = Side(1 / b, 0.0)
        peak = -math.log(2 * b)
        parameters = {"theta": theta, "b": b * sample.scale}
        return _density(sample, theta, peak, side, side, parameters, sample.n * peak - (left + right) / b)


class AsymmetricLaplace(Family):
    """Mode, and an exponential tail of its own on each side."""

    name = "asymmetric_laplace"

    def fit(
        self, sample: ClassScores, limits: ScaleLimits, inner_left: bool, subdivisions: int, min_side: float
    ) -> Density:
        """Minimize √D_l + √D_r over θ."""
        del inner_left
        mode = find_mode(sample, (1, 1), lambda left, right: np.sqrt(left) + np.sqrt(right), subdivisions, min_side)
        return self.at(mode, sample, limits)

    def at(self, mode: Mode, sample: ClassScores, limits: ScaleLimits) -> Density:
        """Return the best density with its mode at θ."""
        n, (theta, left, right) = sample.n, mode
        cross = math.sqrt(left) * math.sqrt(right)
        beta = min(n / (left + cross), limits.rate_high) if left > 0 else limits.rate_high
        gamma = min(n / (right + cross), limits.rate_high) if right > 0 else limits.rate_high
        if n == 0:
            beta = gamma = limits.rate_low
        peak = -math.log(1 / beta + 1 / gamma)
        parameters = {"theta": theta, "beta": beta / sample.scale, "gamma": gamma / sample.scale}
        fitted = n * peak - beta * left - gamma * right
        spike = left == 0 or right == 0
        return _density(sample, theta, peak, Side(beta, 0.0), Side(gamma, 0.0), parameters, fitted, spike)


class Exponential(Family):
    """One-sided: the mode at the end of the class that makes it likelier."""

    name = "exponential"

    def fit(
        self, sample: ClassScores, limits: ScaleLimits, inner_left: bool, subdivisions: int, min_side: float
    ) -> Density:
        """Take the likelier of the two ends; beyond it the tail is the steepest allowed."""
        del inner_left, subdivisions, min_side
        low, high = (sample.mode_at(end, (1, 1)) for end in sample.ends())
        density = AsymmetricLaplace().at(high if high.left < low.right else low, sample, limits)
        return replace(density, spike=False)


class AsymmetricGaussian(Family):
    """Mode, and a half-Gaussian tail of its own on each side."""

    name = "asymmetric_gaussian"

    def fit(
        self, sample: ClassScores, limits: ScaleLimits, inner_left: bool, subdivisions: int, min_side: float
    ) -> Density:
        """Minimize ∛D_l2 + ∛D_r2 over θ."""
        del inner_left
        mode = find_mode(sample, (2, 2), lambda left, right: np.cbrt(left) + np.cbrt(right), subdivisions, min_side)
        return self.at(mode, sample, limits)

    def at(self, mode: Mode, sample: ClassScores, limits: ScaleLimits) -> Density:
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
        return _density(sample, theta, peak, *sides, parameters, fitted, left == 0 or right == 0)


class Hybrid(Family):
    """Exponential on the inner side, towards the other class, and Gaussian on the outer side."""

    name = "hybrid"

    def fit(
        self, sample: ClassScores, limits: ScaleLimits, inner_left: bool, subdivisions: int, min_side: float
    ) -> Density:
        """Minimize the profile −log L/N over θ."""
        n = sample.n

        def objective(left: Floats, right: Floats) -> Floats:
            inner, outer = (left, right) if inner_left else (right, left)
            return hybrid_loss(inner / n, outer / n)

        mode = find_mode(sample, self.powers(inner_left), objective, subdivisions, min_side)
        return self.at(mode, sample, limits, inner_left)

    @staticmethod
    def powers(inner_left: bool) -> tuple[Power, Power]:
        """Return which deviations count on the left and on the right."""
        return (1, 2) if inner_left else (2, 1)

    def at(self, mode: Mode, sample: ClassScores, limits: ScaleLimits, inner_left: bool) -> Density:
        """Return the best density with its mode at θ."""
        n, theta = sample.n, mode.theta
        inner, outer = (mode.left, mode.right) if inner_left else (mode.right, mode.left)
        means = np.array(inner / n), np.array(outer / n)  # which may be 0 where the sums are not
        t = float(_hybrid_root(*means, 6)[0]) ** 6 if any(means) else 0.0
        u = max(math.sqrt(inner * t / n), 1 / limits.rate_high)
        sigma = max(math.cbrt(outer * t / (_ROOT * n)), limits.sigma_low)
        peak = -math.log(u + _ROOT * sigma)
        exponential, gaussian = Side(1 / u, 0.0), Side(0.0, 1 / (2 * sigma**2))
        sides = (exponential, gaussian) if inner_left else (gaussian, exponential)
        parameters = {"theta": theta, "beta": 1 / u / sample.scale, "sigma": sigma * sample.scale}
        fitted = n * peak - inner / u - outer * gaussian.curve
        return _density(sample, theta, peak, *sides, parameters, fitted, inner == 0 or outer == 0)


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (AsymmetricGaussian(), AsymmetricLaplace(), Exponential(), Gaussian(), Hybrid(), Laplace())
}


def moments(sample: ClassScores) -> tuple[float, float]:
    """Return the mean, as a score, and the variance (divided by N) on the standardized scale.

    Distances are taken from a score in the middle of the class: nothing cancels, and the mean of equal scores is
    exactly that score.
    """
    reference = _middle(sample)
    at = reference / sample.scale
    first = second = 0.0
    for start in range(0, len(sample.scores), _kernels.CHUNK):
        part = slice(start, start + _kernels.CHUNK)
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
    left: Side,
    right: Side,
    parameters: dict[str, float],
    fitted: float,
    spike: bool = False,
) -> Density:
    # Likelihoods are reported on the scale of the scores: densities change by the factor 1/scale.
    return Density(theta, peak, left, right, parameters, fitted - sample.n * math.log(sample.scale), spike)
