"""A map inside Dask, in words of its own: nothing of this library travels to the workers.

Dask computes both sides of every condition for all rows, so many knots are not told apart by conditions: a binary
search takes them from a series by their place, and so the constants of a piece or of a segment are taken.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from oddsmith._check import Floats
from oddsmith.formula import Arithmetic, Clip, Column, Formula, Function, Pieces, Reader, Where
from oddsmith.formula.nodes import FUNCTIONS, OPERATORS
from oddsmith.frames.searching import steps_past
from oddsmith.maps import MAX


def in_dask(frame: Any, formula: Formula, score: str, name: str, key: Any = None, segments: Sequence[str] = ()) -> Any:
    """Return a frame with the value of a formula as one more column.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
    formula : Formula
    score : str
        Column of numbers. Missing ones give missing values.
    name : str
        Of the new column.
    key : dask.dataframe.Series, optional
        Names the segment of each row. Then columns of the formula have a row for each segment, and one for others.
    segments : sequence of str
        Names that the key may hold.
    """
    # An infinite score beside a slope of 0 would make no number.
    reader = _LookupReader(frame[score].astype("float64").clip(-MAX, MAX))
    if key is not None:
        reader.search_names(key, segments)
    return frame.assign(**{name: reader.column(formula)})


class _LookupReader(Reader[Any]):
    """Reads a formula as a Dask series, or as a number where no row makes a difference."""

    def __init__(self, score: Any) -> None:
        super().__init__()
        self.score = score
        self.nowhere = score.clip(0.0, 0.0)  # 0 where there is a score
        self.segment: Any = None
        self.place: Any = None

    def column(self, formula: Formula) -> Any:
        """Return the values, missing where the score is missing."""
        return self._series(self.read(formula)).where(self.score.notnull())

    def search_names(self, key: Any, names: Sequence[str]) -> None:
        """Look up in the row of each segment, or in the one after the last."""
        rows = self._taken(key, np.arange(float(len(names))), names)
        self.segment = rows.fillna(float(len(names))).astype("int64")

    def _score(self) -> Any:
        return self.score

    def _number(self, value: float) -> Any:
        return value

    def _column(self, node: Column) -> Any:
        by_segment = self.segment is not None and node.values.shape[1] == 1
        return self._taken(self.segment if by_segment else self.place, node.values.ravel())

    def _arithmetic(self, node: Arithmetic, left: Any, right: Any) -> Any:
        return OPERATORS[node.operator](left, right)

    def _function(self, node: Function, of: Any) -> Any:
        return FUNCTIONS[node.name](of)

    def _clip(self, node: Clip, of: Any) -> Any:
        return self._series(of).clip(node.low, node.high)

    def _where(self, _node: Where, left: Any, right: Any, then: Any, otherwise: Any) -> Any:
        return self._series(then).where(self._series(left) <= right, otherwise)

    def _pieces(self, node: Pieces) -> Any:
        # A knot at ∞ ends each row, as that of segments do already.
        knots = np.append(node.knots, np.inf)[None] if self.segment is None else node.knots
        segment = (self.score > np.inf).astype("int64") if self.segment is None else self.segment
        pieces = knots.shape[1]
        steps = steps_past(pieces - 1)
        padded = np.pad(knots, ((0, 0), (0, max(0, sum(steps) - pieces))), constant_values=np.inf)
        passed: Any = 0
        for step in steps:
            knot = self._taken(segment * padded.shape[1] + passed + (step - 1), padded.ravel())
            passed = passed + (self.score > knot).astype("int64") * step
        around, self.place = self.place, segment * pieces + passed
        value = self.read(node.body)
        self.place = around
        return value

    def _series(self, value: Any) -> Any:
        return value if hasattr(value, "dask") else self.nowhere + value

    def _taken(self, place: Any, values: Floats, index: Sequence[str] | None = None) -> Any:
        import pandas as pd

        meta = pd.Series(dtype="float64", name=place.name)
        return place.map(pd.Series(values, index=index), meta=meta)
