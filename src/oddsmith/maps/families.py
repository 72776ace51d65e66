"""Many maps as few formulas: maps of one shape differ in constants only, which become columns with a row per map.

Lines, and what is made of them by a change of the score or a shift, become one formula at once, however many there are;
of others each map's formula is made first.
"""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from oddsmith.formula import MISSING, Family, Formula, as_formula, families, sigmoid
from oddsmith.maps.adjusted import AdjustedMap
from oddsmith.maps.base import CalibrationMap, ShiftedMap
from oddsmith.maps.inputs import InputMap
from oddsmith.maps.polynomial import PolynomialMap

__all__ = ["log_odds_of_many", "map_families", "quick_shape"]


def map_families(maps: Sequence[CalibrationMap | None]) -> list[Family]:
    """Return the probabilities of maps as formulas of a few shapes; without a map they are missing.

    Examples
    --------
    >>> from oddsmith.maps import line_map
    >>> [family] = map_families([line_map(2.0), line_map(3.0)])
    >>> family.members
    array([0, 1])
    """
    alike: dict[Hashable, list[int]] = {}
    others: list[int] = []
    for number, one in enumerate(maps):
        shape = None if one is None else quick_shape(one)
        (others if shape is None else alike.setdefault(shape, [])).append(number)
    quick = [Family(np.array(own), sigmoid(log_odds_of_many([maps[i] for i in own]))) for own in alike.values()]
    formulas = [MISSING if (one := maps[i]) is None else one.probability_formula() for i in others]
    numbers: NDArray[np.intp] = np.array(others, dtype=np.intp)
    return [*quick, *(Family(numbers[members], formula) for members, formula in families(formulas))]


def quick_shape(one: CalibrationMap) -> Hashable | None:
    """Return what maps have in common whose log-odds `log_odds_of_many` makes at once; None for others."""
    match one:
        case PolynomialMap(knots=knots, coefficients=coefficients) if len(knots) == 0:
            return "polynomial", coefficients.shape[1]
        case AdjustedMap(inner=inner):
            return "adjusted", id(inner)  # one map of all rows, which is computed once
        case ShiftedMap(inner=inner):
            shape = quick_shape(inner)
            return None if shape is None else ("shifted", shape)
        case InputMap(inner=inner):
            shape = quick_shape(inner)
            own = tuple((name, value) for name, value in vars(one).items() if name != "inner")
            return None if shape is None else (one.shape, own, shape)
    return None


def log_odds_of_many(maps: Sequence[CalibrationMap | None]) -> Formula:
    """Return the log-odds of maps that `quick_shape` gives one shape as a formula, columns having a row per map."""
    first = maps[0]
    match first:
        case PolynomialMap():
            return PolynomialMap.log_odds_of_many(maps)  # type: ignore[arg-type]
        case AdjustedMap():
            slopes, shifts = np.array([(one.slope, one.shift) for one in maps]).T[..., None]  # type: ignore[union-attr]
            return as_formula(slopes) * first.inner_formula() + as_formula(shifts)
        case ShiftedMap():
            shifts = np.array([[one.shift] for one in maps])  # type: ignore[union-attr]
            return log_odds_of_many([one.inner for one in maps]) + as_formula(shifts)  # type: ignore[union-attr]
        case InputMap():
            return first.after_change(log_odds_of_many([one.inner for one in maps]))  # type: ignore[union-attr]
    raise TypeError(first)
