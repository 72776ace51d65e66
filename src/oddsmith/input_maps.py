"""Maps that first turn a probability into its log-odds."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from oddsmith import _check
from oddsmith._check import Floats
from oddsmith.maps import CalibrationMap, logit

__all__ = ["LogitInputMap", "UnitInputMap", "logit_input", "unit_log_odds"]

#: Scores handled at a time: their temporaries stay in the second-level cache.
_PIECE = 8192


@dataclass(frozen=True, eq=False)
class _InputMap(CalibrationMap):
    """Another map, after a change of the score."""

    inner: CalibrationMap

    @abstractmethod
    def _enter(self, scores: Floats) -> Floats: ...

    def log_odds(self, scores: ArrayLike) -> Floats:
        """Return log P(+|s)/P(−|s)."""
        return self.inner.log_odds(self._enter(np.asarray(scores, dtype=np.float64)))

    def probability(self, scores: ArrayLike) -> Floats:
        """Return P(+|s), in [0, 1]."""
        return self.inner.probability(self._enter(np.asarray(scores, dtype=np.float64)))

    @property
    def is_monotone(self) -> bool:
        """Whether the inner map is monotone."""
        return self.inner.is_monotone

    @classmethod
    def _read(cls, content: dict[str, Any]) -> CalibrationMap:
        return cls(**{**content, "inner": CalibrationMap.from_dict(content["inner"])})


@dataclass(frozen=True, eq=False)
class LogitInputMap(_InputMap):
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


@dataclass(frozen=True, eq=False)
class UnitInputMap(_InputMap):
    """Another map applied to log(s/(1 − s)) of a score that is read as a probability.

    Unlike `LogitInputMap`, for declared probabilities, nothing is refused: scores are first held within
    [clip, 1 − clip].

    Parameters
    ----------
    inner : CalibrationMap
    clip : float
    """

    shape: ClassVar[str] = "unit_input"

    clip: float

    def _enter(self, scores: Floats) -> Floats:
        return unit_log_odds(scores, self.clip)


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
    """Return the log-odds of probabilities held within [clip, 1 − clip], a cache-sized piece at a time."""
    flat = prob.ravel()
    result = np.empty(flat.size)
    for start in range(0, flat.size, _PIECE):
        part = np.clip(flat[start : start + _PIECE], clip, 1 - clip)
        part /= 1 - part
        np.log(part, out=result[start : start + _PIECE])
    return result.reshape(prob.shape)
