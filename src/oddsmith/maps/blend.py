"""Blends of maps: a weighted mean of their probabilities."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.formula import Formula, as_formula, clip, log, sigmoid
from oddsmith.maps.base import CalibrationMap

__all__ = ["BlendMap"]

#: Scores handled at a time: their temporaries stay in the second-level cache.
_PIECE = 8192


@dataclass(frozen=True, eq=False)
class BlendMap(CalibrationMap):
    """The weighted mean P = Σ wₖPₖ of the probabilities of other maps.

    Parameters
    ----------
    parts : tuple of CalibrationMap
    weights : ndarray of shape (K,)
        Not negative, of sum 1.
    """

    shape: ClassVar[str] = "blend"

    parts: tuple[CalibrationMap, ...]
    weights: Floats

    def log_odds(self, scores: ArrayLike) -> Floats:
        """Return log Σ wₖPₖ − log Σ wₖ(1 − Pₖ): close to 0 and to 1 no digit is lost."""
        s = np.asarray(scores, dtype=np.float64)
        flat = s.ravel()
        result = np.empty(flat.size)
        for start in range(0, flat.size, _PIECE):
            parts = [part.log_odds(flat[start : start + _PIECE]) for part in self.parts]
            with np.errstate(divide="ignore"):
                result[start : start + _PIECE] = np.log(self._mean(parts, 1)) - np.log(self._mean(parts, -1))
        return result.reshape(s.shape)

    def _mean(self, parts: list[Floats], sign: int) -> Floats:
        total = np.zeros_like(parts[0])
        for weight, log_odds in zip(self.weights.tolist(), parts, strict=True):
            total += weight * expit(sign * log_odds)
        return total

    def log_odds_formula(self) -> Formula:
        """Return the log-odds as a formula."""
        # Where all parts say 0 or 1 the logarithm is held finite.
        yes, no = (clip(self._mean_formula(sign), 5e-324, 1.0) for sign in (1.0, -1.0))
        return log(yes) - log(no)

    def probability_formula(self) -> Formula:
        """Return the probability as a formula."""
        return self._mean_formula(1.0)

    def _mean_formula(self, sign: float) -> Formula:
        total = as_formula(0.0)
        for weight, part in zip(self.weights.tolist(), self.parts, strict=True):
            prob = part.probability_formula() if sign > 0 else sigmoid(-part.log_odds_formula())
            total = total + weight * prob
        return total

    @property
    def is_monotone(self) -> bool:
        """Whether no part falls."""
        return all(part.is_monotone for part in self.parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the map as plain lists and numbers."""
        return {
            "shape": self.shape,
            "parts": [part.to_dict() for part in self.parts],
            "weights": self.weights.tolist(),
        }

    @classmethod
    def _read(cls, content: dict[str, Any]) -> CalibrationMap:
        parts = tuple(CalibrationMap.from_dict(part) for part in content["parts"])
        weights = np.asarray(content["weights"], dtype=np.float64)
        if len(parts) != len(weights) or not len(parts):
            _check.fail("a blend must have one weight a part", f"{len(weights)} for {len(parts)}", "check the map")
        return cls(parts, weights)
