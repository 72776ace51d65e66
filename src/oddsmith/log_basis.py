"""The map of beta calibration: log-odds linear in log p and log(1 − p)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from oddsmith._check import Floats
from oddsmith.maps import FAR, MAX, CalibrationMap

__all__ = ["LogBasisMap", "log_basis"]


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
        left, right = log_basis(np.asarray(scores, dtype=np.float64), self.centre, self.scale)
        with np.errstate(over="ignore", under="ignore"):
            rise = np.clip(self.slopes[0] * left, -MAX / 4, MAX / 4)
            return np.asarray(self.intercept + rise + np.clip(self.slopes[1] * right, -MAX / 4, MAX / 4))

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
