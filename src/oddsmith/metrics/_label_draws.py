"""Calibration errors of several classes when labels are drawn again: forecasts stay, and so do their bins.

With the bins fixed, every error is a sum over bins of what was observed less what was predicted, so one draw costs one
pass over the rows, however many classes there are.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from oddsmith._types import Floats, Ints
from oddsmith.data import ScoreTable
from oddsmith.maps import logit
from oddsmith.metrics._alternatives import Truth, path_through
from oddsmith.metrics.bins import bin_index, sum_by
from oddsmith.metrics.classes import ClassForecast
from oddsmith.metrics.groups import GroupedForecast
from oddsmith.metrics.measure import probability
from oddsmith.metrics.reliability import find_definition

#: Cells that isotonic regression sees of each class, at most and at least, and of all classes together.
_CELLS, _FEWEST_CELLS, _ALL_CELLS = 256, 16, 50_000


class BinGrid(NamedTuple):
    """Bins of every column: which one each row is in, and Σ w·P and Σ w of each."""

    place: NDArray[np.int32]
    predicted: Floats
    weight: Floats

    @classmethod
    def of(cls, bins: list[Ints], prob: Floats, weight: Floats) -> Self:
        """Give each bin of each column a number of its own, and sum it up."""
        shape = len(bins), 1 + max(int(column.max()) for column in bins)
        place = (np.column_stack(bins) + shape[1] * np.arange(len(bins))).astype(np.int32)
        columns = prob * weight[:, None], np.broadcast_to(weight[:, None], prob.shape)
        return cls(place, *(_sums(place, column, shape) for column in columns))

    def of_labels(self, truth: NDArray[np.intp], weight: Floats) -> Floats:
        """Return Σ w of the rows whose label is the class of a column, in each of its bins."""
        return _sums(np.take_along_axis(self.place, truth[:, None], axis=1), weight, self.predicted.shape)

    def of_amounts(self, amounts: Floats) -> Floats:
        """Return Σ of each column's amounts in each of its bins."""
        return _sums(self.place, amounts, self.predicted.shape)


def _sums(place: NDArray[np.int32], amounts: Floats, shape: tuple[int, ...]) -> Floats:
    return sum_by(place.ravel().astype(np.int64), amounts.ravel(), shape[0] * shape[1]).reshape(shape)


