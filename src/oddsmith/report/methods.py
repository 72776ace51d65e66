"""Every method on the same data, each evaluated on cases that it was not fitted to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith._types import Floats, Weights
from oddsmith.calibrators import Calibrator
from oddsmith.data import Meaning, ScoreTable, Signal, deal_groups
from oddsmith.maps import logit
from oddsmith.metrics import (
    GROUPS,
    Decisions,
    Verdict,
    compare_decisions,
    decision_log_prob,
    has_many_copies,
    verdict_of,
    verdict_of_scores,
)
from oddsmith.report.advice import BASE_RATE, UNCALIBRATED, HeldOut, NextSteps, advise, by_preference
from oddsmith.report.standings import Standings, held_out

__all__ = ["MethodComparison", "compare_methods", "verdict_before"]


@dataclass(frozen=True, kw_only=True)
class MethodComparison(Standings):
    """What cross-validation says about several methods.

    Attributes
    ----------
    scores, log_odds : ndarray of shape (n,), dict of str to ndarray
        Held-out cells, and what each method says of them.
    pos, neg : ndarray of shape (n,)
        Their weight.
    pos_sq, neg_sq : ndarray of shape (n,) or None
        Sums of squared float weights.
    group : ndarray of int, shape (n,), or None
        The group of each cell, where rows are dependent within groups.
    """

    scores: Floats
    log_odds: dict[str, Floats]
    pos: Floats
    neg: Floats
    pos_sq: Floats | None = None
    neg_sq: Floats | None = None
    group: NDArray[np.intp] | None = None


class _Split(NamedTuple):
    """What methods are fitted to, and the cells that they are evaluated on, with their weight and group."""

    rest: ScoreTable
    scores: Floats
    columns: dict[str, Weights]
    group: NDArray[np.intp] | None


def compare_methods(
    table: ScoreTable,
    methods: Mapping[str, Calibrator],
    *,
    n_folds: int = 5,
    random_state: int = 0,
    scores_are: Meaning = "score",
    groups: Mapping[Any, ScoreTable] | None = None,
    next_steps: NextSteps | None = None,
    progress: Callable[[float], None] | None = None,
) -> MethodComparison:
    """Fit every method to all folds but one, evaluate it on that one, test every pair, and recommend one.

    Whether the scores need calibration is decided by `oddsmith.metrics.verdict_of`. The first method by preference (the
    default, then the simplest smooth map) is recommended, unless others are significantly better after Holm's
    correction. Its gain is computed with the choice nested in the folds.

    Parameters
    ----------
    table : ScoreTable
        Float weights are dealt out to the folds row by row where no scores are tied within a class, else as
        (Σw)²/Σw² rows of equal weight; errors are then compared by t-tests too.
    methods : mapping of str to Calibrator
        Unfitted; the uncalibrated scores take part too, or the base rate where they are not probabilities.
    n_folds : int, default 5
        At most the number of cases of the rarer class.
    random_state : int, default 0
    scores_are : {"score", "probability", "log_odds"}, default "score"
        What the scores mean uncalibrated. "score": probabilities where all lie in [0, 1], else nothing that has a
        log-loss, and methods are compared with the base rate.
    groups : mapping of any key to ScoreTable, optional
        The table of each group of dependent rows, such as the visits of a patient; they merge to ``table``, as those of
        ``ScoreTable.from_frame(..., by=...)`` do. Folds keep groups whole, and tests and intervals count groups.
    next_steps : NextSteps, optional
        How the verdict names the next step; by default in Python.
    progress : callable, optional
        Called with the share that is done, from 0 to 1.

    Examples
    --------
    >>> from oddsmith import PlattCalibrator, ScoreTable
    >>> table = ScoreTable.from_arrays([0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9], [0, 0, 1, 0, 0, 1, 1, 1])
    >>> sorted(compare_methods(table, {"platt": PlattCalibrator()}).ranking)
    ['platt', 'uncalibrated']
    """
    known = log_odds_of(table, scores_are)
    splits = _splits(table, groups, n_folds, random_state)
    base_rate = np.concatenate([np.full(len(one.scores), np.log(one.rest.n_pos / one.rest.n_neg)) for one in splits])
    baseline = BASE_RATE if known is None else UNCALIBRATED

    def forecast(method: Calibrator) -> list[Floats]:
        return [method.fit_table(one.rest).log_odds(one.scores) for one in splits]

    found, failed = held_out(methods, forecast, progress)
    scores = np.concatenate([one.scores for one in splits])
    log_odds = {baseline: base_rate if known is None else known(scores), **found}
    sums = {side: np.concatenate([one.columns[side] for one in splits]) for side in splits[0].columns}
    weight = np.concatenate([sums["pos"], sums["neg"]])
    counted = table.kind == "count"
    squares = weight if counted else np.concatenate([sums["pos_sq"], sums["neg_sq"]])
    truth, held = np.repeat([True, False], len(weight) // 2), weight > 0
    positive, decisions = truth[held], Decisions(weight[held], squares[held])

    def by_decision(values: NDArray[Any]) -> NDArray[Any]:
        return np.tile(values, 2)[held]

    def losses(values: Floats) -> Floats:
        return -decision_log_prob(np.where(positive, by_decision(values), -by_decision(values)))

    known_groups = [one.group for one in splits if one.group is not None]
    group = np.concatenate(known_groups) if known_groups else None
    clusters = None if group is None else by_decision(group)
    comparison = compare_decisions(
        positive,
        {name: by_decision(values) for name, values in log_odds.items()},
        decisions,
        clusters,
        test="t" if group is None else GROUPS,
        raw=baseline,
        random_state=random_state,
    )
    fold = by_decision(np.repeat(np.arange(len(splits)), [len(one.scores) for one in splits]))
    of_methods = {name: losses(values) for name, values in log_odds.items()}
    advice = advise(
        HeldOut(of_methods, decisions, positive, fold, len(splits), clusters),
        baseline,
        losses(base_rate),
        by_preference({name: methods[name] for name in found}),
        verdict := verdict_before(table, scores_are, groups=groups),
        next_steps=next_steps or _in_python(methods),
    )
    return MethodComparison(
        comparison=comparison,
        scores=scores,
        log_odds=log_odds,
        n_folds=len(splits),
        failed=failed,
        advice=advice,
        judged=verdict,
        signal=Signal.of_table(table),
        group=group,
        **{side: column.astype(np.float64) for side, column in sums.items()},
    )


def verdict_before(
    table: ScoreTable, scores_are: Meaning = "score", *, groups: Mapping[Any, ScoreTable] | None = None
) -> Verdict:
    """Decide whether uncalibrated scores can be used as probabilities.

    Parameters
    ----------
    table, scores_are, groups
        As in `compare_methods`.

    Examples
    --------
    >>> verdict_before(ScoreTable.from_arrays([2.0, 8.0], [0, 1], [60, 60])).kind
    'not probabilities'
    """
    known = log_odds_of(table, scores_are)
    if known is None:
        return verdict_of_scores(table, groups=groups)
    parts = None if groups is None else {name: part.map(known) for name, part in groups.items()}
    return verdict_of(table.map(known), groups=parts, called="score")


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


def log_odds_of(table: ScoreTable, scores_are: Meaning) -> Callable[[Floats], Floats] | None:
    """Return how uncalibrated scores are read as log-odds; None where they are not probabilities."""
    _check.one_of(scores_are, "scores_are", ("score", "probability", "log_odds"))
    if scores_are == "log_odds":
        return lambda scores: scores
    low, high = table.span()
    if 0 <= low and high <= 1:
        return logit
    if scores_are == "probability":
        _check.fail("probabilities must lie in [0, 1]", f"scores from {low:g} to {high:g}", "leave scores_are out")
    return None


def _in_python(methods: Mapping[str, Calibrator]) -> NextSteps:
    """Return the next steps as a program takes them."""
    return NextSteps(
        lambda name: f"{type(methods[name]).__name__}().fit(scores, y)",
        "negate the scores, or pass the other label as pos_label",
        "use them as probabilities",
    )
