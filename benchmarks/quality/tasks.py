"""What is judged: a score set, how many of its rows calibrate, and the losses that result."""

import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from benchmarks.quality.scores import ScoreSet

#: Scores and labels to learn from, scores to map → probabilities of the positive class, or of each of several.
Calibrate = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]

#: How often each size is drawn; "full" is the whole pool.
REPEATS = {"100": 5, "300": 2, "500": 3, "1000": 2, "full": 1}
#: The sizes for two and for several classes.
SIZES = {"two": ("100", "500", "full"), "several": ("300", "1000", "full")}
#: Fewer than this of one of two classes make a drawing that nobody would calibrate with.
_FEWEST = 2
#: Certain forecasts are held this far from 0 and 1, so that one error does not cost infinitely much.
_CLIP = 1e-15
#: How far from [0, 1] a probability may lie by rounding.
_ROUNDING = 1e-9
#: How far from 1 the probabilities of several classes may sum: some compute in single precision.
_ROUNDING_OF_SUMS = 1e-4

#: The competitor that takes scores as they come.
NOTHING = "nothing"
#: What follows the name of a method of this library that gets probabilities as log-odds, and margins as probabilities.
OTHER_FORM = ":other form"


@dataclass(frozen=True)
class Competitor:
    """A way to calibrate, with a name and the version of its code."""

    name: str
    version: str
    calibrate: Calibrate


class Outcome(NamedTuple):
    """Mean test losses over the repeats, how many repeats failed, and how many cost infinitely much unless clipped."""

    log_loss: float
    brier: float
    failures: int
    infinite: int


class Task(NamedTuple):
    """Calibrate one score set with so many rows."""

    scores: ScoreSet
    size: str
    seed: int = 0

    @property
    def key(self) -> str:
        """Name the task and the content of its scores."""
        return f"{self.scores.data}/{self.scores.learner}/{self.size}/{self.seed}/{self.scores.digest}"

    def draws(self) -> list[np.ndarray]:
        """Return the rows of each repeat: at random, with at least two of each of two classes."""
        y, data = self.scores.y_cal, self.scores
        if self.size == "full":
            return [np.arange(len(y))]
        rng = np.random.default_rng([self.seed, zlib.crc32(f"{data.data}/{data.learner}/{self.size}".encode())])
        found: list[np.ndarray] = []
        while len(found) < REPEATS[self.size]:
            rows = rng.choice(len(y), int(self.size), replace=False)
            if data.scores_cal.ndim == 2 or min(y[rows].sum(), (1 - y[rows]).sum()) >= _FEWEST:
                found.append(rows)
        return found

    def judge(self, calibrate: Calibrate) -> Outcome:
        """Return the mean losses of a calibrator; where it fails, the base rate takes its place."""
        log_losses, briers, failures, infinite = [], [], 0, 0
        for rows in self.draws():
            scores, y = self.scores.scores_cal[rows], self.scores.y_cal[rows]
            prob = _probabilities(calibrate, scores, y, self.scores.scores_test)
            if prob is None:
                failures += 1
                prob = _base_rates(y, self.scores.scores_test)
            true, brier = _judged(prob, self.scores.y_test)
            infinite += int((true == 0).any())
            log_losses.append(-np.log(np.clip(true, _CLIP, 1 - _CLIP)).mean())
            briers.append(brier.mean())
        return Outcome(float(np.mean(log_losses)), float(np.mean(briers)), failures, infinite)


def make_tasks(score_sets: Sequence[ScoreSet], sizes: Sequence[str], seed: int) -> list[Task]:
    """Return a task for every score set and every size that leaves some of its pool out, or is all of it."""
    fits = [(scores, size) for scores in score_sets for size in sizes]
    return [Task(scores, size, seed) for scores, size in fits if size == "full" or int(size) < len(scores.y_cal)]


def _probabilities(calibrate: Calibrate, scores: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray | None:
    """Return what the calibrator gives, or None where it raises or gives no probabilities."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            prob = np.asarray(calibrate(scores.copy(), y.copy(), test.copy()), dtype=float)
        except Exception:  # peers raise errors of every type
            return None
    valid = prob.shape == test.shape and bool(np.all((prob >= -_ROUNDING) & (prob <= 1 + _ROUNDING)))
    if prob.ndim == 2:
        valid = valid and bool(np.all(np.abs(prob.sum(axis=1) - 1) < _ROUNDING_OF_SUMS))
    return np.clip(prob, 0, 1) if valid else None


def _base_rates(y: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Return the shares of the classes as a forecast of all rows; one case more may be of any of several classes."""
    if test.ndim == 1:
        return np.full(len(test), y.mean())
    k = test.shape[1]
    return np.tile((np.bincount(y, minlength=k) + 1 / k) / (len(y) + 1), (len(test), 1))


def _judged(prob: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the probability of what was true, and the Brier score, of several classes summed over them."""
    if prob.ndim == 1:
        true = np.where(y == 1, prob, 1 - prob)
        return true, (1 - true) ** 2
    true = prob[np.arange(len(y)), y]
    return true, (1 - true) ** 2 + (prob**2).sum(axis=1) - true**2
