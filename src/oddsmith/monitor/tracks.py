"""The evidence of one thing that is watched: all rows, a segment, a class; with its log, and its share of alpha."""

import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field, replace
from typing import Any

import numpy as np

from oddsmith._types import Floats
from oddsmith.data import ScoreTable
from oddsmith.maps import Segment
from oddsmith.monitor.evidence import ALTERNATIVES, PRIOR, Evidence, MapError, StepErrors
from oddsmith.monitor.findings import RATIO_DIGITS, Batch, Finding

__all__ = ["Track", "probability"]


@dataclass
class Track:
    """The evidence of all rows or of a segment, its share of the error probability, and its log."""

    evidence: Evidence
    alpha: float
    log: list[Batch] = field(default_factory=list)
    largest: float = 0.0
    alarm_row: int | None = None

    def add(self, forecast: ScoreTable, name: str) -> None:
        """Count a batch, whose scores are log-odds."""
        before, rows = self.evidence.null, self.evidence.rows
        ratios = self.evidence.add(forecast)
        found = self.evidence.log_evidence
        self.largest = max(self.largest, found)
        if self.alarm_row is None and found >= -math.log(self.alpha):
            self.alarm_row = self.evidence.rows
        promised = float(forecast.total @ probability(forecast.scores))
        self.log.append(
            Batch(
                name,
                rows + 1,
                self.evidence.rows,
                int(forecast.n_pos),
                promised,
                float(before),
                tuple(np.round(ratios, RATIO_DIGITS).tolist()),
                found,
            )
        )

    def shorten(self, most: int) -> None:
        """Join the older half of the log in pairs, where it is too long."""
        while len(self.log) > most:
            half = len(self.log) // 2 // 2 * 2
            pairs = zip(self.log[:half:2], self.log[1:half:2], strict=True)
            self.log = [first.join(second) for first, second in pairs] + self.log[half:]

    def onset(self) -> Batch:
        """Return the batch with which the loss most probably began."""
        after = np.cumsum([each.ratios for each in reversed(self.log)], axis=0)[::-1]
        return self.log[int(np.argmax(np.logaddexp.reduce(after, axis=1) + [each.before for each in self.log]))]

    def finding(self, segment: Segment | None, target: str) -> Finding:
        """Return what the track shows."""
        alarm = self.alarm_row is not None
        onset = self.onset() if alarm else None
        offset, slope = (self.evidence.belief @ ALTERNATIVES).tolist()
        is_offset = _is_offset(self.evidence.belief) if alarm else None
        return Finding(
            segment,
            target,
            alarm,
            self.alarm_row,
            self.evidence.rows,
            sum(each.positives for each in self.log),
            sum(each.expected for each in self.log),
            _exp(self.evidence.log_evidence),
            1 / self.alpha,
            min(1.0, _exp(-self.largest)),
            None if onset is None else onset.first,
            None if onset is None else onset.name,
            offset if alarm else 0.0,
            slope if alarm else 1.0,
            _direction(is_offset, offset, slope) if is_offset is not None else "",
            is_offset,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the track as plain JSON."""
        evidence = self.evidence
        steps = evidence.steps
        return {
            "alpha": self.alpha,
            "largest": self.largest,
            "alarm_row": self.alarm_row,
            "center": evidence.center,
            "error": None if evidence.error is None else evidence.error.root.tolist(),
            "rows": evidence.rows,
            "grown": [None if math.isinf(each) else each for each in evidence.grown.tolist()],
            "surface": evidence.surface.tolist(),
            "null": float(evidence.null),
            "steps": None if steps is None else [steps.log_odds.tolist(), steps.fit.tolist(), steps.seen.tolist()],
            "log": [astuple(each) for each in self.log],
        }

    @staticmethod
    def from_dict(content: Mapping[str, Any]) -> "Track":
        """Read what `to_dict` wrote; a ValueError where it cannot be."""
        error = None if content["error"] is None else MapError(np.array(content["error"]))
        steps = None if content["steps"] is None else StepErrors(*(np.array(each, float) for each in content["steps"]))
        grown = np.array([-np.inf if each is None else each for each in content["grown"]])
        surface, plain = np.array(content["surface"]), Evidence(0.0)
        evidence = Evidence(content["center"], error, content["rows"], grown, surface, content["null"], steps)
        numbers = [evidence.null, evidence.center, content["largest"], content["alpha"]]
        found: Floats = np.array([*surface, *numbers, *([] if steps is None else steps.fit.ravel())], float)
        same = evidence.grown.shape == plain.grown.shape and surface.shape == plain.surface.shape
        if steps is not None:
            same = same and steps.fit.shape == steps.seen.shape == (2, len(steps.log_odds))
        if not same or np.isnan(evidence.grown).any() or not np.isfinite(found).all():
            raise ValueError  # numbers of another shape, or that are not finite
        log = [replace(Batch(*each), ratios=tuple(each[6])) for each in content["log"]]
        return Track(evidence, content["alpha"], log, content["largest"], content["alarm_row"])


def probability(log_odds: Floats) -> Floats:
    """Return P of log-odds."""
    return np.asarray(np.exp(-np.logaddexp(0, -log_odds)))


def _exp(value: float) -> float:
    return math.exp(min(value, 700.0))


def _is_offset(belief: Floats) -> bool:
    """Whether an offset alone is at least as probable as lines that turn, each kind being as probable at first."""
    alone = ALTERNATIVES[:, 1] == 1
    return bool(belief[alone].sum() / PRIOR[alone].sum() >= belief[~alone].sum() / PRIOR[~alone].sum())


def _direction(is_offset: bool, offset: float, slope: float) -> str:
    """Name what the probabilities are."""
    if is_offset or abs(offset) > abs(math.log(slope)):
        return "too low" if offset > 0 else "too high"
    return "too extreme" if slope < 1 else "too timid"
