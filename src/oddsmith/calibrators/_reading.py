"""How scores are read: as they are, as probabilities by their log-odds, or in a unit that suits the method better."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from oddsmith._types import Bools, Floats
from oddsmith.calibrators._cross_validated_blend import out_of_sample
from oddsmith.data import Cumulative, LabeledScores, Sample, ScoreTable, as_table, weighted_median
from oddsmith.maps import (
    FAR,
    MAX,
    SUREST,
    CalibrationMap,
    HeldInputMap,
    LogitInputMap,
    SoftLogitMap,
    SoftLogOddsMap,
    UnitInputMap,
    clip_and_scale,
    logit_input,
    soft_log_odds,
    soft_logit,
    unit_log_odds,
)

#: Probabilities of 0 and 1 are held this far inside; others, however small, keep their log-odds.
_CLIP = float(np.finfo(np.float64).eps)

#: Whole numbers over so wide a range, or over the other one if none has another sign, are hardly log-odds.
_WHOLE_SPAN = 20.0
_GRADES = 2.0

#: Number of interquartile ranges from the median beyond which a score lies apart from the others.
_APART = 20.0

#: Number of scores that are looked at first to see whether scores are whole numbers.
_FEW = 512

#: Losses that differ by a smaller share are the same but for rounding.
_SAME = 1e-9

#: Log-odds of the least positive double: what says 0 is judged as if it said this.
_CERTAIN = 745.0

ScoreKind = Literal["probability", "log_odds"]

#: What scores were taken for.
InputKind = Literal["probability", "log_odds", "clipped", "standardized"]
TAKEN_FOR: dict[InputKind, str] = {
    "probability": "probabilities",
    "log_odds": "log-odds",
    "clipped": f"log-odds held within ±{SUREST:g}",
    "standardized": "standardized scores",
}

Value = TypeVar("Value")
Data = TypeVar("Data", ScoreTable, LabeledScores, Sample)


def _same(value: Value) -> Value:
    return value


@dataclass(frozen=True)
class Reading:
    """A change of the score before the fit, by default none, and the map that makes it before another one."""

    #: From scores to what the method works with.
    enter: Callable[[Floats], Floats] = _same
    #: From the map of that to the map of scores.
    wrap: Callable[[CalibrationMap], CalibrationMap] = _same
    #: What it takes scores for, where that matters.
    kind: InputKind | None = None

    def read(self, data: Data) -> Data:
        """Return a sample with changed scores."""
        return data if self.enter is _same else data.map(self.enter)

    def then(self, other: "Reading") -> "Reading":
        """Return the reading of what this one makes of scores by another one."""
        return Reading(
            lambda scores: other.enter(self.enter(scores)),
            lambda inner: self.wrap(other.wrap(inner)),
            self.kind if self.kind == "probability" else other.kind,
        )


def probability_reading(clip: float | None) -> Reading:
    """Return the reading of what the user says are probabilities, held within [clip, 1 − clip]."""
    return Reading(lambda prob: logit_input(prob, clip), lambda inner: LogitInputMap(inner, clip), "probability")


def as_log_odds(kind: ScoreKind, data: Sample) -> Reading:
    """Return the reading of probabilities by their log-odds; log-odds are left as they are."""
    if kind == "log_odds":
        return Reading(kind=kind)
    inside = data.scores[(data.scores > 0) & (data.scores < 1)]
    clip = min(_CLIP, float(inside.min())) if len(inside) else _CLIP
    return Reading(lambda prob: unit_log_odds(prob, clip), lambda inner: UnitInputMap(inner, clip), kind)


def soft_reading(kind: ScoreKind, softness: float) -> Reading:
    """Return the reading of probabilities, or of log-odds, by log((p + ε)/(1 − p + ε))."""
    if kind == "probability":
        return Reading(lambda prob: soft_logit(prob, softness), lambda inner: SoftLogitMap(inner, softness), kind)
    return Reading(lambda z: soft_log_odds(z, softness), lambda inner: SoftLogOddsMap(inner, softness), kind)


def _clip_reading(low: float, high: float, center: float, scale: float, kind: InputKind) -> Reading:
    return Reading(
        lambda scores: clip_and_scale(scores, low, high, center, scale),
        lambda inner: HeldInputMap(inner, low, high, center, scale),
        kind,
    )


def is_too_sure(data: Sample) -> bool:
    """Whether some scores, read as log-odds, would be surer than doubles tell."""
    return max(map(abs, data.span())) > SUREST


def surest_reading() -> Reading:
    """Return the reading of log-odds held within ±37."""
    return _clip_reading(-SUREST, SUREST, 0.0, 1.0, "clipped")


def with_other_readings(given: Reading, data: Sample, affine: bool) -> list[Reading]:
    """Return how log-odds may be read: as given, unless they are not plausible; then also held, and standardized.

    An ``affine`` method is indifferent to unit and origin, and standardizing helps it only with scores that lie apart.
    """
    units = in_other_units(data, affine)
    return [given, surest_reading(), *units] if is_too_sure(data) else [given, *units]


def in_other_units(data: Sample, only_apart: bool = False) -> list[Reading]:
    """Return the standardized reading, where scores are not plausible as log-odds; or only where some lie apart too."""
    if not (is_too_sure(data) or _are_whole(data, _WHOLE_SPAN)):
        return []
    middle = Middle.of(as_table(data))
    return [middle.standardize(data)] if middle.leaves_out(data) or not only_apart else []


def in_foreign_units(data: Sample) -> list[Reading]:
    """Return the standardized reading of whole numbers of one sign: ranks, percents, points and deciles; else none."""
    low, high = data.span()
    if low < 0 < high or not _are_whole(data, _GRADES):
        return []
    return [Middle.of(as_table(data)).standardize(data)]


def _are_whole(data: Sample, span: float) -> bool:
    """Whether all scores are whole numbers, but for rounding, over a range as wide as that."""
    low, high = data.span()
    if not high - low >= span:
        return False
    step = max(len(data.scores) // _FEW, 1)
    return all(np.all(np.abs(s - np.rint(s)) <= 4 * np.spacing(np.abs(s))) for s in (data.scores[::step], data.scores))


@dataclass(frozen=True)
class Middle:
    """Where most scores lie: their median and interquartile range."""

    center: float
    width: float

    @classmethod
    def of(cls, table: ScoreTable) -> "Middle":
        """Measure a table of two scores or more; where more than half of the rows share a score, by distinct ones."""
        table = table.join_near_ties()
        scores = table.scores / 4  # no difference overflows
        for weight in (table.total, np.ones(len(table), np.int64)):
            low, high = Cumulative(scores, weight).reaching(np.array([0.25, 0.75]) * float(weight.sum()))
            if high > low:
                break
        return cls(4 * weighted_median(scores, weight), 4 * min(float(high - low) or 1.0, MAX / 8))

    def bounds(self) -> tuple[float, float]:
        """Return the least and the largest score that do not lie apart from the others."""
        return self._reach(_APART)

    def holds(self, scores: Floats) -> Bools:
        """Which scores do not lie apart from the others."""
        low, high = self.bounds()
        return np.asarray((scores >= low) & (scores <= high))

    def leaves_out(self, data: Sample) -> bool:
        """Whether some scores lie apart from the others."""
        (low, high), (least, most) = self.bounds(), data.span()
        return least < low or high < most

    def standardize(self, data: Sample) -> Reading:
        """Return the reading by (s − median)/IQR, within bounds where some scores lie apart from the others."""
        low, high = self.bounds() if self.leaves_out(data) else self._reach(FAR)
        return _clip_reading(low, high, self.center, self.width, "standardized")

    def _reach(self, widths: float) -> tuple[float, float]:
        most = MAX / 4
        low, high = (self.center + min(widths * self.width, most) * sign for sign in (-1, 1))
        return max(low, -most), min(high, most)


def may_lie_apart(data: Sample) -> bool:
    """Whether some scores seem to lie apart from the others, from a glance at a few of them."""
    low, high = data.span()
    few = np.sort(data.scores[:: max(len(data.scores) // _FEW, 1)]) / 4
    quarter = few[[len(few) // 4, (3 * len(few)) // 4]]
    most = 2 * _APART * (quarter[1] - quarter[0])  # half as far as they must be
    return bool(low / 4 < few[len(few) // 2] - most / 4 or few[len(few) // 2] + most / 4 < high / 4)


def likeliest(readings: Sequence[Reading], data: Sample, fit: Callable[[ScoreTable], CalibrationMap]) -> Reading:
    """Return the reading under which a method forecasts best out of sample, the first of equals.

    ``fit`` returns the map of read scores. The last reading is taken where there are too few cases to choose by.
    """
    if len(readings) == 1:
        return readings[0]
    table = as_table(data).exact()

    def fit_all(part: ScoreTable) -> list[CalibrationMap]:
        return [reading.wrap(fit(reading.read(part))) for reading in readings]

    judged = out_of_sample(table, fit_all, 0)
    if judged is None:
        return readings[-1]
    best, least = readings[0], np.inf
    for reading, log_odds in zip(readings, np.clip(judged.log_odds, -_CERTAIN, _CERTAIN), strict=True):
        loss = judged.mean(judged.losses(log_odds))[0]
        if loss < least * (1 - _SAME):
            best, least = reading, loss
    return best
