"""Parquet files."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from oddsmith.files._engine import Engine
from oddsmith.files._layout import BadPlace, Layout, path_list
from oddsmith.frames.sql_text import identifier


@dataclass(frozen=True)
class Parquet(Layout):
    """Columns with types.

    Parameters
    ----------
    types : tuple of str
        The engine's name for the type of each column.
    """

    types: tuple[str, ...]
    place: ClassVar[str] = "row"

    @staticmethod
    def open(engine: Engine, paths: Sequence[str], compression: str) -> "Parquet":
        """Read names and types from the files' footers."""
        del compression  # within the file, if any
        found = engine.rows(f"DESCRIBE SELECT * FROM {_relation(paths)}")
        return Parquet(tuple(paths), tuple(row[0] for row in found), tuple(row[1] for row in found))

    def type_of(self, name: str) -> str:
        """Return the type of a column."""
        return self.types[self.columns.index(name)]

    def relation(self, *, note_rejects: bool = False) -> str:
        """Return the files as a relation."""
        del note_rejects  # a file of this kind is readable or not, never by rows
        return _relation(self.paths)

    def field(self, name: str) -> str:
        """Return an expression for a column."""
        return f"source.{identifier(name)}"

    def locate(self, engine: Engine, names: Sequence[str], problem: str, limit: int) -> list[BadPlace]:
        """Return the first rows where something is wrong, counted from 1."""
        numbered = f"SELECT *, row_number() OVER () AS number FROM ({self.select(names)})"
        bad = engine.rows(
            f"SELECT number, {problem} AS problem FROM ({numbered}) WHERE problem IS NOT NULL LIMIT {limit}"
        )
        return [BadPlace(*found) for found in bad]


def _relation(paths: Sequence[str]) -> str:
    # Folders called key=value are folders, and columns are told apart by name, not by place.
    return f"read_parquet({path_list(paths)}, hive_partitioning=false, union_by_name={str(len(paths) > 1).lower()})"
