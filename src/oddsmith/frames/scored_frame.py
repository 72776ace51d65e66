"""A frame of any kind, asked two questions: over which range do the scores lie, and how many rows fall in each cell.

Everything is said in narwhals, and the frame's own engine answers. Columns are computed first and plain columns
aggregated after: casts inside an aggregation are slow in pandas and refused by Dask.
"""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import narwhals.stable.v2 as nw
import numpy as np

from oddsmith import _check
from oddsmith.data import Grid
from oddsmith.frames.engines.base import KEY_SEPARATOR, Extent, Frame, FrameEngine, SentColumn, numbers
from oddsmith.frames.names import PlainNames, spare_name

#: Groups that an engine may send; a frame in memory is no smaller than its groups.
MAX_GROUPS = 5_000_000

_LARGEST = sys.float_info.max
#: Counts are added up in halves.
HALF = 2**32

#: Squares of smaller scores vanish, which some engines call an error.
_VANISHING = 2.0**-500


@dataclass(frozen=True)
class ScoredFrame:
    """A frame with the names of its columns, which are plain: `names` tells what the user calls them."""

    names: PlainNames
    score: str
    label: str
    weight: str | None
    by: tuple[str, ...]
    #: Columns of scores where there are several.
    scores: tuple[str, ...] = ()

    @staticmethod
    def of(
        frame: Any, score: str, label: str, weight: str | None, by: tuple[str, ...], scores: Sequence[str] = ()
    ) -> "ScoredFrame":
        """Look at a frame and check that it has the columns, of types that can be used."""
        names = PlainNames.of(_to_narwhals(frame))
        for name in (score, label, weight, *by, *scores):
            if name is not None and name not in names.originals.values():
                listed = ", ".join(list(names.originals.values())[:12])
                _check.fail(
                    "frame must have the columns that are named", f"{name!r} where there are {listed}", "name one"
                )
        weighed = None if weight is None else names.plain(weight)
        several = tuple(map(names.plain, scores))
        rows = ScoredFrame(names, names.plain(score), names.plain(label), weighed, tuple(map(names.plain, by)), several)
        for name in filter(None, (rows.score, rows.weight, *several)):
            kind = rows.schema[name]
            if not (kind.is_numeric() or kind == nw.Boolean):
                rows.refuse_type(name, "be numeric", rows.engine.casting_hint(rows.frame, name))
        for name in rows.by:
            if rows.schema[name] == nw.Decimal:
                rows.refuse_type(name, "contain keys that doubles do not round", "cast it to text in the frame first")
        return rows

    def with_frame(self, frame: Frame, by: tuple[str, ...]) -> "ScoredFrame":
        """Return the same columns of a frame that has more of them, of which some are the keys."""
        names = PlainNames(frame, self.engine, self.names.originals | {name: name for name in by})
        return ScoredFrame(names, self.score, self.label, self.weight, by, self.scores)

    def refuse_type(self, name: str, must: str, hint: str) -> NoReturn:
        """Refuse a column by its type."""
        _check.fail(f"column {self.original_name(name)} must {must}", f"type {self.schema[name]}", hint)

    def original_name(self, name: str) -> str:
        """Return what the user calls a column, in quotes."""
        return repr(self.names.originals[name])

    @property
    def frame(self) -> Frame:
        """The frame."""
        return self.names.frame

    @property
    def engine(self) -> FrameEngine:
        """What holds it."""
        return self.names.engine

    @cached_property
    def schema(self) -> dict[str, nw.dtypes.DType]:
        """Names and types of the columns."""
        with self.engine.translate_errors(self.frame, "describe its columns"):
            return dict(self.frame.collect_schema())

    @property
    def spare(self) -> str:
        """The beginning of names that no column has."""
        return spare_name(self.schema)

    def answer(self, plan: Callable[[Any], Any], frame: "Frame | None" = None) -> dict[str, SentColumn]:
        """Ask the engine for the columns of ``plan(frame)``, by default of this frame."""
        return self.engine.answer(self.frame if frame is None else frame, plan)

    @property
    def lazy(self) -> bool:
        """Whether rows are not in memory."""
        return isinstance(self.frame, nw.LazyFrame)

    @property
    def counts(self) -> bool:
        """Whether weights are counts."""
        kind = nw.Int64() if self.weight is None else self.schema[self.weight]
        return bool(kind.is_integer() or kind == nw.Boolean)

    def extent(self) -> Extent:
        """Ask for the range of the scores."""
        score = self.as_double(self.score)
        wanted = {"rows": nw.len(), "low": score.min(), "high": score.max()}
        rows, low, high = numbers(self.answer(lambda frame: frame.select(**wanted)))
        if rows and not (np.isfinite(low) and np.isfinite(high)):
            finite = (score >= -_LARGEST) & (score <= _LARGEST)
            _, low, high = numbers(self.answer(lambda frame: frame.filter(finite).select(**wanted)))
        return Extent(int(rows), (low, high) if np.isfinite(low) else None)

    def groups(self, grid: Grid | None, *, squares: bool = False) -> dict[str, SentColumn]:
        """Ask for rows and weights by key, cell (or exact score) and label, and for sums of squared scores on request.

        One aggregate query, in which nothing is filtered: what is missing or infinite makes groups of its own, which
        come back with their counts.
        """
        score = self.as_double(self.score)
        frame, cell = (self.frame, score) if grid is None else self.engine.with_cells(self, grid)
        columns: dict[str, Any] = {f"key{i}": self._plain(name) for i, name in enumerate(self.by)}
        weight_keys, summed, mass = self._weights()
        columns |= {"cell": cell, "label": self._plain(self.label)} | weight_keys
        keys = list(columns)
        columns |= summed
        if grid is not None:
            columns["score"] = score
            columns["sum"] = score if mass is None else score * mass
            if squares:
                columns["square"] = score * columns["sum"]
                if self.engine.is_strict(frame):
                    tiny = score.abs() < _VANISHING
                    columns["square"] = nw.when(~tiny).then(columns["square"]).otherwise(nw.lit(0.0))
        added = [*summed, *(name for name in ("sum", "square") if name in columns)]
        wanted = {"rows": nw.len()} | {name: nw.col(name).sum() for name in added}
        if grid is not None:
            wanted["least"] = nw.col("score").min()

        def plan(frame: Frame) -> Frame:
            grouped = frame.select(**columns).group_by(*keys).agg(**wanted)
            if self.counts and summed:
                # Sums are wider in SQL.
                grouped = grouped.with_columns(*(nw.col(name).cast(nw.Int64) for name in summed))
            return grouped.head(MAX_GROUPS + 1) if self.lazy else grouped

        return self.answer(plan, frame)

    def as_double(self, name: str) -> nw.Expr:
        """Return a column as doubles."""
        kind = self.schema[name]
        if kind == nw.Float64:
            return nw.col(name)
        if kind == nw.Boolean:
            return self._whole(name).cast(nw.Float64)
        if kind in (nw.Int64, nw.UInt64) and self.engine.holds_arrow:
            return _round(nw.col(name))
        return nw.col(name).cast(nw.Float64)

    def _whole(self, name: str) -> nw.Expr:
        """Return a column of integers or bools as 64 bits."""
        column = nw.col(name)
        return self.engine.as_integer(column) if self.schema[name] == nw.Boolean else column.cast(nw.Int64)

    def keys(self) -> list[nw.Expr]:
        """Return the key of each column of segments as text, the same from every engine."""
        return [self._key(name) for name in self.by]

    def segment(self) -> nw.Expr:
        """Return the name of the segment as text, the same from every engine: of several columns one text of all."""
        keys = self.keys()
        return keys[0] if len(keys) == 1 else nw.concat_str(keys, separator=KEY_SEPARATOR)

    def _key(self, name: str) -> nw.Expr:
        column, kind = self._plain(name), self.schema[name]
        if kind == nw.String:
            return column
        if self.has_bools(name):
            word = nw.when(column).then(nw.lit("true")).otherwise(nw.lit("false"))
            return nw.when(~column.is_null()).then(word)
        if not (kind.is_integer() or kind in (nw.Categorical, nw.Enum)):
            self.refuse_type(name, "contain text, integers or bools", "cast it in the frame first")
        return column.cast(nw.String)

    def has_bools(self, name: str) -> bool:
        """Whether a column has bools, or is a categorical column of them."""
        kind = self.schema[name]
        return kind == nw.Boolean or (kind in (nw.Categorical, nw.Enum) and self._has_bool_categories(name))

    def _weights(self) -> tuple[dict[str, nw.Expr], dict[str, nw.Expr], nw.Expr | None]:
        """Return what tells bad weights apart, what is added up without overflow, and by what scores are weighted.

        Weights and their squares are added up, or halves of counts.
        """
        if self.weight is None:
            return {}, {}, None
        if not self.counts:
            mass = self.as_double(self.weight)
            usable = (mass >= _check.LEAST_WEIGHT) & (mass <= float(_check.LARGEST_SUM))
            # Of weights that are no weights the value itself is a key: its rows are counted, and named.
            odd = nw.when(usable).then(nw.lit(1.0)).otherwise(mass)
            held = nw.when(usable).then(mass).otherwise(nw.lit(0.0))
            return {"odd": odd}, {"weight": held, "weight_sq": held * held}, held
        if self.schema[self.weight] in (nw.UInt64, nw.Int128, nw.UInt128):
            # Beyond 64 bits with a sign engines would wrap integers, or fail in their own words.
            highest = nw.col(self.weight).max()
            (largest,) = numbers(self.answer(lambda frame: frame.select(highest)))
            if largest >= 2.0**63:
                _check.refuse_large_sum(largest, f"column {self.original_name(self.weight)}")
        whole = self._whole(self.weight)
        odd = nw.when(whole > 0).then(nw.lit(1)).otherwise(whole)
        high, low = _halves(whole, divide=self.engine.holds_arrow)
        mass = _round(whole) if self.engine.holds_arrow else whole
        return {"odd": odd}, {"high": high, "low": low}, mass

    def _plain(self, name: str) -> nw.Expr:
        """Return a column as a plain type, which all engines can group by and send."""
        kind = self.schema[name]
        if kind == nw.Decimal:
            return nw.col(name).cast(nw.Float64)
        if kind not in (nw.Categorical, nw.Enum):
            return nw.col(name)
        text = nw.col(name).cast(nw.String)
        return text == nw.lit("True") if self._has_bool_categories(name) else text

    def _has_bool_categories(self, name: str) -> bool:
        """Whether a categorical column of pandas, or of Dask's partitions, has bools for categories."""
        native = self.frame.to_native()
        columns: Any = getattr(native, "_meta", native)
        categories = getattr(getattr(columns[name], "dtype", None), "categories", None)
        return getattr(getattr(categories, "dtype", None), "kind", "") == "b"


