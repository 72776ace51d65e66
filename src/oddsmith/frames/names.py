"""Names of columns that an engine would read as something else: a pattern, a path, another column.

Polars takes ``*`` and ``^…$`` for patterns, Spark dots for paths and backticks for quotes; Spark and most databases do
not tell names apart by case. Where an engine can rename columns by their place or exact name, odd ones get plain names
for the time of a query; where it cannot, they are refused.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from oddsmith import _check
from oddsmith.frames.engine import Frame, asking

_PLAIN = re.compile(r"\w+")

#: Ibis backends that tell quoted names apart by case.
_MINDS_CASE = {"clickhouse", "datafusion", "oracle", "polars", "postgres", "risingwave", "snowflake"}


class PlainNames(NamedTuple):
    """A frame whose columns have plain names, and what they were called."""

    frame: Frame
    originals: dict[str, str]

    @staticmethod
    def of(frame: Frame) -> "PlainNames":
        """Rename what has to be renamed."""
        import narwhals.stable.v2 as nw

        with asking(frame, "describe its columns"):
            columns = frame.collect_schema().names()
        kind = frame.implementation
        if kind.is_ibis() and frame.to_native().get_backend().name not in _MINDS_CASE:
            _refuse_twins(columns)
        if not _renames(frame) or (all(map(_PLAIN.fullmatch, columns)) and not _twins(columns)):
            return PlainNames(frame, {name: name for name in columns})
        spare = spare_name(columns)
        originals = {f"{spare}{i}": name for i, name in enumerate(columns)}
        with asking(frame, "rename its columns"):
            native = _renamed(frame, {name: plain for plain, name in originals.items()})
        return PlainNames(nw.from_native(native), originals)

    def plain(self, original: str) -> str:
        """Return what a column is called here; one that is not there keeps its name."""
        return next((plain for plain, name in self.originals.items() if name == original), original)

    def for_new(self, name: str) -> str:
        """Return what a new column is to be called here."""
        if not _renames(self.frame) or _PLAIN.fullmatch(name):
            return name
        return f"{spare_name(self.originals)}_new"

    def restored(self, native: Any, added: str, name: str) -> Any:
        """Return a native frame with one more column, all called as they should be."""
        import narwhals.stable.v2 as nw

        wanted = {**self.originals, added: name}
        return (
            native if all(plain == own for plain, own in wanted.items()) else _renamed(nw.from_native(native), wanted)
        )


def spare_name(columns: Iterable[str]) -> str:
    """Return the beginning of names that no column has."""
    spare = "oddsmith"
    while any(name.lower().startswith(spare) for name in columns):
        spare += "_"
    return spare


def _renames(frame: Frame) -> bool:
    """Whether columns can be renamed by their place or exact name, whatever that is."""
    kind = frame.implementation
    return kind.is_polars() or kind.is_pyspark() or kind.is_pyspark_connect()


def _renamed(frame: Frame, new: Mapping[str, str]) -> Any:
    """Return the native frame with new names; all columns are named, in their order."""
    native = frame.to_native()
    return native.rename(dict(new)) if frame.implementation.is_polars() else native.toDF(*new.values())


def _twins(columns: Iterable[str]) -> list[str]:
    """Return two names that differ by case alone, if there are such."""
    seen: dict[str, str] = {}
    for name in columns:
        if (other := seen.setdefault(name.casefold(), name)) != name:
            return [other, name]
    return []


def _refuse_twins(columns: Iterable[str]) -> None:
    if twins := _twins(columns):
        _check.fail(
            "names of columns must differ by more than case in this engine",
            " and ".join(map(repr, twins)),
            "rename or drop one of them where the table is made",
        )
