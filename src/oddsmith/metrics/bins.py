"""Which bin a forecast falls in, and what the bins hold.

A table cannot split a tie: equal forecasts always share a bin, whatever the order of rows was.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from oddsmith import _check
from oddsmith._types import Floats, Ints, Weights
from oddsmith.data import ScoreTable, equal_mass_starts, quantiles
from oddsmith.metrics.measure import probability, squared_weight

BinRule = Literal["width", "mass", "quantile", "split", "distinct", "split_or_distinct"]
Edge = Literal["left", "right"]
Ends = Literal["closed", "apart", "dropped"]

#: 0.3 lies below the third edge of a tenth grid, in floating point; edges are met within this slack.
_SLACK = 1e-12


@dataclass(frozen=True, eq=False)
class Bins:
    """Sums over the non-empty bins."""

    index: Ints
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


def bin_cells(forecast: ScoreTable, n_bins: int, rule: BinRule, edge: Edge = "left", ends: Ends = "closed") -> Bins:
    """Put the cells of a forecast in bins, and sum weight, positives and forecasts of each."""
    prob, total = probability(forecast), forecast.total
    index = bin_index(forecast, prob, _check.whole_number(n_bins, "n_bins", low=1), rule, edge, ends)
    weight = sum_by(index, total)
    held = weight > 0
    if ends == "dropped":
        held[n_bins:] = False
    columns = (squared_weight(forecast), forecast.pos, total * prob)
    return Bins(np.flatnonzero(held), weight[held], *(sum_by(index, column)[held] for column in columns))


def sum_by(index: Ints, values: Weights, length: int = 0) -> Floats:
    """Return the sum of the values of each index, for at least ``length`` of them."""
    return np.asarray(np.bincount(index, values, length), dtype=np.float64)


def bin_index(
    forecast: ScoreTable, values: Floats, n_bins: int, rule: BinRule, edge: Edge = "left", ends: Ends = "closed"
) -> Ints:
    """Return the bin of each cell, by equal width of [0, 1] or by equal mass.

    "width": ⌊nP⌋, bins [a, b) ("left") or (a, b] ("right"). "quantile": the same between interpolated quantiles of the
    rows. In both the open end (the top of "left", the bottom of "right") belongs to the last bin it bounds ("closed"),
    or its forecasts have the number ``n_bins`` ("apart", "dropped"). "mass": the bin of the middle of a cell's weight,
    ⌊n(W₋ + w/2)/W⌋. "split": rows dealt out in order, the larger bins first, a tie going below. "distinct": every
    forecast is a bin. "split_or_distinct": the latter where there are fewer than a quarter as many as rows, else the
    former.
    """
    if rule == "split_or_distinct":
        rows = float(forecast.total.sum()) ** 2 / float(squared_weight(forecast).sum())
        rule = "distinct" if len(forecast) < rows / 4 else "split"
    if rule == "mass":
        starts = equal_mass_starts(forecast.total, n_bins)
        return np.repeat(np.arange(len(starts)), np.diff(starts, append=len(forecast)))
    if rule == "split":
        return _by_split(forecast, n_bins)
    if rule == "distinct":
        return np.arange(len(forecast))
    # Not P against k/n: 3 · 0.1 and 0.3 are different numbers.
    edges, place, bottom, top, slack = np.arange(1.0, n_bins), n_bins * values, 0.0, 1.0, _SLACK
    if rule == "quantile":
        share = np.linspace(0, 1, n_bins + 1)[1:-1]
        edges, place = quantiles(values, forecast.total, share, squared_weight(forecast)), values
        bottom, top = values[0], values[-1]
        # Of counts quantiles are NumPy's to the last bit, and so are the libraries' bins.
        slack = 0.0 if forecast.kind == "count" else _SLACK
    index: Ints
    if edge == "left":
        index, outside = np.searchsorted(edges * (1 - slack), place, side="right"), values >= top
    else:
        index, outside = np.searchsorted(edges * (1 + slack), place, side="left"), values <= bottom
    return index if ends == "closed" else np.where(outside, n_bins, index)


def _by_split(forecast: ScoreTable, n_bins: int) -> Ints:
    ends = np.cumsum(forecast.total)
    whole = ends[-1]
    if forecast.kind == "count":
        n_bins = min(n_bins, int(whole))
        size, larger = divmod(int(whole), n_bins)
        upto = np.arange(1, n_bins)
        cuts = upto * size + np.minimum(upto, larger)
    else:
        cuts = whole * np.arange(1, n_bins) / n_bins
    # The cell that reaches a cut is the last one below it.
    last_below = np.searchsorted(ends, cuts)
    return np.searchsorted(last_below, np.arange(len(ends)))
