"""Bands around curves by resampling, for counts and for float weights alike.

A cell of float weights is drawn as the (Σw)²/Σw² rows of equal weight that would vary as much: exact where every row
has a score of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oddsmith._types import Floats, Weights
from oddsmith.metrics.measure import probability
from oddsmith.table import ScoreTable
from oddsmith.table.resample import RandomState, bootstrap, resample_labels, whole_rows

__all__ = ["Band"]

#: Cuts of long forecasts: so many by prediction and as many by rank.
_CUTS = 1024


@dataclass(frozen=True, eq=False)
class Band:
    """A pointwise band: where, from, to, and the share of samples that it holds."""

    at: Floats
    low: Floats
    high: Floats
    level: float


@dataclass(frozen=True, eq=False)
class Cells:
    """A forecast in at most some two thousand cells, finer than a picture shows: weights and their squared sums."""

    prob: Floats
    pos: Weights
    neg: Weights
    pos_sq: Weights
    neg_sq: Weights

    @staticmethod
    def of(forecast: ScoreTable, cuts: int = _CUTS) -> "Cells":
        """Pool neighbours that are close both in prediction and in rank; short forecasts stay as they are."""
        prob, total = probability(forecast), forecast.total
        pos_sq = forecast.pos if forecast.pos_sq is None else forecast.pos_sq
        neg_sq = forecast.neg if forecast.neg_sq is None else forecast.neg_sq
        columns = (forecast.pos, forecast.neg, pos_sq, neg_sq)
        if len(prob) <= 2 * cuts:
            return Cells(prob, *columns)
        rank = np.cumsum(total, dtype=np.float64) / float(total.sum())
        changes = np.diff(np.floor(cuts * prob)) + np.diff(np.floor(cuts * rank))
        starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
        mean = np.add.reduceat(total * prob, starts) / np.add.reduceat(total, starts)
        return Cells(mean, *(np.add.reduceat(column, starts) for column in columns))


class Sample(NamedTuple):
    """A sample of a forecast: which of its cells have weight, and how much of each class."""

    cells: NDArray[np.intp]
    pos: Floats
    neg: Floats


def calibrated_samples(cells: Cells, n_resamples: int, random_state: RandomState) -> Iterator[Sample]:
    """Draw forecasts anew, with labels as they would be under perfect calibration."""
    rows, unit = whole_rows(cells.pos + cells.neg, cells.pos_sq + cells.neg_sq)
    table = _counted(rows, np.zeros_like(rows))
    for drawn in resample_labels(table, cells.prob, n_resamples, random_state=random_state):
        at = drawn.scores.astype(np.intp)
        yield Sample(at, unit[at] * drawn.pos, unit[at] * drawn.neg)


def bootstrap_samples(cells: Cells, n_resamples: int, random_state: RandomState) -> Iterator[Sample]:
    """Draw forecasts with their labels anew, with replacement."""
    pos, pos_unit = whole_rows(cells.pos, cells.pos_sq)
    neg, neg_unit = whole_rows(cells.neg, cells.neg_sq)
    for drawn in bootstrap(_counted(pos, neg), n_resamples, random_state=random_state):
        at = drawn.scores.astype(np.intp)
        yield Sample(at, pos_unit[at] * drawn.pos, neg_unit[at] * drawn.neg)


def envelope(at: Floats, curves: Floats, level: float) -> Band:
    """Return the band that holds a share of the curves at every place; curves may be NaN where undefined."""
    low, high = np.nanquantile(curves, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Band(at, low, high, level)


def _counted(pos: NDArray[np.int64], neg: NDArray[np.int64]) -> ScoreTable:
    """Return a table of counts whose scores are the numbers of the cells."""
    scores = np.arange(len(pos), dtype=np.float64)
    return ScoreTable(scores, pos, neg)
