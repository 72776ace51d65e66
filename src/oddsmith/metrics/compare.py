"""Compare several methods: totals, wins, losses and ties of every pair, as the documents' tables show them."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oddsmith import _check
from oddsmith._check import Bools, Floats
from oddsmith.metrics import significance
from oddsmith.metrics._measure import as_forecast
from oddsmith.metrics.proper import decision_log_loss, decision_squared_error
from oddsmith.resample import require_counts
from oddsmith.table import ScoreTable

__all__ = ["Comparison", "MeasureComparison", "compare", "compare_rows"]

Test = Literal["sign", "t"]
#: Protocol → (test of log-loss and squared error, test of 0/1 error, level).
_PROTOCOLS: dict[str, tuple[Test, Test, float]] = {"B03": ("sign", "sign", 0.01), "ZY04": ("t", "sign", 0.05)}
_TESTS = {
    ("sign", False): "micro sign test",
    ("sign", True): "cluster sign-flip test",
    ("t", False): "paired t-test",
    ("t", True): "cluster bootstrap",
}


class HasLogOdds(Protocol):
    """A calibration map or a fitted calibrator."""

    def log_odds(self, scores: Floats, /) -> ArrayLike:
        """Return the log-odds of scores."""


class Decisions(NamedTuple):
    """Decisions with the log-odds of each method: yL, the log-odds of the true class, and whether it was chosen."""

    signed: dict[str, Floats]
    right: dict[str, Bools]
    counts: NDArray[np.int64]
    clusters: NDArray[np.generic] | None
    random_state: int | None


@dataclass(frozen=True, eq=False)
class MeasureComparison:
    """All pairs of methods on one measure.

    Attributes
    ----------
    totals : ndarray of shape (k,)
        Sums over decisions: Σ log P(true class), Σ(t − P)², or errors.
    wins, ties : ndarray of int, shape (k, k)
        wins[i, j]: decisions that method i did better than j; losses are ``wins.T``.
    p_values, holm : ndarray of shape (k, k)
        Uncorrected, and corrected for the number of pairs.
    better : ndarray of bool, shape (k, k)
        Whether i did better than j on the whole, by what the test looks at.
    """

    measure: str
    names: tuple[str, ...]
    totals: Floats
    wins: NDArray[np.int64]
    ties: NDArray[np.int64]
    p_values: Floats
    holm: Floats
    better: Bools
    test: str
    level: float

    @property
    def losses(self) -> NDArray[np.int64]:
        """losses[i, j]: decisions that method i did worse than j."""
        return self.wins.T

    @property
    def best(self) -> str:
        """The method with the best total."""
        sign = 1 if self.measure == "log_loss" else -1
        return self.names[int(np.argmax(sign * self.totals))]

    def not_beaten(self, name: str, *, corrected: bool = False) -> tuple[str, ...]:
        """Return the other methods that this one does not beat significantly."""
        i = self.names.index(name)
        p = self.holm if corrected else self.p_values
        won = self.better[i] & (p[i] < self.level)
        return tuple(other for j, other in enumerate(self.names) if j != i and not won[j])

    def mark(self, name: str, raw: str | None = None, *, corrected: bool = False) -> str:
        """Return "*" for a method that beats all others, "†" all but the raw one, "‡" all but one or two of many."""
        left = self.not_beaten(name, corrected=corrected)
        if not left:
            return "*"
        if raw is not None and left == (raw,):
            return "†"
        return "‡" if len(left) <= 2 and 2 * len(left) < len(self.names) - 1 else ""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several methods on the same decisions; ``str`` gives the table, ``comparison["log_loss"]`` one measure."""

    measures: dict[str, MeasureComparison]
    decisions: int
    protocol: str
    raw: str | None

    def __getitem__(self, measure: str) -> MeasureComparison:
        return self.measures[measure]

    def __str__(self) -> str:
        blocks = [_block(part, self.raw) for part in self.measures.values()]
        legend = "> best; * beats all others; † all but raw; ‡ all except the named. In brackets: after Holm."
        return "\n".join([f"{self.decisions} decisions, protocol {self.protocol}", *blocks, legend])


