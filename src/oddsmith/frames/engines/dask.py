"""Dask: a map is a function of one partition, so that values stay with their rows whatever the index is.

Nothing that Dask aligns by index may decide which row gets which value: indexes repeat between files. The function is
made of NumPy and pandas alone, and the workers need nothing of this library.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from oddsmith.formula import Column, NumpySteps, Pieces, steps_past, vector_function
from oddsmith.frames.engines.base import Frame, FrameEngine
from oddsmith.maps import MAX

if TYPE_CHECKING:
    from oddsmith.frames.plans import JointPlan
    from oddsmith.frames.scored_frame import ScoredFrame
    from oddsmith.frames.segments import Maps


class Dask(FrameEngine):
    """Frames of Dask, whose columns are pandas' or Arrow's."""

    kinds = (nw.Implementation.DASK,)
    holds_arrow = True

    def quantiles(self, frame: Frame, column: nw.Expr, shares: Sequence[float]) -> list[float]:
        """Return approximate quantiles, merged from those of the partitions."""
        with self.translate_errors(frame, "answer the query"):
            series = frame.select(x=column).to_native()["x"].astype("float64").dropna()
            return [float(value) for value in series.quantile(list(shares)).compute() if not np.isnan(value)]

    def with_batches(self, native: Any, added: Mapping[str, Any], function: Callable[[Any], Any]) -> Any:
        """Return a frame with columns that a function adds to each partition; workers need this library."""
        import pandas as pd

        meta = native._meta.assign(**{name: pd.Series([value]).iloc[:0] for name, value in added.items()})
        return native.map_partitions(function, meta=meta)

    def with_probability(self, rows: "ScoredFrame", maps: "Maps", name: str) -> Any:
        """Return the native frame with the probability of each row."""
        steps, coding = NumpySteps(), None
        if maps.by:
            rows.segment()  # of a type that can name segments
            is_bool = rows.has_bools(maps.by[0])
            steps, coding = _SegmentSteps(), _place_finder(maps.by[0], is_bool, list(maps.segments))
        frame = rows.frame.to_native()
        add = _column_adder(steps.function_of(maps.formula(None)), rows.score, name, coding)
        return frame.map_partitions(add, meta=frame._meta.assign(**{name: np.empty(0)}))

    def with_probabilities(self, rows: "ScoredFrame", plan: "JointPlan") -> Any:
        """Return the native frame with the probabilities of several classes and the decision."""
        import pandas as pd

        frame = rows.frame.to_native()
        labels = np.array(plan.labels, dtype=object)
        compute = vector_function(plan.map.probability_formula())
        add = _classes_adder(compute, list(plan.columns), plan.probs, plan.decision, labels)
        decision = pd.Series([], dtype=pd.Series(plan.labels).dtype)
        meta = frame._meta.assign(**dict.fromkeys(plan.probs, np.empty(0)), **{plan.decision: decision})
        return frame.map_partitions(add, meta=meta)


# What follows is called on workers: closures travel by value, and annotations would travel with them.


def _column_adder(compute: Callable[..., Any], score: str, name: str, coding: Callable[[Any], Any] | None) -> Any:
    """Return a function that adds the column to one partition."""

    def add(part):  # type: ignore[no-untyped-def]
        scores = part[score].to_numpy(dtype="float64", na_value=np.nan)
        # An infinite score beside a slope of 0 would make no number.
        held = np.clip(scores, -MAX, MAX)
        values = compute(held) if coding is None else compute(held, coding(part))
        return part.assign(**{name: np.where(np.isnan(scores), np.nan, values)})

    return add


def _classes_adder(
    compute: Callable[..., Any], columns: list[str], probs: list[str], decision: str, labels: Any
) -> Any:
    """Return a function that adds the columns of several classes to one partition."""

    def add(part):  # type: ignore[no-untyped-def]
        import pandas as pd

        values = compute(np.column_stack([part[name].to_numpy(dtype="float64", na_value=np.nan) for name in columns]))
        missing = np.isnan(values).any(axis=1)
        best = pd.Series(labels[np.nan_to_num(values).argmax(axis=1)].tolist(), index=part.index)
        added = {name: values[:, place] for place, name in enumerate(probs)}
        return part.assign(**added, **{decision: best.mask(missing) if missing.any() else best})

    return add


def _place_finder(column: str, is_bool: bool, names: list[str]) -> Any:
    """Return a function that gives the place of each row's segment among the names, or the one after the last."""

    def coding(part):  # type: ignore[no-untyped-def]
        import pandas as pd

        keys = part[column]
        if not is_bool and getattr(keys.dtype, "kind", "") == "f":
            keys = keys.astype("Int64")  # a partition with a missing key among integers
        text = keys.astype(str).str.lower() if is_bool else keys.astype(str)
        places = pd.Index(names, dtype=object).get_indexer(text.astype(object).where(keys.notna(), None))
        return np.where(places < 0, len(names), places)

    return coding


class _SegmentSteps(NumpySteps):
    """Reads a formula whose columns and knots have a row per segment; input number 1 is the row of each score."""

    def __init__(self) -> None:
        super().__init__(inputs=2)

    def _column(self, node: Column) -> int:
        place = self.piece if node.values.shape[1] > 1 else 1
        return self.call(np.take, self.constant(node.values.ravel()), place)

    def _pieces(self, node: Pieces) -> int:
        """Search by halves, each row among the knots of its segment: a knot at ∞ ends them."""
        pieces = node.knots.shape[1]
        steps = steps_past(pieces - 1)
        padded = np.pad(node.knots, ((0, 0), (0, max(0, sum(steps) - pieces))), constant_values=np.inf)
        first = self.call(np.multiply, 1, self.constant(padded.shape[1]))
        knots, passed = self.constant(padded.ravel()), self.constant(0)
        for step in steps:
            last = self.call(np.add, self.call(np.add, first, passed), self.constant(step - 1))
            above = self.call(np.greater, self._score(), self.call(np.take, knots, last))
            passed = self.call(np.add, passed, self.call(np.multiply, above, self.constant(step)))
        return self.within(self.call(np.add, self.call(np.multiply, 1, self.constant(pieces)), passed), node.body)
