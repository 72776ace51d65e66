"""Score tables from any data frame or engine, and maps applied inside it: the rows stay where they are."""

from oddsmith.frames.applying import apply
from oddsmith.frames.applying_joint import apply_joint
from oddsmith.frames.building import tables_from_frame
from oddsmith.frames.one_vs_rest import class_tables

__all__ = ["apply", "apply_joint", "class_tables", "tables_from_frame"]
