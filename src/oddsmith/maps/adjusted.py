"""Another map with log-odds that are scaled and shifted, as those of a segment are."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from oddsmith._types import Floats
from oddsmith.formula import Formula, as_decisions, sigmoid
from oddsmith.maps.base import CalibrationMap, refuse_large_shift

__all__ = ["LARGEST_SLOPE", "SMALLEST_SLOPE", "AdjustedMap"]

#: Slopes are positive, so that no order of scores is turned round, and far from overflow.
SMALLEST_SLOPE, LARGEST_SLOPE = 1e-3, 1e3


@dataclass(frozen=True, eq=False, repr=False)
class AdjustedMap(CalibrationMap):
    """Another map whose log-odds z become slope · z + shift.

    Probabilities of exactly 0 and 1 stay.

    Parameters
    ----------
    inner : CalibrationMap
    slope : float
        From 0.001 to 1000.
    shift : float
        Within ±600.

    See Also
    --------
    BlendMap : Several maps instead of one.
    """

    shape: ClassVar[str] = "adjusted"

    inner: CalibrationMap
    slope: float
    shift: float

    def log_odds(self, scores: ArrayLike) -> Floats:
        """Return log P(+|s)/P(−|s); infinite only where P is 0 or 1.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new cases.

        Returns
        -------
        ndarray
        """
        with np.errstate(over="ignore"):
            return np.asarray(self.slope * self.inner.log_odds(scores) + self.shift)

    def inner_formula(self) -> Formula:
        """Return the log-odds of the inner map as a formula without pieces, to which slope and shift apply.

        Returns
        -------
        Formula
        """
        return as_decisions(self.inner.log_odds_formula())

    def log_odds_formula(self) -> Formula:
        """Return the log-odds as a formula.

        Returns
        -------
        Formula
        """
        return self.slope * self.inner_formula() + self.shift

    def probability_formula(self) -> Formula:
        """Return the probability as a formula.

        Returns
        -------
        Formula
        """
        return sigmoid(self.log_odds_formula())

    @property
    def is_monotone(self) -> bool:
        """Whether the inner map is monotone."""
        return self.inner.is_monotone

    def _shifted(self, shift: float) -> CalibrationMap:
        return AdjustedMap(self.inner, self.slope, refuse_large_shift(self.shift + shift))
