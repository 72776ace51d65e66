"""What the parts measured: the best models by validation rows, and comparisons of them on test rows."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from oddsmith.checks import Floats
from oddsmith.maps.base import logit
from oddsmith.metrics import Interval
from oddsmith.plots.trials import mean_of_trials
from oddsmith_studies.studies._study import Json, Results
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.calibration_sizes import trials_and_sizes
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.grids import EXPONENTIAL, STUMPS, TREES
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.methods import (
    ISO,
    ISO_1K,
    LOGLOSS,
    PLATT,
    PLATT_1K,
    RAW,
    SQUARED_ERROR,
    losses,
)
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.parts import part_name
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.tasks import OWN_PROBLEMS, PROBLEMS

_LEVEL, _REACH = 0.95, 1.959963984540054

#: What the document's Figure 6 calls the learners, in its order.
BOOSTED = {"BST-DT": TREES, "BST-STMP": STUMPS}
TEN = ("BST-DT", "SVM", "RF", "BAG-DT", "ANN", "KNN", "BST-STMP", "DT", "LOGREG", "NB")


class Model(NamedTuple):
    """A model that was selected on validation rows: the part it is of, its place there, and its losses."""

    part: Json
    place: int
    validation: dict[str, list[float]]
    test: dict[str, list[float]]

    @property
    def rounds(self) -> int:
        """For how many rounds it was boosted."""
        return int(self.part["rounds"][self.place])


def boosting_parts(results: Results, problem: str, base: str) -> list[Json]:
    """Return all that was boosted of a base on a problem."""
    return [part for part in results.values() if part["problem"] == problem and part.get("base") == base]


def shown_part(results: Results, problem: str) -> Json:
    """Return the boosted trees that are drawn: gini, with Bayesian leaves, as in the document's Figure 1."""
    return results[part_name(problem, TREES, "gini", "unpruned", "bayesian", EXPONENTIAL)]


def best(
    results: Results, problem: str, base: str, method: str, measure: str, *, way: str = "discrete", style: str = ""
) -> Model:
    """Return the model with the least loss on validation rows, of all styles or of one, and of all rounds."""
    found = [
        Model(part, place, *(part["methods"][way][method][half][place] for half in ("validation", "test")))
        for part in boosting_parts(results, problem, base)
        if method in part["methods"][way] and style in ("", part["style"])
        for place in range(len(part["rounds"]))
    ]
    return min(found, key=lambda model: model.validation[measure][0])


def mean_loss(results: Results, base: str, method: str, measure: str, **options: str) -> float:
    """Return the mean over the document's own problems of the loss of the selected models."""
    return float(
        np.mean([best(results, problem, base, method, measure, **options).test[measure][0] for problem in OWN_PROBLEMS])
    )


def row_losses(results: Results, problem: str, base: str, method: str, measure: str) -> Floats:
    """Return the losses of all test rows by the selected model."""
    about = results[part_name("problem", problem)]
    kept = np.array(best(results, problem, base, method, measure).part["kept"][method][measure])
    return losses(logit(kept), np.array(about["y_test"], bool), about["rows"]["train"])[measure]


def difference(
    results: Results, first: tuple[str, str], second: tuple[str, str], measure: str, problems: Sequence[str] = PROBLEMS
) -> Interval:
    """Return the mean over problems of the paired difference on test rows, first (base, method) less second.

    The interval is about other rows of the same problems, not about other problems.
    """
    changes = [
        row_losses(results, problem, *first, measure) - row_losses(results, problem, *second, measure)
        for problem in problems
    ]
    return _mean(
        [float(each.mean()) for each in changes], [float(each.std() / math.sqrt(len(each))) for each in changes]
    )


def _mean(values: Sequence[float], errors: Sequence[float]) -> Interval:
    """Return the mean of independent estimates with their standard errors."""
    middle = float(np.mean(values))
    reach = _REACH * float(np.linalg.norm(errors)) / len(errors)
    return Interval(middle, middle - reach, middle + reach, _LEVEL, "normal interval of the mean over problems")


