"""Every method on the same data, each judged on cases that it was not fitted to."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from oddsmith import _check
from oddsmith._check import Floats
from oddsmith.calibrators import Calibrator
from oddsmith.errors import OddsmithWarning
from oddsmith.input_maps import unit_log_odds
from oddsmith.metrics import Comparison
from oddsmith.metrics._result import plain
from oddsmith.metrics.compare import compare_decisions
from oddsmith.metrics.significance import Decisions
from oddsmith.resample import exact, rows_by_class, weighted_folds
from oddsmith.table import ScoreTable

__all__ = ["AS_IS", "MethodContest", "compare_methods"]

#: Leaving the scores as they are: probabilities if all lie in [0, 1], else log-odds.
AS_IS = "as it is"

#: Probabilities that are left as they are are judged this far from 0 and 1.
_CERTAIN = 1e-15


@dataclass(frozen=True)
class MethodContest:
    """What cross-validation says about several methods.

    Attributes
    ----------
    comparison : Comparison
        Totals, wins, losses and tests of every pair.
    scores, log_odds : ndarray of shape (n,), dict of str to ndarray
        Held-out cells, and what each method says of them.
    pos, neg : ndarray of shape (n,)
        Their weight.
    pos_sq, neg_sq : ndarray of shape (n,) or None
        Sums of squared float weights.
    n_folds : int
    failed : dict of str to str
        Methods that could not be fitted, and why.
    """

    comparison: Comparison
    scores: Floats
    log_odds: dict[str, Floats]
    pos: Floats
    neg: Floats
    n_folds: int
    failed: dict[str, str]
    pos_sq: Floats | None = None
    neg_sq: Floats | None = None

    @property
    def ranking(self) -> list[str]:
        """Names of the methods, the least log-loss first."""
        part = self.comparison["log_loss"]
        order = np.argsort(-part.totals, kind="stable")
        return [part.names[i] for i in order]

    def mean(self, measure: str) -> dict[str, float]:
        """Return the mean log_loss (positive, in nats), squared_error or zero_one_error of each method."""
        part = self.comparison[measure]
        sign = -1 if measure == "log_loss" else 1
        return {
            name: sign * float(total) / self.comparison.decisions
            for name, total in zip(part.names, part.totals, strict=True)
        }

    @property
    def verdict(self) -> str:
        """The winner in words."""
        part, loss = self.comparison["log_loss"], self.mean("log_loss")
        best = self.ranking[0]
        left = [name for name in self.ranking if name in part.not_beaten(best, corrected=True)]
        told = f"{best} has the least log-loss, {loss[best]:.4f} a case"
        if best != AS_IS and AS_IS in loss:
            told += f", against {loss[AS_IS]:.4f} as the scores are"
        if not left:
            return f"{told}. It is significantly better than every other method."
        shown = ", ".join(left[:5]) + (f" and {len(left) - 5} more" if len(left) > 5 else "")
        return f"{told}. Not significantly worse: {shown}."

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the held-out cells as plain JSON."""
        content = {
            "verdict": self.verdict,
            "ranking": self.ranking,
            "folds": self.n_folds,
            "mean": {measure: self.mean(measure) for measure in self.comparison.measures},
            "failed": dict(self.failed),
            "comparison": self.comparison,
        }
        return dict(plain(content))


def compare_methods(
    table: ScoreTable,
    methods: Mapping[str, Calibrator],
    *,
    n_folds: int = 5,
    random_state: int = 0,
    progress: Callable[[float], None] | None = None,
) -> MethodContest:
    """Fit every method to all folds but one, judge it on that one, and test every pair.

    Parameters
    ----------
    table : ScoreTable
        Float weights are dealt out to the folds row by row where no scores are tied within a class, else as
        (Σw)²/Σw² rows of equal weight; errors are then compared by t-tests too.
    methods : mapping of str to Calibrator
        Unfitted; leaving the scores as they are takes part too.
    n_folds : int, default 5
        At most the number of cases of the rarer class.
    random_state : int, default 0
    progress : callable, optional
        Told how much is done, from 0 to 1.

    Examples
    --------
    >>> from oddsmith import PlattCalibrator, ScoreTable
    >>> table = ScoreTable.from_arrays([0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9], [0, 0, 1, 0, 0, 1, 1, 1])
    >>> sorted(compare_methods(table, {"platt": PlattCalibrator()}).ranking)
    ['as it is', 'platt']
    """
    cases = rows_by_class(table)
    k = int(min(_check.whole_number(n_folds, "n_folds", low=2), *cases))
    if k < 2:
        got = f"{cases[0]} positive and {cases[1]} negative"
        _check.fail("each class must have two cases or more to compare methods", got, "bring more data")
    splits = weighted_folds(exact(table), k, random_state=random_state)
    low, high = table.span()
    found: dict[str, list[Floats]] = {
        AS_IS: [unit_log_odds(part.scores, _CERTAIN) if 0 <= low and high <= 1 else part.scores for _, part in splits]
    }
    failed: dict[str, str] = {}
    for done, (name, method) in enumerate(methods.items()):
        try:
            found[name] = _held_out(method, splits)
        except ValueError as error:
            failed[name] = str(error)
        if progress is not None:
            progress((done + 1) / len(methods))
    parts = [part for _, part in splits]
    counted = table.kind == "count"
    columns = ("pos", "neg") if counted else ("pos", "neg", "pos_sq", "neg_sq")
    sums = {side: np.concatenate([getattr(part, side) for part in parts]) for side in columns}
    log_odds = {name: np.concatenate(pieces) for name, pieces in found.items()}
    weight = np.concatenate([sums["pos"], sums["neg"]])
    squares = weight if counted else np.concatenate([sums["pos_sq"], sums["neg_sq"]])
    truth, held = np.repeat([True, False], len(weight) // 2), weight > 0
    comparison = compare_decisions(
        truth[held],
        {name: np.tile(values, 2)[held] for name, values in log_odds.items()},
        Decisions(weight[held], squares[held]),
        protocol="ZY04" if counted else "t",
        raw=AS_IS,
        random_state=random_state,
    )
    scores = np.concatenate([part.scores for part in parts])
    columns_as_floats = {side: column.astype(np.float64) for side, column in sums.items()}
    return MethodContest(comparison, scores, log_odds, n_folds=k, failed=failed, **columns_as_floats)


def _held_out(method: Calibrator, splits: Any) -> list[Floats]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OddsmithWarning)
        return [method.fit_table(rest).log_odds(part.scores) for rest, part in splits]
