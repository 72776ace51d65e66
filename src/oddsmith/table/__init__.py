"""The score table: rows, cells, tables, resampling and streams. What the data say about a score."""

from oddsmith.table.rows import ScoreRows
from oddsmith.table.streaming import TableStream
from oddsmith.table.table import Sample, ScoreTable, as_table

__all__ = ["Sample", "ScoreRows", "ScoreTable", "TableStream", "as_table"]
