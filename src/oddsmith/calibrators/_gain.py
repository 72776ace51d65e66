"""What calibrating brought on cases that were not seen, in numbers and in words."""

import math
from dataclasses import dataclass, replace

import numpy as np

from oddsmith._types import Floats
from oddsmith.calibrators._cross_validated_blend import OutOfSample
from oddsmith.calibrators._reading import ScoreKind, in_foreign_units, in_other_units
from oddsmith.data import ScoreTable, SignalKind, kind_of_ranking
from oddsmith.maps import logit

#: Why a fit is of little use.
_OBSTACLES: dict[SignalKind, str] = {
    "reversed": "The score is reversed: higher scores go with the negative class, and the fitted map is almost flat. "
    "Negate the scores, or check pos_label, and fit again.",
    "none": "The score has no clear signal: the area under the ROC curve is not significantly above ½, and the fit is "
    "close to the base rate.",
}


@dataclass(frozen=True)
class MeasuredGain:
    """The fall of the mean log-loss with its 95 % interval, whether it is clear, and all this in words."""

    value: float
    interval: tuple[float, float]
    worth_it: bool | None
    words: str
    #: What follows from the numbers.
    outcome: str
    #: Why the fit is of little use; empty in most cases.
    obstacle: str = ""

    def verdict(self, choice: str) -> str:
        """Return sentences: what is wrong with the score, what was chosen, and what it brought."""
        outcome = f": {self.outcome}" if self.outcome else ""
        return " ".join(filter(None, [self.obstacle, choice, f"{self.words}{outcome}."]))


def no_gain(words: str, outcome: str = "") -> MeasuredGain:
    """Return a gain that cannot be known."""
    return MeasuredGain(math.nan, (math.nan, math.nan), None, words, outcome)


def are_log_odds(table: ScoreTable) -> bool:
    """Whether scores beyond [0, 1] may be log-odds rather than ranks, points or the like."""
    return not (in_foreign_units(table) or in_other_units(table))


def measure_gain(table: ScoreTable, judged: OutOfSample, blend: Floats, kind: ScoreKind | None) -> MeasuredGain:
    """Compare the log-odds of the blend with the scores as given, or with the base rate if these are of neither kind.

    ``table`` has all cases, ``judged`` what was held out. A score that is reversed or without signal is never worth it.
    """
    gain = _against_base_rate(table, judged, blend) if kind is None else _against_scores(table, judged, blend, kind)
    obstacle = _OBSTACLES.get(kind_of_ranking(table))
    if obstacle is None:
        return gain
    return replace(gain, worth_it=None if gain.worth_it is None else False, outcome="", obstacle=obstacle)


def _against_base_rate(table: ScoreTable, judged: OutOfSample, blend: Floats) -> MeasuredGain:
    ours = judged.losses(blend)
    constant = np.full_like(blend, math.log((table.n_pos + 1) / (table.n_neg + 1)))
    before, difference, (low, high) = _compare(judged, judged.losses(constant), ours)
    outcome = _outcome(low, high, "the base rate", "the scores are informative")
    return no_gain(
        "The scores are neither probabilities nor log-odds, so they have no log-loss before calibration. "
        f"In {judged.n_folds} folds the log-loss was {judged.mean(ours)[0]:.4f}, and {before:.4f} with the base rate "
        f"for all cases (difference {difference:.4f}, 95 % interval {low:.4f} to {high:.4f})",
        outcome,
    )


def _against_scores(table: ScoreTable, judged: OutOfSample, blend: Floats, kind: ScoreKind) -> MeasuredGain:
    ours = judged.losses(blend)
    start, after = f"In {judged.n_folds} folds the log-loss went from", f"to {judged.mean(ours)[0]:.4f}"
    of_zero = of_one = False
    if kind == "probability":
        of_zero, of_one = table.scores[0] <= 0, table.scores[-1] >= 1
    if (of_zero and table.pos[0] > 0) or (of_one and table.neg[-1] > 0):
        # One certain score that was wrong costs infinitely much, in the sample and therefore in the population.
        words = f"{start} infinity {after} (unbounded gain, since scores of exactly 0 or 1 were wrong)"
        return MeasuredGain(math.inf, (math.inf, math.inf), True, words, "calibrating was worth it")
    given = judged.scores if kind == "log_odds" else logit(np.clip(judged.scores, 0.0, 1.0))
    before, value, (low, high) = _compare(judged, judged.losses(given), ours)
    limit = f"{high:.4f}"
    if of_zero or of_one:
        high, limit = math.inf, "infinity, since a score of exactly 0 or 1 may be wrong"
    outcome = _outcome(low, high, "the uncalibrated scores", "calibrating was worth it")
    words = f"{start} {before:.4f} {after} (gain {value:.4f}, 95 % interval {low:.4f} to {limit})"
    return MeasuredGain(value, (low, high), low > 0, words, outcome)


def _compare(
    judged: OutOfSample, before: tuple[Floats, Floats], after: tuple[Floats, Floats]
) -> tuple[float, float, tuple[float, float]]:
    """Return the mean loss before, and the mean difference with its interval."""
    # A label that no case of a cell has costs nothing, not 0 · ∞.
    of_pos, of_neg = np.where(judged.pos > 0, before[0], 0.0), np.where(judged.neg > 0, before[1], 0.0)
    value, error = judged.mean((of_pos - after[0], of_neg - after[1]))
    half = judged.half_width(error)
    return judged.mean((of_pos, of_neg))[0], value, (value - half, value + half)


def _outcome(low: float, high: float, rival: str, success: str) -> str:
    if low > 0:
        return success
    return f"{rival} did better" if high < 0 else f"no clear difference from {rival}"
