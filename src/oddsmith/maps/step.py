"""Steps in probability, with separate values at and between the knots: bins, Venn–Abers."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from oddsmith._types import Floats
from oddsmith.formula import Formula, as_formula, below, pieces
from oddsmith.maps.base import MAX, CalibrationMap
from oddsmith.maps.locate import Places, by_interval


@dataclass(frozen=True, eq=False, repr=False)
class StepMap(CalibrationMap):
    """Steps in probability: one value at each knot and one in each interval between and outside knots.

    Parameters
    ----------
    knots, at : ndarray, shape (K,)
        Ascending scores and the probability at exactly each of them.
    between : ndarray, shape (K + 1,)
        The probability below the first knot, between neighbors, and above the last.

    See Also
    --------
    oddsmith.IsotonicCalibrator : Fits one.
    """

    shape: ClassVar[str] = "step"

    knots: Floats
    at: Floats
    between: Floats

    def probability(self, scores: ArrayLike) -> Floats:
        """Return P(+|s), in [0, 1].

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new cases.

        Returns
        -------
        ndarray
        """
        s = np.asarray(scores, dtype=np.float64)
        if self.knots.size and max(-self.knots[0], self.knots[-1]) == MAX:
            s = np.clip(s, -MAX, MAX)  # ±∞ are the largest doubles, with which steps end
        sides: tuple[tuple[Literal["left", "right"], Floats], ...]
        sides = (("right", self.between[1:]), ("left", self.between[:-1]))
        for side, values in sides:
            if np.array_equal(self.at, values):  # knots belong to an interval beside them, as those of bins do
                return by_interval(self.knots, s, lambda _, place: self.between.take(place), side)

        def value(part: Floats, place: Places) -> Floats:
            nearest = np.minimum(place, len(self.knots) - 1)
            return np.where(self.knots[nearest] == part, self.at[nearest], self.between[place])

        return by_interval(self.knots, s, value)

    def probability_formula(self) -> Formula:
        """Return the probability as a formula.

        Returns
        -------
        Formula
        """
        ends = np.column_stack([below(self.knots), self.knots]).ravel()
        return pieces(ends, as_formula(self._in_order()))

    def _in_order(self) -> Floats:
        """Return all values from the lowest score to the highest."""
        values = np.empty(2 * len(self.knots) + 1)
        values[0::2], values[1::2] = self.between, self.at
        return values

    @property
    def is_monotone(self) -> bool:
        """Whether the values never fall."""
        return bool(np.all(np.diff(self._in_order()) >= 0))
