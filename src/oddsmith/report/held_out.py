"""The held-out cases of a cross-validation: how data are dealt to folds, and what methods forecast outside of theirs.

Tables of two classes and rows of several offer the same attributes.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from oddsmith import _check
from oddsmith._types import Floats, Weights
from oddsmith.calibrators import Calibrator, JointScaling, fit_method
from oddsmith.data import Fold, Meaning, ScoreRows, ScoreTable, Signal, deal_groups
from oddsmith.maps import logit
from oddsmith.metrics import (
    ClassForecast,
    Decisions,
    Groups,
    Rows,
    Verdict,
    decision_log_prob,
    forecast_of,
    has_many_copies,
    log_odds_of,
    row_evidence,
    verdict,
    verdict_of_evidence,
)
from oddsmith.report.advice import BASE_RATE, UNCALIBRATED

__all__ = ["HeldOutCases", "RowCases", "TableCases", "fit_log_odds"]

#: Counted rows up to which a method that takes no weights gets every row repeated.
_REPEATED = 10**7


class HeldOutCases(ABC):
    """Cases that methods are compared on, each by fits to the folds that it is not in.

    Attributes
    ----------
    baseline : str
        What methods are compared with.
    n_folds : int
    judged : Verdict
        Whether the uncalibrated scores can be used as probabilities.
    signal : Signal
        How well the scores separate the classes.
    decisions : Decisions
        How much each case counts.
    truth : ndarray of shape (n,)
        The class of each case.
    fold : ndarray of int, shape (n,)
    group : ndarray of int, shape (n,), or None
        The group of each case, where cases are dependent.
    base_rate : ndarray of shape (n,)
        Log-loss of the shares of classes in the other folds.
    """

    baseline: str
    n_folds: int
    judged: Verdict
    signal: Signal
    decisions: Decisions
    truth: NDArray[Any]
    fold: NDArray[np.intp]
    group: NDArray[np.intp] | None
    base_rate: Floats

    @property
    @abstractmethod
    def baseline_forecasts(self) -> Floats:
        """The forecasts of the baseline."""

    @abstractmethod
    def forecasts(self, method: Any) -> Floats:
        """Return the held-out forecasts of a method."""

    @abstractmethod
    def gains(self, forecasts: Mapping[str, Floats], random_state: int) -> Rows:
        """Return the gains of methods on each case, for comparisons."""

    @abstractmethod
    def forecast(self, values: Floats) -> ScoreTable | ClassForecast:
        """Return held-out forecasts as a forecast."""

    @abstractmethod
    def groups(self, values: Floats) -> Groups | None:
        """Return the groups of that forecast, as `evaluate` takes them."""


class _Split(NamedTuple):
    """The table that methods are fitted to, and the cells that they are evaluated on, with their weight and group."""

    rest: ScoreTable
    scores: Floats
    columns: dict[str, Weights]
    group: NDArray[np.intp] | None


class TableCases(HeldOutCases):
    """Cases of a table of two classes."""

    def __init__(
        self,
        table: ScoreTable,
        groups: Mapping[Any, ScoreTable] | None,
        input: Meaning,
        n_folds: int,
        random_state: int,
    ) -> None:
        self._read = log_odds_of(table, input)
        splits = _splits(table, groups, n_folds, random_state)
        self._splits, self._rows = splits, table.rows
        self.baseline, self.n_folds = BASE_RATE if self._read is None else UNCALIBRATED, len(splits)
        self.judged, self.signal = verdict(table, input=input, groups=groups), Signal.of_table(table)
        self._scores = np.concatenate([one.scores for one in splits])
        self._sums = {side: np.concatenate([one.columns[side] for one in splits]) for side in splits[0].columns}
        weight = np.concatenate([self._sums["pos"], self._sums["neg"]])
        counted = table.kind == "count"
        squares = weight if counted else np.concatenate([self._sums["pos_sq"], self._sums["neg_sq"]])
        self._held = weight > 0
        self.decisions = Decisions(weight[self._held], squares[self._held])
        self.truth = np.repeat([True, False], len(self._scores))[self._held]
        known = [one.group for one in splits if one.group is not None]
        self._cell_group = np.concatenate(known) if known else None
        self.group = None if self._cell_group is None else self._by_decision(self._cell_group)
        sizes = [len(one.scores) for one in splits]
        self.fold = self._by_decision(np.repeat(np.arange(len(splits)), sizes))
        rates = [np.full(len(one.scores), np.log(one.rest.n_pos / one.rest.n_neg)) for one in splits]
        self._base_rate = np.concatenate(rates)
        values = self._by_decision(self._base_rate)
        self.base_rate = -decision_log_prob(np.where(self.truth, values, -values))

    def _by_decision(self, values: NDArray[Any]) -> NDArray[Any]:
        return np.tile(values, 2)[self._held]

    def probability(self, values: Floats) -> Floats:
        """Return the P of each case by the log-odds of a method."""
        return np.asarray(expit(self._by_decision(values)))

    @property
    def baseline_forecasts(self) -> Floats:
        """Log-odds of the scores as they are, or of the base rate where they are not probabilities."""
        return self._base_rate if self._read is None else self._read(self._scores)

    def forecasts(self, method: Any) -> Floats:
        """Return the held-out log-odds of a method."""
        return np.concatenate([fit_log_odds(method, one.rest, one.scores) for one in self._splits])

    def gains(self, forecasts: Mapping[str, Floats], random_state: int) -> Rows:
        """Return the gains of methods on each case."""
        by_decision = {name: self._by_decision(values) for name, values in forecasts.items()}
        return Rows.of_decisions(self.truth, by_decision, self.decisions, self.group, random_state)

    def forecast(self, values: Floats) -> ScoreTable:
        """Return held-out log-odds as a table."""
        return self._table(values, np.arange(len(values)), self._rows)

    def groups(self, values: Floats) -> Mapping[int, ScoreTable] | None:
        """Return the table of each group."""
        if self._cell_group is None:
            return None
        order = np.argsort(self._cell_group, kind="stable")
        names, starts = np.unique(self._cell_group[order], return_index=True)
        places = np.split(order, starts[1:])
        return {int(name): self._table(values, at) for name, at in zip(names, places, strict=True)}

    def _table(self, values: Floats, at: NDArray[np.intp], rows: int = -1) -> ScoreTable:
        columns: dict[str, Any] = {side: column[at] for side, column in self._sums.items()}
        cells = ScoreTable(np.arange(len(at), dtype=np.float64), **columns, rows=rows)
        return cells.map(lambda place: values[at[place.astype(np.intp)]])


class RowCases(HeldOutCases):
    """Cases of rows of several classes."""

    def __init__(self, rows: ScoreRows, groups: Groups | None, n_folds: int, random_state: int) -> None:
        given = None if groups is None else row_evidence(rows, groups).given
        whole, group = _in_canonical_order(rows, given)
        seen = row_evidence(whole, group)
        self.baseline, self.judged, self.signal = UNCALIBRATED, verdict_of_evidence(seen), seen.signal
        group = seen.group
        counted = whole.weight is None or whole.weight.dtype.kind == "i"
        units = whole.class_weights if counted else np.bincount(whole.truth, minlength=len(whole.labels))
        outside = int(units.sum() - units.max(initial=0))
        most = outside if group is None else min(outside, int(group.max()) + 1)
        self.n_folds = k = min(_check.whole_number(n_folds, "n_folds", low=2), most)
        seed = _check.whole_number(random_state, "random_state", low=0)
        if k < 2:
            must = "two cases or more must be outside the most frequent class to compare methods"
            _check.fail(must, f"{outside}", "collect more cases")
        self._splits = whole.folds(k, seed) if group is None else list(_folds_of_groups(whole, group, k, seed))
        #: Held-out rows as they came, fold by fold.
        first, *others = (part for _, part in self._splits)
        self.rows = held = first.join(*others)
        self.decisions, self.truth = Decisions.of(held.weight, held.n_rows), held.truth
        self.base_rate = -np.concatenate([_base_rate(rest)[part.truth] for rest, part in self._splits])
        self.fold = np.repeat(np.arange(k), [part.n_rows for _, part in self._splits])
        if group is not None:
            group = np.concatenate([group[at] for at in _places_of_groups(whole, group, k, seed)])
        self.group = group

    @property
    def baseline_forecasts(self) -> Floats:
        """Log-probabilities of the rows as they are."""
        if self.rows.meaning == "log_odds":
            return np.asarray(log_softmax(self.rows.values, axis=1))
        return _log(self.rows.values)

    def forecasts(self, method: Any) -> Floats:
        """Return the held-out log-probabilities of a method."""
        return np.concatenate([_fit_log_prob(method, rest, part.values) for rest, part in self._splits])

    def gains(self, forecasts: Mapping[str, Floats], random_state: int) -> Rows:
        """Return the gains of methods on each case."""
        labels, weight = np.array(self.rows.labels, dtype=object), self.decisions.weight
        made = {name: ClassForecast(np.exp(log), self.truth, weight, labels, log) for name, log in forecasts.items()}
        return Rows.of_classes(made, self.decisions, self.group, random_state)

    def forecast(self, values: Floats) -> ClassForecast:
        """Return held-out log-probabilities as a forecast."""
        return forecast_of(replace(self.rows, values=values, meaning="log_odds"))

    def groups(self, values: Floats) -> Groups | None:
        """Return the group of each row."""
        del values
        return self.group


# Fits


def fit_log_odds(method: Any, table: ScoreTable, scores: Floats) -> Floats:
    """Fit a method to a table, and return the log-odds of scores.

    A method that is not a `Calibrator` has ``fit(scores, y)`` and ``predict_proba(scores)``, as in scikit-learn.
    """
    if isinstance(method, Calibrator):
        return method.fit_table(table).log_odds(scores)
    held = np.concatenate([table.pos, table.neg]) > 0
    x, y = np.tile(table.scores, 2)[held], np.repeat([1, 0], len(table))[held]
    fitted = _fit_copy(method, x, y, np.concatenate([table.pos, table.neg])[held])
    prob = np.asarray(_with_columns(fitted.predict_proba, scores), dtype=np.float64)
    prob = prob[:, 1] if prob.ndim == 2 and prob.shape[1] == 2 else prob
    return logit(_check_proba(prob, (len(scores),), "one probability per score, or two columns"))


def _fit_log_prob(method: Any, rows: ScoreRows, values: Floats) -> Floats:
    """Fit a method to rows of several classes, and return the log-probabilities of others."""
    if isinstance(method, (Calibrator, JointScaling)):
        return np.asarray(fit_method(rows, method).map.class_log_probability(values))
    weight = np.ones(rows.n_rows, np.int64) if rows.weight is None else rows.weight
    fitted = _fit_copy(method, rows.values, rows.truth, weight)
    shape = (len(values), len(rows.labels))
    prob = _check_proba(np.asarray(fitted.predict_proba(values), dtype=np.float64), shape, "a column per class")
    return _log(prob)


def _log(prob: Floats) -> Floats:
    """Return logs of probabilities: −inf for 0, whose log-loss is infinite where it happens."""
    with np.errstate(divide="ignore"):
        return np.log(prob)


def _fit_copy(method: Any, x: Floats, y: NDArray[Any], weight: Weights) -> Any:
    """Fit a copy of another library's method to rows; rows are repeated where it takes no weights."""
    fresh = clone(method) if hasattr(method, "get_params") else copy.deepcopy(method)
    if np.all(weight == 1):
        _with_columns(lambda rows: fresh.fit(rows, y), x)
    elif has_fit_parameter(fresh, "sample_weight"):
        _with_columns(lambda rows: fresh.fit(rows, y, sample_weight=weight), x)
    else:
        if weight.dtype.kind == "f" or weight.sum() > _REPEATED:
            must = f"{type(method).__name__} must take weights for these rows"
            _check.fail(must, "a fit without sample_weight", "leave the method out, or compare on fewer rows")
        times = np.repeat(np.arange(len(y)), weight.astype(np.int64))
        _with_columns(lambda rows: fresh.fit(rows, y[times]), x[times])
    return fresh


