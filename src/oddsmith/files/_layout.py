"""What reading needs to know of a file format."""

import glob
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar
from urllib.parse import unquote

from oddsmith import _check
from oddsmith.files._engine import Engine
from oddsmith.frames import identifier, text_literal

#: Where in a file something is wrong (None: not found again), and what.
BadPlace = tuple[int | None, str]

#: A folder of a key and its value.
_KEY = re.compile(r"(?:^|[/\\\\])([^/\\\\=]+)=([^/\\\\]*)")

#: What the end of a name stands for.
FORMATS = {
    **dict.fromkeys((".csv", ".txt"), "csv"),
    **dict.fromkeys((".tsv", ".tab"), "tsv"),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "json"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
}


@dataclass(frozen=True)
class TextFormat:
    """How text is written, where the file does not show it.

    Parameters
    ----------
    delimiter : str, optional
        One character between the fields of a row; by default the one of comma, tab, semicolon and bar that the first
        line has most of.
    decimal : {".", ","}, default "."
        Before the decimals of a number. With "," a number with a point is refused: it may be one of thousands.
    encoding : str, default "utf-8"
        As Python names it.
    skip_lines : int, default 0
        Lines before the header, or before the first row.

    See Also
    --------
    open_scores : Takes it.
    """

    delimiter: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"
    skip_lines: int = 0

    def __post_init__(self) -> None:
        _check.one_of(self.decimal, "decimal", (".", ","))
        _check.whole_number(self.skip_lines, "skip_lines", low=0)
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            hint = 'pass text=TextFormat(delimiter=";") (--delimiter ";")'
            _check.fail("delimiter must be one character other than a quote", repr(self.delimiter), hint)
        try:
            "".encode(self.encoding)
        except LookupError:
            hint = 'pass text=TextFormat(encoding="latin-1") (--encoding latin-1)'
            _check.fail("encoding must be one of Python's", repr(self.encoding), hint)


#: As the file shows it.
AS_SHOWN = TextFormat()


@dataclass(frozen=True)
class Layout(ABC):
    """A file format, with what was found out about these files."""

    paths: tuple[str, ...]  # of files that have the same columns
    columns: tuple[str, ...]
    _: KW_ONLY
    keys: tuple[str, ...] = ()  # columns that folders called key=value stand for

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
        return f"source.{identifier(name)}" if name in self.keys else self.own_field(name)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all that can be read, the columns first."""
        return self.columns

    def own_field(self, name: str) -> str:
        """Return an expression for a column that the files contain."""
        return f"source.c{self.columns.index(name)}"

    @property
    def key_options(self) -> str:
        """The options by which the engine reads the keys of folders, as text."""
        types = ", ".join(f"{text_literal(key)}: VARCHAR" for key in self.keys)
        return f", hive_partitioning=true, hive_types={{{types}}}" if self.keys else ", hive_partitioning=false"

    def select(self, names: Sequence[str], *, note_rejects: bool = False) -> str:
        """Return a query for some columns as f0, f1, … and ``broken``: whether this is no row at all."""
        listed = ", ".join(f"{self.field(name)} AS f{i}" for i, name in enumerate(names))
        return f"SELECT {listed}, false AS broken FROM {self.relation(note_rejects=note_rejects)} AS source"

    def read_all_condition(self) -> str:
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
        return "VARCHAR" if name in self.keys else self.types[self.columns.index(name)]

    def locate(self, engine: Engine, names: Sequence[str], problem: str, limit: int) -> list[BadPlace]:
        """Return the first rows where something is wrong, counted from 1."""
        numbered = f"SELECT *, row_number() OVER () AS number FROM ({self.select(names)})"
        query = f"SELECT number, {problem} AS problem FROM ({numbered}) WHERE problem IS NOT NULL LIMIT {limit}"
        return [(number, why) for number, why in engine.rows(query)]


def keys_of(paths: Sequence[str], taken: Sequence[str]) -> tuple[str, ...]:
    """Return the keys of folders called key=value that all files lie in, unless one is a column of the files."""
    found = [dict(_KEY.findall(unquote(os.path.dirname(path)))) for path in paths]
    keys = [key for key in found[0] if all(key in other for other in found)]
    folded = {name.casefold() for name in taken}
    return () if any(key.casefold() in folded for key in keys) else tuple(keys)


def path_list(paths: Sequence[str]) -> str:
    """Write paths in SQL, where they would be taken for patterns."""
    return "[" + ", ".join(text_literal(glob.escape(path)) for path in paths) + "]"
