"""Maps by segment: which map a row gets, in NumPy or as one formula of all of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.formula import Formula, Pieces, combine, walk
from oddsmith.maps import CalibrationMap, map_families, rows_by_segment

#: Shapes that an expression tells apart; segments of one method have a handful.
_MOST_SHAPES = 64

#: Each of them is a few parameters to join, or a few numbers in lists to look them up in.
_MOST_KNOTS = 50_000
_MOST_LISTED = 5_000_000


@dataclass(frozen=True)
class Maps:
    """One map for all rows, or one for each segment."""

    default: CalibrationMap | None  # for all rows, or those of no known segment; None gives them no probability
    by: tuple[str, ...] = ()  # columns that name the segment
    segments: Mapping[str, CalibrationMap] = field(default_factory=dict)

    def probability(self, scores: Floats, keys: NDArray[Any] | None) -> Floats:
        """Compute in NumPy; NaN where there is no map, or it refuses a score."""
        if keys is None:
            return _probability(self.default, scores)
        result = np.empty(len(scores))
        for name, rows in rows_by_segment(keys).items():
            fitted = self.segments.get(name, self.default) if isinstance(name, str) else self.default
            result[rows] = _probability(fitted, scores[rows])
        return result

    def formula(self, prepare: Callable[[Formula], Formula] | None) -> Formula:
        """Return the one formula; of segments, its columns have a value each and one for unknown segments.

        ``prepare`` makes an engine's formula of a map's, without pieces; None: the engine looks knots up.
        """
        if not self.by:
            assert self.default is not None
            formula = self.default.probability_formula()
            return formula if prepare is None else prepare(formula)
        found = map_families([*self.segments.values(), self.default])
        knots = [node.knots for one in found for node in walk(one.formula) if isinstance(node, Pieces)]
        if prepare is None:
            # Lists have as many numbers for each segment as the longest has.
            most, total = _MOST_LISTED, (1 + len(self.segments)) * max((one.shape[1] for one in knots), default=0)
        else:
            most, total = _MOST_KNOTS, sum(int(np.isfinite(one).sum()) for one in knots)
        if total > most:
            self._refuse(f"{most:,} knots", f"{total:,} knots")
        if len(found) > _MOST_SHAPES:
            self._refuse(f"{_MOST_SHAPES} shapes", f"{len(found)} shapes")
        return combine(found if prepare is None else [one._replace(formula=prepare(one.formula)) for one in found])

    def _refuse(self, most: str, got: str) -> NoReturn:
        _check.fail(
            f"inside an engine the maps of segments must have at most {most} in all",
            f"{len(self.segments):,} segments with {got}",
            "fit a method with a few parameters per segment, or apply it to frames in memory",
        )


def _probability(fitted: CalibrationMap | None, scores: Floats) -> Floats:
    if fitted is None:
        return np.full(len(scores), np.nan)
    low, high = fitted.domain
    if low == -np.inf and high == np.inf:
        return fitted.probability(scores)
    taken = (low <= scores) & (scores <= high)
    result = np.full(len(scores), np.nan)
    result[taken] = fitted.probability(scores[taken])
    return result
