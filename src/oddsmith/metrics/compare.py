"""Compare several methods: totals, wins, losses and ties of every pair, tested by the documents' protocols."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oddsmith import _check
from oddsmith._types import Bools, Floats, Weights
from oddsmith.data import ScoreTable
from oddsmith.maps import logit
from oddsmith.metrics import resampling_tests, significance
from oddsmith.metrics.classes import class_forecast
from oddsmith.metrics.comparison import Comparison, MeasureComparison
from oddsmith.metrics.grouped import t_test_of_groups
from oddsmith.metrics.measure import as_forecast, checked_level
from oddsmith.metrics.proper import decision_log_loss, decision_squared_error, log_of_truth
from oddsmith.metrics.provenance import HasLogOdds, fitted_on
from oddsmith.metrics.significance import Decisions

Protocol = Literal["B03", "ZY04", "t", "bootstrap"]
Test = Literal["sign", "t", "bootstrap", "groups"]
ArrayMeaning = Literal["log_odds", "probability"]
#: Protocol → (test of log-loss and squared error, test of 0/1 error, level).
_PROTOCOLS: dict[str, tuple[Test, Test, float]] = {
    "B03": ("sign", "sign", 0.01),
    "ZY04": ("t", "sign", 0.05),
    "t": ("t", "t", 0.05),
    "bootstrap": ("bootstrap", "bootstrap", 0.05),
}
#: The protocol of comparisons of many methods by cluster: it needs no resampling.
GROUPS = "groups"
_BY_GROUPS: tuple[Test, Test, float] = ("groups", "groups", 0.05)
_TESTS = {
    ("sign", False): "micro sign test",
    ("sign", True): "cluster sign-flip test",
    ("t", False): "paired t-test",
    ("t", True): "cluster bootstrap",
    ("bootstrap", False): "paired bootstrap",
    ("bootstrap", True): "cluster bootstrap",
    ("groups", True): "t-test over groups",
}


class Rows(NamedTuple):
    """Decisions with each method's gains, larger being better: log P(true class), −(t − P)², whether it was right.

    ``ranks`` orders methods by both losses: of two classes yL, of which they are monotone functions.
    """

    log: dict[str, Floats]
    squared: dict[str, Floats]
    hits: dict[str, Floats]
    ranks: tuple[dict[str, Floats], dict[str, Floats]]
    decisions: Decisions
    clusters: NDArray[Any] | None
    random_state: int | None

    def with_weight(self) -> "Rows":
        """Leave out decisions of weight 0, which are absent whatever a method says of them."""
        held = self.decisions.weight > 0

        def kept(gains: dict[str, Floats]) -> dict[str, Floats]:
            return {name: values[held] for name, values in gains.items()}

        clusters = None if self.clusters is None else self.clusters[held]
        ranks = kept(self.ranks[0]), kept(self.ranks[1])
        gains = kept(self.log), kept(self.squared), kept(self.hits)
        return Rows(*gains, ranks, self.decisions.at(held), clusters, self.random_state)


def compare(
    table: ScoreTable,
    methods: Mapping[str, HasLogOdds | ArrayLike],
    *,
    protocol: Protocol = "ZY04",
    level: float | None = None,
    raw: str | None = None,
    input: ArrayMeaning | None = None,
    random_state: int | None = None,
) -> Comparison:
    """Compare calibrators on the scores of one table, which no calibrator was fitted on.

    Parameters
    ----------
    table : ScoreTable
        Of scores. Float weights need ``protocol="t"`` or ``"bootstrap"``: sign tests are for counts.
    methods : mapping of str to map, fitted calibrator or array
        What gives the log-odds of a score; an array holds one value for each of ``table.scores``. A calibrator that
        remembers a fit to this very table is refused.
    protocol : {"B03", "ZY04", "t", "bootstrap"}, default "ZY04"
        "B03": micro sign tests, level 0.01. "ZY04": paired t-tests of log-loss and squared error, micro sign test of
        errors (exact McNemar), level 0.05. "t", "bootstrap": paired t-tests or paired bootstrap of all three, level
        0.05.
    level : float, optional
        Another level.
    raw : str, optional
        The name of the uncalibrated method, for the mark "†".
    input : {"log_odds", "probability"}, optional
        What arrays hold. By default log-odds; those that could as well be probabilities, all in [0, 1], are refused.
    random_state : int, optional
        Seed of the bootstrap.

    Examples
    --------
    >>> from oddsmith import ScoreTable
    >>> table = ScoreTable.from_arrays([-1.0, 0.5, 2.0], [0, 0, 1])
    >>> result = compare(table, {"raw": table.scores, "half": table.scores / 2})
    >>> result["log_loss"].best, result["log_loss"].wins.tolist()
    ('raw', [[0, 2], [1, 0]])
    """
    scores = as_forecast(table).scores
    _check.one_of(input, "input", (None, "log_odds", "probability"))
    for name, method in methods.items():
        if fitted_on(method, table):
            _check.fail(
                "p-values on a table that the map was fitted on are refused",
                f"method {name!r}, fitted on these rows",
                "compare on held-out rows",
            )
    log_odds = {name: _log_odds(name, method, scores, input) for name, method in methods.items()}
    decisions = Decisions(np.concatenate([table.pos, table.neg]), np.concatenate([*table.squares]))
    truth, rows = np.repeat([True, False], len(scores)), {name: np.tile(L, 2) for name, L in log_odds.items()}
    return compare_decisions(truth, rows, decisions, protocol=protocol, level=level, raw=raw, random_state=random_state)


def compare_rows(
    y_true: ArrayLike,
    methods: Mapping[str, ArrayLike],
    *,
    sample_weight: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    protocol: Protocol = "ZY04",
    level: float | None = None,
    raw: str | None = None,
    input: ArrayMeaning | None = None,
    random_state: int | None = None,
    labels: ArrayLike | None = None,
) -> Comparison:
    """Compare methods of any kind, also different classifiers, on paired rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels {0, 1}, {−1, +1} or bool; of several classes any labels.
    methods : mapping of str to array-like of shape (n,) or (n, k)
        Log-odds or probabilities of every row, as ``input`` says; or rows of class probabilities.
    sample_weight : array-like, optional
        Integers are counts; floats need ``protocol="t"`` or ``"bootstrap"``.
    clusters : array-like of shape (n,), optional
        Which rows depend on each other: sign tests become sign flips of whole clusters, the others a bootstrap of them.
    protocol, level, raw, input
        As in `compare`.
    random_state : int, optional
        Seed of the bootstrap and of sign flips.
    labels : array-like of shape (k,), optional
        Labels in the order of the columns; by default the sorted labels of ``y_true``.

    Examples
    --------
    >>> result = compare_rows([0, 1, 1], {"a": [0.3, 0.7, 0.9], "b": [0.6, 0.7, 0.7]}, input="probability")
    >>> result["zero_one_error"].totals.tolist()
    [0.0, 1.0]
    """
    _check.one_of(input, "input", (None, "log_odds", "probability"))
    names = None if clusters is None else resampling_tests.as_clusters(clusters, np.size(y_true))
    if any(np.ndim(values) == 2 for values in methods.values()):
        classes = {name: class_forecast(y_true, values, labels=labels) for name, values in methods.items()}
        log = {name: log_of_truth(forecast) for name, forecast in classes.items()}
        squared = {name: -forecast.squared_distance for name, forecast in classes.items()}
        hits = {name: forecast.right.astype(np.float64) for name, forecast in classes.items()}
        decisions = Decisions.of(sample_weight, np.size(y_true))
        gains = Rows(log, squared, hits, (log, squared), decisions, names, random_state)
        return compare_gains(gains, protocol, level, raw)
    rows = {name: _log_odds(name, values, None, input) for name, values in methods.items()}
    n = len(next(iter(rows.values()))) if rows else 0
    truth = _check.as_labels(y_true, n).positive
    decisions = Decisions.of(sample_weight, n)
    return compare_decisions(
        truth, rows, decisions, names, protocol=protocol, level=level, raw=raw, random_state=random_state
    )


def compare_decisions(
    truth: Bools,
    log_odds: dict[str, Floats],
    decisions: Decisions,
    clusters: NDArray[Any] | None = None,
    *,
    protocol: str = "ZY04",
    level: float | None = None,
    raw: str | None = None,
    random_state: int | None = None,
) -> Comparison:
    """Compare methods on decisions that were read before."""
    if any(values.shape != truth.shape for values in log_odds.values()):
        _check.fail("methods must have one log-odds per row", "different lengths", "pair the rows")
    signed = {name: np.where(truth, values, -values) for name, values in log_odds.items()}
    log = {name: decision_log_loss(values) for name, values in signed.items()}
    squared = {name: -decision_squared_error(values) for name, values in signed.items()}
    hits = {name: ((values > 0) == truth).astype(np.float64) for name, values in log_odds.items()}
    rows = Rows(log, squared, hits, (signed, signed), decisions, clusters, random_state)
    return compare_gains(rows, protocol, level, raw)


def _log_odds(name: str, method: HasLogOdds | ArrayLike, scores: Floats | None, holds: ArrayMeaning | None) -> Floats:
    if hasattr(method, "log_odds") and scores is not None:
        method, holds = method.log_odds(scores), "log_odds"
    values = np.asarray(method, dtype=np.float64)
    if holds == "probability":
        values = logit(_check.as_array(values, f"method {name!r}", (1,), unit=True))
    elif holds is None and values.size and 0 <= values.min() < values.max() <= 1:
        _check.fail(
            f"input must say whether method {name!r} gives probabilities or log-odds",
            f"values from {values.min():.4g} to {values.max():.4g}",
            'pass input="probability" or input="log_odds"',
        )
    wrong = values.ndim != 1 if scores is None else values.shape != scores.shape
    if wrong or np.isnan(values).any():
        _check.fail(
            f"method {name!r} must give one log-odds per score", f"shape {values.shape}, or NaN", "check the method"
        )
    return values


def compare_gains(rows: Rows, protocol: str, level: float | None, raw: str | None) -> Comparison:
    """Compare methods by gains that were computed before."""
    by_groups = protocol == GROUPS and rows.clusters is not None
    if not by_groups:
        _check.one_of(protocol, "protocol", tuple(_PROTOCOLS))
    if len(rows.log) < 2:
        _check.fail("methods must be two or more", f"{len(rows.log)}", "name at least two")
    if raw is not None:
        _check.one_of(raw, "raw", tuple(rows.log))
    rows = rows.with_weight()
    losses, errors, usual = _BY_GROUPS if by_groups else _PROTOCOLS[protocol]
    level = usual if level is None else checked_level(level)
    of_log, of_squared = rows.ranks
    parts = {
        "log_loss": _measure("log_loss", rows.log, of_log, losses, rows, level),
        "squared_error": _measure("squared_error", rows.squared, of_squared, losses, rows, level),
        "zero_one_error": _measure("zero_one_error", rows.hits, rows.hits, errors, rows, level),
    }
    return Comparison(parts, _check.weight_sum(rows.decisions.weight), protocol, raw)


def _measure(
    measure: str, gains: dict[str, Floats], ranks: dict[str, Floats], test: Test, rows: Rows, level: float
) -> MeasureComparison:
    """Compare methods by their gains, larger being better, and by what orders them."""
    names, weight, k = tuple(gains), rows.decisions.weight, len(gains)
    sums = np.array([float(weight @ gain) for gain in gains.values()])
    totals = {"log_loss": sums, "squared_error": -sums + 0.0}.get(measure, weight.sum(dtype=np.float64) - sums)
    wins: Weights = np.zeros((k, k), np.int64) if weight.dtype.kind == "i" else np.zeros((k, k))
    ties = wins.copy()
    p_values, holm, better = np.ones((k, k)), np.ones((k, k)), np.zeros((k, k), bool)
    pairs = list(combinations(range(k), 2))
    for i, j in pairs:
        first, second = names[i], names[j]
        wins[i, j], wins[j, i], tied = significance.tally(ranks[first], ranks[second], weight)
        ties[i, j] = ties[j, i] = tied
        mine, theirs = (wins[i, j], wins[j, i]) if test == "sign" else (sums[i], sums[j])
        better[i, j], better[j, i] = mine > theirs, theirs > mine
        compared = ranks if test == "sign" else gains
        p_values[i, j] = p_values[j, i] = _p_value(compared[first], compared[second], test, rows)
    for (i, j), value in zip(pairs, significance.holm([p_values[pair] for pair in pairs]), strict=True):
        holm[i, j] = holm[j, i] = value
    name = _TESTS[test, rows.clusters is not None]
    if name == "micro sign test" and measure == "zero_one_error":
        name += " (exact McNemar)"
    return MeasureComparison(measure, names, totals, wins, ties, p_values, holm, better, name, level)


def _p_value(a: Floats, b: Floats, test: Test, rows: Rows) -> float:
    decisions, clusters, seed = rows.decisions, rows.clusters, rows.random_state
    if test == "sign":
        if clusters is None:
            return significance.micro_sign_test(a, b, decisions.counts).p_value
        return resampling_tests.cluster_sign_flip_test(a, b, clusters, decisions.counts, random_state=seed).p_value
    finite = np.isfinite(a).all() and np.isfinite(b).all()
    if test == "groups" and finite and clusters is not None:
        return t_test_of_groups(a - b, decisions, clusters)
    # With infinite losses the t-test decides which method is worse.
    if not finite or (test == "t" and clusters is None):
        return significance.t_test(a, b, decisions).p_value
    return resampling_tests.bootstrap_test(a - b, decisions, clusters, random_state=seed).p_value
