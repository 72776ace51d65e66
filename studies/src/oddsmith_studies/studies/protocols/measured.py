"""What the parts measured, put together over tasks."""

from collections.abc import Iterable

import numpy as np

from oddsmith.metrics import Interval
from oddsmith_studies.studies._study import Json, Results
from oddsmith_studies.studies.protocols.tasks import BAYES, SVM, TREES

CLASSIFIERS = (BAYES, SVM, TREES)


def tasks_of(results: Results, classifier: str) -> list[Json]:
    """Return the results of all tasks of a classifier."""
    return [part for part in results.values() if part["classifier"] == classifier]


def protocols_of(tasks: list[Json]) -> list[str]:
    """Return the protocols that the tasks were calibrated by."""
    return list(tasks[0]["protocols"])


def against(task: Json, protocol: str, method: str, reference: str) -> Interval:
    """Return the difference in mean log-loss to a reference protocol, paired by test row."""
    return as_interval(task["protocols"][protocol]["against"][reference][method])


def as_interval(ends: list[float]) -> Interval:
    """Return what a part kept of an interval."""
    value, low, high = ends
    return Interval(value, low, high, 0.95, "paired differences")


def relative_change(task: Json, protocol: str, method: str, reference: str = "10 folds") -> float:
    """Return the change in log-loss to a reference protocol, as a share of the latter."""
    mine, theirs = (float(task["protocols"][name]["log_loss"][method]) for name in (protocol, reference))
    return mine / theirs - 1


def mean_distance(tasks: Iterable[Json], protocol: str) -> float:
    """Return the mean over tasks and classes of the distance between calibration and test scores."""
    return float(np.mean([list(task["protocols"][protocol]["distance"].values()) for task in tasks]))


def slope_ratio(task: Json, protocol: str, reference: str = "10 folds") -> float:
    """Return the slope of Platt's sigmoid, relative to that of a reference protocol: above 1 it is surer of itself."""
    mine, theirs = (float(task["protocols"][name]["slope"]) for name in (protocol, reference))
    return mine / theirs


def count_signs(found: Iterable[Interval]) -> tuple[int, int]:
    """Return how many differences are surely above 0, and surely below."""
    intervals = list(found)
    return sum(each.low > 0 for each in intervals), sum(each.high < 0 for each in intervals)
