"""Class-conditional densities: six families, all with one mode and a tail of its own on each side of it.

Every density here is log p(x) = peak − rate·|d| − curve·d², d = x − θ, with one rate and curve left of θ and another
right of it; so the log-odds of any pair is piecewise quadratic, and one function builds it.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from oddsmith._check import Floats
from oddsmith.calibrators._mode import ClassScores, Power, find_mode

_ROOT = math.sqrt(math.pi / 2)
_LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)


class Limits(NamedTuple):
    """Continuity constants on the standardised scale: steepest and flattest tails that a fit may have."""

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
    """A fitted density; tails and peak on the standardised scale, θ and parameters on the scale of the scores."""

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
    def fit(self, sample: ClassScores, limits: Limits, inner_left: bool, subdivisions: int, min_side: float) -> Density:
        """Fit by maximum likelihood; ``inner_left`` says that the other class lies to the left."""


class Gaussian(Family):
    """Mean and standard deviation."""

    name = "gaussian"

    def fit(self, sample: ClassScores, limits: Limits, inner_left: bool, subdivisions: int, min_side: float) -> Density:
        """Return the maximum-likelihood Gaussian, its standard deviation at least the limit."""
        del inner_left, subdivisions, min_side
        mean, variance = moments(sample)
        sigma = min(max(math.sqrt(variance), limits.sigma_low), limits.sigma_high)
        side = Side(0.0, 1 / (2 * sigma**2))
        mu = sample.centre + mean * sample.scale
        peak = -_LOG_ROOT_2PI - math.log(sigma)
        fitted = sample.n * (peak - variance * side.curve)
        return _density(sample, mu, peak, side, side, {"mu": mu, "sigma": sigma * sample.scale}, fitted)


class Laplace(Family):
    """Median and mean absolute deviation."""

    name = "laplace"

    def fit(self, sample: ClassScores, limits: Limits, inner_left: bool, subdivisions: int, min_side: float) -> Density:
        """Return the maximum-likelihood Laplace density; of a middle interval the midpoint."""
        del inner_left, subdivisions, min_side
        theta = weighted_median(sample)
        deviation = sample.deviation(theta, True, 1) + sample.deviation(theta, False, 1)
        b = min(max(deviation / sample.n, 1 / limits.rate_high), 1 / limits.rate_low)
        side = Side(1 / b, 0.0)
        peak = -math.log(2 * b)
        parameters = {"theta": theta, "b": b * sample.scale}
        return _density(sample, theta, peak, side, side, parameters, sample.n * peak - deviation / b)


class AsymmetricLaplace(Family):
    """Mode, and an exponential tail of its own on each side."""

    name = "asymmetric_laplace"

    def fit(self, sample: ClassScores, limits: Limits, inner_left: bool, subdivisions: int, min_side: float) -> Density:
        """Minimise √D_l + √D_r over θ."""
        del inner_left
        theta = find_mode(sample, (1, 1), lambda left, right: np.sqrt(left) + np.sqrt(right), subdivisions, min_side)
        return self.at(theta, sample, limits)

    def at(self, theta: float, sample: ClassScores, limits: Limits) -> Density:
        """Return the best density with its mode at θ."""
        n, left, right = sample.n, sample.deviation(theta, True, 1), sample.deviation(theta, False, 1)
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

    def fit(self, sample: ClassScores, limits: Limits, inner_left: bool, subdivisions: int, min_side: float) -> Density:
        """Take the likelier of the two ends; beyond it the tail is the steepest allowed."""
        del inner_left, subdivisions, min_side
        low, high = float(sample.raw[0]), float(sample.raw[-1])
        rising = sample.deviation(high, True, 1) < sample.deviation(low, False, 1)
        density = AsymmetricLaplace().at(high if rising else low, sample, limits)
        return Density(**{**density.__dict__, "spike": False})


class AsymmetricGaussian(Family):
    """Mode, and a half-Gaussian tail of its own on each side."""

    name = "asymmetric_gaussian"

    def fit(self, sample: ClassScores, limits: Limits, inner_left: bool, subdivisions: int, min_side: float) -> Density:
        """Minimise ∛D_l2 + ∛D_r2 over θ."""
        del inner_left
        theta = find_mode(sample, (2, 2), lambda left, right: np.cbrt(left) + np.cbrt(right), subdivisions, min_side)
        return self.at(theta, sample, limits)

    def at(self, theta: float, sample: ClassScores, limits: Limits) -> Density:
        """Return the best density with its mode at θ."""
        n, left, right = sample.n, sample.deviation(theta, True, 2), sample.deviation(theta, False, 2)
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

    def fit(self, sample: ClassScores, limits: Limits, inner_left: bool, subdivisions: int, min_side: float) -> Density:
        """Minimise the profile −log L/N over θ."""
        n = sample.n
        powers: tuple[Power, Power] = (1, 2) if inner_left else (2, 1)

        def objective(left: Floats, right: Floats) -> Floats:
            inner, outer = (left, right) if inner_left else (right, left)
            return hybrid_loss(inner / n, outer / n)

        theta = find_mode(sample, powers, objective, subdivisions, min_side)
        return self.at(theta, sample, limits, inner_left)

    def at(self, theta: float, sample: ClassScores, limits: Limits, inner_left: bool) -> Density:
        """Return the best density with its mode at θ."""
        n = sample.n
        inner, outer = sample.deviation(theta, inner_left, 1), sample.deviation(theta, not inner_left, 2)
        t = float(_hybrid_normaliser(np.array([inner / n]), np.array([outer / n]))[0])
        u = max(math.sqrt(inner * t / n), 1 / limits.rate_high)
        sigma = max(math.cbrt(outer * t / (_ROOT * n)), limits.sigma_low)
        peak = -math.log(u + _ROOT * sigma)
        exponential, gaussian = Side(1 / u, 0.0), Side(0.0, 1 / (2 * sigma**2))
        sides = (exponential, gaussian) if inner_left else (gaussian, exponential)
        parameters = {"theta": theta, "beta": 1 / (u * sample.scale), "sigma": sigma * sample.scale}
        fitted = n * peak - inner / u - outer * gaussian.curve
        return _density(sample, theta, peak, *sides, parameters, fitted, inner == 0 or outer == 0)


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (AsymmetricGaussian(), AsymmetricLaplace(), Exponential(), Gaussian(), Hybrid(), Laplace())
}


def moments(sample: ClassScores) -> tuple[float, float]:
    """Return mean and variance (divided by N) on the standardised scale."""
    if sample.weight is None:
        mean = float(sample.x.mean())
        return mean, float(np.mean((sample.x - mean) ** 2))
    mean = float(np.dot(sample.weight, sample.x)) / sample.n
    return mean, float(np.dot(sample.weight, (sample.x - mean) ** 2)) / sample.n


def weighted_median(sample: ClassScores) -> float:
    """Return the raw median: the midpoint where half of the weight lies on each side of a gap."""
    below = np.arange(1.0, len(sample.x) + 1) if sample.weight is None else np.cumsum(sample.weight, dtype=np.float64)
    half = below[-1] / 2
    at = int(np.searchsorted(below, half))
    if below[at] == half:
        return float(sample.raw[at] / 2 + sample.raw[at + 1] / 2)
    return float(sample.raw[at])


def _hybrid_normaliser(inner: Floats, outer: Floats) -> Floats:
    """Return T = u + kσ from the mean deviations: w = T^(1/6) is the positive root of w⁴ − Aw − B."""
    a, b = np.sqrt(inner), _ROOT ** (2 / 3) * np.cbrt(outer)
    w = np.cbrt(a) + np.sqrt(np.sqrt(b))
    # From the right of the root of a convex function Newton's method falls monotonically to it.
    for _ in range(60):
        slope = 4 * w**3 - a
        step = np.divide(w**4 - a * w - b, slope, out=np.zeros_like(w), where=slope > 0)
        w = w - step
        if np.all(step <= 1e-15 * w):
            break
    return w**6


def hybrid_loss(inner: Floats, outer: Floats) -> Floats:
    """Return −log L/N of the best hybrid density with mean deviations D₁/N and D₂/N."""
    t = _hybrid_normaliser(inner, outer)
    u, sigma = np.sqrt(inner * t), np.cbrt(outer * t / _ROOT)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(t > 0, np.log(t) + (u + _ROOT * sigma / 2) / t, -np.inf)


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
