"""The score table: rows, cells, tables, resampling and streams. What the data say about a score."""

from oddsmith.table.rows import ScoreRows
from oddsmith.table.table import Sample, ScoreTable, as_table

__all__ = ["Sample", "ScoreRows", "ScoreTable", "as_table"]
