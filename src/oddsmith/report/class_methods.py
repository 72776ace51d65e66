"""Every method for several classes on the same rows, each evaluated on cases that it was not fitted to."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.calibrators import JointScaling, Method, fit_method
from oddsmith.data import LEAST, Fold, ScoreRows, Signal, deal_groups
from oddsmith.metrics import (
    GROUPS,
    ClassForecast,
    Decisions,
    Rows,
    compare_gains,
    forecast_of_rows,
    group_numbers,
    judge_rows,
)
from oddsmith.report.advice import UNCALIBRATED, HeldOut, NextSteps, advise, by_preference
from oddsmith.report.standings import Standings, held_out

__all__ = ["ClassMethodComparison", "compare_class_methods"]


@dataclass(frozen=True, kw_only=True)
class ClassMethodComparison(Standings):
    """What cross-validation says about several methods on rows of several classes.

    Attributes
    ----------
    rows : ScoreRows
        Held-out rows as they came, fold by fold.
    log_prob : dict of str to ndarray of shape (n, k)
        What each method says of them.
    group : ndarray of int, shape (n,), or None
        The group of each held-out row, where rows are dependent within groups.
    """

    rows: ScoreRows
    log_prob: dict[str, Floats]
    group: NDArray[np.intp] | None = None

    def held_out(self, method: str) -> ScoreRows:
        """Return what a method says of the held-out rows: logs of probabilities, which are logits."""
        return replace(self.rows, values=self.log_prob[method], meaning="log_odds")


def compare_class_methods(
    rows: ScoreRows,
    methods: Mapping[str, Method],
    *,
    n_folds: int = 5,
    random_state: int = 0,
    groups: ArrayLike | None = None,
    next_steps: NextSteps | None = None,
    progress: Callable[[float], None] | None = None,
) -> ClassMethodComparison:
    """Fit every method to all folds but one, evaluate it on that one, test every pair, and recommend one.

    The rule is that of `compare_methods`: the default is recommended unless others are significantly better after
    Holm's correction, and its gain is computed with the choice nested in the folds. Uncalibrated rows take part: the
    softmax of logits, or probabilities.

    Parameters
    ----------
    rows : ScoreRows
        Of a classifier that was not trained on them.
    methods : mapping of str to joint scaling or Calibrator
        Unfitted; a calibrator is fitted to each class against the rest.
    n_folds : int, default 5
        At most the number of cases outside the most frequent class.
    groups : array-like of shape (n,), optional
        Which rows are dependent, such as the visits of a patient. Folds keep groups whole, and tests and intervals
        count groups.
    random_state, next_steps, progress
        As in `compare_methods`.

    Examples
    --------
    >>> from oddsmith import TemperatureScaling
    >>> values = np.random.default_rng(0).normal(size=(60, 3))
    >>> rows = ScoreRows(4 * values, values.argmax(axis=1), ("a", "b", "c"), None, ("a", "b", "c"), "log_odds")
    >>> sorted(compare_class_methods(rows, {"temperature": TemperatureScaling()}).ranking)
    ['temperature', 'uncalibrated']
    """
    group = group_numbers(rows, groups)
    whole, group = _in_canonical_order(rows, group)
    verdict, group = judge_rows(whole, group)
    counted = whole.weight is None or whole.weight.dtype.kind == "i"
    units = whole.class_weights if counted else np.bincount(whole.truth, minlength=len(whole.labels))
    outside = int(units.sum() - units.max(initial=0))
    most = outside if group is None else min(outside, int(group.max()) + 1)
    k = min(_check.whole_number(n_folds, "n_folds", low=2), most)
    seed = _check.whole_number(random_state, "random_state", low=0)
    if k < 2:
        must = "two cases or more must lie outside the most frequent class to compare methods"
        _check.fail(must, f"{outside}", "collect more cases")
    splits = whole.folds(k, seed) if group is None else list(_folds_of_groups(whole, group, k, seed))
    first, *others = (part for _, part in splits)
    held = first.join(*others)

    def log_prob(method: Method) -> list[Floats]:
        return [fit_method(rest, method).map.class_log_probability(part.values) for rest, part in splits]

    fitted, failed = held_out(methods, log_prob, progress)
    found = {UNCALIBRATED: _log_prob(held), **fitted}
    decisions, truth = Decisions.of(held.weight, held.n_rows), held.truth
    logs = {name: np.take_along_axis(values, truth[:, None], axis=1)[:, 0] for name, values in found.items()}
    base_rate = np.concatenate([_base_rate(rest)[part.truth] for rest, part in splits])
    fold = np.repeat(np.arange(k), [part.n_rows for _, part in splits])
    if group is not None:
        group = np.concatenate([group[at] for at in _places_of_groups(whole, group, k, seed)])
    advice = advise(
        HeldOut({name: -values for name, values in logs.items()}, decisions, truth, fold, k, group),
        UNCALIBRATED,
        -base_rate,
        by_preference({name: methods[name] for name in fitted}),
        verdict,
        next_steps=next_steps or _in_python(methods),
    )
    squared, hits = {}, {}
    for name, values in found.items():
        forecast = ClassForecast(np.exp(values), truth, decisions.weight, np.array(held.labels, dtype=object))
        squared[name], hits[name] = -forecast.squared_distance, forecast.right.astype(np.float64)
    comparison = compare_gains(
        Rows(logs, squared, hits, (logs, squared), decisions, group, seed),
        test="t" if group is None else GROUPS,
        raw=UNCALIBRATED,
    )
    given = forecast_of_rows(whole)
    return ClassMethodComparison(
        comparison=comparison,
        n_folds=k,
        failed=failed,
        advice=advice,
        judged=verdict,
        signal=Signal.of_rows(given.prob, given.truth, given.weight),
        rows=held,
        log_prob=found,
        group=group,
    )


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


def _log_prob(rows: ScoreRows) -> Floats:
    """Return what uncalibrated rows say."""
    if rows.meaning == "log_odds":
        return np.asarray(log_softmax(rows.values, axis=1))
    return np.log(np.maximum(rows.values, LEAST))


def _base_rate(rows: ScoreRows) -> Floats:
    """Return the logs of the shares of classes, with half a case added to each."""
    counts = rows.class_weights + 0.5
    return np.asarray(np.log(counts / counts.sum()))


def _in_python(methods: Mapping[str, Method]) -> NextSteps:
    """Return the next steps as a program takes them."""

    def fit(name: str) -> str:
        made = f"{type(methods[name]).__name__}()"
        joint = isinstance(methods[name], JointScaling)
        return f"{made}.fit(rows, y)" if joint else f"CalibratedClassifier(method={made}, multiclass='one_vs_rest')"

    return NextSteps(fit, "put the columns in the order of the labels", "use them as probabilities")
