"""Canonical calibration error: whether whole rows of class probabilities mean what they say."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.metrics._alternatives import Truth, path_through
from oddsmith.metrics._label_draws import draw_labels
from oddsmith.metrics.classes import ClassForecast
from oddsmith.metrics.groups import GroupedForecast
from oddsmith.metrics.measure import Figure, measure

_NORMS = {"l1": "mean of Σ|gap|", "l2": "root of the mean of Σgap²", "squared": "mean of Σgap²"}

#: Bandwidths to choose from, and rows that the choice looks at.
_BANDWIDTHS = 2.0 ** -np.arange(0, 14)
_LOOKED_AT = 2000

#: Probabilities are held this far from 0, where the kernel's logarithm ends.
_LEAST = 1e-12

#: Numbers in one block of the kernel matrix.
_BLOCK = 4_000_000


@measure(takes="classes", null="calibrated")
def canonical_calibration_error(
    forecast: ClassForecast,
    *,
    bandwidth: float | None = None,
    norm: Literal["l1", "l2", "squared"] = "l1",
    reference: Literal["smoothed", "row"] = "smoothed",
) -> Figure:
    """Return the mean distance between rows of probabilities and the shares of classes among rows like them.

    The strictest notion of calibration, and the hardest to estimate: for many classes few rows are similar, and
    the number depends more on the bandwidth than on the forecast. Time grows with the square of the rows.

    Parameters
    ----------
    bandwidth : float, optional
        Of the Dirichlet kernel; by default the one of 1, ½, ¼, … 2⁻¹³ under which rows left out are most likely.
    norm : {"l1", "l2", "squared"}, default "l1"
        How the gaps of all classes and rows become one number.
    reference : {"smoothed", "row"}, default "smoothed"
        What shares are compared with: the mean probabilities of the same rows, less what chance adds, so that a
        calibrated forecast has an error near 0; or the row itself, as Popordanoska et al. do, whose error never quite
        falls to 0 and contains what chance adds.

    See Also
    --------
    classwise_calibration_error : Each class alone.
    top_label_calibration_error : The predicted class alone.

    Notes
    -----
    Shares are Σ_j w_j K(p_i; p_j) t_j / Σ_j w_j K(p_i; p_j) over j ≠ i, where K(·; p_j) is the Dirichlet density with
    parameters p_j/h + 1; means of probabilities likewise.

    Chance adds to the gaps of few similar rows: with 500 rows of four classes a calibrated forecast may have a mean of
    Σ|gap| of 0.3. The debiased error is √(e² − c²), or 0 where that is negative, with the observed mean e and its
    expectation c for calibrated rows. Of a single gap that is √(2/π)σ, or Σ_j 2l_j p_j(1 − p_j) if less, where l_j is
    the share of row j and σ² = Σ_j l_j² p_j(1 − p_j); of its square σ². The definition gives e and c.

    References
    ----------
    T. Popordanoska, R. Sayer and M. Blaschko, A consistent and differentiable Lp canonical calibration error estimator,
    NeurIPS 2022.

    Examples
    --------
    >>> p = [[0.6, 0.4], [0.6, 0.4], [0.6, 0.4]]
    >>> round(canonical_calibration_error([0, 0, 1], p, bandwidth=0.1, reference="row"), 4)
    0.4
    >>> canonical_calibration_error([0, 0, 1], p, bandwidth=0.1)  # no more than chance gives
    0.0
    """
    _check.one_of(norm, "norm", tuple(_NORMS))
    _check.one_of(reference, "reference", ("smoothed", "row"))
    if len(forecast) < 2:
        _check.fail("rows must be two or more", f"{len(forecast)}", "collect more rows")
    kernel = DirichletKernel(forecast)
    h = kernel.best_bandwidth() if bandwidth is None else _check.number(bandwidth, "bandwidth", low=0, strict=True)
    hot = np.eye(len(forecast.labels))[forecast.truth]
    how = f"{_NORMS[norm]} over classes; Dirichlet kernel, bandwidth {h:.4g}; against"
    if reference == "row":
        gaps = kernel.means(hot, h) - forecast.prob
        return Figure(_root(_mean(forecast, gaps if norm == "l1" else gaps**2), norm), f"{how} the row itself")
    gaps, chance = kernel.gaps(hot - forecast.prob, h)
    of_gaps, by_chance = (np.abs(gaps), chance.absolute) if norm == "l1" else (gaps**2, chance.squared)
    seen, expected = (_root(_mean(forecast, values), norm) for values in (of_gaps, by_chance))
    value = max(seen - expected, 0.0) if norm == "squared" else less_chance(seen, expected)
    return Figure(value, f"{how} smoothed probabilities; {seen:.4g} less {expected:.4g} by chance")


def less_chance(seen: float, by_chance: float) -> float:
    """Return a mean distance without what chance adds to its square.

    Examples
    --------
    >>> less_chance(0.5, 0.3), less_chance(0.2, 0.3)
    (0.4, 0.0)
    """
    return math.sqrt(max(seen**2 - by_chance**2, 0.0))


def _root(mean: float, norm: str) -> float:
    return math.sqrt(mean) if norm == "l2" else mean


def _mean(forecast: ClassForecast, values: Floats) -> float:
    """Return the mean over rows of a sum over classes of absolute values or squares."""
    return float(forecast.weight @ np.abs(values).sum(axis=1)) / float(forecast.weight.sum())


class _Chance(NamedTuple):
    """What is expected of the absolute and of the squared gaps of a calibrated forecast."""

    absolute: Floats
    squared: Floats

    @classmethod
    def of(cls, forecast: ClassForecast, likeness: Floats, rows: NDArray[np.intp]) -> Self:
        """Return it for some rows, given how much all rows count among those like them."""
        spread = forecast.prob * (1 - forecast.prob)
        if forecast.weight.dtype.kind == "i":
            # A count is as many independent cases, but for a row itself one less.
            others = np.broadcast_to(forecast.weight, likeness.shape).astype(np.float64)
            others[np.arange(len(rows)), rows] = np.maximum(forecast.weight[rows] - 1, 1)
            squared = (likeness**2 / others) @ spread
        else:
            squared = likeness**2 @ spread
        return cls(np.minimum(np.sqrt(2 / np.pi * squared), 2 * likeness @ spread), squared)


class DirichletKernel:
    """The Dirichlet kernel between rows, in logarithms, block by block."""

    def __init__(self, forecast: ClassForecast) -> None:
        self.forecast = forecast
        held = np.clip(forecast.prob, _LEAST, 1.0)
        self.prob: Floats = held / held.sum(axis=1, keepdims=True)
        self.log_weight: Floats = np.log(forecast.weight.astype(np.float64))

    def means(self, values: Floats, bandwidth: float) -> Floats:
        """Return the means of columns of values over rows like each row, itself left out."""
        return np.concatenate([likeness @ values for _, likeness in self._likeness(bandwidth)])

    def gaps(self, values: Floats, bandwidth: float) -> tuple[Floats, _Chance]:
        """Return such means of gaps, and what chance gives."""
        found = [
            (likeness @ values, *_Chance.of(self.forecast, likeness, rows))
            for rows, likeness in self._likeness(bandwidth)
        ]
        means, absolute, squared = (np.concatenate(blocks) for blocks in zip(*found, strict=True))
        return means, _Chance(absolute, squared)

    def _likeness(self, bandwidth: float) -> Iterator[tuple[NDArray[np.intp], Floats]]:
        """Yield some rows, and how much all rows count among those like them; shares sum to 1."""
        step = max(_BLOCK // len(self.prob), 1)
        for start in range(0, len(self.prob), step):
            rows = np.arange(start, min(start + step, len(self.prob)))
            logs = self._log_kernel(rows, bandwidth)
            weight = np.exp(logs - logs.max(axis=1, keepdims=True))
            yield rows, weight / weight.sum(axis=1, keepdims=True)

    def best_bandwidth(self) -> float:
        """Return the bandwidth with the largest likelihood of rows left out."""
        rows = np.unique(np.linspace(0, len(self.prob) - 1, _LOOKED_AT).astype(np.intp))
        likelihood = [float(logsumexp(self._log_kernel(rows, float(h)), axis=1).sum()) for h in _BANDWIDTHS]
        return float(_BANDWIDTHS[int(np.argmax(likelihood))])

    def _log_kernel(self, rows: np.ndarray, bandwidth: float) -> Floats:
        """Return log w_j K(p_i; p_j), with −inf where a row meets itself; of a count above 1 the others stay."""
        alpha = self.prob / bandwidth
        norm = gammaln(alpha.sum(axis=1) + alpha.shape[1]) - gammaln(alpha + 1).sum(axis=1)
        logs = np.log(self.prob[rows]) @ alpha.T + norm + self.log_weight
        weight = self.forecast.weight[rows]
        others = weight - 1 if weight.dtype.kind == "i" else np.zeros(len(rows))
        with np.errstate(divide="ignore"):
            logs[np.arange(len(rows)), rows] += np.log(others) - self.log_weight[rows]
        return np.asarray(logs)


@dataclass(frozen=True, eq=False)
class CanonicalCases:
    """Cases whose labels are drawn again while forecasts stay, and so does their kernel.

    ``suggested`` are probabilities that the data suggest instead; ``likeness`` is how much each case counts among those
    that are like another, rows summing to 1. Labels of dependent rows are drawn with the correlation of those in
    ``grouped``.
    """

    forecast: ClassForecast
    suggested: Floats
    bandwidth: float
    likeness: Floats
    grouped: GroupedForecast | None = None

    @classmethod
    def of(cls, forecast: ClassForecast, suggested: Floats, grouped: GroupedForecast | None = None) -> Self:
        """Choose the bandwidth by the likelihood of rows left out."""
        kernel = DirichletKernel(forecast)
        bandwidth = kernel.best_bandwidth()
        return cls(forecast, suggested, bandwidth, kernel.means(np.eye(len(forecast)), bandwidth), grouped)

    def error(self, shares: Floats) -> float:
        """Return the canonical calibration error if cases are so much of each class, whatever chance adds to it."""
        return _mean(self.forecast, self.likeness @ (shares - self.forecast.prob))

    @cached_property
    def by_chance(self) -> float:
        """The error that is expected of a calibrated forecast."""
        rows = np.arange(len(self.forecast))
        return _mean(self.forecast, _Chance.of(self.forecast, self.likeness, rows).absolute)

    def path(self, suggested: Floats) -> list[Truth]:
        """Return truths from the forecast through others that the data suggest."""
        stretch = 1.0 if self.grouped is None else self.grouped.stretch
        steps = path_through(self.forecast, self.forecast.prob, suggested, stretch)
        return [Truth(prob, self.error(prob), distance) for prob, distance in steps]

    def labels_again(self, prob: Floats, n_resamples: int, rng: np.random.Generator) -> Iterator[float]:
        """Draw labels again, and return their errors less what chance adds."""
        hot = np.eye(prob.shape[1])
        errors = (self.error(hot[truth]) for truth in draw_labels(prob, n_resamples, rng, self.grouped))
        return (less_chance(error, self.by_chance) for error in errors)
