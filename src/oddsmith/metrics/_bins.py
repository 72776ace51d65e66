"""Which bin a forecast falls in, and what the bins hold.

A table cannot split a tie: equal forecasts always share a bin, whatever the order of rows was.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith._check import Floats, Weights
from oddsmith.calibrators._quantiles import percentiles
from oddsmith.metrics._measure import probability, squared_weight
from oddsmith.resample import require_counts
from oddsmith.table import ScoreTable

BinRule = Literal["width", "mass", "quantile"]
Edge = Literal["left", "right", "apart"]
BIN_RULES = ("width", "mass", "quantile")
EDGES = ("left", "right", "apart")

#: 0.3 lies below the third edge of a tenth grid, in floating point; edges are met within this slack.
_SLACK = 1e-12


@dataclass(frozen=True, eq=False)
class Bins:
    """Sums over the non-empty bins."""

    index: NDArray[np.int64]
    weight: Floats
    weight_sq: Floats
    positive: Floats
    predicted: Floats

    @property
    def mean_predicted(self) -> Floats:
        """Mean forecast of each bin."""
        return self.predicted / self.weight

    @property
    def fraction_positive(self) -> Floats:
        """Share of positive weight of each bin."""
        return self.positive / self.weight

    @property
    def effective(self) -> Floats:
        """Rows of each bin; of equal weight that would vary as much, for float weights."""
        return self.weight**2 / self.weight_sq


def binned(forecast: ScoreTable, n_bins: int, rule: BinRule, edge: Edge = "left") -> Bins:
    """Put the cells of a forecast in bins and sum them up."""
    prob = probability(forecast)
    index = bin_index(forecast, prob, _check.whole_number(n_bins, "n_bins", low=1), rule, edge)
    return sum_bins(forecast, prob, index)


def sum_bins(forecast: ScoreTable, prob: Floats, index: NDArray[np.int64]) -> Bins:
    """Sum weight, positives and forecasts by bin."""
    total = forecast.total
    weight = sum_by(index, total)
    held = weight > 0
    columns = (squared_weight(forecast), forecast.pos, total * prob)
    return Bins(np.flatnonzero(held), weight[held], *(sum_by(index, column)[held] for column in columns))


def sum_by(index: NDArray[np.int64], values: Weights, length: int = 0) -> Floats:
    """Return the sum of the values of each index, for at least ``length`` of them."""
    return np.asarray(np.bincount(index, values, length), dtype=np.float64)


def bin_index(forecast: ScoreTable, values: Floats, n_bins: int, rule: BinRule, edge: Edge) -> NDArray[np.int64]:
    """Return the bin of each cell, by equal width of [0, 1] or by equal mass.

    "width": ⌊nP⌋, bins [a, b), the last closed ("left"); (a, b], the first closed ("right"); or P = 1 in a bin of its
    own ("apart"). "mass": the bin of the middle of a cell's weight, ⌊n(W₋ + w/2)/W⌋. "quantile": edges at the
    quantiles of the repeated rows, interpolated, and a value at an edge goes above.
    """
    _check.one_of(rule, "bins", BIN_RULES)
    _check.one_of(edge, "edge", EDGES)
    if rule == "width":
        return _by_width(values, n_bins, edge)
    total = forecast.total
    if rule == "quantile":
        require_counts(forecast, 'bins="quantile"')
        edges = percentiles(values, total, np.linspace(0, 1, n_bins + 1)[1:-1])
        return np.searchsorted(edges - _SLACK, values, side="right").astype(np.int64)
    middle: Floats = np.cumsum(total, dtype=np.float64) - total / 2
    share: Floats = middle * (n_bins / float(total.sum()))
    place: NDArray[np.int64] = np.floor(share + _SLACK).astype(np.int64)
    return np.minimum(place, n_bins - 1)


def _by_width(prob: Floats, n_bins: int, edge: Edge) -> NDArray[np.int64]:
    if edge == "right":
        above: NDArray[np.int64] = np.ceil(n_bins * prob - _SLACK).astype(np.int64)
        return np.maximum(above - 1, 0)
    index = np.floor(n_bins * prob + _SLACK).astype(np.int64)
    if edge == "apart":
        return np.where(prob < 1, np.minimum(index, n_bins - 1), n_bins)
    return np.minimum(index, n_bins - 1)
