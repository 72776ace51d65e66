"""The map of beta calibration: log-odds linear in log p and log(1 − p)."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from oddsmith._types import Floats
from oddsmith.formula import SCORE, Formula, absolute, clip, exp, log, where
from oddsmith.maps.base import FAR, MAX, CalibrationMap, adds_exactly, within_doubles
from oddsmith.maps.locate import in_pieces

__all__ = ["LogBasisMap", "log_basis"]

#: Slopes are held within this bound: times the farthest score they stay finite.
_STEEPEST = MAX / FAR / 8

#: Scores up to here get the series: five terms are exact.
_NEAR = 0.5

#: Data within so little of each other need their differences taken exactly, unless they are so far out that one of the
#: two logarithms is straight and the other flat.
_NARROW, _FAR_OUT = 0.1, 40.0


@dataclass(frozen=True, eq=False, repr=False)
class LogBasisMap(CalibrationMap):
    """Log-odds a·log p − b·log(1 − p) + c of p = σ(s), computed without p.

    Exact even where p rounds to ½, 0 or 1, and never falling, however large the score.

    Parameters
    ----------
    slopes : ndarray, shape (2,)
        a and b, times the scale.
    intercept : float
        The log-odds at the center.
    centre, scale : float
        A score near the data, and a power of two near their spread.

    See Also
    --------
    oddsmith.BetaCalibrator : Fits one.
    """

    shape: ClassVar[str] = "log_basis"

    slopes: Floats
    intercept: float
    centre: float
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
        return in_pieces(self._log_odds, np.asarray(scores, dtype=np.float64))

    def probability(self, scores: ArrayLike) -> Floats:
        """Return P(+|s).

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new cases.

        Returns
        -------
        ndarray
        """
        return in_pieces(lambda part: expit(self._log_odds(part)), np.asarray(scores, dtype=np.float64))

    def _log_odds(self, scores: Floats) -> Floats:
        left, right = log_basis(within_doubles(scores, self.scale), self.centre, self.scale)
        a, b = np.clip(self.slopes, -_STEEPEST, _STEEPEST)
        return np.asarray(self.intercept + a * left + b * right)

    def log_odds_formula(self) -> Formula:
        """Return the log-odds as a formula.

        Returns
        -------
        Formula
        """
        a, b = (float(slope) for slope in self.slopes)
        # With steep slopes P is 0 or 1 long before the basis would be clipped.
        steep = all(slope == 0 or abs(slope) > 1e10 / FAR for slope in (a, b))
        left, right = _basis_formula(self.centre, self.scale, clipped=not steep)
        return self.intercept + a * left + b * right

    def _shifted(self, shift: float) -> CalibrationMap:
        if not adds_exactly(self.intercept, shift):
            return super()._shifted(shift)
        return replace(self, intercept=float(self.intercept) + shift)

    @property
    def is_monotone(self) -> bool:
        """Whether neither slope is negative."""
        return bool(np.all(self.slopes >= 0))


def log_basis(scores: Floats, center: float, scale: float) -> tuple[Floats, Floats]:
    """Return log p and −log(1 − p) of p = σ(s), both less their value at the center, over the scale.

    Both rise with the score, to the last bit however large it is: of log p = min(s, 0) − log(1 + e^−|s|) and
    −log(1 − p) = max(s, 0) + log(1 + e^−|s|) nothing large cancels.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        rest = np.log1p(np.exp(-np.abs(scores))) - np.log1p(np.exp(-abs(center)))
        left = (np.minimum(scores, 0.0) / scale - min(center, 0.0) / scale) - rest / scale
        right = (np.maximum(scores, 0.0) / scale - max(center, 0.0) / scale) + rest / scale
        if scale <= _NARROW and abs(center) < _FAR_OUT:
            # So close to the center only the difference has digits.
            move = np.clip(scores - center, -1.0, 1.0)
            near = np.abs(scores - center) < 1
            left = np.where(near, -np.log1p(expit(-center) * np.expm1(-move)) / scale, left)
            right = np.where(near, np.log1p(expit(center) * np.expm1(move)) / scale, right)
    return np.clip(left, -FAR, FAR), np.clip(right, -FAR, FAR)


def _basis_formula(center: float, scale: float, *, clipped: bool) -> tuple[Formula, Formula]:
    """Return the same without log1p and expm1, which few engines have."""
    size = absolute(SCORE)
    with np.errstate(over="ignore", under="ignore"):
        rest = (log(1.0 + exp(-size)) - float(np.log1p(np.exp(-abs(center))))) / scale
        low, high = np.clip([min(center, 0.0) / scale, max(center, 0.0) / scale], -MAX, MAX).tolist()
        left = (SCORE / 2.0 - size / 2.0) / scale - low - rest
        right = (SCORE / 2.0 + size / 2.0) / scale - high + rest
        if scale <= _NARROW and abs(center) < _FAR_OUT:
            hump = float(_log_hump(center) / scale)
            x, k = SCORE / scale - center / scale, _log_hump_formula() / scale - hump
            distance = absolute(SCORE - center)
            left, right = (
                where(distance, 1.0, near, far) for near, far in (((x - k) / 2.0, left), ((x + k) / 2.0, right))
            )
    return (clip(left, -FAR, FAR), clip(right, -FAR, FAR)) if clipped else (left, right)


def _log_hump(score: float) -> float:
    """Return −log p − log(1 − p) − 2 log 2 = 2 log cosh(s/2), to the last digit."""
    size = abs(score)
    if size < 2:
        return float(2 * np.log1p(2 * np.sinh(size / 4) ** 2))
    return float(size + 2 * np.log1p(np.exp(-size)) - 2 * np.log(2))


def _log_hump_formula() -> Formula:
    """Return the same as a formula."""
    size = absolute(SCORE)
    large = size + 2.0 * log(1.0 + exp(-size)) - float(2 * np.log(2))
    # 2 log cosh(s/2) = 4 artanh(t²) with t = tanh(s/4). The rounding of t counts t-fold: small where digits are wanted.
    e = exp(clip(size, 0.0, _NEAR) / 2.0)
    t = (e - 1.0) / (e + 1.0)
    square = t * t
    fourth = square * square
    series = 1.0 + fourth * (1 / 3 + fourth * (1 / 5 + fourth * (1 / 7 + fourth * (1 / 9))))
    return where(size, _NEAR, 4.0 * (square * series), large)
