"""Recognize rows that a calibrator was fitted to when they come to be judged."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oddsmith.table import ScoreTable

Hashes = NDArray[np.uint64]

#: So many of the smallest hashes stand for all rows: 32 kB, whatever their number.
_SKETCH = 4096

#: With fewer rows that are alone with their score nobody can tell.
_FEW = 20


@dataclass(frozen=True)
class RowSketch:
    """Hashes of some rows: of those that are alone with their score, the ones that hash smallest.

    Scores that several rows share say nothing: other rows may well have them too.
    """

    hashes: Hashes

    @classmethod
    def of(cls, table: ScoreTable) -> "RowSketch":
        """Remember rows of a table."""
        return cls(np.sort(_row_hashes(table))[:_SKETCH])

    def shared(self, table: ScoreTable) -> float:
        """Return the share of a table's rows that are among those remembered, as far as the hashes tell."""
        if len(self.hashes) < _FEW:
            return 0.0
        theirs = _row_hashes(table)
        # Only hashes below the largest one kept can be compared, unless all were kept.
        if len(self.hashes) == _SKETCH:
            theirs = theirs[theirs <= self.hashes[-1]]
        return float(np.isin(theirs, self.hashes).mean()) if len(theirs) else 0.0


def _row_hashes(table: ScoreTable) -> Hashes:
    alone = table.total == 1 if table.kind == "count" else np.ones(len(table), bool)
    bits = table.scores[alone].view(np.uint64) * np.uint64(2) + (table.pos[alone] > 0).astype(np.uint64)
    return _mix(_mix(bits))


def _mix(values: Hashes) -> Hashes:
    """Spread bits (the finalizer of SplitMix64)."""
    z = values + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))
