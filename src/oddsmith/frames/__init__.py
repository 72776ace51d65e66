"""Score tables from any data frame or engine: the rows stay where they are, one GROUP BY travels."""

from oddsmith.frames.building import DroppedRowsWarning, tables_from_frame
from oddsmith.frames.engine import EngineError

__all__ = ["DroppedRowsWarning", "EngineError", "tables_from_frame"]
