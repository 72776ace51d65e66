"""The law of a test statistic under calibration, by drawing labels again, where large samples are no guide.

Labels are drawn with the forecast's own probabilities, rows keep their weights. Draws go on until enough of them reach
what was seen (Besag and Clifford), so a large p-value costs little. They are the same in every run.
"""

from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np
from scipy.special import expit

from oddsmith._types import Floats, Ints
from oddsmith.data import ScoreTable
from oddsmith.metrics.measure import squared_weight
from oddsmith.metrics.resampled import equal_rows

#: Draws at a time and at most, and how many must reach what was seen before there are enough.
_BLOCK, _MOST, _ENOUGH = 250, 5000, 50

#: Cells that are drawn one by one; of more, neighbors of similar weight are drawn together: runs of cells, and classes
#: of weight in a run.
_CELLS, _RUNS, _CLASSES = 4096, 512, 8

#: A statistic that is smaller by this share is equal: rounding differs between draws and data.
_SLACK = 1e-9

_SEED = 20_260_726


class CalibratedCells(NamedTuple):
    """Cells whose labels are drawn: rows of equal weight with one probability, and the run of scores each is in.

    ``first`` is the first score of each run.
    """

    first: Ints
    run: Ints
    rows: Ints
    unit: Floats
    prob: Floats

    @classmethod
    def of(cls, forecast: ScoreTable, within: Ints | None = None) -> Self:
        """Return the cells of a forecast; runs never reach over the borders that ``within`` gives."""
        rows, weight = equal_rows(forecast.total, squared_weight(forecast))
        prob, n = expit(forecast.scores), len(forecast)
        first, runs = np.arange(n), np.arange(n)
        if n > _CELLS:
            bins = np.zeros(n, np.int64) if within is None else within
            runs = np.unique(bins * _RUNS + runs * _RUNS // n, return_inverse=True)[1]
            first = np.flatnonzero(np.diff(runs, prepend=-1))
            ranks = np.argsort(np.lexsort((weight, runs)))
            classes = (ranks - first[runs]) * _CLASSES // np.bincount(runs)[runs]
            kind = np.unique(runs * _CLASSES + classes, return_inverse=True)[1]
            rows_of, runs = np.bincount(kind, rows), runs[np.unique(kind, return_index=True)[1]]
            prob = np.bincount(kind, rows * prob) / rows_of
            weight, rows = (
                np.asarray(np.sqrt(np.bincount(kind, rows * weight**2) / rows_of)),
                rows_of.astype(np.float64),
            )
        whole = np.maximum(np.rint(rows), 1).astype(np.int64)
        return cls(first, runs, whole, weight * (rows / whole), prob)

    def means(self, values: Floats) -> Floats:
        """Return the mean of each run, of values at the scores."""
        return np.asarray(np.add.reduceat(values, self.first) / np.diff(self.first, append=len(values)))

    def informative(self, within: Ints | None = None) -> Floats:
        """Return (Σw²v)²/Σw⁴v with v = P(1 − P), the events that vary as much: of each bin of runs, or of all."""
        index = np.zeros(len(self.run), np.int64) if within is None else within[self.run]
        spread = self.rows * self.prob * (1 - self.prob)
        second, fourth = (np.bincount(index, spread * self.unit**power) for power in (2, 4))
        return np.divide(second**2, fourth, out=np.zeros(len(second)), where=fourth > 0)

    def tail(self, statistic: Callable[[Floats], Floats], seen: float) -> tuple[float, int]:
        """Return the share of draws whose statistic reaches what was seen, and how many do.

        ``statistic`` takes the excess of positives in each run, shape (draws, runs).
        """
        rng, reached, drawn = np.random.default_rng(_SEED), 0, 0
        expected, several = self.rows * self.prob, np.flatnonzero(self.rows > 1)
        starts = np.flatnonzero(np.diff(self.run, prepend=-1))
        while drawn < _MOST and reached < _ENOUGH:
            positive = (rng.random((_BLOCK, len(self.rows))) < self.prob).astype(np.float64)
            if len(several):
                positive[:, several] = rng.binomial(self.rows[several], self.prob[several], (_BLOCK, len(several)))
            excess = (positive - expected) * self.unit
            if len(starts) < len(self.run):
                excess = np.add.reduceat(excess, starts, axis=1)
            reached += int(np.sum(statistic(excess) >= seen * (1 - _SLACK)))
            drawn += _BLOCK
        return (1 + reached) / (1 + drawn), reached
