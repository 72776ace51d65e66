"""The map of beta calibration: log-odds linear in log p and log(1 − p)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from oddsmith._check import Floats
from oddsmith._pieces import in_pieces
from oddsmith.formula import SCORE, Formula, absolute, clip, exp, log, where
from oddsmith.maps import FAR, MAX, CalibrationMap

__all__ = ["LogBasisMap", "log_basis"]

#: Slopes are held within this bound: times the farthest score they stay finite.
_STEEPEST = MAX / FAR / 8

#: Scores up to here get the series: five terms are exact.
_NEAR = 0.5


@dataclass(frozen=True, eq=False)
class LogBasisMap(CalibrationMap):
    """Log-odds a·log p − b·log(1 − p) + c of p = σ(s), computed without p.

    With h(s) = −log p − log(1 − p) − 2 log 2 the basis is log p = (s − h)/2 and −log(1 − p) = (s + h)/2 but for
    constants: exact where p is so close to ½, 0 or 1 that it says nothing any more.

    Parameters
    ----------
    slopes : ndarray, shape (2,)
        a and b, times the scale.
    intercept : float
        The log-odds at the centre.
    centre, scale : float
        A score near the data, and a power of two near their spread.
    """

    shape: ClassVar[str] = "log_basis"

    slopes: Floats
    intercept: float
    centre: float
    scale: float

    def log_odds(self, scores: ArrayLike) -> Floats:
        """Return log P(+|s)/P(−|s), finite for every finite score."""
        return in_pieces(self._log_odds, np.asarray(scores, dtype=np.float64))

    def probability(self, scores: ArrayLike) -> Floats:
        """Return P(+|s)."""
        return in_pieces(lambda part: expit(self._log_odds(part)), np.asarray(scores, dtype=np.float64))

    def _log_odds(self, scores: Floats) -> Floats:
        left, right = log_basis(scores, self.centre, self.scale)
        a, b = np.clip(self.slopes, -_STEEPEST, _STEEPEST)
        return np.asarray(self.intercept + a * left + b * right)

    def log_odds_formula(self) -> Formula:
        """Return the log-odds as a formula."""
        with np.errstate(over="ignore", under="ignore"):
            hump = _log_hump(np.array(self.centre), self.scale)
            centre, at_centre = np.clip(np.array([self.centre, hump]) / self.scale, -MAX, MAX).tolist()
        x = clip(SCORE / self.scale - centre, -FAR, FAR)
        k = clip(_log_hump_formula(self.scale) / self.scale - at_centre, -FAR, FAR)
        a, b = (float(slope) for slope in self.slopes)
        return self.intercept + a * ((x - k) / 2.0) + b * ((x + k) / 2.0)

    @property
    def is_monotone(self) -> bool:
        """Whether neither slope is negative."""
        return bool(np.all(self.slopes >= 0))


def log_basis(scores: Floats, centre: float, scale: float) -> tuple[Floats, Floats]:
    """Return log p and −log(1 − p) of p = σ(s), both less their value at the centre, over the scale."""
    with np.errstate(over="ignore", under="ignore"):
        x = np.clip(scores / scale - centre / scale, -FAR, FAR)
        hump, at_centre = (_log_hump(part, scale) / scale for part in (scores, np.array(centre)))
        k = np.clip(hump - at_centre, -FAR, FAR)
    return (x - k) / 2, (x + k) / 2


def _log_hump(scores: Floats, scale: float) -> Floats:
    """Return −log p − log(1 − p) − 2 log 2 = 2 log cosh(s/2), to the last digit of the scale."""
    size = np.abs(scores)
    with np.errstate(under="ignore"):
        if scale > 0.1:
            return np.asarray(size + 2 * np.log(1 + np.exp(-size)) - 2 * np.log(2))
        small = 2 * np.log1p(2 * np.sinh(np.minimum(size, 2.0) / 4) ** 2)
        return np.asarray(np.where(size < 2, small, size + 2 * np.log1p(np.exp(-size)) - 2 * np.log(2)))


def _log_hump_formula(scale: float) -> Formula:
    """Return the same without log1p and sinh, which few engines have."""
    size = absolute(SCORE)
    large = size + 2.0 * log(1.0 + exp(-size)) - float(2 * np.log(2))
    if scale > 0.1:
        return large
    # 2 log cosh(s/2) = 4 artanh(t²) with t = tanh(s/4). The rounding of t counts t-fold: small where digits are wanted.
    e = exp(clip(size, 0.0, _NEAR) / 2.0)
    t = (e - 1.0) / (e + 1.0)
    square = t * t
    fourth = square * square
    series = 1.0 + fourth * (1 / 3 + fourth * (1 / 5 + fourth * (1 / 7 + fourth * (1 / 9))))
    return where(size, _NEAR, 4.0 * (square * series), large)
