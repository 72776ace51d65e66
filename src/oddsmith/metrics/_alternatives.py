"""Supposed truths: by how much, and in which direction, the labels may have been drawn from other probabilities.

A measure that is 0 at best is compared with what it would be if the truth lay on a path from the null hypothesis (every
forecast is right, or none says anything) through what the data suggest. With two classes there are two such paths: a
curve and a line may explain the same labels, and a measure may differ on them. Where what was seen lies beyond all of
them, as it does if the truth is neither a curve nor a line, further paths go through the rates of groups.
"""

import warnings
from collections.abc import Iterator
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from oddsmith._check import LARGEST_SUM
from oddsmith._types import Floats
from oddsmith.calibrators import PlattCalibrator, SplineCalibrator
from oddsmith.data import ScoreTable
from oddsmith.errors import OddsmithWarning
from oddsmith.metrics.bins import sum_by
from oddsmith.metrics.classes import ClassForecast, recalibrate
from oddsmith.metrics.groups import GroupedForecast
from oddsmith.metrics.measure import Null, probability, residuals, size, squared_weight
from oddsmith.metrics.resampled import equal_rows

#: Where the path is looked at, in standard errors from what the data suggest; the null hypothesis comes first.
_STEPS = np.array([-24.0, -16.0, -10.0, -6.0, -3.5, -1.5, 0.0, 1.5, 3.5, 6.0, 10.0, 16.0, 24.0])

#: Log-odds beyond this are as good as certain.
_CERTAIN = 30.0

#: Rows of a group whose rates a path goes through; of a smaller group of several classes, where that is too coarse.
_ENOUGH, _FEW = 100, 10

#: Rows that stand for one where labels are no longer random.
_MANY = 1e6


class Truth(NamedTuple):
    """Probabilities at the cells of a table, and a population in which they are the shares of classes.

    ``distance`` is how many standard errors it lies from what the data suggest; the null hypothesis has it too.
    """

    prob: Floats
    population: Any
    distance: float


@singledispatch
def paths_of_truth(table: Any, null: Null, stretch: float = 1.0) -> list[list[Truth]]:
    """Return truths along each path, the null hypothesis first.

    ``stretch`` is by how much standard errors are larger than those of independent rows.
    """
    return [_path(table, null, end, stretch) for end in _suggestions(table)]


@paths_of_truth.register
def _(forecast: ClassForecast, null: Null, stretch: float = 1.0) -> list[list[Truth]]:
    return [_class_path(forecast, null, suggest(forecast), stretch)]


@paths_of_truth.register
def _(grouped: GroupedForecast, null: Null) -> list[list[Truth]]:
    return paths_of_truth(grouped.forecast, null, grouped.stretch)


@singledispatch
def further_paths(table: Any, null: Null, stretch: float = 1.0) -> Iterator[list[Truth]]:
    """Walk over paths through the rates of groups, the coarser groups first."""
    return (_path(table, null, rates_of_neighbors(table, fewest), stretch) for fewest in (_ENOUGH, 1))


@further_paths.register
def _(forecast: ClassForecast, null: Null, stretch: float = 1.0) -> Iterator[list[Truth]]:
    return (_class_path(forecast, null, end, stretch) for end in rates_of_alike(forecast))


@further_paths.register
def _(grouped: GroupedForecast, null: Null) -> Iterator[list[Truth]]:
    return further_paths(grouped.forecast, null, grouped.stretch)


def suggest(forecast: ScoreTable | ClassForecast) -> Floats:
    """Return probabilities that the data suggest instead of the forecast's: of two classes by a smooth curve."""
    return np.exp(recalibrate(forecast)) if isinstance(forecast, ClassForecast) else next(_suggestions(forecast))


def _path(table: ScoreTable, null: Null, end: Floats, stretch: float) -> list[Truth]:
    start = probability(table) if null == "calibrated" else np.full(len(table), table.prevalence)
    spread = np.maximum(np.maximum(start * (1 - start), end * (1 - end)), 1e-12)
    errors = float(np.sqrt(np.sum((table.total * (end - start)) ** 2 / (spread * squared_weight(table)))))
    steps = _along(start, end, errors / stretch)
    return [Truth(prob, _population(table, prob), distance) for prob, distance in steps]


def _class_path(forecast: ClassForecast, null: Null, end: Floats, stretch: float) -> list[Truth]:
    start = forecast.prob if null == "calibrated" else np.tile(forecast.base_rates, (len(forecast), 1))
    steps = path_through(forecast, start, end, stretch)
    return [Truth(prob, _class_population(forecast, prob), distance) for prob, distance in steps]


