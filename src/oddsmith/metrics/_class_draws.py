"""Forecasts of several classes, drawn again: what intervals need of them."""

from collections.abc import Iterator

import numpy as np

from oddsmith._types import Floats
from oddsmith.metrics._softmax_line import recalibrated
from oddsmith.metrics._truths import MANY, Truth, along, paths_of_truth
from oddsmith.metrics.classes import ClassForecast
from oddsmith.metrics.measure import Null
from oddsmith.metrics.resampled import equal_rows, labels_again, n_rows, rows_again


@n_rows.register
def _(forecast: ClassForecast) -> float:
    return float(equal_rows(forecast.weight, forecast.squared_weight)[0].sum())


@rows_again.register
def _(forecast: ClassForecast, n_resamples: int, rng: np.random.Generator) -> Iterator[ClassForecast]:
    return (_drawn(forecast, forecast.truth[at], at) for at in _picked(forecast, n_resamples, rng))


@labels_again.register
def _(forecast: ClassForecast, prob: Floats, n_resamples: int, rng: np.random.Generator) -> Iterator[ClassForecast]:
    upto = np.cumsum(prob, axis=1)
    upto /= upto[:, -1:]
    for at in _picked(forecast, n_resamples, rng):
        yield _drawn(forecast, np.sum(upto[at] <= rng.random((len(at), 1)), axis=1), at)


@paths_of_truth.register
def _(forecast: ClassForecast, null: Null) -> list[list[Truth]]:
    start = forecast.prob if null == "calibrated" else np.tile(forecast.base_rates, (len(forecast), 1))
    steps = path_through(forecast, start, np.exp(recalibrated(forecast)))
    return [[Truth(prob, _population(forecast, prob), distance) for prob, distance in steps]]


def path_through(forecast: ClassForecast, start: Floats, end: Floats) -> Iterator[tuple[Floats, float]]:
    """Walk from probabilities through others that the data suggest, with the distance from the latter."""
    gaps = (end - start) ** 2 / np.maximum(np.maximum(start, end), 1e-12)
    size = float(np.sqrt(np.sum(forecast.weight**2 / forecast.squared_weight * gaps.sum(axis=1))))
    return along(start, end, size)


def _population(forecast: ClassForecast, prob: Floats) -> ClassForecast:
    """Return so many rows that the shares of classes are the probabilities."""
    n, k = prob.shape
    weight = prob.ravel() * np.repeat(forecast.weight * float(MANY), k)
    if forecast.weight.dtype.kind == "i":
        weight = np.rint(weight).astype(np.int64)
    held, rows, truth = weight > 0, np.repeat(np.arange(n), k), np.tile(np.arange(k), n)
    return ClassForecast(forecast.prob[rows[held]], truth[held], weight[held], forecast.labels)


def _picked(forecast: ClassForecast, n_resamples: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Draw rows of equal weight with replacement."""
    rows = equal_rows(forecast.weight, forecast.squared_weight)[0]
    units, upto = max(round(float(rows.sum())), 1), np.cumsum(rows) / rows.sum()
    return (np.searchsorted(upto[:-1], rng.random(units), side="right") for _ in range(n_resamples))


def _drawn(forecast: ClassForecast, truth: np.ndarray, at: np.ndarray) -> ClassForecast:
    unit = equal_rows(forecast.weight, forecast.squared_weight)[1][at]
    weight = unit.astype(np.int64) if forecast.weight.dtype.kind == "i" else unit
    return ClassForecast(forecast.prob[at], truth, weight, forecast.labels)
