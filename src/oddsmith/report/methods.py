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
from oddsmith.metrics import Comparison, compare_rows
from oddsmith.metrics._result import plain
from oddsmith.resample import exact, folds, require_counts
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
        Of counts.
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
    require_counts(table, "comparing methods")
    k = int(min(_check.whole_number(n_folds, "n_folds", low=2), table.n_pos, table.n_neg))
    if k < 2:
        got = f"{table.n_pos:g} positive and {table.n_neg:g} negative"
        _check.fail("each class must have two cases or more to compare methods", got, "bring more data")
    splits = folds(exact(table), k, random_state=random_state)
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
    pos, neg = (np.concatenate([getattr(part, side) for part in parts]) for side in ("pos", "neg"))
    log_odds = {name: np.concatenate(pieces) for name, pieces in found.items()}
    truth, weight = np.repeat([1, 0], [len(pos), len(neg)]), np.concatenate([pos, neg])
    held = weight > 0
    rows = {name: np.tile(values, 2)[held] for name, values in log_odds.items()}
    comparison = compare_rows(truth[held], rows, sample_weight=weight[held], raw=AS_IS)
    scores = np.concatenate([part.scores for part in parts])
    return MethodContest(comparison, scores, log_odds, pos.astype(float), neg.astype(float), k, failed)


def _held_out(method: Calibrator, splits: Any) -> list[Floats]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OddsmithWarning)
        return [method.fit_table(rest).log_odds(part.scores) for rest, part in splits]
