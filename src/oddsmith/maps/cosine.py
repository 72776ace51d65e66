"""A cosine series in probability."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from oddsmith._types import Floats
from oddsmith.formula import SCORE, Formula, as_formula, clip, cos
from oddsmith.maps.base import CalibrationMap


@dataclass(frozen=True, eq=False, repr=False)
class CosineMap(CalibrationMap):
    """Cosine series in probability, P = Σ aₙ cos(nt), t = π(s − low)/(high − low), both clipped to their range.

    Parameters
    ----------
    low : float
        Where the series begins.
    high : float
        Where it ends.
    coefficients : array
        Of cos(jθ), from j = 0 on.

    See Also
    --------
    oddsmith.CosineCalibrator : Fits one.
    """

    shape: ClassVar[str] = "cosine"

    low: float
    high: float
    coefficients: Floats

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
        t = np.pi * share_of_way(s, self.low, self.high)
        return np.clip(np.polynomial.chebyshev.chebval(np.cos(t), self.coefficients), 0.0, 1.0)

    def probability_formula(self) -> Formula:
        """Return the probability as a formula.

        Returns
        -------
        Formula
        """
        low, high = float(self.low), float(self.high)
        # Halved where their distance is infinite.
        unit = 1.0 if np.isfinite(high - low) else 2.0
        way = clip(SCORE, low, high) / unit - low / unit
        t = way / (high / unit - low / unit) * np.pi
        first, *others = (float(a) for a in self.coefficients)
        series = as_formula(first)
        for n, coefficient in enumerate(others, start=1):
            series = series + coefficient * cos(float(n) * t)
        return clip(series, 0.0, 1.0)

    def turns(self) -> Floats:
        """Return cos t where the series has its extrema.

        Returns
        -------
        ndarray
        """
        derivative = np.polynomial.chebyshev.chebder(self.coefficients)
        turns = np.polynomial.chebyshev.chebroots(derivative) if len(derivative) > 1 else np.empty(0)
        return np.asarray(np.real(turns[(np.abs(np.imag(turns)) < 1e-9) & (np.abs(np.real(turns)) < 1)]))

    @property
    def is_monotone(self) -> bool:
        """Whether the clipped series never falls; exact, by the extrema of the polynomial in cos t."""
        places = np.sort(np.concatenate([[-1.0], self.turns(), [1.0]]))[::-1]
        values = np.clip(np.polynomial.chebyshev.chebval(places, self.coefficients), 0.0, 1.0)
        return bool(np.all(np.diff(values) >= -1e-12))


def share_of_way(scores: Floats, low: Floats | float, high: Floats | float) -> Floats:
    """Return where scores lie on the way from ``low`` (0) to ``high`` (1), clipped."""
    with np.errstate(over="ignore"):
        way = np.subtract(high, low)
        if np.all(np.isfinite(way)):
            return np.asarray(np.clip((scores - low) / way, 0.0, 1.0))
        # Halved, so that the distance of the two most distant doubles is finite.
        half_low, half_high = np.divide(low, 2), np.divide(high, 2)
        return np.asarray(np.clip((scores / 2 - half_low) / (half_high - half_low), 0.0, 1.0))
