"""Calibrators of probabilities, which work with log-odds."""

from dataclasses import dataclass
from typing import Any

from oddsmith.calibrators._base import Calibrator
from oddsmith.calibrators._reading import Reading, ScoreKind, as_log_odds
from oddsmith.table import Sample


@dataclass(eq=False, repr=False)
class UnitCalibrator(Calibrator):
    """Base of calibrators of probabilities: ``_fit`` gets a table of their log-odds.

    With ``input="score"`` scores that all lie in [0, 1] are probabilities; any others are log-odds; where the caller
    knows what they are (`_fit_known`), the range is not asked. ``input_`` says which they were, and the map reads them
    in the same way: a later score beyond [0, 1] is refused.
    """

    def _reading(self, data: Sample) -> Reading:
        return as_log_odds(self._note_kind(data), data)

    def _note_kind(self, data: Sample) -> ScoreKind:
        """Return what the scores are, after what the user declared, and keep what they were before."""
        self._read_as = self._kind(data)
        self.input_: ScoreKind = "probability" if self.input == "probability" else self._read_as
        return self._read_as

    def _kind(self, data: Sample) -> ScoreKind:
        low, high = data.span()
        known = getattr(self, "_known", None)
        within = 0 <= low and high <= 1 if known is None else known == "probability"
        return "probability" if self.input == "score" and low < high and within else "log_odds"

    def __repr__(self, **options: Any) -> str:
        shown = str(super().__repr__(**options))
        if self.input != "score" or not hasattr(self, "map_"):
            return shown
        return f"{shown} fitted to {'probabilities' if self.input_ == 'probability' else 'log-odds'}"
