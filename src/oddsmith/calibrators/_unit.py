"""How scores are read: as they are, or as probabilities, whose log-odds the method works with."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np

from oddsmith._types import Floats
from oddsmith.calibrators._base import Calibrator
from oddsmith.maps import CalibrationMap
from oddsmith.maps.inputs import UnitInputMap, unit_log_odds
from oddsmith.maps.soft_logit import SoftLogitMap, SoftLogOddsMap, soft_log_odds, soft_logit
from oddsmith.table import ScoreTable
from oddsmith.table.rows import ScoreRows

#: Probabilities of 0 and 1 are held this far inside; others, however small, keep their log-odds.
_CLIP = float(np.finfo(np.float64).eps)

Kind = Literal["probability", "log_odds"]

Value = TypeVar("Value")


def _same(value: Value) -> Value:
    return value


@dataclass(frozen=True)
class Reading:
    """A change of the score before the fit, and the map that makes the same change before another one.

    Attributes
    ----------
    kind : {"probability", "log_odds"}
        What the scores are taken for.
    enter : callable
        From scores to what the method works with.
    wrap : callable
        From the map of that to the map of scores.
    """

    kind: Kind
    enter: Callable[[Floats], Floats]
    wrap: Callable[[CalibrationMap], CalibrationMap]

    @classmethod
    def plain(cls, kind: Kind) -> "Reading":
        """Return the reading that leaves scores as they are."""
        return cls(kind, _same, _same)

    def read(self, table: ScoreTable) -> ScoreTable:
        """Return the table with changed scores."""
        return table if self.enter is _same else table.map(self.enter)

    def read_rows(self, rows: ScoreRows) -> ScoreRows:
        """Return rows with changed scores."""
        return rows if self.enter is _same else ScoreRows(self.enter(rows.scores), rows.positive, rows.weight)


def as_log_odds(kind: Kind, data: ScoreTable | ScoreRows) -> Reading:
    """Return the reading of probabilities by their log-odds; log-odds are left as they are."""
    if kind == "log_odds":
        return Reading.plain(kind)
    inside = data.scores[(data.scores > 0) & (data.scores < 1)]
    clip = min(_CLIP, float(inside.min())) if len(inside) else _CLIP
    return Reading(kind, lambda prob: unit_log_odds(prob, clip), lambda inner: UnitInputMap(inner, clip))


def softened(kind: Kind, softness: float) -> Reading:
    """Return the reading of probabilities, or of log-odds, by log((p + ε)/(1 − p + ε))."""
    if kind == "probability":
        return Reading(kind, lambda prob: soft_logit(prob, softness), lambda inner: SoftLogitMap(inner, softness))
    return Reading(kind, lambda z: soft_log_odds(z, softness), lambda inner: SoftLogOddsMap(inner, softness))


@dataclass(eq=False, repr=False)
class UnitCalibrator(Calibrator):
    """Base of calibrators of probabilities: ``_fit`` gets a table of their log-odds.

    With ``input="score"`` scores that all lie in [0, 1] are probabilities; any others are log-odds; where the caller
    knows what they are (`_fit_known`), the range is not asked. ``input_`` says which they were, and the map reads them
    in the same way: a later score beyond [0, 1] is refused.
    """

    def _fit_or_degenerate(self, data: ScoreTable | ScoreRows) -> CalibrationMap:
        reading = self._reading(data)
        self._read_as = reading.kind
        self.input_: Kind = "probability" if self.input == "probability" else reading.kind
        read = reading.read(data) if isinstance(data, ScoreTable) else reading.read_rows(data)
        return reading.wrap(super()._fit_or_degenerate(read))

    def _reading(self, data: ScoreTable | ScoreRows) -> Reading:
        """Choose how the scores are read."""
        return as_log_odds(self._kind(data), data)

    def _kind(self, data: ScoreTable | ScoreRows) -> Kind:
        low, high = data.span()
        known = getattr(self, "_known", None)
        within = 0 <= low and high <= 1 if known is None else known == "probability"
        return "probability" if self.input == "score" and low < high and within else "log_odds"

    def __repr__(self, **options: Any) -> str:
        shown = str(super().__repr__(**options))
        if self.input != "score" or not hasattr(self, "map_"):
            return shown
        return f"{shown} fitted to {'probabilities' if self.input_ == 'probability' else 'log-odds'}"


@dataclass(eq=False, repr=False)
class SoftUnitCalibrator(UnitCalibrator):
    """The same with softened log-odds of probabilities, log((p + ε)/(1 − p + ε)) with ε = 1/(2N)."""

    def _reading(self, data: ScoreTable | ScoreRows) -> Reading:
        kind = self._kind(data)
        return Reading.plain(kind) if kind == "log_odds" else softened(kind, 0.5 / (data.n_pos + data.n_neg))
