"""A map inside Dask: a function of one partition, so that values stay with their rows whatever the index is.

Nothing that Dask aligns by index may decide which row gets which value: indexes repeat between files. The function is
made of NumPy and pandas alone, and the workers need nothing of this library.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from oddsmith.formula import Column, Formula, Pieces, Steps
from oddsmith.frames.searching import steps_past
from oddsmith.maps.base import MAX


class Segments(NamedTuple):
    """A column, whether it holds bools, and the names that it may hold as text.

    A formula's columns have a row for each name, and one more for all other segments.
    """

    column: str
    is_bool: bool
    names: Sequence[str]


def in_dask(frame: Any, formula: Formula, score: str, name: str, segments: Segments | None = None) -> Any:
    """Return a frame with the value of a formula as one more column.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
    formula : Formula
    score : str
        Column of numbers. Missing ones give missing values.
    name : str
        Of the new column.
    segments : Segments, optional
        By which the columns of the formula are meant.
    """
    compute = Steps().computing(formula) if segments is None else _SegmentSteps().computing(formula)
    add = _adding(compute, score, name, None if segments is None else _coding(*segments))
    return frame.map_partitions(add, meta=frame._meta.assign(**{name: np.empty(0)}))


# What follows is called on workers: closures travel by value, and annotations would travel with them.


def _adding(compute: Callable[..., Any], score: str, name: str, coding: Callable[[Any], Any] | None) -> Any:
    """Return a function that adds the column to one partition."""

    def add(part):  # type: ignore[no-untyped-def]
        scores = part[score].to_numpy(dtype="float64", na_value=np.nan)
        # An infinite score beside a slope of 0 would make no number.
        held = np.clip(scores, -MAX, MAX)
        values = compute(held) if coding is None else compute(held, coding(part))
        return part.assign(**{name: np.where(np.isnan(scores), np.nan, values)})

    return add


def _coding(column: str, is_bool: bool, names: Sequence[str]) -> Any:
    """Return a function that gives the place of each row's segment among the names, or the one after the last."""
    listed = list(names)

    def coding(part):  # type: ignore[no-untyped-def]
        import pandas as pd

        keys = part[column]
        text = keys.astype(str).str.lower() if is_bool else keys.astype(str)
        places = pd.Index(listed, dtype=object).get_indexer(text.astype(object).where(keys.notna(), None))
        return np.where(places < 0, len(listed), places)

    return coding


class _SegmentSteps(Steps):
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