def _to_narwhals(frame: Any) -> Frame:
    """Return a frame as narwhals shows it; what narwhals does not know, but Arrow's stream of batches, is read."""
    try:
        seen: Frame = nw.from_native(frame)
    except TypeError:
        if hasattr(frame, "__arrow_c_stream__"):
            read: Frame = nw.from_arrow(frame, backend="pyarrow")
            return read
        _check.fail(
            "frame must be a data frame or a table of an engine",
            f"{type(frame).__module__}.{type(frame).__qualname__}",
            "pass a pandas, Polars, PyArrow, DuckDB, Dask, PySpark or Ibis table, or arrays to from_arrays; "
            "duckdb.from_arrow reads datasets of PyArrow",
        )
    except nw.exceptions.DuplicateError:
        (name, times), *_ = Counter(frame.columns).most_common(1)
        _check.fail("names of columns must differ", f"{name!r} {times} times", "rename or drop one of them")
    return seen


def _halves(whole: nw.Expr, *, divide: bool) -> tuple[nw.Expr, nw.Expr]:
    """Return integers in two parts, high · 2³² + low, whose sums have room in 64 bits.

    Which of the neighbors the high part is does not matter. Division of integers takes long in SQL, and rounding is
    refused by Arrow.
    """
    high = whole // HALF if divide else (whole.cast(nw.Float64) * (1 / HALF)).floor().cast(nw.Int64)
    return high, whole - high * HALF


def _round(whole: nw.Expr) -> nw.Expr:
    """Return integers of 64 bits as the nearest doubles, without a cast of one that has more than 53."""
    high, low = _halves(whole, divide=True)
    return high.cast(nw.Float64) * float(HALF) + low.cast(nw.Float64)
