"""Score tables from any data frame or engine: the rows stay where they are, one GROUP BY travels."""

from oddsmith.frames.building import tables_from_frame

__all__ = ["tables_from_frame"]
