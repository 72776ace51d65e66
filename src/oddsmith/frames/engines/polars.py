"""Polars: expressions, with knots looked up by its search in a series."""

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from oddsmith.formula import Clip, Column, Pieces
from oddsmith.frames.engines.base import Frame, FrameEngine
from oddsmith.frames.engines.memory import ArrowMemory
from oddsmith.frames.expressions import ExpressionReader, with_layers
from oddsmith.maps import MAX

if TYPE_CHECKING:
    from oddsmith.frames.plans import JointPlan
    from oddsmith.frames.scored_frame import ScoredFrame
    from oddsmith.frames.segments import Maps


class PolarsLazy(FrameEngine):
    """Lazy frames of Polars, in which ``*`` and ``^…$`` are patterns and no names."""

    renames = True

    def takes(self, frame: Frame) -> bool:
        """Whether this is a frame of Polars; one in memory is taken by `PolarsMemory` before."""
        return frame.implementation.is_polars()

    def rename(self, native: Any, names: Mapping[str, str]) -> Any:
        """Return a frame with new names."""
        return native.rename(dict(names))

    def query_text(self, native: Any) -> str | None:
        """Return the plan of a lazy frame."""
        return str(native.explain()) if hasattr(native, "explain") else None

    def join(self, frame: Frame, key: str, table: Mapping[str, list[Any]]) -> Frame:
        """Join in Polars' own words: left joins of narwhals do not promise the order of rows."""
        small = nw.get_native_namespace(frame).LazyFrame(table)
        joined: Frame = nw.from_native(frame.to_native().join(small, on=key, how="left", maintain_order="left"))
        return joined

    def with_batches(self, native: Any, added: Mapping[str, Any], function: Callable[[Any], Any]) -> Any:
        """Return a lazy frame with columns that a function adds to frames in memory."""
        schema = native.collect_schema()
        schema |= {
            name: nw.from_dict({name: [value]}, backend="polars").to_native().schema[name]
            for name, value in added.items()
        }
        return native.map_batches(function, schema=schema)

    def with_probability(self, rows: "ScoredFrame", maps: "Maps", name: str) -> Any:
        """Return the native frame with the probability of each row."""
        if maps.by:
            return super().with_probability(rows, maps, name)
        words = nw.get_native_namespace(rows.frame)
        # An infinite score beside a slope of 0 would make no number.
        reader = _SearchReader(words, words.col(rows.score).cast(words.Float64).clip(-MAX, MAX), rows.spare)
        column = reader.column(maps.formula(None), name)
        return rows.frame.to_native().with_columns(**reader.places).with_columns(column).drop(reader.places)

    def with_probabilities(self, rows: "ScoredFrame", plan: "JointPlan") -> Any:
        """Return the native frame with the probabilities of several classes and the decision, layer by layer."""
        words = nw.get_native_namespace(rows.frame)
        doubles = (words.col(name).cast(words.Float64) for name in plan.columns)
        layers = plan.layers(f"{rows.spare}_")
        added = with_layers(words, rows.frame.to_native(), doubles, plan, layers, _SearchReader)
        return added.select(*rows.schema, *plan.probs, plan.decision)


class PolarsMemory(ArrowMemory):
    """Frames of Polars in memory: NumPy computes, but names are those of Polars, and integers are cast."""

    holds_arrow = False
    renames = True

    def takes(self, frame: Frame) -> bool:
        """Whether this is a frame of Polars in memory."""
        return super().takes(frame) and frame.implementation.is_polars()

    def rename(self, native: Any, names: Mapping[str, str]) -> Any:
        """Return a frame with new names."""
        return native.rename(dict(names))


class _SearchReader(ExpressionReader):
    """Reads pieces as well: Polars can search in a series and take from one."""

    def __init__(self, words: ModuleType, score: Any, spare: str, beside: Sequence[Any] = ()) -> None:
        super().__init__(words, score, spare, beside=beside)
        self._place: Any = None

    def _column(self, node: Column) -> Any:
        return self.words.lit(self.words.Series(node.values)).gather(self._place)

    def _clip(self, node: Clip, of: Any) -> Any:
        return of.clip(node.low, node.high)

    def _pieces(self, node: Pieces) -> Any:
        name = f"{self.spare}_{len(self.places)}"
        self.places[name] = self.words.lit(self.words.Series(node.knots)).search_sorted(self.score)
        around, self._place = self._place, self.words.col(name)
        value = self.read(node.body)
        self._place = around
        return value
