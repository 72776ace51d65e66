"""Parquet files."""

from collections.abc import Sequence
from dataclasses import dataclass

from oddsmith.files._engine import Engine
from oddsmith.files._layout import path_list
from oddsmith.files._typed import TypedColumns
from oddsmith.frames.sql_text import identifier


@dataclass(frozen=True)
class Parquet(TypedColumns):
    """Columns with types, of which only those in use are read."""

    @staticmethod
    def open(engine: Engine, paths: Sequence[str], compression: str) -> "Parquet":
        """Read names and types from the files' footers."""
        del compression  # within the file, if any
        found = engine.rows(f"DESCRIBE SELECT * FROM {_relation(paths)}")
        return Parquet(tuple(paths), tuple(row[0] for row in found), tuple(row[1] for row in found))

    def relation(self, *, note_rejects: bool = False) -> str:
        """Return the files as a relation."""
        del note_rejects  # a file of this kind is readable or not, never by rows
        return _relation(self.paths)

    def field(self, name: str) -> str:
        """Return an expression for a column."""
        return f"source.{identifier(name)}"


def _relation(paths: Sequence[str]) -> str:
    # Folders called key=value are folders, and columns are told apart by name, not by place.
    return f"read_parquet({path_list(paths)}, hive_partitioning=false, union_by_name={str(len(paths) > 1).lower()})"
