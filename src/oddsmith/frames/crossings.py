"""Rows of a frame by segment, for segments that are values of columns or of crossings of columns.

Columns are read once, to list their values; then each crossing is one aggregate query. Numbers with many values are cut
into bins of about equal numbers of rows. A missing value is a segment of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import narwhals.stable.v2 as nw

from oddsmith.data import Grid
from oddsmith.frames.bad_rows import BadRowPolicy, BadRows
from oddsmith.frames.groups import Groups, read_groups
from oddsmith.frames.names import PlainNames
from oddsmith.frames.scored_frame import ScoredFrame

__all__ = ["Crossings", "value_of"]

#: What keys of values begin with; that of a missing value is empty, so that no text is taken for it.
_VALUE = "="

#: Numbers with at most as many distinct values are not cut into bins.
_FEW_NUMBERS = 10


@dataclass(frozen=True)
class Crossings:
    """A frame and the columns whose values, alone and crossed, are segments.

    Parameters
    ----------
    rows : ScoredFrame
        The frame, with a column of text for each of ``columns``.
    columns : tuple of str
        Names of the columns that can be used, as the user calls them.
    skipped : mapping of str to str
        Why other columns cannot.
    """

    rows: ScoredFrame
    columns: tuple[str, ...]
    skipped: dict[str, str]
    _keys: tuple[str, ...]

    @staticmethod
    def of(
        frame: Any,
        score: str,
        label: str,
        weight: str | None,
        by: Sequence[str],
        *,
        bins: int,
        max_values: int,
    ) -> "Crossings":
        """List the values of the columns, with one query per column, two for numbers that are cut."""
        given = ScoredFrame.of(frame, score, label, weight, tuple(by))
        keys: dict[str, nw.Expr] = {}
        skipped: dict[str, str] = {}
        for original, name in zip(by, given.by, strict=True):
            key = _key(given, name, bins, max_values)
            if isinstance(key, str):
                skipped[original] = key
            else:
                keys[original] = key
        plain = tuple(f"{given.spare}_segment{i}" for i in range(len(keys)))
        keyed = given.frame.with_columns(**dict(zip(plain, keys.values(), strict=True)))
        names = PlainNames(keyed, given.names.engine, {**given.names.originals, **{name: name for name in plain}})
        rows = ScoredFrame(names, given.score, given.label, given.weight, ())
        return Crossings(rows, tuple(keys), skipped, plain)

    def groups(self, columns: Sequence[str], grid: Grid | None, pos_label: Any, bad_rows: BadRowPolicy) -> Groups:
        """Ask for the rows of each crossing of values of some columns, by cell and class: one query."""
        by = tuple(self._keys[self.columns.index(column)] for column in columns)
        allowed = partial(BadRows.allow, policy=bad_rows, name="the frame")
        return read_groups(replace(self.rows, by=by), pos_label, allowed, grid)


def value_of(key: str) -> str | None:
    """Return the value that a key of a segment stands for, None where it is missing."""
    return key.removeprefix(_VALUE) if key else None


def _key(rows: ScoredFrame, name: str, bins: int, max_values: int) -> nw.Expr | str:
    """Return the column of keys of a column of the frame, or why there is none."""
    kind = rows.schema[name]
    continuous = kind.is_float() or kind == nw.Decimal
    if not continuous:
        values = _values(rows, name, max(max_values, _FEW_NUMBERS))
        if not kind.is_integer() or len(values) <= _FEW_NUMBERS:
            if len(values) > max_values:
                return f"more than {max_values:,} values"
            text = nw.when(nw.col(name)).then(nw.lit("true")).otherwise(nw.lit("false"))
            column = text if rows.has_bools(name) else nw.col(name).cast(nw.String)
            return _or_missing(nw.col(name), nw.concat_str(nw.lit(_VALUE), column))
    column = rows.as_double(name)
    present = nw.when(column == column).then(column)  # SQL's NaN is the largest number otherwise
    shares = [number / bins for number in range(1, bins)]
    edges = dict.fromkeys(float(f"{edge:.6g}") for edge in rows.engine.quantiles(rows.frame, present, shares))
    return _or_missing(present, _bin(column, list(edges)))


def _values(rows: ScoredFrame, name: str, most: int) -> list[Any]:
    """Return the distinct values of a column, or one more than the most."""
    # Narwhals numbers all rows of SQL engines to find the unique ones; a count by value is several times faster.
    sent = rows.answer(lambda frame: frame.group_by(name).agg(nw.len().alias(rows.spare)).head(most + 1))
    return list(sent[name].values[~sent[name].missing])


def _bin(column: nw.Expr, edges: list[float]) -> nw.Expr:
    """Return the names of bins, each up to its edge and including it."""
    names = [f"≤ {edges[0]:g}"] if edges else []
    names += [f"({low:g}, {high:g}]" for low, high in pairwise(edges)]
    result: nw.Expr = nw.lit(f"{_VALUE}> {edges[-1]:g}" if edges else f"{_VALUE}any")
    for edge, name in zip(reversed(edges), reversed(names), strict=True):
        result = nw.when(column <= edge).then(nw.lit(f"{_VALUE}{name}")).otherwise(result)
    return result


def _or_missing(column: nw.Expr, key: nw.Expr) -> nw.Expr:
    return nw.when(~column.is_null()).then(key).otherwise(nw.lit(""))
