"""Methods that are about probabilities: which probability a score stands for."""

from dataclasses import dataclass

import numpy as np

from oddsmith.calibrators._base import Calibrator
from oddsmith.input_maps import UnitInputMap, unit_log_odds
from oddsmith.maps import CalibrationMap
from oddsmith.rows import ScoreRows
from oddsmith.table import ScoreTable

#: Scores that are read as probabilities are held this far from 0 and 1.
_CLIP = float(np.finfo(np.float64).eps)


@dataclass(eq=False, repr=False)
class UnitCalibrator(Calibrator):
    """Base of calibrators of probabilities: ``_fit`` gets a table of their log-odds.

    With ``input="score"`` scores that all lie in [0, 1] are probabilities, held 2.2e−16 away from 0 and 1; any others
    are log-odds. ``input_`` says which they were, and the map reads them in the same way.
    """

    def _reads_probabilities(self) -> bool:
        """Whether scores in [0, 1] are to be read as probabilities."""
        return self.input == "score"

    def _fit_or_degenerate(self, data: ScoreTable | ScoreRows) -> CalibrationMap:
        low, high = data.span()
        read = self._reads_probabilities() and 0 <= low < high <= 1
        self.input_ = "probability" if read or self.input == "probability" else "log_odds"
        if not read:
            return super()._fit_or_degenerate(data)
        return UnitInputMap(super()._fit_or_degenerate(_log_odds_of(data)), _CLIP)


def _log_odds_of(data: ScoreTable | ScoreRows) -> ScoreTable | ScoreRows:
    if isinstance(data, ScoreTable):
        return data.map(lambda prob: unit_log_odds(prob, _CLIP))
    return ScoreRows(unit_log_odds(data.scores, _CLIP), data.positive, data.weight)
