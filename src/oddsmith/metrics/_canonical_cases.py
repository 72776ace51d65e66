"""The canonical calibration error when labels are drawn again: forecasts stay, and so does their kernel."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from oddsmith._types import Floats
from oddsmith.metrics._class_bins import drawn_labels
from oddsmith.metrics._class_draws import path_through
from oddsmith.metrics._truths import Truth, paths_of_truth
from oddsmith.metrics.canonical import DirichletKernel
from oddsmith.metrics.classes import ClassForecast
from oddsmith.metrics.measure import Null
from oddsmith.metrics.resampled import labels_again


@dataclass(frozen=True, eq=False)
class CanonicalCases:
    """Cases with the weights that their kernel gives to each other.

    Attributes
    ----------
    forecast : ClassForecast
        Of single cases, or of float weights.
    suggested : ndarray of shape (n, k)
        Probabilities that the data suggest instead.
    bandwidth : float
    likeness : ndarray of shape (n, n)
        How much each case counts among those that are like another; rows sum to 1.
    """

    forecast: ClassForecast
    suggested: Floats
    bandwidth: float
    likeness: Floats

    @classmethod
    def of(cls, forecast: ClassForecast, suggested: Floats) -> Self:
        """Choose the bandwidth by the likelihood of rows left out."""
        kernel = DirichletKernel(forecast)
        bandwidth = kernel.best_bandwidth()
        return cls(forecast, suggested, bandwidth, kernel.means(np.eye(len(forecast)), bandwidth))

    def error(self, shares: Floats) -> float:
        """Return the canonical calibration error if cases are so much of each class."""
        gaps = np.abs(self.likeness @ (shares - self.forecast.prob)).sum(axis=1)
        return float(np.average(gaps, weights=self.forecast.weight))


@labels_again.register
def _(cases: CanonicalCases, prob: Floats, n_resamples: int, rng: np.random.Generator) -> Iterator[float]:
    hot = np.eye(prob.shape[1])
    return (cases.error(hot[truth]) for truth in drawn_labels(prob, n_resamples, rng))


@paths_of_truth.register
def _(cases: CanonicalCases, null: Null) -> list[list[Truth]]:
    assert null == "calibrated"
    steps = path_through(cases.forecast, cases.forecast.prob, cases.suggested)
    return [[Truth(prob, cases.error(prob), distance) for prob, distance in steps]]
