"""Recognize rows that a calibrator was fitted to when they come to be judged.

Rows are told apart by their scores. Scores that several rows share say nothing: other rows may well have them too.
"""

import numpy as np

from oddsmith.table import ScoreTable
from oddsmith.table.marks import marks
from oddsmith.table.row_sketch import Hashes, RowSketch

#: What tells a positive row from a negative one with the same score.
_POSITIVE = np.uint64(0x5555555555555555)

#: With fewer rows that are alone with their score nobody can tell.
_FEW = 20


def remember(table: ScoreTable) -> RowSketch:
    """Return a sketch of the rows of a table."""
    return RowSketch.of(_row_hashes(table))


def shared(sketch: RowSketch, table: ScoreTable) -> float:
    """Return the share of a table's rows that are among those of a sketch, as far as the hashes tell."""
    return 0.0 if len(sketch) < _FEW else sketch.shared(_row_hashes(table))


def _row_hashes(table: ScoreTable) -> Hashes:
    alone = table.total == 1 if table.kind == "count" else np.ones(len(table), bool)
    return marks(table.scores[alone]) ^ np.where(table.pos[alone] > 0, _POSITIVE, 0).astype(np.uint64)