class Learned(NamedTuple):
    """A learner's loss before and after calibration on validation rows, mean over the document's own problems."""

    before: Interval
    platt: Interval
    isotonic: Interval

    @property
    def after(self) -> Interval:
        """The better of both calibrated ones."""
        return min(self.platt, self.isotonic, key=lambda each: each.value)


def learned(results: Results, learner: str, measure: str) -> Learned:
    """Return how a learner does; for each problem and method the model that is best on the validation rows."""
    found = []
    for method in (RAW, PLATT_1K, ISO_1K):
        chosen = [_chosen(results, problem, learner, method, measure)[measure] for problem in OWN_PROBLEMS]
        found.append(_mean(*map(list, zip(*chosen, strict=True))))
    return Learned(*found)


def log_loss_boosted(results: Results, learner: str, measure: str) -> Interval:
    """Return the loss of boosting with log-loss, for the two learners that are boosted."""
    chosen = [best(results, problem, BOOSTED[learner], LOGLOSS, measure).test[measure] for problem in OWN_PROBLEMS]
    return _mean(*map(list, zip(*chosen, strict=True)))


def _chosen(results: Results, problem: str, learner: str, method: str, measure: str) -> dict[str, list[float]]:
    if learner in BOOSTED:
        return best(results, problem, BOOSTED[learner], method, measure).test
    models = results[part_name(problem, learner)]["models"].values()
    least: dict[str, list[float]] = min(models, key=lambda each: each[method]["validation"][measure][0])[method]["test"]
    return least


class CurvePoint(NamedTuple):
    """Squared errors at one calibration size, mean over the problems that have it."""

    size: int
    problems: list[str]
    by_method: dict[str, Interval]
    platt_less_isotonic: Interval
    platt_less_raw: Interval


def learning_curve(results: Results) -> list[CurvePoint]:
    """Return the learning curve of boosted trees, over trials of which each draws calibration cases in all problems.

    Problems with too few test rows for all sizes but the largest are left out, so that a curve is of the same problems.
    """
    points = []
    sizes = trials_and_sizes(results.setting)[1]
    measured = {problem: shown_part(results, problem)["curves"] for problem in OWN_PROBLEMS}
    steady = [problem for problem, curves in measured.items() if str(sizes[-2]) in curves]
    for size in sizes:
        there = [problem for problem in steady if str(size) in measured[problem]]
        trials = {
            method: np.mean([_trials(results, problem, method, size) for problem in there], axis=0)
            for method in (RAW, PLATT, ISO)
        }
        points.append(
            CurvePoint(
                size,
                there,
                {method: mean_of_trials(values, _LEVEL) for method, values in trials.items()},
                mean_of_trials(trials[PLATT] - trials[ISO], _LEVEL),
                mean_of_trials(trials[PLATT] - trials[RAW], _LEVEL),
            )
        )
    return points


def _trials(results: Results, problem: str, method: str, size: int) -> Floats:
    model = best(results, problem, TREES, method, SQUARED_ERROR)
    return np.array(model.part["curves"][str(size)][method][model.place])


def extreme_counts(histogram: Sequence[int]) -> tuple[int, int]:
    """Return how many predictions lie below 0.05 or above 0.95, and how many there are."""
    counts = np.array(histogram)
    edge = len(counts) // 20
    return int(counts[:edge].sum() + counts[-edge:].sum()), int(counts.sum())


def with_error(value: float, error: float) -> Interval:
    """Return an estimate with its 95 % interval by its standard error."""
    return Interval(value, value - _REACH * error, value + _REACH * error, _LEVEL, "normal interval")


def last_picture(results: Results, problem: str) -> Json:
    """Return what is drawn of boosted trees after the last round."""
    pictures = shown_part(results, problem)["pictures"]["discrete"]
    return pictures[max(pictures, key=int)]
