"""Names of columns that an engine would read as something else: a pattern, a path, another column.

Polars takes ``*`` and ``^…$`` for patterns, Spark dots for paths and backticks for quotes; Spark and most databases do
not tell names apart by case. Where an engine can rename columns by their place or exact name, odd ones get plain names
for the time of a query; where it cannot, they are refused.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw

from oddsmith import _check
from oddsmith.frames.engines import engine_of
from oddsmith.frames.engines.base import Frame, FrameEngine

_PLAIN = re.compile(r"\w+")


class PlainNames(NamedTuple):
    """A frame whose columns have plain names, and what they were called."""

    frame: Frame
    engine: FrameEngine
    originals: dict[str, str]

    @staticmethod
    def of(frame: Frame) -> "PlainNames":
        """Rename what has to be renamed."""
        engine = engine_of(frame)
        with engine.translate_errors(frame, "describe its columns"):
            columns = engine.column_names(frame)
        if len(set(columns)) < len(columns):
            (name, times), *_ = Counter(columns).most_common(1)
            _check.fail("names of columns must differ", f"{name!r} {times} times", "rename or drop one of them")
        named: list[object] = [*columns]
        if odd := [name for name in named if not isinstance(name, str)]:
            _check.fail("names of columns must be text", repr(odd[0]), "frame.columns = frame.columns.astype(str)")
        twins = _twins(columns)
        if twins and not engine.distinguishes_case(frame):
            _check.fail(
                "names of columns must differ by more than case in this engine",
                " and ".join(map(repr, twins)),
                "rename or drop one of them where the table is made",
            )
        if not engine.renames or (all(map(_PLAIN.fullmatch, columns)) and not twins):
            return PlainNames(frame, engine, {name: name for name in columns})
        spare = spare_name(columns)
        originals = {f"{spare}{i}": name for i, name in enumerate(columns)}
        with engine.translate_errors(frame, "rename its columns"):
            native = engine.rename(frame.to_native(), {name: plain for plain, name in originals.items()})
        return PlainNames(nw.from_native(native), engine, originals)

    def plain(self, original: str) -> str:
        """Return what a column is called here; one that is not there keeps its name."""
        return next((plain for plain, name in self.originals.items() if name == original), original)

    def for_new(self, names: Sequence[str]) -> dict[str, str]:
        """Return the names of new columns by what they are to be called here."""
        if not self.engine.renames or all(map(_PLAIN.fullmatch, names)):
            return {name: name for name in names}
        spare = spare_name(self.originals)
        return {f"{spare}_new{place}": name for place, name in enumerate(names)}

    def restore(self, native: Any, added: Mapping[str, str]) -> Any:
        """Return a native frame with the new columns, all called as they should be."""
        wanted = {**self.originals, **added}
        is_as_wanted = all(plain == own for plain, own in wanted.items())
        return native if is_as_wanted else self.engine.rename(native, wanted)


def spare_name(columns: Iterable[str]) -> str:
    """Return the beginning of names that no column has."""
    spare = "oddsmith"
    while any(name.lower().startswith(spare) for name in columns):
        spare += "_"
    return spare


def _twins(columns: Iterable[str]) -> list[str]:
    """Return two names that differ by case alone, if there are such."""
    seen: dict[str, str] = {}
    for name in columns:
        if (other := seen.setdefault(name.casefold(), name)) != name:
            return [other, name]
    return []
