"""Forecasts whose rows come in groups: several visits of a patient, several sentences of a document.

Rows of one group depend on each other, so a sample is drawn of whole groups. A table has lost which row belongs where:
a `GroupedForecast` keeps it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oddsmith import _check
from oddsmith._types import Floats, Ints, Weights
from oddsmith.data import ScoreTable, pool, read_rows
from oddsmith.maps import logit
from oddsmith.metrics.bins import sum_by
from oddsmith.metrics.classes import ClassForecast, class_forecast
from oddsmith.metrics.measure import Forecast


@dataclass(frozen=True, eq=False)
class GroupedForecast:
    """A forecast with the group of each row; make it with `group_forecast`.

    Attributes
    ----------
    forecast : ScoreTable or ClassForecast
        The forecast of all rows.
    cell : ndarray of int, shape (n,)
        Where each row is in the forecast: its cell of the table, or its row.
    truth : ndarray of int, shape (n,)
        1 for positive rows and 0 for negative ones; for several classes the column of the true class.
    weight : ndarray of shape (n,)
        Integers are counts, floats importance weights.
    group : ndarray of int, shape (n,)
        Number of the group of each row, from 0 on.
    correlation : float
        Correlation of the labels of a group, with which new labels are drawn.

    See Also
    --------
    group_forecast : Makes it.
    """

    forecast: Forecast
    cell: NDArray[np.intp]
    truth: NDArray[np.intp]
    weight: Weights
    group: NDArray[np.intp]
    correlation: float = 0.0

    @cached_property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.group.max()) + 1

    @property
    def squared_weight(self) -> Weights:
        """Square of the weight of each row, which is the count for counts."""
        return self.weight if self.weight.dtype.kind == "i" else self.weight**2

    def sums(self, values: Weights) -> Floats:
        """Add up values of rows in each group.

        Parameters
        ----------
        values : array of shape (m,)
            A value for each cell.

        Returns
        -------
        ndarray
        """
        return sum_by(self.group, values, self.n_groups)

    def n_effective(self, among: Weights | None = None) -> float:
        """Return how many groups of equal weight vary as much, of the weight of some rows.

        Parameters
        ----------
        among : array, optional
            Which cells to count; by default all.

        Returns
        -------
        float
        """
        weight = self.sums(self.weight if among is None else among)
        return float(weight.sum()) ** 2 / float(weight @ weight) if weight.any() else 0.0

    def with_correlation(self, prob: Floats) -> "GroupedForecast":
        """Return the same rows with the correlation of their labels, if they have the given probabilities.

        Parameters
        ----------
        prob : array of shape (m,)
            The probability of each cell.

        Returns
        -------
        GroupedForecast
        """
        if isinstance(self.forecast, ClassForecast):
            gaps = prob.copy()
            gaps[np.arange(len(gaps)), self.truth] -= 1
        else:
            gaps = (prob[self.cell] - self.truth)[:, None]
        variance = np.sum(np.clip(prob * (1 - prob), 0.0, None).reshape(len(prob), -1), axis=1)[self.cell]
        seen, most = sum(self._pairs(gap) for gap in gaps.T), self._pairs(np.sqrt(variance))
        return replace(self, correlation=float(np.clip(seen / most, 0.0, 1.0)) if most > 0 else 0.0)

    def _pairs(self, values: Floats) -> float:
        """Add up the products of values over pairs of different cases of a group."""
        sums = self.sums(self.weight * values)
        return float(sums @ sums) - float(self.squared_weight @ values**2)

    @property
    def stretch(self) -> float:
        """By how much standard errors are larger than those of independent rows, the root of Kish's design effect."""
        sums = self.sums(self.weight)
        alike = float(sums @ sums) / float(self.squared_weight.sum(dtype=np.float64))
        return math.sqrt(max(1 + self.correlation * (alike - 1), 1.0))

    def again(self, n_resamples: int, rng: np.random.Generator) -> Iterator[Forecast]:
        """Draw as many groups, with replacement.

        Parameters
        ----------
        n_resamples : int
            How many samples to draw.
        rng : Generator
            The source of random numbers.

        Yields
        ------
        ScoreTable or ClassForecast
        """
        chance = np.full(self.n_groups, 1 / self.n_groups)
        for _ in range(n_resamples):
            yield self._repeat(rng.multinomial(self.n_groups, chance)[self.group])

    def _repeat(self, times: Ints) -> Forecast:
        """Return the forecast with every row repeated."""
        if isinstance(self.forecast, ClassForecast):
            at = np.repeat(np.arange(len(times)), times)
            return self.forecast.at(at, self.truth[at], self.weight[at])
        return self._table(self.cell, self.truth == 1, self.weight * times, self.squared_weight * times)

    def _table(self, cell: NDArray[np.intp], positive: Any, weight: Weights, squares: Weights) -> ScoreTable:
        """Return the table of rows, given how much of each there is; ``positive`` may be a share."""
        table = self.forecast
        assert isinstance(table, ScoreTable)
        sides = (positive, 1 - positive)
        pos, neg = (sum_by(cell, weight * side, len(table)) for side in sides)
        if self.weight.dtype.kind == "i":
            return table.with_weights(np.rint(pos).astype(np.int64), np.rint(neg).astype(np.int64))
        pos_sq, neg_sq = (sum_by(cell, squares * side, len(table)) for side in sides)
        return table.with_weights(pos, neg, (pos_sq, neg_sq), table.rows)

    def labels_again(self, prob: Floats, n_resamples: int, rng: np.random.Generator) -> Iterator[Forecast]:
        """Draw groups with replacement, and labels of the given probability at each cell.

        Labels of one group are correlated as those that were seen. A share √ρ of its cases follows one random number,
        the others each their own: two cases of equal probability then have the correlation ρ.

        Parameters
        ----------
        prob : array of shape (m,)
            The probability of each cell.
        n_resamples : int
            How many samples to draw.
        rng : Generator
            The source of random numbers.

        Yields
        ------
        ScoreTable or ClassForecast
        """
        share = math.sqrt(self.correlation)
        order = np.argsort(self.group, kind="stable")
        sizes = np.bincount(self.group, minlength=self.n_groups)
        starts = np.cumsum(sizes) - sizes
        for _ in range(n_resamples):
            picked = rng.integers(self.n_groups, size=self.n_groups)
            lengths = sizes[picked]
            slot = np.repeat(np.arange(self.n_groups), lengths)
            rows = order[np.arange(len(slot)) + (starts[picked] - np.cumsum(lengths) + lengths)[slot]]
            yield self._with_labels(rows, prob[self.cell[rows]], rng.random(self.n_groups)[slot], share, rng)

    def places(self, n_resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
        """Draw a number between 0 and 1 for each row, again and again; those of a group are partly the same.

        Parameters
        ----------
        n_resamples : int
            How many samples to draw.
        rng : Generator
            The source of random numbers.

        Yields
        ------
        ndarray
        """
        share = math.sqrt(self.correlation)
        for _ in range(n_resamples):
            yield _partly(rng.random(self.n_groups)[self.group], share, rng)

    def _with_labels(
        self, rows: NDArray[np.intp], prob: Floats, common: Floats, share: float, rng: np.random.Generator
    ) -> Forecast:
        weight = self.weight[rows]
        if isinstance(self.forecast, ClassForecast):
            if weight.dtype.kind == "i":
                one_by_one = np.repeat(np.arange(len(rows)), weight.astype(np.int64))
                rows, prob, common = rows[one_by_one], prob[one_by_one], common[one_by_one]
                weight = np.ones(len(rows), np.int64)
            place = _partly(common, share, rng)
            upto = np.cumsum(prob, axis=1)
            truth = np.sum(upto <= (place * upto[:, -1])[:, None], axis=1)
            return self.forecast.at(rows, truth, weight)
        cases = weight.astype(np.int64) if weight.dtype.kind == "i" else np.ones(len(rows), np.int64)
        alike = rng.binomial(cases, share)
        positive = alike * (common < prob) + rng.binomial(cases - alike, prob)
        return self._table(self.cell[rows], positive / cases, weight, self.squared_weight[rows])


def group_forecast(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    groups: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
) -> GroupedForecast:
    """Return the forecast of rows that depend on each other within groups.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels.
    y_prob : array-like of shape (n,) or (n, k)
        P(+), 0 and 1 allowed; or rows of class probabilities.
    groups : array-like of shape (n,)
        The group of each row, named by numbers or strings.
    sample_weight : array-like of shape (n,), optional
        Integer-typed weights are counts, float weights importance weights.
    pos_label : object, optional
        The positive label.
    labels : array-like of shape (k,), optional
        Labels in the order of the columns; by default the sorted labels of ``y_true``.

    Returns
    -------
    GroupedForecast

    See Also
    --------
    interval : Takes groups itself.

    Examples
    --------
    >>> group_forecast([0, 1, 1, 0], [0.2, 0.8, 0.6, 0.4], ["a", "a", "b", "b"]).n_groups
    2
    """
    if np.ndim(y_prob) == 2:
        return group_classes(class_forecast(y_true, y_prob, sample_weight, labels=labels), groups, sample_weight)
    prob = _check.as_array(y_prob, "y_prob", (1,), unit=True)
    weight = _check.as_weights(sample_weight, len(prob))
    rows = read_rows(prob, y_true, sample_weight, pos_label)[0]
    held = np.ones(len(prob), bool) if weight is None else weight > 0
    return group_rows(logit(rows.scores), rows.positive, rows.weight, as_groups(groups, len(prob))[held])


def group_rows(
    log_odds: Floats, positive: NDArray[np.bool_], weight: Weights | None, groups: ArrayLike
) -> GroupedForecast:
    """Return the forecast of rows of log-odds that were read before; all have weight."""
    group = _number_groups(as_groups(groups, len(log_odds)))
    read = np.ones(len(log_odds), np.int64) if weight is None else weight
    cell = np.unique(log_odds + 0.0, return_inverse=True)[1]
    columns: dict[str, NDArray[Any]] = {"pos": read * positive, "neg": read * ~positive}
    if read.dtype.kind != "i":
        columns |= {f"{side}_sq": column**2 for side, column in columns.items()}
    table = pool(log_odds, columns, len(read) if read.dtype.kind == "f" else int(read.sum()), None)
    return GroupedForecast(table, cell, positive.astype(np.intp), read, group)


def group_classes(
    forecast: ClassForecast, groups: ArrayLike, sample_weight: ArrayLike | None = None
) -> GroupedForecast:
    """Return the forecast of several classes with the group of each row; rows of weight 0 are left out."""
    n = len(forecast) if sample_weight is None else np.size(sample_weight)
    names = as_groups(groups, n)
    if len(forecast) < n:
        names = names[np.asarray(sample_weight) > 0]
    at = np.arange(len(forecast))
    return GroupedForecast(forecast, at, forecast.truth, forecast.weight, _number_groups(names))


def as_groups(groups: ArrayLike, n: int, name: str = "groups") -> NDArray[Any]:
    """Read the names of groups, one per row."""
    names = np.asarray(groups)
    if names.shape != (n,):
        _check.fail(f"{name} must name one group per row", f"shape {names.shape} for {n} rows", "pair them up")
    if names.dtype.kind == "f" and np.isnan(names).any():
        _check.fail(f"{name} must not be missing", "NaN", "give every row a group, its own where it has none")
    return names


def _partly(common: Floats, share: float, rng: np.random.Generator) -> Floats:
    """Return common numbers for a share of the rows, and new ones for the others."""
    return np.where(rng.random(len(common)) < share, common, rng.random(len(common)))


def _number_groups(names: NDArray[Any]) -> NDArray[np.intp]:
    found, index = np.unique(names, return_inverse=True)
    if len(found) < 2:
        _check.fail("there must be two groups or more", f"{len(found)}", "leave groups= out if rows are independent")
    return np.asarray(index, dtype=np.intp)
