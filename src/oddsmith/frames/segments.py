"""Maps by segment: which map a row gets, and the parameters of thousands of maps joined to the rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.formula import MISSING, Column, Formula, Number, Pieces, evaluate, walk
from oddsmith.frames.expressions import ExpressionReader
from oddsmith.frames.parameters import with_parameters
from oddsmith.maps import CalibrationMap

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

#: Shapes that an expression tells apart; segments of one method have a handful.
_MOST_SHAPES = 64

#: Each of them is a few parameters to join, or a few numbers in lists to look them up in.
_MOST_KNOTS = 50_000
_MOST_LISTED = 5_000_000


@dataclass(frozen=True)
class Maps:
    """One map for all rows, or one for each segment.

    Parameters
    ----------
    default : CalibrationMap or None
        For all rows, or for those of no known segment; None gives them no probability.
    by : str or None
        Column that names the segment.
    segments : mapping of str to CalibrationMap
    """

    default: CalibrationMap | None
    by: str | None = None
    segments: Mapping[str, CalibrationMap] = field(default_factory=dict)

    def probability(self, scores: Floats, names: "np.ndarray[Any, Any] | None") -> Floats:
        """Compute in NumPy; NaN where a map refuses a score or there is none."""
        if names is None:
            return _probability(self.default, scores)
        place = {name: i for i, name in enumerate(self.segments)}
        codes = np.fromiter((place.get(name, len(place)) for name in names.tolist()), np.intp, len(names))
        order = np.argsort(codes, kind="stable")
        result = np.empty(len(scores))
        for rows in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
            if len(rows):
                name = names[rows[0]]
                result[rows] = _probability(self.segments.get(name, self.default), scores[rows])
        return result

    def formula(self, prepare: Callable[[Formula], Formula] | None) -> Formula:
        """Return the formula of all segments, whose columns have a value each and one for unknown segments.

        Parameters
        ----------
        prepare : callable or None
            Makes an engine's formula of a map's: without pieces. None: the engine looks knots up in lists.
        """
        maps = [*self.segments.values(), self.default]
        formulas = [MISSING if one is None else one.probability_formula() for one in maps]
        knots = [sum(len(node.knots) for node in walk(one) if isinstance(node, Pieces)) for one in formulas]
        if prepare is None:
            most, total = _MOST_LISTED, len(knots) * max(knots)
        else:
            most, total = _MOST_KNOTS, sum(knots)
            formulas = [prepare(one) for one in formulas]
        if total > most:
            self._refuse(f"{most:,} knots", f"{total:,} knots")
        joint, shapes = with_parameters(formulas)
        if shapes > _MOST_SHAPES:
            self._refuse(f"{_MOST_SHAPES} shapes", f"{shapes} shapes")
        return joint

    def _refuse(self, most: str, got: str) -> NoReturn:
        _check.fail(
            f"inside an engine the maps of segments must have at most {most} in all",
            f"{len(self.segments):,} segments with {got}",
            "fit a method with a few parameters a segment, or apply it to frames in memory",
        )


def segment_name(key: Any) -> str:
    """Return a key as the text that names its segment."""
    return str(key).lower() if isinstance(key, (bool, np.bool_)) else str(key)


def segment_column(called: str, name: str, kind: "nw.dtypes.DType") -> "nw.Expr":
    """Return the column of segments as text, the same from every engine; ``called`` is what the user calls it."""
    import narwhals.stable.v2 as nw

    column = nw.col(name)
    if kind == nw.String:
        return column
    if kind == nw.Boolean:
        word = nw.when(column).then(nw.lit("true")).otherwise(nw.lit("false"))
        return nw.when(~column.is_null()).then(word)
    if not (kind.is_integer() or kind in (nw.Categorical, nw.Enum)):
        _check.fail(
            f"column {called!r} must hold text, integers or bools", f"type {kind}", "cast it in the frame first"
        )
    return column.cast(nw.String)


class ParameterReader(ExpressionReader):
    """Reads a formula of segments: its columns are columns of the frame, which have yet to be joined to it.

    Attributes
    ----------
    table : dict of str to list
        Those columns, one value a segment.
    """

    def __init__(self, score: Any, spare: str, *, as_text: bool) -> None:
        import narwhals.stable.v2 as nw

        super().__init__(nw, score, as_text=as_text)
        self.spare = spare
        self.table: dict[str, list[float]] = {}

    def _column(self, node: Column) -> Any:
        name = f"{self.spare}_{len(self.table)}"
        *known, unknown = node.values.ravel().tolist()
        self.table[name] = known
        return self.words.coalesce(self.words.col(name), self._number(unknown))


def _probability(fitted: CalibrationMap | None, scores: Floats) -> Floats:
    if fitted is None:
        return np.full(len(scores), np.nan)
    formula = fitted.probability_formula()
    if not any(isinstance(node, Number) and np.isnan(node.value) for node in walk(formula)):
        return fitted.probability(scores)
    taken = ~np.isnan(evaluate(formula, scores))
    result = np.full(len(scores), np.nan)
    result[taken] = fitted.probability(scores[taken])
    return result
