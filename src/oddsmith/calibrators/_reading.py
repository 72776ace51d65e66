"""How scores are read: as they are, or as probabilities, whose log-odds the method works with."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from oddsmith._types import Floats
from oddsmith.maps import CalibrationMap
from oddsmith.maps.inputs import LogitInputMap, UnitInputMap, logit_input, unit_log_odds
from oddsmith.maps.soft_logit import SoftLogitMap, SoftLogOddsMap, soft_log_odds, soft_logit
from oddsmith.table import Sample, ScoreRows, ScoreTable

#: Probabilities of 0 and 1 are held this far inside; others, however small, keep their log-odds.
_CLIP = float(np.finfo(np.float64).eps)

ScoreKind = Literal["probability", "log_odds"]

Value = TypeVar("Value")
Data = TypeVar("Data", ScoreTable, ScoreRows, Sample)


def _same(value: Value) -> Value:
    return value


@dataclass(frozen=True)
class Reading:
    """A change of the score before the fit, by default none, and the map that makes it before another one."""

    #: From scores to what the method works with.
    enter: Callable[[Floats], Floats] = _same
    #: From the map of that to the map of scores.
    wrap: Callable[[CalibrationMap], CalibrationMap] = _same

    def read(self, data: Data) -> Data:
        """Return a sample with changed scores."""
        return data if self.enter is _same else data.map(self.enter)


def declared(clip: float | None) -> Reading:
    """Return the reading of what the user says are probabilities, held within [clip, 1 − clip]."""
    return Reading(lambda prob: logit_input(prob, clip), lambda inner: LogitInputMap(inner, clip))


def as_log_odds(kind: ScoreKind, data: Sample) -> Reading:
    """Return the reading of probabilities by their log-odds; log-odds are left as they are."""
    if kind == "log_odds":
        return Reading()
    inside = data.scores[(data.scores > 0) & (data.scores < 1)]
    clip = min(_CLIP, float(inside.min())) if len(inside) else _CLIP
    return Reading(lambda prob: unit_log_odds(prob, clip), lambda inner: UnitInputMap(inner, clip))


def softened(kind: ScoreKind, softness: float) -> Reading:
    """Return the reading of probabilities, or of log-odds, by log((p + ε)/(1 − p + ε))."""
    if kind == "probability":
        return Reading(lambda prob: soft_logit(prob, softness), lambda inner: SoftLogitMap(inner, softness))
    return Reading(lambda z: soft_log_odds(z, softness), lambda inner: SoftLogOddsMap(inner, softness))
