"""Every method on the same data, each evaluated on cases that it was not fitted to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.calibrators import Calibrator
from oddsmith.maps.inputs import unit_log_odds
from oddsmith.metrics.compare import compare_decisions
from oddsmith.metrics.enough import few_cases
from oddsmith.metrics.proper import decision_log_loss
from oddsmith.metrics.significance import Decisions
from oddsmith.report.advice import BASE_RATE, UNCALIBRATED, HeldOut, NextSteps, advise, by_preference
from oddsmith.report.signal import Signal
from oddsmith.report.standings import Standings, held_out
from oddsmith.table import ScoreTable
from oddsmith.table.resample import exact, rows_by_class, weighted_folds

__all__ = ["MethodComparison", "ScoreMeaning", "compare_methods"]

#: What scores are before they are calibrated; a "score" is a probability where all lie in [0, 1], else nothing known.
ScoreMeaning = Literal["score", "probability", "log_odds"]

#: Uncalibrated probabilities are evaluated this far from 0 and 1.
_CERTAIN = 1e-15


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
    """

    scores: Floats
    log_odds: dict[str, Floats]
    pos: Floats
    neg: Floats
    pos_sq: Floats | None = None
    neg_sq: Floats | None = None


def compare_methods(
    table: ScoreTable,
    methods: Mapping[str, Calibrator],
    *,
    n_folds: int = 5,
    random_state: int = 0,
    scores_are: ScoreMeaning = "score",
    next_steps: NextSteps | None = None,
    progress: Callable[[float], None] | None = None,
) -> MethodComparison:
    """Fit every method to all folds but one, evaluate it on that one, test every pair, and recommend one.

    The first by preference (the default, then the simplest smooth map) is recommended, unless others are significantly
    better after Holm's correction. Its gain is computed with the choice nested in the folds.

    Parameters
    ----------
    table : ScoreTable
        Float weights are dealt out to the folds row by row where no scores are tied within a class, else as
        (Σw)²/Σw² rows of equal weight; errors are then compared by t-tests too.
    methods : mapping of str to Calibrator
        Unfitted; the uncalibrated scores take part too, or the base rate where they are no probabilities.
    n_folds : int, default 5
        At most the number of cases of the rarer class.
    random_state : int, default 0
    scores_are : {"score", "probability", "log_odds"}, default "score"
        What the scores mean uncalibrated. "score": probabilities where all lie in [0, 1], else nothing that has a
        log-loss, and methods are compared with the base rate.
    next_steps : NextSteps, optional
        How the verdict names the next step; by default in Python.
    progress : callable, optional
        Told how much is done, from 0 to 1.

    Examples
    --------
    >>> from oddsmith import PlattCalibrator, ScoreTable
    >>> table = ScoreTable.from_arrays([0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9], [0, 0, 1, 0, 0, 1, 1, 1])
    >>> sorted(compare_methods(table, {"platt": PlattCalibrator()}).ranking)
    ['platt', 'uncalibrated']
    """
    cases = rows_by_class(table)
    k = int(min(_check.whole_number(n_folds, "n_folds", low=2), *cases))
    _check.whole_number(random_state, "random_state", low=0)
    if k < 2:
        got = f"{cases[0]} positive and {cases[1]} negative"
        _check.fail("each class must have two cases or more to compare methods", got, "bring more data")
    splits = weighted_folds(exact(table), k, random_state=random_state)
    parts = [part for _, part in splits]
    base_rate = [np.full(len(part), np.log(rest.n_pos / rest.n_neg)) for rest, part in splits]
    known = log_odds_of(table, scores_are)
    baseline = BASE_RATE if known is None else UNCALIBRATED

    def forecast(method: Calibrator) -> list[Floats]:
        return [method.fit_table(rest).log_odds(part.scores) for rest, part in splits]

    found, failed = held_out(methods, forecast, progress)
    raw = base_rate if known is None else [known(part.scores) for part in parts]
    log_odds = {baseline: np.concatenate(raw), **found}
    counted = table.kind == "count"
    columns = ("pos", "neg") if counted else ("pos", "neg", "pos_sq", "neg_sq")
    sums = {side: np.concatenate([getattr(part, side) for part in parts]) for side in columns}
    weight = np.concatenate([sums["pos"], sums["neg"]])
    squares = weight if counted else np.concatenate([sums["pos_sq"], sums["neg_sq"]])
    truth, held = np.repeat([True, False], len(weight) // 2), weight > 0
    positive, decisions = truth[held], Decisions(weight[held], squares[held])

    def by_decision(values: NDArray[Any]) -> NDArray[Any]:
        return np.tile(values, 2)[held]

    def losses(values: Floats) -> Floats:
        return -decision_log_loss(np.where(positive, by_decision(values), -by_decision(values)))

    comparison = compare_decisions(
        positive,
        {name: by_decision(values) for name, values in log_odds.items()},
        decisions,
        protocol="ZY04" if counted else "t",
        raw=baseline,
        random_state=random_state,
    )
    fold = by_decision(np.repeat(np.arange(k), [len(part) for part in parts]))
    signal = Signal.of(table)
    advice = advise(
        HeldOut({name: losses(values) for name, values in log_odds.items()}, decisions, positive, fold, k),
        baseline,
        losses(np.concatenate(base_rate)),
        by_preference({name: methods[name] for name in found}),
        signal,
        few=few_cases(decisions.effective[positive].sum(), decisions.effective[~positive].sum()),
        next_steps=next_steps or _in_python(methods),
    )
    return MethodComparison(
        comparison=comparison,
        scores=np.concatenate([part.scores for part in parts]),
        log_odds=log_odds,
        n_folds=k,
        failed=failed,
        advice=advice,
        signal=signal,
        **{side: column.astype(np.float64) for side, column in sums.items()},
    )


def log_odds_of(table: ScoreTable, scores_are: ScoreMeaning) -> Callable[[Floats], Floats] | None:
    """Return how uncalibrated scores are read as log-odds; None where they are no probabilities."""
    _check.one_of(scores_are, "scores_are", ("score", "probability", "log_odds"))
    if scores_are == "log_odds":
        return lambda scores: scores
    low, high = table.span()
    if 0 <= low and high <= 1:
        return lambda scores: unit_log_odds(scores, _CERTAIN)
    if scores_are == "probability":
        _check.fail("probabilities must lie in [0, 1]", f"scores from {low:g} to {high:g}", "leave scores_are out")
    return None


def _in_python(methods: Mapping[str, Calibrator]) -> NextSteps:
    """Return the next steps as a program takes them."""
    return NextSteps(
        lambda name: f"{type(methods[name]).__name__}().fit(scores, y)",
        "negate the scores, or pass the other label as pos_label",
        "take them for probabilities",
    )
