"""Bands around curves by resampling."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oddsmith._types import Floats
from oddsmith.data import ScoreTable
from oddsmith.metrics import probability, sum_by

#: Cuts of long forecasts by prediction, and as many by rank.
_CUTS = 1024


@dataclass(frozen=True, eq=False)
class Band:
    """A pointwise band: where, from, to, and the share of samples that it contains.

    Parameters
    ----------
    at : array of shape (m,)
        Where the band is drawn.
    low : array of shape (m,)
        Its lower limit there.
    high : array of shape (m,)
        Its upper limit there.
    level : float
        Its level.

    See Also
    --------
    band : Makes one for all scores together.
    pointwise_band : Makes one for each score alone.
    """

    at: Floats
    low: Floats
    high: Floats
    level: float


class CellCounts(NamedTuple):
    """A forecast in at most some two thousand cells, finer than a picture shows.

    ``table`` holds their weights, its scores being their numbers: so draws identify their cells.
    """

    prob: Floats
    table: ScoreTable

    @staticmethod
    def of(forecast: ScoreTable, cuts: int = _CUTS) -> "CellCounts":
        """Pool neighbors that are close both in prediction and in rank; short forecasts stay as they are."""
        prob, total = probability(forecast), forecast.total
        index = np.arange(len(prob))
        if len(prob) > 2 * cuts:
            rank = np.cumsum(total, dtype=np.float64) / float(total.sum())
            changes = np.diff(np.floor(cuts * prob)) + np.diff(np.floor(cuts * rank))
            index = np.append(0, np.cumsum(changes > 0))
        return CellCounts(sum_by(index, total * prob) / sum_by(index, total), forecast.map(lambda _: index))


def cells_of(drawn: ScoreTable) -> NDArray[np.intp]:
    """Return which cells a sample of a table of cells holds."""
    return drawn.scores.astype(np.intp)


def envelope(at: Floats, curves: Floats, level: float) -> Band:
    """Return the band that holds a share of the curves at every place; curves may be NaN where undefined."""
    low, high = np.nanquantile(curves, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Band(at, low, high, level)
