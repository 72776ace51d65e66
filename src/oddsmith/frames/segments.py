"""Maps by segment: which map a row gets, in NumPy or as one formula of all of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.formula import MISSING, Formula, Number, Pieces, evaluate, walk
from oddsmith.frames.parameters import with_parameters
from oddsmith.maps import CalibrationMap, rows_by_segment

#: Shapes that an expression tells apart; segments of one method have a handful.
_MOST_SHAPES = 64

#: Each of them is a few parameters to join, or a few numbers in lists to look them up in.
_MOST_KNOTS = 50_000
_MOST_LISTED = 5_000_000


@dataclass(frozen=True)
class Maps:
    """One map for all rows, or one for each segment."""

    default: CalibrationMap | None  # for all rows, or those of no known segment; None gives them no probability
    by: str | None = None  # column that names the segment
    segments: Mapping[str, CalibrationMap] = field(default_factory=dict)

    def probability(self, scores: Floats, keys: NDArray[Any] | None, *, refuse: bool = False) -> Floats:
        """Compute in NumPy; NaN where there is no map, or it refuses a score (``refuse``: an error)."""
        if keys is None:
            return _probability(self.default, scores, refuse)
        result = np.empty(len(scores))
        for name, rows in rows_by_segment(keys).items():
            fitted = self.default if name is None else self.segments.get(name, self.default)
            result[rows] = _probability(fitted, scores[rows], refuse)
        return result

    def formula(self, prepare: Callable[[Formula], Formula] | None) -> Formula:
        """Return the one formula; of segments, its columns have a value each and one for unknown segments.

        ``prepare`` makes an engine's formula of a map's, without pieces; None: the engine looks knots up.
        """
        if self.by is None:
            assert self.default is not None
            formula = self.default.probability_formula()
            return formula if prepare is None else prepare(formula)
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
            "fit a method with a few parameters per segment, or apply it to frames in memory",
        )


def _probability(fitted: CalibrationMap | None, scores: Floats, refuse: bool) -> Floats:
    if fitted is None:
        return np.full(len(scores), np.nan)
    formula = fitted.probability_formula()
    if refuse or not any(isinstance(node, Number) and np.isnan(node.value) for node in walk(formula)):
        return fitted.probability(scores)
    taken = ~np.isnan(evaluate(formula, scores))
    result = np.full(len(scores), np.nan)
    result[taken] = fitted.probability(scores[taken])
    return result