def _with_columns(call: Callable[[Floats], Any], x: Floats) -> Any:
    """Call with scores of shape (n,), or (n, 1) where that is refused."""
    try:
        return call(x)
    except ValueError:
        if x.ndim != 1:
            raise
        return call(x[:, None])


def _check_proba(prob: Floats, shape: tuple[int, ...], must: str) -> Floats:
    if prob.shape != shape or not np.all((prob >= 0) & (prob <= 1)):
        got = f"shape {prob.shape}" if prob.shape != shape else f"values from {prob.min():g} to {prob.max():g}"
        _check.fail(f"predict_proba must return {must}, within [0, 1]", got, "check the method")
    return prob


# Folds of tables


def _splits(
    table: ScoreTable, groups: Mapping[Any, ScoreTable] | None, n_folds: int, random_state: int
) -> list[_Split]:
    """Split a table in folds, of whole groups where there are groups."""
    seed = _check.whole_number(random_state, "random_state", low=0)
    asked = _check.whole_number(n_folds, "n_folds", low=2)
    columns = ("pos", "neg") if table.kind == "count" else ("pos", "neg", "pos_sq", "neg_sq")
    if groups is not None:
        return _splits_of_groups(table, groups, asked, seed, columns)
    if has_many_copies(table):
        return _splits_of_cells(table.exact(), asked, seed)
    cases = table.rows_by_class()
    k = int(min(asked, *cases))
    if k < 2:
        got = f"{cases[0]} positive and {cases[1]} negative"
        _check.fail("each class must have two cases or more to compare methods", got, "collect more cases")
    splits = table.exact().folds(k, seed)
    return [_Split(rest, part.scores, {side: getattr(part, side) for side in columns}, None) for rest, part in splits]


