"""What the values of columns, and their crossings, add to the log-odds of a map."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from oddsmith import _check
from oddsmith._short_repr import ShortRepr
from oddsmith._types import Floats
from oddsmith.maps.adjusted import LARGEST_SLOPE, SMALLEST_SLOPE, AdjustedMap
from oddsmith.maps.base import CalibrationMap, class_shift

__all__ = ["Effects", "Keys", "Term"]

#: The key of each column; None is a missing one, or any that the fit did not see.
Keys = tuple[str | None, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Term(ShortRepr):
    """The effects of the values of one column, of a crossing of several, or of no column, one for all rows.

    Parameters
    ----------
    columns : tuple of int
        Numbers of the columns.
    keys : tuple of tuple of str
        Values of these columns, one tuple per effect.
    shifts, slopes : ndarray
        What is added to the shift and to the slope of the log-odds where a row has these values.

    See Also
    --------
    Effects : Contains one per set of columns.
    """

    columns: tuple[int, ...]
    keys: tuple[tuple[str, ...], ...]
    shifts: Floats
    slopes: Floats

    def to_dict(self) -> dict[str, Any]:
        """Return the term as plain lists and numbers.

        Returns
        -------
        dict
        """
        keys = [list(one) for one in self.keys]
        shifts, slopes = self.shifts.tolist(), self.slopes.tolist()
        return {"columns": list(self.columns), "keys": keys, "shifts": shifts, "slopes": slopes}


@dataclass(frozen=True, eq=False, repr=False)
class Effects(ShortRepr):
    """The terms of a model, which are summed: log-odds = (1 + Σ slopes) · z + Σ shifts.

    A value or a crossing that no term has adds nothing, so that rows of an unseen crossing get the effects of their
    columns, and rows with unseen values only the map of all rows.

    Parameters
    ----------
    n_columns : int
    terms : tuple of Term

    See Also
    --------
    oddsmith.pooling.PooledCalibrator : Fits them.

    Examples
    --------
    >>> one = Term((0,), (("a",), ("b",)), np.array([0.5, -0.5]), np.zeros(2))
    >>> both = Term((0, 1), (("a", "x"),), np.array([0.1]), np.array([0.2]))
    >>> effects = Effects(2, (one, both))
    >>> effects.of(("a", "x")), effects.of(("a", "unseen")), effects.of(("c", None))
    ((1.2, 0.6), (1.0, 0.5), (1.0, 0.0))
    """

    n_columns: int
    terms: tuple[Term, ...]
    _places: list[dict[Keys, int]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        places: list[dict[Keys, int]] = [{key: i for i, key in enumerate(term.keys)} for term in self.terms]
        object.__setattr__(self, "_places", places)

    def of(self, keys: Keys) -> tuple[float, float]:
        """Return the slope and the shift of rows with some keys.

        Parameters
        ----------
        keys : array-like of object
            Values of the columns, one per column.

        Returns
        -------
        tuple[float, float]
        """
        slope, shift = 1.0, 0.0
        for term, places in zip(self.terms, self._places, strict=True):
            place = places.get(tuple(keys[column] for column in term.columns))
            if place is not None:
                slope += float(term.slopes[place])
                shift += float(term.shifts[place])
        return min(max(slope, SMALLEST_SLOPE), LARGEST_SLOPE), shift

    def map_of(self, keys: Keys, inner: CalibrationMap) -> CalibrationMap:
        """Return the map of rows with some keys.

        Parameters
        ----------
        keys : array-like of object
            Values of the columns, one per column.
        inner : CalibrationMap
            The map that is changed.

        Returns
        -------
        CalibrationMap
        """
        return AdjustedMap(inner, *self.of(keys))

    def values(self, column: int) -> list[str]:
        """Return the values of a column that have effects.

        Parameters
        ----------
        column : int
            The place of the column.

        Returns
        -------
        list[str]
        """
        found = {key[term.columns.index(column)] for term in self.terms if column in term.columns for key in term.keys}
        return sorted(found)

    @property
    def n_crossings(self) -> int:
        """Number of `crossings`."""
        return math.prod(1 + len(self.values(column)) for column in range(self.n_columns))

    def crossings(self) -> Iterator[Keys]:
        """Yield every combination of values; None is any other value of a column, and all None is left out.

        Yields
        ------
        tuple
        """
        values: list[list[str | None]] = [[*self.values(column), None] for column in range(self.n_columns)]
        return (keys for keys in product(*values) if any(key is not None for key in keys))

    def shifted(self, shift: Any) -> "Effects":
        """Return effects with one more for all rows.

        Parameters
        ----------
        shift : float
            What is added to the log-odds.

        Returns
        -------
        Effects
        """
        negative, positive = class_shift(shift, 2).tolist()
        every = [term for term in self.terms if not term.columns]
        total = positive - negative + sum(float(term.shifts[0]) for term in every)
        others = tuple(term for term in self.terms if term.columns)
        return Effects(self.n_columns, (Term((), ((),), np.array([total]), np.zeros(1)), *others) if total else others)

    def to_dict(self) -> dict[str, Any]:
        """Return the effects as plain lists and numbers.

        Returns
        -------
        dict
        """
        return {"terms": [term.to_dict() for term in self.terms]}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Effects) and (self.n_columns, self.to_dict()) == (other.n_columns, other.to_dict())

    __hash__ = None  # type: ignore[assignment]


def check_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns of segments, which must differ."""
    if not columns or len(set(columns)) < len(columns):
        _check.fail("by must name different columns", repr(tuple(columns)), "pass a list of column names")
    return tuple(columns)