def compare(
    table: ScoreTable,
    methods: Mapping[str, HasLogOdds | ArrayLike],
    *,
    protocol: Literal["B03", "ZY04"] = "ZY04",
    level: float | None = None,
    raw: str | None = None,
) -> Comparison:
    """Compare calibrators on the scores of one table, which no calibrator was fitted on.

    Parameters
    ----------
    table : ScoreTable
        Of scores, counts only.
    methods : mapping of str to map, fitted calibrator or array
        What gives the log-odds of a score; an array holds one log-odds for each of ``table.scores``.
    protocol : {"B03", "ZY04"}, default "ZY04"
        "B03": micro sign tests, level 0.01. "ZY04": paired t-tests of log-loss and squared error, micro sign test of
        errors, level 0.05.
    level : float, optional
        Another level.
    raw : str, optional
        The name of the uncalibrated method, for the mark "†".

    Examples
    --------
    >>> from oddsmith import ScoreTable
    >>> table = ScoreTable.from_arrays([-1.0, 0.5, 2.0], [0, 0, 1])
    >>> result = compare(table, {"raw": table.scores, "half": table.scores / 2})
    >>> result["log_loss"].best, result["log_loss"].wins.tolist()
    ('raw', [[0, 2], [1, 0]])
    """
    require_counts(as_forecast(table), "a comparison")
    log_odds = {name: _log_odds(name, method, table.scores) for name, method in methods.items()}
    held_pos, held_neg = table.pos > 0, table.neg > 0
    counts = np.concatenate([table.pos[held_pos], table.neg[held_neg]]).astype(np.int64)
    truth = np.repeat([True, False], [int(held_pos.sum()), int(held_neg.sum())])
    rows = {name: np.concatenate([values[held_pos], values[held_neg]]) for name, values in log_odds.items()}
    return _compare(_decisions(rows, truth, counts), protocol, level, raw)


def compare_rows(
    y_true: ArrayLike,
    methods: Mapping[str, ArrayLike],
    *,
    sample_weight: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    protocol: Literal["B03", "ZY04"] = "ZY04",
    level: float | None = None,
    raw: str | None = None,
    random_state: int | None = None,
) -> Comparison:
    """Compare methods of any kind, also different classifiers, on paired rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels {0, 1}, {−1, +1} or bool.
    methods : mapping of str to array-like of shape (n,)
        Log-odds of every row.
    sample_weight : array-like of int, optional
        Counts.
    clusters : array-like of shape (n,), optional
        Which rows depend on each other: sign tests become sign flips of whole clusters, t-tests a bootstrap of them.
    protocol, level, raw
        As in `compare`.
    random_state : int, optional
        Seed of the tests by clusters.

    Examples
    --------
    >>> result = compare_rows([0, 1, 1], {"a": [-1.0, 1.0, 2.0], "b": [0.5, 1.0, 1.0]})
    >>> result["zero_one_error"].totals.tolist()
    [0.0, 1.0]
    """
    rows = {name: _log_odds(name, values, None) for name, values in methods.items()}
    n = len(next(iter(rows.values()))) if rows else 0
    truth = _check.as_labels(y_true, n).positive
    counts = significance.as_counts(sample_weight, n)
    names = None if clusters is None else np.asarray(clusters)
    return _compare(_decisions(rows, truth, counts, names, random_state), protocol, level, raw)


def _log_odds(name: str, method: HasLogOdds | ArrayLike, scores: Floats | None) -> Floats:
    if hasattr(method, "log_odds") and scores is not None:
        method = method.log_odds(scores)
    values = np.asarray(method, dtype=np.float64)
    wrong = values.ndim != 1 if scores is None else values.shape != scores.shape
    if wrong or np.isnan(values).any():
        _check.fail(
            f"method {name!r} must give one log-odds a score", f"shape {values.shape}, or NaN", "check the method"
        )
    return values


def _decisions(
    rows: dict[str, Floats],
    truth: Bools,
    counts: NDArray[np.int64],
    clusters: NDArray[np.generic] | None = None,
    random_state: int | None = None,
) -> Decisions:
    if len(rows) < 2:
        _check.fail("methods must be two or more", f"{len(rows)}", "name at least two")
    if any(values.shape != truth.shape for values in rows.values()):
        _check.fail("methods must have one log-odds a row", "different lengths", "pair the rows")
    signed = {name: np.where(truth, values, -values) for name, values in rows.items()}
    right = {name: (values > 0) == truth for name, values in rows.items()}
    return Decisions(signed, right, counts, clusters, random_state)


