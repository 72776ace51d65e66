"""Blends of maps: a weighted mean of their probabilities."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logsumexp

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.formula import Formula, as_formula, clip, log, sigmoid
from oddsmith.maps.base import CalibrationMap
from oddsmith.maps.locate import in_pieces

__all__ = ["BlendMap"]


@dataclass(frozen=True, eq=False, repr=False)
class BlendMap(CalibrationMap):
    """The weighted mean P = Σ wₖPₖ of the probabilities of other maps.

    Parameters
    ----------
    parts : tuple of CalibrationMap
    weights : ndarray of shape (K,)
        Not negative, of sum 1.

    See Also
    --------
    oddsmith.AutoCalibrator : Fits one.
    """

    shape: ClassVar[str] = "blend"

    parts: tuple[CalibrationMap, ...]
    weights: Floats

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
        mean = in_pieces(
            lambda piece: self._mean([part.probability(piece) for part in self.parts]),
            np.asarray(scores, dtype=np.float64),
        )
        return np.minimum(mean, 1.0)  # weights may sum to more by rounding

    def log_odds(self, scores: ArrayLike) -> Floats:
        """Return log Σ wₖPₖ − log Σ wₖ(1 − Pₖ); finite, with all digits, wherever one of the parts is.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new cases.

        Returns
        -------
        ndarray
        """
        return in_pieces(self._log_odds, np.asarray(scores, dtype=np.float64))

    def _log_odds(self, scores: Floats) -> Floats:
        parts = [part.log_odds(scores) for part in self.parts]
        with np.errstate(divide="ignore"):
            yes, no = (np.log(self._mean([expit(sign * one) for one in parts])) for sign in (1, -1))
        blend = np.asarray(yes - no)
        far = np.isinf(blend)
        if np.any(far):
            blend[far] = self._far_out(np.array([one[far] for one in parts]))
        return blend

    def _far_out(self, parts: Floats) -> Floats:
        """Return the log-odds where the least of P and 1 − P is too small for a double: by its logarithm."""
        used = self.weights > 0
        log_weight = np.log(self.weights[used])[:, None]
        yes, no = (logsumexp(log_weight - np.logaddexp(0, sign * parts[used]), axis=0) for sign in (-1, 1))
        return np.asarray(yes - no)

    def _mean(self, values: Sequence[Any]) -> Any:
        """Return the weighted sum of the parts' values, arrays or formulas."""
        return sum(weight * value for weight, value in zip(self.weights.tolist(), values, strict=True))

    def log_odds_formula(self) -> Formula:
        """Return the log-odds as a formula.

        Returns
        -------
        Formula
        """
        no = self._mean([sigmoid(-part.log_odds_formula()) for part in self.parts])
        # Where all parts say 0 or 1 the logarithm is held finite.
        return log(clip(self.probability_formula(), 5e-324, 1.0)) - log(clip(no, 5e-324, 1.0))

    def probability_formula(self) -> Formula:
        """Return the probability as a formula.

        Returns
        -------
        Formula
        """
        return as_formula(self._mean([part.probability_formula() for part in self.parts]))

    @property
    def is_monotone(self) -> bool:
        """Whether no part falls."""
        return all(part.is_monotone for part in self.parts)

    @classmethod
    def _read(cls, content: dict[str, Any]) -> Self:
        n_parts, n_weights = len(content["parts"]), len(content["weights"])
        if n_parts != n_weights or not n_parts:
            _check.fail("a blend must have one weight per part", f"{n_weights} for {n_parts}", "check the map")
        return super()._read(content)
