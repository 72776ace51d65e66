"""Linear interpolation in probability: isotonic, min–max."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from oddsmith._types import Floats
from oddsmith.formula import SCORE, Formula, below, clip, pieces
from oddsmith.maps.base import CalibrationMap
from oddsmith.maps.locate import Places, by_interval


@dataclass(frozen=True, eq=False, repr=False)
class LinearMap(CalibrationMap):
    """Linear interpolation in probability between knots, constant outside.

    Parameters
    ----------
    knots, values : ndarray, shape (K,)
        Ascending scores and the probability at each.

    See Also
    --------
    oddsmith.PlattCalibrator : Fits one.
    """

    shape: ClassVar[str] = "linear"

    knots: Floats
    values: Floats

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
        s, knots = np.asarray(scores, dtype=np.float64), self.knots
        if s.size and not max(-s.min(), s.max()) <= 1e307:
            # So far out, and maybe beside a missing score, differences overflow; beyond the last knot nothing changes.
            s = np.clip(s, knots[0], knots[-1])
        if max(-knots[0], knots[-1]) > 1e307:
            s, knots = s / 2, knots / 2
        anchors, slopes, values = self._ramps(knots)

        def value(part: Floats, j: Places) -> Floats:
            rise = part - anchors.take(j, mode="clip")
            rise *= slopes.take(j, mode="clip")
            rise += values.take(j, mode="clip")
            return np.asarray(rise)

        return by_interval(knots, s, value, "right")

    def _ramps(self, knots: Floats) -> tuple[Floats, Floats, Floats]:
        """Return anchors, slopes and values: interval j starts at anchor j with value j and rises by slope j."""
        # The ends are flat. Slopes are cut by the size of rounding, so that no value passes the next one.
        slopes, gaps = np.zeros(len(knots) + 1), np.diff(knots)
        # Gaps without room for a fraction are jumps.
        np.divide(np.diff(self.values) * (1 - 1e-15), gaps, out=slopes[1:-1], where=gaps > 1e-290)
        return np.append(knots[:1], knots), slopes, np.append(self.values[:1], self.values)

    def probability_formula(self) -> Formula:
        """Return the probability as a formula.

        Returns
        -------
        Formula
        """
        s, knots = SCORE, self.knots
        if np.abs(knots[[0, -1]]).max() > 1e290:  # further out the difference from the largest double overflows
            s, knots = clip(SCORE, knots[0], knots[-1]) / 2.0, knots / 2
        anchors, slopes, values = self._ramps(knots)
        return pieces(below(self.knots), (s - anchors) * slopes + values)

    @property
    def is_monotone(self) -> bool:
        """Whether the values never fall."""
        return bool(np.all(np.diff(self.values) >= 0))