@dataclass(frozen=True, eq=False)
class ClassBins:
    """A forecast of several classes with what the data suggest instead, each class against the rest, and its bins.

    There are bins of calibration errors, finer ones (cells) for isotonic regression, and those of the top label. Labels
    of dependent rows are drawn with the correlation of those in ``grouped``.
    """

    forecast: ClassForecast
    suggested: Floats
    tables: list[ScoreTable]
    errors: BinGrid
    cells: BinGrid
    top: BinGrid
    grouped: GroupedForecast | None = None

    @classmethod
    def of(cls, forecast: ClassForecast, suggested: Floats, grouped: GroupedForecast | None = None) -> Self:
        """Put the forecasts of every class in bins."""
        tables, weight = list(forecast.of_classes()), forecast.weight.astype(np.float64)
        finest = min(max(_ALL_CELLS // len(tables), _FEWEST_CELLS), _CELLS)
        errors, cells = [], []
        for table, prob in zip(tables, forecast.prob.T, strict=True):
            at = cell_of(table, prob)
            errors.append(_bins_of_errors(table)[at])
            cells.append(bin_index(table, table.scores, finest, "mass")[at])
        top, best = forecast.of_top_label(), forecast.prob.max(axis=1)
        return cls(
            forecast,
            suggested,
            tables,
            BinGrid.of(errors, forecast.prob, weight),
            BinGrid.of(cells, forecast.prob, weight),
            BinGrid.of([_bins_of_errors(top)[cell_of(top, best)]], best[:, None], weight),
            grouped,
        )

    def observe(self, truth: NDArray[np.intp]) -> "Observed":
        """Return what labels put in the bins."""
        weight = self.forecast.weight.astype(np.float64)
        right = np.argmax(self.forecast.prob, axis=1) == truth
        top = self.top.of_amounts(weight * right)
        return Observed(self, self.errors.of_labels(truth, weight), self.cells.of_labels(truth, weight), top)

    def allot(self, amounts: Floats) -> "Observed":
        """Return what is in the bins if so much of each row is of each class."""
        best = np.take_along_axis(amounts, np.argmax(self.forecast.prob, axis=1)[:, None], axis=1)
        grids = ((self.errors, amounts), (self.cells, amounts), (self.top, best))
        return Observed(self, *(grid.of_amounts(some) for grid, some in grids))

    def path(self, suggested: Floats) -> list[Truth]:
        """Return truths from the forecast through others that the data suggest."""
        weight = self.forecast.weight[:, None]
        stretch = 1.0 if self.grouped is None else self.grouped.stretch
        steps = path_through(self.forecast, self.forecast.prob, suggested, stretch)
        return [Truth(prob, self.allot(prob * weight), distance) for prob, distance in steps]

    def labels_again(self, prob: Floats, n_resamples: int, rng: np.random.Generator) -> Iterator["Observed"]:
        """Draw labels again, and return what they put in the bins."""
        weight = self.forecast.weight
        if weight.dtype.kind == "i" and weight.max() > 1:
            shares = prob / prob.sum(axis=1, keepdims=True)
            for amounts in draw_counts(shares, weight.astype(np.int64), n_resamples, rng, self.grouped):
                yield self.allot(amounts.astype(np.float64))
            return
        for truth in draw_labels(prob, n_resamples, rng, self.grouped):
            yield self.observe(truth)


@dataclass(frozen=True, eq=False)
class Observed:
    """Weight of the labels in each bin of a forecast, of which calibration errors are functions."""

    source: ClassBins
    errors: Floats
    cells: Floats
    top: Floats

    @cached_property
    def by_class(self) -> Floats:
        """Calibration error of each class against the rest."""
        grid = self.source.errors
        return np.asarray(np.abs(self.errors - grid.predicted).sum(axis=1) / grid.weight[0].sum())

    def of_class(self, k: int) -> float:
        """Return the calibration error of one class against the rest."""
        return float(self.by_class[k])

    def classwise(self) -> float:
        """Return the mean calibration error over classes."""
        return float(self.by_class.mean())

    def top_label(self) -> float:
        """Return the calibration error of the top label."""
        grid = self.source.top
        return float(np.abs(self.top - grid.predicted).sum() / grid.weight.sum())

    def in_the_large(self) -> float:
        """Return half the sum over classes of |mean forecast − share|."""
        grid = self.source.errors
        return float(np.abs(self.errors.sum(axis=1) - grid.predicted.sum(axis=1)).sum() / grid.weight[0].sum()) / 2

    def brier_miscalibration(self) -> float:
        """Return the Brier score that isotonic regression of each class saves, on the finer bins."""
        from scipy.optimize import isotonic_regression

        grid = self.source.cells
        held = grid.weight > 0
        yes, weight = self.cells[held], grid.weight[held]
        mean = grid.predicted[held] / weight
        # One regression for all: from class to class shares are raised by more than 1, so that none are pooled.
        raised = yes / weight + 2.0 * np.nonzero(held)[0]
        starts = isotonic_regression(raised, weights=weight).blocks[:-1].astype(np.int64)
        pooled, total = np.add.reduceat(yes, starts), np.add.reduceat(weight, starts)
        loss = float(yes @ (1 - mean) ** 2 + (weight - yes) @ mean**2) - float(pooled @ (1 - pooled / total))
        return max(loss / float(grid.weight[0].sum()), 0.0)


def draw_labels(
    prob: Floats, n_resamples: int, rng: np.random.Generator, grouped: GroupedForecast | None = None
) -> Iterator[NDArray[np.intp]]:
    """Draw a class for each row, again and again."""
    n = len(prob)
    draws = (rng.random(n) for _ in range(n_resamples)) if grouped is None else grouped.places(n_resamples, rng)
    return _classes_at(prob, draws)


def draw_counts(
    shares: Floats, counts: Ints, n_resamples: int, rng: np.random.Generator, grouped: GroupedForecast | None = None
) -> Iterator[Ints]:
    """Draw how many cases of each row are of each class, again and again."""
    if grouped is None:
        yield from (rng.multinomial(counts, shares) for _ in range(n_resamples))
        return
    # A share of the cases of a group follows one number that they have in common; the others are independent.
    common = (rng.random(grouped.n_groups)[grouped.group] for _ in range(n_resamples))
    for truth in _classes_at(shares, common):
        alike = rng.binomial(counts, math.sqrt(grouped.correlation))
        amounts = rng.multinomial(counts - alike, shares)
        amounts[np.arange(len(truth)), truth] += alike
        yield amounts


def _classes_at(prob: Floats, draws: Iterator[Floats]) -> Iterator[NDArray[np.intp]]:
    """Return the class of each row at numbers between 0 and 1."""
    n, k = prob.shape
    upto = np.cumsum(prob, axis=1)
    # Row i has the unit interval from i on: one search finds the labels of all rows.
    ends = (upto / upto[:, -1:] + np.arange(n)[:, None]).ravel()
    for place in draws:
        at = np.searchsorted(ends, place + np.arange(n), side="right")
        yield np.clip(at - k * np.arange(n), 0, k - 1)


def cell_of(table: ScoreTable, prob: Floats) -> NDArray[np.intp]:
    """Return which cell of a forecast table each probability is in."""
    return np.minimum(np.searchsorted(table.scores, logit(prob)), len(table) - 1)


def _bins_of_errors(table: ScoreTable) -> Ints:
    chosen = find_definition("quantile_bins")
    return bin_index(table, probability(table), chosen.n_bins, chosen.bins, chosen.edge, chosen.ends)
