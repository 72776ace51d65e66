"""Calibrators of probabilities, which work with log-odds."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from oddsmith.calibrators._base import Calibrator
from oddsmith.calibrators._reading import (
    InputKind,
    Reading,
    ScoreKind,
    as_log_odds,
    in_foreign_units,
    with_other_readings,
)
from oddsmith.data import Sample


@dataclass(eq=False, repr=False)
class UnitCalibrator(Calibrator):
    """Base of calibrators of probabilities: ``_fit`` gets a table of their log-odds.

    With ``input="score"`` scores that all lie in [0, 1] are probabilities; any others are log-odds; where the data
    know what they are (`ScoreTable.meaning`), the range does not matter. Scores that are not plausible as log-odds
    (some beyond ±37, or whole numbers that span 20 or more) are read as they are, clipped to ±37 or standardized,
    whichever forecasts best out of sample; whole numbers of one sign, such as ratings or ranks, that span 2 or more
    are always standardized. ``input_`` names what they were taken for, and the map reads them in the same way: a later
    score beyond [0, 1] is refused if they were probabilities.
    """

    input_: InputKind = field(init=False)

    #: Whether the method is indifferent to how scores are read, or reads them in ways of its own.
    _one_reading: ClassVar[bool] = False
    #: Whether the method is indifferent to the unit and the origin of log-odds.
    _affine: ClassVar[bool] = False

    def _readings(self, data: Sample) -> list[Reading]:
        kind = self._kind(data)
        given = self._plausible_reading(kind, data)
        if kind == "probability" or self.input != "score" or self._one_reading:
            return [given]
        return (data.meaning == "score" and in_foreign_units(data)) or with_other_readings(given, data, self._affine)

    def _plausible_reading(self, kind: ScoreKind, data: Sample) -> Reading:
        """Return how the method reads probabilities or log-odds that are plausible."""
        return as_log_odds(kind, data)

    def _wide_reading(self, data: Sample) -> Reading:
        return as_log_odds(self._kind(data), data) if self.input == "score" else super()._wide_reading(data)

    def _attributes_of(self, reading: Reading, data: Sample) -> dict[str, Any]:
        taken_for = "probability" if self.input == "probability" else reading.kind
        return {**super()._attributes_of(reading, data), "input_": taken_for}

    def _kind(self, data: Sample) -> ScoreKind:
        """Return what the scores are, after what the user declared."""
        low, high = data.span()
        within = 0 <= low and high <= 1 if data.meaning == "score" else data.meaning == "probability"
        return "probability" if self.input == "score" and low < high and within else "log_odds"
