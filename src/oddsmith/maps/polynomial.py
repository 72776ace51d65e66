"""Polynomials by pieces in log-odds: logistic, Platt, densities, piecewise logistic, splines, constants."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from oddsmith._types import Floats
from oddsmith.formula import SCORE, Formula, as_formula, clip, pieces
from oddsmith.maps.base import FAR, MAX, CalibrationMap, adds_exactly, within_doubles
from oddsmith.maps.locate import Places, by_interval


@dataclass(frozen=True, eq=False, repr=False)
class PolynomialMap(CalibrationMap):
    """Piecewise polynomial of degree ≤ 3 in log-odds.

    Piece j applies for knots[j−1] < s ≤ knots[j] and is Σ cᵢuⁱ with u = (s − origins[j])/scale: an expansion about a
    point near the data, since one about 0 loses everything at scores near 1e8.

    Parameters
    ----------
    knots : ndarray, shape (K,)
    origins : ndarray, shape (K + 1,)
    coefficients : ndarray, shape (K + 1, degree + 1)
    scale : float
        A power of two, so that s/scale is exact.

    See Also
    --------
    oddsmith.SplineCalibrator : Fits one.
    """

    shape: ClassVar[str] = "polynomial"

    knots: Floats
    origins: Floats
    coefficients: Floats
    scale: float

    def log_odds(self, scores: ArrayLike) -> Floats:
        """Return log P(+|s)/P(−|s), finite for every finite score.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new cases.

        Returns
        -------
        ndarray
        """
        s = within_doubles(np.asarray(scores, dtype=np.float64), self.scale)
        if len(self.knots) == 0:
            return self._piece(s, 0)
        return by_interval(self.knots, s, self._piece)

    def _piece(self, scores: Floats, piece: Places | int) -> Floats:
        *lower, value = self.coefficients[piece].T
        with np.errstate(all="ignore"):
            u = np.clip(scores / self.scale - self.origins[piece] / self.scale, -FAR, FAR)
            for coefficient in reversed(lower):
                value = coefficient + value * u
            return np.asarray(np.clip(value, -MAX, MAX))

    def log_odds_formula(self) -> Formula:
        """Return the log-odds as a formula.

        Returns
        -------
        Formula
        """
        value = _polynomial(self.scale, self.origins, self.coefficients.T, clipped=not self._is_steep_line)
        return pieces(self.knots, value)

    @staticmethod
    def log_odds_of_many(maps: Sequence["PolynomialMap"]) -> Formula:
        """Return the log-odds of maps without knots, of one degree, as a formula; columns have a row per map.

        Parameters
        ----------
        maps : sequence of maps
            Maps of one shape.

        Returns
        -------
        Formula
        """
        scale, origins = np.array([(one.scale, one.origins[0]) for one in maps]).T[..., None]
        coefficients = np.array([one.coefficients[0] for one in maps]).T[..., None]
        return _polynomial(scale, origins, coefficients, clipped=True)

    def _shifted(self, shift: float) -> CalibrationMap:
        if not adds_exactly(self.coefficients[:, 0], shift):
            return super()._shifted(shift)
        coefficients = self.coefficients.copy()
        coefficients[:, 0] += shift
        return replace(self, coefficients=coefficients)

    @property
    def _is_steep_line(self) -> bool:
        """Whether this is one line, and P is 0 or 1 long before u would be held."""
        slope = np.abs(self.coefficients[0, 1:2])
        return len(self.knots) == 0 and not self.coefficients[0, 2:].any() and bool(np.all(slope > 1e10 / FAR))

    @property
    @np.errstate(all="ignore")
    def is_monotone(self) -> bool:
        """Whether the log-odds never fall, by the least slope of each piece and the steps between pieces."""
        _, c1, c2, c3 = np.pad(self.coefficients, ((0, 0), (0, 4 - self.coefficients.shape[1]))).T
        bounds = np.concatenate([[-np.inf], self.knots, [np.inf]])
        left, right = (
            np.clip(end / self.scale - self.origins / self.scale, -FAR, FAR) for end in (bounds[:-1], bounds[1:])
        )
        turn = np.clip(np.divide(-c2, 3 * c3, out=left.copy(), where=c3 != 0), left, right)
        length = np.where(right - left < FAR, right - left, 0.0)
        for u in (left, right, turn):
            slope = c1 + (2 * c2 + 3 * c3 * u) * u
            # Slopes that are 0 but for rounding do not make a map fall, unless their piece is long.
            if np.any((slope < -1e-12 * np.abs(c1).max()) | (slope * length < -1e-9)):
                return False
        at = self.log_odds(self.knots)
        after = self.log_odds(np.minimum(self.knots + np.spacing(np.abs(self.knots)), MAX))
        return bool(np.all(after >= at - 1e-9 * np.maximum(1.0, np.abs(at))))


def _polynomial(scale: Floats | float, origins: Floats, coefficients: Floats, *, clipped: bool) -> Formula:
    """Return Σ cᵢuⁱ of u = (s − origins)/scale."""
    with np.errstate(all="ignore"):
        u = SCORE / as_formula(scale) - np.clip(origins / scale, -MAX, MAX)
    if clipped:
        u = clip(u, -FAR, FAR)
    *lower, value = map(as_formula, coefficients)
    for coefficient in reversed(lower):
        value = coefficient + value * u
    return value


def constant_map(log_odds: float) -> PolynomialMap:
    """Return the map with the same log-odds for every score.

    Parameters
    ----------
    log_odds : float
        The log-odds of every score.

    Returns
    -------
    PolynomialMap

    See Also
    --------
    line_map : A line instead of a constant.
    """
    return line_map(0.0, log_odds)


def line_map(slope: float, level: float = 0.0, origin: float = 0.0, scale: float = 1.0) -> PolynomialMap:
    """Return the map of log-odds level + slope·(s − origin)/scale.

    Parameters
    ----------
    slope : float
        The slope of the log-odds.
    level : float, default 0
        The log-odds at the origin.
    origin : float, default 0
        A score near the data.
    scale : float, default 1
        The unit of scores, a power of two.

    Returns
    -------
    PolynomialMap

    See Also
    --------
    constant_map : A constant instead of a line.
    """
    return PolynomialMap(np.empty(0), np.array([origin]), np.array([[level, slope, 0.0]]), scale)