def _splits_of_cells(table: ScoreTable, n_folds: int, seed: int) -> list[_Split]:
    """Split a table of copies: all rows of a score go to one fold, and count as one group."""
    amounts = np.stack([table.pos, table.neg], axis=1)
    k = min(n_folds, *(int(with_class) for with_class in (amounts > 0).sum(axis=0)))
    if k < 2:
        must = "each class must occur at two scores or more to compare methods"
        _check.fail(must, f"{len(table)} distinct scores", "remove the copies, and collect more rows")
    fold = deal_groups(amounts.astype(np.float64), k, seed)
    splits = []
    for number in range(k):
        part = table.at(fold == number)
        group = np.flatnonzero(fold == number)
        splits.append(_Split(table.at(fold != number), part.scores, {"pos": part.pos, "neg": part.neg}, group))
    return splits


def _splits_of_groups(
    table: ScoreTable, groups: Mapping[Any, ScoreTable], n_folds: int, seed: int, columns: tuple[str, ...]
) -> list[_Split]:
    parts = [part.exact() for part in groups.values()]
    if sum(part.rows for part in parts) != table.rows:
        got = f"{sum(part.rows for part in parts)} rows in groups, {table.rows} in the table"
        _check.fail("the tables of the groups must merge to the table", got, "pass a table for every group")
    amounts = np.array([[part.n_pos, part.n_neg] for part in parts], dtype=np.float64)
    k = min(n_folds, *(int(with_class) for with_class in (amounts > 0).sum(axis=0)))
    if k < 2:
        must = "each class must occur in two groups or more to compare methods"
        _check.fail(must, f"{len(parts)} groups", "collect rows of more groups")
    fold = deal_groups(amounts, k, seed)
    splits = []
    for number in range(k):
        inside = np.flatnonzero(fold == number)
        first, *others = (parts[i] for i in np.flatnonzero(fold != number))
        cells = {side: np.concatenate([getattr(parts[i], side) for i in inside]) for side in columns}
        scores = np.concatenate([parts[i].scores for i in inside])
        group = np.repeat(inside, [len(parts[i]) for i in inside])
        splits.append(_Split(first.merge(*others), scores, cells, group))
    return splits


