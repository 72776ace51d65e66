"""What the parts measured, put together over all splits."""

import numpy as np
from numpy.typing import ArrayLike

from oddsmith.checks import Floats
from oddsmith.metrics import Interval
from oddsmith_studies.studies._splits import interval_over_splits
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies.course_project.parts import CALIBRATION, TEST, TRAIN


def values(results: Results, kind: str, method: str, measure: str) -> Floats:
    """Return a measure of a method, split by split; ``kind`` is how the names of the parts begin."""
    return np.array([part["measures"][method][measure] for part in results.starting(kind)])


def mean(by_split: ArrayLike) -> Interval:
    """Return the mean over splits: the test sentences of a split judge what the other 2,600 made."""
    return interval_over_splits(by_split, n_test=TEST, n_train=TRAIN + CALIBRATION)


def mean_of(results: Results, kind: str, method: str, measure: str) -> Interval:
    """Return the mean of a measure of a method."""
    return mean(values(results, kind, method, measure))


def difference(results: Results, kind: str, first: str, second: str, measure: str) -> Interval:
    """Return the mean paired difference of a measure between two methods."""
    return mean(values(results, kind, first, measure) - values(results, kind, second, measure))


def rejected(results: Results, method: str) -> float:
    """Return the share of splits in which a test at 5 % rejects that a method is calibrated."""
    return float((values(results, "split-", method, "p_value") < 0.05).mean())


def infinite(results: Results, method: str) -> int:
    """Return the number of splits in which a method was certain of something false."""
    return int(np.isinf(values(results, "split-", method, "log_loss_unclipped")).sum())


def score_kinds(results: Results) -> list[str]:
    """Return the kinds of scores that were calibrated with sets of several sizes."""
    return list(results["sizes-000"])


def by_size(results: Results, kind: str, method: str) -> Floats:
    """Return squared errors, a row a size and a column a split."""
    return np.array([part[kind][method] for part in results.starting("sizes-")]).T


def site_methods(results: Results) -> list[str]:
    """Return the methods for three classes."""
    return list(results["sites-000"]["measures"])
