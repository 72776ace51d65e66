"""Recognize rows that a calibrator was fitted to when they come to be judged."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oddsmith.table import ScoreTable
from oddsmith.table.marks import marks

Hashes = NDArray[np.uint64]

#: So many of the smallest hashes stand for all rows: 32 kB, whatever their number.
_SKETCH = 4096

#: What tells a positive row from a negative one with the same score.
_POSITIVE = np.uint64(0x5555555555555555)

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
    return marks(table.scores[alone]) ^ np.where(table.pos[alone] > 0, _POSITIVE, 0).astype(np.uint64)