def _compare(decisions: Decisions, protocol: str, level: float | None, raw: str | None) -> Comparison:
    _check.one_of(protocol, "protocol", tuple(_PROTOCOLS))
    if raw is not None:
        _check.one_of(raw, "raw", tuple(decisions.signed))
    losses, errors, usual = _PROTOCOLS[protocol]
    level = usual if level is None else _check.number(level, "level", low=0, strict=True)
    signed, counts = decisions.signed, decisions.counts
    log = {name: decision_log_loss(values) for name, values in signed.items()}
    squared = {name: -decision_squared_error(values) for name, values in signed.items()}
    hits = {name: right.astype(np.float64) for name, right in decisions.right.items()}
    # Sign tests of both losses compare yL, of which they are monotone functions.
    views = {
        "log_loss": View(log, signed, _totals(log, counts), losses),
        "squared_error": View(squared, signed, -_totals(squared, counts) + 0.0, losses),
        "zero_one_error": View(hits, hits, counts.sum() - _totals(hits, counts), errors),
    }
    parts = {measure: _measure(measure, view, decisions, level) for measure, view in views.items()}
    return Comparison(parts, int(counts.sum()), protocol, raw)


class View(NamedTuple):
    """One measure of all methods: gains (larger is better), what orders them, totals to show, and the test."""

    gains: dict[str, Floats]
    ranks: dict[str, Floats]
    totals: Floats
    test: Test


def _totals(gains: dict[str, Floats], counts: NDArray[np.int64]) -> Floats:
    return np.array([float(counts @ gain) for gain in gains.values()])


def _measure(measure: str, view: View, decisions: Decisions, level: float) -> MeasureComparison:
    names = tuple(view.gains)
    k = len(names)
    wins, ties = np.zeros((k, k), np.int64), np.zeros((k, k), np.int64)
    p_values, holm, better = np.ones((k, k)), np.ones((k, k)), np.zeros((k, k), bool)
    pairs = list(combinations(range(k), 2))
    sums = _totals(view.gains, decisions.counts)
    for i, j in pairs:
        signs = significance.micro_sign_test(view.ranks[names[i]], view.ranks[names[j]], decisions.counts)
        wins[i, j], wins[j, i] = signs.wins, signs.losses
        ties[i, j] = ties[j, i] = signs.ties
        mine, theirs = (signs.wins, signs.losses) if view.test == "sign" else (sums[i], sums[j])
        better[i, j], better[j, i] = mine > theirs, theirs > mine
        p_values[i, j] = p_values[j, i] = _p_value(decisions, view, signs, names[i], names[j])
    for (i, j), value in zip(pairs, significance.holm([p_values[pair] for pair in pairs]), strict=True):
        holm[i, j] = holm[j, i] = value
    test = _TESTS[view.test, decisions.clusters is not None]
    return MeasureComparison(measure, names, view.totals, wins, ties, p_values, holm, better, test, level)


def _p_value(decisions: Decisions, view: View, signs: significance.SignTest, a: str, b: str) -> float:
    counts, clusters, seed = decisions.counts, decisions.clusters, decisions.random_state
    if view.test == "sign":
        if clusters is None:
            return signs.p_value
        ranks = view.ranks
        return significance.cluster_sign_flip_test(ranks[a], ranks[b], clusters, counts, random_state=seed).p_value
    gain_a, gain_b = view.gains[a], view.gains[b]
    if clusters is None or not (np.isfinite(gain_a).all() and np.isfinite(gain_b).all()):
        return significance.paired_t_test(gain_a, gain_b, counts).p_value
    return significance.paired_bootstrap(gain_a, gain_b, counts, clusters=clusters, random_state=seed).p_value


def _block(part: MeasureComparison, raw: str | None) -> str:
    """Write one measure: a line a method, with its total, its marks, and its wins against every other."""
    width = max(map(len, part.names))
    pairs = len(part.names) * (len(part.names) - 1) // 2
    lines = [f"{part.measure} ({part.test}, level {part.level:g} uncorrected; [Holm over {pairs} pairs])"]
    for i, name in enumerate(part.names):
        plain, corrected = part.mark(name, raw), part.mark(name, raw, corrected=True)
        best = ">" if name == part.best else " "
        against = " ".join(
            f"{other} {part.wins[i, j]}:{part.wins[j, i]}" for j, other in enumerate(part.names) if j != i
        )
        left = part.not_beaten(name)
        note = f" (all except {', '.join(left)})" if plain == "‡" else ""
        lines.append(f" {best}{name:<{width}} {part.totals[i]:>14.6g} {plain:1}[{corrected}]{note}  {against}")
    return "\n".join(lines)
