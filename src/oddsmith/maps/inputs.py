"""Maps that first change the score: a probability to its log-odds, any other to a unit that suits the method."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.formula import MISSING, SCORE, Formula, after, clip, log, where
from oddsmith.maps.base import CalibrationMap, logit
from oddsmith.maps.locate import in_pieces

#: The probabilities next to 0 and 1.
_FIRST, _LAST = 5e-324, float(np.nextafter(1.0, 0.0))

#: How far beyond [0, 1] a probability may lie by rounding.
_ROUNDING = 1e-6


class ScoreChange(NamedTuple):
    """A rising change of the score."""

    enter: Callable[[Floats], Floats]
    formula: Callable[[Formula], Formula]  # of the score that is held
    held: tuple[float, float]  # within these
    taken: tuple[float, float] | None = (-_ROUNDING, 1 + _ROUNDING)  # scores beyond have no value


@dataclass(frozen=True, eq=False, repr=False)
class InputMap(CalibrationMap):
    """Another map, after a change of the score."""

    inner: CalibrationMap

    @abstractmethod
    def _change(self) -> ScoreChange: ...

    def _enter(self, scores: ArrayLike) -> Floats:
        return self._change().enter(np.asarray(scores, dtype=np.float64))

    def scores_entering(self, inner_scores: Floats) -> Floats:
        """Return the largest score that the change takes no further than each of some scores of the inner map.

        Scores of the inner map that no score, or every one, passes are left out.

        Parameters
        ----------
        inner_scores : array
            Scores of the inner map.

        Returns
        -------
        ndarray
        """
        change = self._change()
        entering = _pull_back(inner_scores, change.enter, *change.held)
        return entering[np.isfinite(entering)]

    def after_change(self, inner: Formula) -> Formula:
        """Return the formula of a score that is changed before it reaches the inner formula.

        Parameters
        ----------
        inner : CalibrationMap
            The map that is changed.

        Returns
        -------
        Formula
        """
        enter, formula, held, taken = self._change()
        value = after(inner, formula(clip(SCORE, *held)), lambda knots: _pull_back(knots, enter, *held))
        return value if taken is None else missing_outside(value, *taken)

    def log_odds(self, scores: ArrayLike) -> Floats:
        """Return log P(+|s)/P(−|s).

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new cases.

        Returns
        -------
        ndarray
        """
        return self.inner.log_odds(self._enter(scores))

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
        return self.inner.probability(self._enter(scores))

    def log_odds_formula(self) -> Formula:
        """Return the log-odds as a formula.

        Returns
        -------
        Formula
        """
        return self.after_change(self.inner.log_odds_formula())

    def probability_formula(self) -> Formula:
        """Return the probability as a formula.

        Returns
        -------
        Formula
        """
        return self.after_change(self.inner.probability_formula())

    @property
    def is_monotone(self) -> bool:
        """Whether the inner map is monotone."""
        return self.inner.is_monotone

    def _shifted(self, shift: float) -> CalibrationMap:
        return replace(self, inner=self.inner.shifted(shift))


@dataclass(frozen=True, eq=False, repr=False)
class LogitInputMap(InputMap):
    """Another map applied to log(p/(1 − p)) of a probability p.

    Parameters
    ----------
    inner : CalibrationMap
    clip : float or None
        Probabilities are first clipped to [clip, 1 − clip]; with None, 0 and 1 are refused.

    See Also
    --------
    UnitInputMap : Checks that scores are in [0, 1].
    """

    shape: ClassVar[str] = "logit_input"

    clip: float | None

    def _change(self) -> ScoreChange:
        held = (_FIRST, _LAST) if self.clip is None else (self.clip, 1 - self.clip)
        taken = held if self.clip is None else (0.0, 1.0)
        return ScoreChange(lambda p: logit_input(p, self.clip), lambda p: log(p) - log(1.0 - p), held, taken)


@dataclass(frozen=True, eq=False, repr=False)
class UnitInputMap(InputMap):
    """Another map applied to log(s/(1 − s)) of a score that is read as a probability.

    Unlike `LogitInputMap`, for declared probabilities, 0 and 1 are accepted: scores are clipped to [clip, 1
    − clip]. A score outside [0, 1] by more than rounding is refused: then the others were not read for what they are.

    Parameters
    ----------
    inner : CalibrationMap
    clip : float

    See Also
    --------
    LogitInputMap : Takes the log-odds of probabilities.
    """

    shape: ClassVar[str] = "unit_input"

    clip: float

    def _change(self) -> ScoreChange:
        return ScoreChange(lambda p: unit_log_odds(p, self.clip), lambda p: log(p / (1.0 - p)), _ends(self.clip))


@dataclass(frozen=True, eq=False, repr=False)
class HeldInputMap(InputMap):
    """Another map applied to (s − center)/scale of a score that is first clipped to [low, high].

    Log-odds that are far too large are clipped to ±37 (center 0, scale 1); scores in other
    units are standardized.

    Parameters
    ----------
    inner : CalibrationMap
    low, high : float
    center, scale : float
        What becomes 0, and how much becomes 1.

    See Also
    --------
    UnitInputMap : Scores that are probabilities.
    """

    shape: ClassVar[str] = "held_input"

    low: float
    high: float
    center: float
    scale: float

    def _change(self) -> ScoreChange:
        held = self.low, self.high
        return ScoreChange(
            lambda s: clip_and_scale(s, *held, self.center, self.scale),
            lambda s: (s - self.center) / self.scale,
            held,
            None,
        )


def missing_outside(
    value: Formula, low: float = -_ROUNDING, high: float = 1 + _ROUNDING, least: Formula = SCORE, most: Formula = SCORE
) -> Formula:
    """Return a value that is missing unless low ≤ least and most ≤ high; the defaults are [0, 1], but for rounding."""
    return where(low, least, where(most, high, value, MISSING), MISSING)


def clip_and_scale(scores: Floats, low: float, high: float, center: float, scale: float) -> Floats:
    """Return (s − center)/scale of scores held within two bounds."""
    return np.asarray((np.clip(scores, low, high) - center) / scale)


def logit_input(prob: Floats, clip: float | None) -> Floats:
    """Return the log-odds of input probabilities, refusing what is not a probability."""
    least, most = _ends_of(prob)
    if least < 0 or most > 1:
        bad = least if least < 0 else most
        must = 'scores must lie in [0, 1] with input="probability" (--scores-are probability)'
        _check.fail(must, f"{bad!r}", 'pass input="score" (--scores-are score) for margins')
    if clip is not None:
        prob = np.clip(prob, clip, 1 - clip)
    elif least == 0 or most == 1:
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
    least, most = _ends_of(prob)
    if least < -_ROUNDING or most > 1 + _ROUNDING:
        _check.fail(
            "scores must lie in [0, 1], as those of the fit, which were read as probabilities",
            f"{least if least < -_ROUNDING else most!r}",
            'fit with input="log_odds" (--scores-are log-odds) if they are not probabilities',
        )
    return prob if least >= low and most <= high else np.clip(prob, low, high)


def _ends_of(prob: Floats) -> tuple[float, float]:
    """Return the least and the largest score that is not missing; NaN where there is none."""
    least, most = (float(pick.reduce(prob, axis=None, initial=np.nan)) for pick in (np.fmin, np.fmax))
    return least, most


def _ends(clip: float) -> tuple[float, float]:
    """Return the least and the largest probability that is told apart from 0 and 1."""
    return clip, min(1 - clip, _LAST)


def _pull_back(knots: Floats, enter: Callable[[Floats], Floats], low: float, high: float) -> Floats:
    """Return the largest scores in [low, high] whose changed value does not pass the knots, −∞ for none, ∞ for all."""
    held, passed = (np.full(len(knots), end) for end in (low, high))
    while np.any(np.nextafter(held, passed) < passed):
        middle = halfway(held, passed)
        stays = enter(middle) <= knots
        held, passed = np.where(stays, middle, held), np.where(stays, passed, middle)
    ends = enter(np.array([low, high]))
    return np.where(knots < ends[0], -np.inf, np.where(knots >= ends[1], np.inf, held))


def halfway(low: Floats, high: Floats) -> Floats:
    """Return the double half-way in the order of doubles: bisection finds a step in any decade, and ends at neighbors.

    Doubles are ordered like their bits, once those of negative ones are turned round.
    """
    first, last = (_order_bits(ends.view(np.int64)) for ends in (low, high))
    return (
        _order_bits((first >> 1) + (last >> 1) + (first & last & 1)).view(np.float64) + 0.0
    )  # their sum might not fit


def _order_bits(bits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Turn bits of doubles into integers of the same order, and back."""
    return np.asarray(bits ^ ((bits >> 63) & np.iinfo(np.int64).max))