# Folds of rows


def _in_canonical_order(rows: ScoreRows, group: NDArray[np.intp] | None) -> tuple[ScoreRows, NDArray[np.intp] | None]:
    """Leave out rows without weight, and sort the others, so that the order in which they came does not matter."""
    weight = np.ones(rows.n_rows, np.int64) if rows.weight is None else rows.weight
    order = np.lexsort((weight, *rows.values.T, rows.truth))
    kept = order[weight[order] > 0]
    # Groups are numbered among the rows with weight.
    place = np.cumsum(weight > 0) - 1
    return rows.take(kept, weight), None if group is None else group[place[kept]]


def _places_of_groups(rows: ScoreRows, group: NDArray[np.intp], n_folds: int, seed: int) -> Iterator[NDArray[np.intp]]:
    """Return the places of the rows in each fold of whole groups."""
    amounts = np.zeros((int(group.max()) + 1, len(rows.labels)))
    np.add.at(amounts, (group, rows.truth), 1.0 if rows.weight is None else rows.weight)
    fold = deal_groups(amounts, n_folds, seed)[group]
    return (np.flatnonzero(fold == number) for number in range(n_folds))


def _folds_of_groups(rows: ScoreRows, group: NDArray[np.intp], n_folds: int, seed: int) -> Iterator[Fold[ScoreRows]]:
    """Deal whole groups to folds."""
    for inside in _places_of_groups(rows, group, n_folds, seed):
        yield Fold(rows.take(np.setdiff1d(np.arange(rows.n_rows), inside)), rows.take(inside))


def _base_rate(rows: ScoreRows) -> Floats:
    """Return the logs of the shares of classes, with half a case added to each."""
    counts = rows.class_weights + 0.5
    return np.asarray(np.log(counts / counts.sum()))
