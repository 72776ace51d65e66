"""Softened log-odds, finite where a probability is 0 or 1 and rising all the way."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from oddsmith._types import Floats
from oddsmith.formula import Formula, log, sigmoid
from oddsmith.maps.inputs import InputMap, ScoreChange, hold_unit

__all__ = ["SoftLogOddsMap", "SoftLogitMap", "soft_log_odds", "soft_logit"]

#: Beyond these log-odds a probability is 0 or 1 to the last bit.
_FAR = 750.0


@dataclass(frozen=True, eq=False, repr=False)
class SoftLogitMap(InputMap):
    """Another map applied to log((p + ε)/(1 − p + ε)) of a score that is read as a probability.

    A probability of exactly 0 is as far from the others as ε allows. Scores outside [0, 1] by
    more than rounding are refused.

    Parameters
    ----------
    inner : CalibrationMap
    softness : float
        ε > 0.

    See Also
    --------
    SoftLogOddsMap : Of log-odds.
    """

    shape: ClassVar[str] = "soft_logit"

    softness: float

    def _change(self) -> ScoreChange:
        eps = self.softness
        return ScoreChange(lambda p: soft_logit(p, eps), lambda p: log((p + eps) / (1.0 - p + eps)), (0.0, 1.0))


@dataclass(frozen=True, eq=False, repr=False)
class SoftLogOddsMap(InputMap):
    """Another map applied to log((σ(s) + ε)/(σ(−s) + ε)) of a score that is read as a log-odds.

    What `SoftLogitMap` is for a probability, for its log-odds: beyond ±log(1/ε) scores come together.

    Parameters
    ----------
    inner : CalibrationMap
    softness : float
        ε > 0.

    See Also
    --------
    SoftLogitMap : Of probabilities.
    """

    shape: ClassVar[str] = "soft_log_odds"

    softness: float

    def _change(self) -> ScoreChange:
        eps = self.softness

        def formula(held: Formula) -> Formula:
            return log((sigmoid(held) + eps) / (sigmoid(-held) + eps))

        return ScoreChange(lambda z: soft_log_odds(z, eps), formula, (-_FAR, _FAR), None)


def soft_logit(prob: Floats, softness: float) -> Floats:
    """Return log((p + ε)/(1 − p + ε)) of probabilities."""
    p = hold_unit(prob, 0.0, 1.0)
    return np.asarray(np.log((p + softness) / (1 - p + softness)))


def soft_log_odds(log_odds: Floats, softness: float) -> Floats:
    """Return log((σ(z) + ε)/(σ(−z) + ε)) of log-odds."""
    return np.asarray(np.log((expit(log_odds) + softness) / (expit(-log_odds) + softness)))
