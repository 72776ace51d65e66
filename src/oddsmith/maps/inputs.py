"""Maps that first turn a probability into its log-odds."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.formula import MISSING, SCORE, Formula, after, clip, log, where
from oddsmith.maps.base import CalibrationMap, logit
from oddsmith.maps.cache import in_pieces

__all__ = [
    "InputMap",
    "LogitInputMap",
    "UnitInputMap",
    "hold_unit",
    "logit_input",
    "pull_back",
    "unit_log_odds",
    "within_unit",
]

#: The probabilities next to 0 and 1.
_FIRST, _LAST = 5e-324, float(np.nextafter(1.0, 0.0))

#: How far beyond [0, 1] a probability may lie by rounding.
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class InputMap(CalibrationMap):
    """Another map, after a change of the score."""

    inner: CalibrationMap

    @abstractmethod
    def _enter(self, scores: Floats) -> Floats: ...

    @abstractmethod
    def _enter_formula(self, inner: Formula) -> Formula:
        """Return the formula of the inner map after the change of the score."""

    def log_odds(self, scores: ArrayLike) -> Floats:
        """Return log P(+|s)/P(−|s)."""
        return self.inner.log_odds(self._enter(np.asarray(scores, dtype=np.float64)))

    def probability(self, scores: ArrayLike) -> Floats:
        """Return P(+|s), in [0, 1]."""
        return self.inner.probability(self._enter(np.asarray(scores, dtype=np.float64)))

    def log_odds_formula(self) -> Formula:
        """Return the log-odds as a formula."""
        return self._enter_formula(self.inner.log_odds_formula())

    def probability_formula(self) -> Formula:
        """Return the probability as a formula."""
        return self._enter_formula(self.inner.probability_formula())

    @property
    def is_monotone(self) -> bool:
        """Whether the inner map is monotone."""
        return self.inner.is_monotone

    @classmethod
    def _read(cls, content: dict[str, Any]) -> CalibrationMap:
        return cls(**{**content, "inner": CalibrationMap.from_dict(content["inner"])})


@dataclass(frozen=True, eq=False)
class LogitInputMap(InputMap):
    """Another map applied to log(p/(1 − p)) of a probability p.

    Parameters
    ----------
    inner : CalibrationMap
    clip : float or None
        Probabilities are first held within [clip, 1 − clip]; with None, 0 and 1 are refused.
    """

    shape: ClassVar[str] = "logit_input"

    clip: float | None

    def _enter(self, scores: Floats) -> Floats:
        return logit_input(scores, self.clip)

    def _enter_formula(self, inner: Formula) -> Formula:
        low, high = (_FIRST, _LAST) if self.clip is None else (self.clip, 1 - self.clip)
        prob = clip(SCORE, low, high)
        value = after(inner, log(prob) - log(1.0 - prob), lambda knots: pull_back(knots, self._enter, low, high))
        least, most = (low, high) if self.clip is None else (0.0, 1.0)
        return where(least, SCORE, where(SCORE, most, value, MISSING), MISSING)


@dataclass(frozen=True, eq=False)
class UnitInputMap(InputMap):
    """Another map applied to log(s/(1 − s)) of a score that is read as a probability.

    Unlike `LogitInputMap`, for declared probabilities, 0 and 1 are taken: scores are held within [clip, 1 − clip]. A
    score that is no probability, by more than rounding, is refused: then the others were not read for what they are.

    Parameters
    ----------
    inner : CalibrationMap
    clip : float
    """

    shape: ClassVar[str] = "unit_input"

    clip: float

    def _enter(self, scores: Floats) -> Floats:
        return unit_log_odds(scores, self.clip)

    def _enter_formula(self, inner: Formula) -> Formula:
        low, high = _ends(self.clip)
        prob = clip(SCORE, low, high)
        value = after(inner, log(prob / (1.0 - prob)), lambda knots: pull_back(knots, self._enter, low, high))
        return within_unit(value)


def logit_input(prob: Floats, clip: float | None) -> Floats:
    """Return the log-odds of input probabilities, refusing what is not a probability."""
    if prob.size and (prob.min() < 0 or prob.max() > 1):
        bad = prob.min() if prob.min() < 0 else prob.max()
        _check.fail('scores must lie in [0, 1] with input="probability"', f"{bad!r}", 'use input="score" for margins')
    if clip is not None:
        prob = np.clip(prob, clip, 1 - clip)
    elif prob.size and (prob.min() == 0 or prob.max() == 1):
        _check.fail(
            "probabilities must lie strictly between 0 and 1 to have finite log-odds",
            f"{int(np.sum((prob == 0) | (prob == 1)))} values of exactly 0 or 1",
            "pass clip=1e-6, or better the classifier's log-odds",
        )
    return logit(prob)


def unit_log_odds(prob: Floats, clip: float) -> Floats:
    """Return the log-odds of probabilities held within [clip, 1 − clip]."""

    def log_odds(part: Floats) -> Floats:
        held = hold_unit(part, *_ends(clip))
        return np.log(held / (1 - held))

    return in_pieces(log_odds, prob)


def hold_unit(prob: Floats, low: float, high: float) -> Floats:
    """Hold probabilities within two bounds; refuse what lies beyond [0, 1] by more than rounding."""
    if prob.size:
        least, most = float(prob.min()), float(prob.max())
        if least < -_ROUNDING or most > 1 + _ROUNDING:
            _check.fail(
                "scores must lie in [0, 1], as those of the fit, which were read as probabilities",
                f"{least if least < -_ROUNDING else most!r}",
                'fit with input="log_odds" if they are no probabilities',
            )
        if least >= low and most <= high:
            return prob
    return np.clip(prob, low, high)


def within_unit(value: Formula) -> Formula:
    """Return a formula that has no value beyond [0, 1], but for rounding."""
    return where(-_ROUNDING, SCORE, where(SCORE, 1 + _ROUNDING, value, MISSING), MISSING)


def _ends(clip: float) -> tuple[float, float]:
    """Return the least and the largest probability that is told apart from 0 and 1."""
    return clip, min(1 - clip, _LAST)


def pull_back(knots: Floats, enter: Callable[[Floats], Floats], low: float, high: float) -> Floats:
    """Return the largest scores in [low, high] whose changed value does not pass the knots, −∞ for none, ∞ for all."""
    # Doubles are ordered like their bits, once those of negative ones are turned round: bisection ends at neighbors.
    held, passed = (_ordinal(np.full(len(knots), end)) for end in (low, high))
    while np.any(passed > held + 1):
        middle = (held >> 1) + (passed >> 1) + (held & passed & 1)  # their difference might not fit
        stays = enter(_double(middle)) <= knots
        held, passed = np.where(stays, middle, held), np.where(stays, passed, middle)
    ends = enter(np.array([low, high]))
    return np.where(knots < ends[0], -np.inf, np.where(knots >= ends[1], np.inf, _double(held)))


def _ordinal(x: Floats) -> NDArray[np.int64]:
    bits = x.view(np.int64)
    return np.where(bits < 0, np.iinfo(np.int64).min - bits, bits)


def _double(ordinal: NDArray[np.int64]) -> Floats:
    return np.where(ordinal < 0, np.iinfo(np.int64).min - ordinal, ordinal).view(np.float64)
