"""What reading needs to know of a file format."""

import glob
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from oddsmith.files._engine import Engine
from oddsmith.frames import text_literal

#: Where in a file something is wrong (None: not found again), and what.
BadPlace = tuple[int | None, str]

#: What the end of a name stands for.
FORMATS = {
    **dict.fromkeys((".csv", ".txt"), "csv"),
    **dict.fromkeys((".tsv", ".tab"), "tsv"),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "json"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
}


@dataclass(frozen=True)
class Layout(ABC):
    """A file format, with what was found out about these files."""

    paths: tuple[str, ...]  # of files that have the same columns
    columns: tuple[str, ...]

    #: What the number of a row is to somebody who opens the file.
    place: ClassVar[str] = "line"

    @staticmethod
    @abstractmethod
    def open(engine: Engine, paths: Sequence[str], compression: str) -> "Layout":
        """Find out about files; compression is "none", "gzip", "zstd" or "auto" (by name)."""

    @abstractmethod
    def relation(self, *, note_rejects: bool = False) -> str:
        """Return what to read from, row by row.

        What cannot be told apart into columns is left out, and noted in tables of the engine if asked for.
        """

    def field(self, name: str) -> str:
        """Return an expression for a column over the relation, which must be called ``source``."""
        return f"source.c{self.columns.index(name)}"

    def select(self, names: Sequence[str], *, note_rejects: bool = False) -> str:
        """Return a query for some columns as f0, f1, … and ``broken``: whether this is no row at all."""
        listed = ", ".join(f"{self.field(name)} AS f{i}" for i, name in enumerate(names))
        return f"SELECT {listed}, false AS broken FROM {self.relation(note_rejects=note_rejects)} AS source"

    def reading_all(self) -> str:
        """Return a condition to add to `select` that makes the engine look at every column, asked for or not."""
        return ""

    @abstractmethod
    def locate(self, engine: Engine, names: Sequence[str], problem: str, limit: int) -> list[BadPlace]:
        """Return the first places of a single file where ``problem``, an expression over `select`, is not null."""

    def type_of(self, name: str) -> str:
        """Return the engine's name for the type of a column."""
        del name
        return "VARCHAR"


@dataclass(frozen=True)
class TypedColumns(Layout, ABC):
    """A format whose columns have types, and whose rows are readable or not all together."""

    types: tuple[str, ...]  # as the engine calls them
    place: ClassVar[str] = "row"

    def type_of(self, name: str) -> str:
        """Return the type of a column."""
        return self.types[self.columns.index(name)]

    def locate(self, engine: Engine, names: Sequence[str], problem: str, limit: int) -> list[BadPlace]:
        """Return the first rows where something is wrong, counted from 1."""
        numbered = f"SELECT *, row_number() OVER () AS number FROM ({self.select(names)})"
        query = f"SELECT number, {problem} AS problem FROM ({numbered}) WHERE problem IS NOT NULL LIMIT {limit}"
        return [(number, why) for number, why in engine.rows(query)]


def path_list(paths: Sequence[str]) -> str:
    """Write paths in SQL, where they would be taken for patterns."""
    return "[" + ", ".join(text_literal(glob.escape(path)) for path in paths) + "]"
