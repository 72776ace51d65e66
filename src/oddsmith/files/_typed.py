"""Formats whose columns have types, and whose rows are readable or not all together."""

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from oddsmith.files._engine import Engine
from oddsmith.files._layout import BadPlace, Layout


@dataclass(frozen=True)
class TypedColumns(Layout, ABC):
    """Columns with types.

    Parameters
    ----------
    types : tuple of str
        The engine's name for the type of each column.
    """

    types: tuple[str, ...]
    place: ClassVar[str] = "row"

    def type_of(self, name: str) -> str:
        """Return the type of a column."""
        return self.types[self.columns.index(name)]

    def locate(self, engine: Engine, names: Sequence[str], problem: str, limit: int) -> list[BadPlace]:
        """Return the first rows where something is wrong, counted from 1."""
        numbered = f"SELECT *, row_number() OVER () AS number FROM ({self.select(names)})"
        bad = engine.rows(
            f"SELECT number, {problem} AS problem FROM ({numbered}) WHERE problem IS NOT NULL LIMIT {limit}"
        )
        return [BadPlace(*found) for found in bad]
