"""Forecasts drawn again, of two classes or several, for counts and for float weights alike.

Of float weights a cell keeps Σw and Σw². It is drawn from as (Σw)²/Σw² rows of weight Σw²/Σw each, whose sum has the
mean and the variance of the cell; a cell of one row is drawn from exactly.
"""

from collections.abc import Iterator
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oddsmith._types import Floats, Ints, Weights
from oddsmith.data import ScoreTable, bootstrap, resample_labels
from oddsmith.metrics.classes import ClassForecast
from oddsmith.metrics.groups import GroupedForecast
from oddsmith.metrics.measure import Forecast, size, squared_weight

#: Cases of several classes, up to which each is drawn by itself.
_ONE_BY_ONE = 10**7


@singledispatch
def n_rows(table: Any) -> float:
    """Return how many rows of equal weight vary as much: of two classes those of the rarer one."""
    sides = zip((table.pos, table.neg), table.squares, strict=True)
    return min(float(equal_rows(*side)[0].sum()) for side in sides)


@n_rows.register
def _(forecast: ClassForecast) -> float:
    return float(equal_rows(forecast.weight, forecast.squared_weight)[0].sum())


@n_rows.register
def _(grouped: GroupedForecast) -> float:
    if isinstance(grouped.forecast, ClassForecast):
        return grouped.n_effective()
    return min(grouped.n_effective(grouped.weight * (grouped.truth == side)) for side in (0, 1))


@singledispatch
def rows_again(table: Any, n_resamples: int, rng: np.random.Generator) -> Iterator[Any]:
    """Draw tables of as many rows, with replacement."""
    if table.kind == "count":
        return bootstrap(table, n_resamples, random_state=rng)
    weight = np.concatenate([table.pos, table.neg])
    rows, unit = equal_rows(weight, np.concatenate(table.squares))
    units, chance = round(float(rows.sum())), rows / rows.sum()

    def draw() -> ScoreTable:
        times = rng.multinomial(units, chance)
        (pos, neg), (pos_sq, neg_sq) = np.split(times * unit, 2), np.split(times * unit**2, 2)
        again: ScoreTable = table.with_weights(pos, neg, (pos_sq, neg_sq), table.rows)
        return again

    return (draw() for _ in range(n_resamples))


@rows_again.register
def _(forecast: ClassForecast, n_resamples: int, rng: np.random.Generator) -> Iterator[ClassForecast]:
    if _is_counted_out(forecast):
        of_truth = np.arange(len(forecast.labels)) == forecast.truth[:, None]
        return (forecast.allot(times[:, None] * of_truth) for times in _times(forecast, n_resamples, rng))
    return (_draw(forecast, forecast.truth[at], at) for at in _pick(forecast, n_resamples, rng))


@rows_again.register
def _(grouped: GroupedForecast, n_resamples: int, rng: np.random.Generator) -> Iterator[Forecast]:
    return grouped.again(n_resamples, rng)


@singledispatch
def labels_again(table: Any, prob: Floats, n_resamples: int, rng: np.random.Generator) -> Iterator[Any]:
    """Draw scores with replacement, and labels that are positive with a given probability at each cell."""
    if table.kind == "count":
        return resample_labels(table, prob, n_resamples, random_state=rng)
    rows, unit = equal_rows(table.total, squared_weight(table))
    units, chance = round(float(rows.sum())), rows / rows.sum()

    def draw() -> ScoreTable:
        total = rng.multinomial(units, chance)
        pos = rng.binomial(total, prob)
        neg = total - pos
        squares = pos * unit**2, neg * unit**2
        again: ScoreTable = table.with_weights(pos * unit, neg * unit, squares, table.rows)
        return again

    return (draw() for _ in range(n_resamples))


@labels_again.register
def _(forecast: ClassForecast, prob: Floats, n_resamples: int, rng: np.random.Generator) -> Iterator[ClassForecast]:
    if _is_counted_out(forecast):
        shares = prob / prob.sum(axis=1, keepdims=True)
        for times in _times(forecast, n_resamples, rng):
            yield forecast.allot(rng.multinomial(times, shares))
        return
    upto = np.cumsum(prob, axis=1)
    upto /= upto[:, -1:]
    for at in _pick(forecast, n_resamples, rng):
        yield _draw(forecast, np.sum(upto[at] <= rng.random((len(at), 1)), axis=1), at)


@labels_again.register
def _(grouped: GroupedForecast, prob: Floats, n_resamples: int, rng: np.random.Generator) -> Iterator[Forecast]:
    return grouped.labels_again(prob, n_resamples, rng)


def _is_counted_out(forecast: ClassForecast) -> bool:
    """Whether there are too many cases to draw each by itself."""
    return forecast.weight.dtype.kind == "i" and size(forecast) > _ONE_BY_ONE


def _times(forecast: ClassForecast, n_resamples: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Draw cases with replacement, and return how often each row was drawn."""
    cases = int(forecast.weight.sum())
    return (rng.multinomial(cases, forecast.weight / cases) for _ in range(n_resamples))


def _pick(forecast: ClassForecast, n_resamples: int, rng: np.random.Generator) -> Iterator[NDArray[np.intp]]:
    """Draw rows of equal weight with replacement."""
    rows = equal_rows(forecast.weight, forecast.squared_weight)[0]
    units, upto = max(round(float(rows.sum())), 1), np.cumsum(rows) / rows.sum()
    return (np.searchsorted(upto[:-1], rng.random(units), side="right") for _ in range(n_resamples))


def _draw(forecast: ClassForecast, truth: NDArray[np.intp], at: NDArray[np.intp]) -> ClassForecast:
    unit = equal_rows(forecast.weight, forecast.squared_weight)[1][at]
    weight = unit.astype(np.int64) if forecast.weight.dtype.kind == "i" else unit
    return forecast.at(at, truth, weight)


def equal_rows(weight: Weights, squares: Weights) -> tuple[Floats, Floats]:
    """Return how many rows of equal weight vary as much as each cell, and that weight."""
    unit = np.divide(squares, weight, out=np.ones(len(weight)), where=weight > 0)
    return np.asarray(weight / unit), unit
