"""Methods that are about probabilities: which probability a score stands for."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from oddsmith._check import Floats
from oddsmith.calibrators._base import Calibrator
from oddsmith.input_maps import UnitInputMap, unit_log_odds
from oddsmith.maps import CalibrationMap
from oddsmith.rows import ScoreRows
from oddsmith.soft_logit import SoftLogitMap, soft_logit
from oddsmith.table import ScoreTable

#: Scores that are read as probabilities are held this far from 0 and 1.
_CLIP = float(np.finfo(np.float64).eps)

#: How probabilities become log-odds, and the map that does the same before another one.
Reading = tuple[Callable[[Floats], Floats], Callable[[CalibrationMap], CalibrationMap]]


@dataclass(eq=False, repr=False)
class UnitCalibrator(Calibrator):
    """Base of calibrators of probabilities: ``_fit`` gets a table of their log-odds.

    With ``input="score"`` scores that all lie in [0, 1] are probabilities, held 2.2e−16 away from 0 and 1; any others
    are log-odds; where the caller knows what they are (`_fit_known`), the range is not asked. ``input_`` says which
    they were, and the map reads them in the same way.
    """

    def _fit_or_degenerate(self, data: ScoreTable | ScoreRows) -> CalibrationMap:
        low, high = data.span()
        known = getattr(self, "_known", None)
        within = 0 <= low and high <= 1 if known is None else known == "probability"
        read = self.input == "score" and low < high and within
        self.input_ = "probability" if read or self.input == "probability" else "log_odds"
        if not read:
            return super()._fit_or_degenerate(data)
        enter, with_entry = self._reading(data)
        return with_entry(super()._fit_or_degenerate(_entered(data, enter)))

    def _reading(self, data: ScoreTable | ScoreRows) -> Reading:
        del data
        return lambda prob: unit_log_odds(prob, _CLIP), lambda inner: UnitInputMap(inner, _CLIP)


@dataclass(eq=False, repr=False)
class SoftUnitCalibrator(UnitCalibrator):
    """The same with softened log-odds, log((p + ε)/(1 − p + ε)) with ε = 1/(2N): all scores stay apart."""

    def _reading(self, data: ScoreTable | ScoreRows) -> Reading:
        self._softness = 0.5 / (data.n_pos + data.n_neg)
        softness = self._softness
        return lambda prob: soft_logit(prob, softness), lambda inner: SoftLogitMap(inner, softness)


def _entered(data: ScoreTable | ScoreRows, enter: Callable[[Floats], Floats]) -> ScoreTable | ScoreRows:
    if isinstance(data, ScoreTable):
        return data.map(enter)
    return ScoreRows(enter(data.scores), data.positive, data.weight)
