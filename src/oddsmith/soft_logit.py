"""The softened log-odds of a probability, finite at 0 and 1 and rising all the way."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from oddsmith._check import Floats
from oddsmith.formula import SCORE, Formula, after, clip, log
from oddsmith.input_maps import InputMap, pull_back

__all__ = ["SoftLogitMap", "soft_expit", "soft_logit"]

_FIRST = 5e-324


@dataclass(frozen=True, eq=False)
class SoftLogitMap(InputMap):
    """Another map applied to log((p + ε)/(1 − p + ε)) of a score that is read as a probability.

    Where `UnitInputMap` holds everything near 0 at one value, this one still tells any two probabilities apart; and a
    probability of exactly 0 is no further from the others than ε allows.

    Parameters
    ----------
    inner : CalibrationMap
    softness : float
        ε > 0.
    """

    shape: ClassVar[str] = "soft_logit"

    softness: float

    def _enter(self, scores: Floats) -> Floats:
        return soft_logit(scores, self.softness)

    def _enter_formula(self, inner: Formula) -> Formula:
        prob = clip(SCORE, 0.0, 1.0)
        entered = log((prob + self.softness) / (1.0 - prob + self.softness))
        return after(inner, entered, lambda knots: pull_back(knots, self._enter, _FIRST, 1.0))


def soft_logit(prob: Floats, softness: float) -> Floats:
    """Return log((p + ε)/(1 − p + ε)), with p held within [0, 1]."""
    p = np.clip(prob, 0.0, 1.0)
    return np.asarray(np.log((p + softness) / (1 - p + softness)))


def soft_expit(log_odds: Floats, softness: float) -> Floats:
    """Return the probability of softened log-odds: the inverse of `soft_logit`."""
    odds = np.exp(log_odds)
    return np.asarray(np.clip((odds * (1 + softness) - softness) / (1 + odds), 0.0, 1.0))