def path_through(
    forecast: ClassForecast, start: Floats, end: Floats, stretch: float = 1.0
) -> Iterator[tuple[Floats, float]]:
    """Walk from probabilities of several classes through others that the data suggest."""
    gaps = (end - start) ** 2 / np.maximum(np.maximum(start, end), 1e-12)
    weight = forecast.weight.astype(np.float64)
    errors = float(np.sqrt(np.sum(weight**2 / forecast.squared_weight * gaps.sum(axis=1))))
    return _along(start, end, errors / stretch)


def _along(start: Floats, end: Floats, errors: float) -> Iterator[tuple[Floats, float]]:
    """Walk from probabilities through others, given the distance in standard errors, and yield the distance left."""
    for distance in (-errors, *_STEPS[errors + _STEPS > 0.25].tolist()):
        length = (errors + distance) / max(errors, 1e-12)
        yield np.clip(start + length * (end - start), 0.0, 1.0), abs(distance)


def _suggestions(table: ScoreTable) -> Iterator[Floats]:
    """Yield probabilities that the data suggest: recalibrations by a smooth curve and by a line in log-odds."""
    held = np.clip(table.scores, -_CERTAIN, _CERTAIN)
    for calibrator in (SplineCalibrator(input="log_odds"), PlattCalibrator(input="log_odds")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OddsmithWarning)
            fitted = calibrator.fit_table(table.map(lambda _: held))
        yield np.asarray(expit(fitted.log_odds(held)))


def rates_of_neighbors(table: ScoreTable, fewest: int) -> Floats:
    """Return forecasts with the mean of every group of neighboring cells moved to its share of positives.

    A group has at least about ``fewest`` rows; a cell that has them is a group.
    """
    rows = equal_rows(table.total, squared_weight(table))[0]
    group = np.unique((np.cumsum(rows) - rows) // fewest, return_inverse=True)[1]
    gap = sum_by(group, residuals(table)) / sum_by(group, table.total)
    return np.clip(probability(table) + gap[group], 0.0, 1.0)


def rates_of_alike(forecast: ClassForecast) -> Iterator[Floats]:
    """Yield forecasts with the mean of every group of similar rows moved to its shares of classes, large ones first."""
    gaps = np.eye(len(forecast.labels))[forecast.truth] - forecast.prob
    rows = equal_rows(forecast.weight, forecast.squared_weight)[0]
    for fewest in (_ENOUGH, _FEW):
        moved = forecast.prob.copy()
        for at in _groups_of_alike(forecast.prob, rows, fewest):
            moved[at] += np.average(gaps[at], axis=0, weights=forecast.weight[at])
        moved = np.clip(moved, 0.0, 1.0)
        yield moved / moved.sum(axis=1, keepdims=True)


def _groups_of_alike(prob: Floats, rows: Floats, fewest: int) -> Iterator[NDArray[np.intp]]:
    """Halve rows by the class whose probability varies most, down to groups of about ``fewest``."""
    left = [np.arange(len(prob))]
    while left:
        at = left.pop()
        column = prob[at, np.argmax(np.ptp(prob[at], axis=0))]
        order = np.argsort(column)
        middle = column[order[np.searchsorted(np.cumsum(rows[at][order]), rows[at].sum() / 2)]]
        low = column <= middle if middle < column.max() else column < middle
        if rows[at].sum() < 2 * fewest or not low.any():
            yield at
        else:
            left += [at[low], at[~low]]


def _population(table: ScoreTable, prob: Floats) -> ScoreTable:
    """Return a population in which the shares of classes are the probabilities."""
    if table.kind == "weight" or size(table) > LARGEST_SUM / _MANY:
        weight, squares, rest = table.total * _MANY, squared_weight(table) * _MANY, 1 - prob
        columns = (weight * prob, weight * rest, squares * prob, squares * rest)
        return ScoreTable(table.scores, *columns, rows=table.rows)
    total = table.total.astype(np.int64) * int(_MANY)
    pos = np.rint(total * prob).astype(np.int64)
    return ScoreTable(table.scores, pos, total - pos)


def _class_population(forecast: ClassForecast, prob: Floats) -> ClassForecast:
    """Return a population in which the shares of classes are the probabilities, within the range of counts."""
    if forecast.weight.dtype.kind == "f":
        return forecast.allot(prob * (forecast.weight * _MANY)[:, None])
    many = min(_MANY, LARGEST_SUM / (size(forecast) * prob.shape[1]))
    return forecast.allot(np.rint(prob * (forecast.weight * many)[:, None]).astype(np.int64))
