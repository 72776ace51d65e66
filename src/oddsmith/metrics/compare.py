"""Comparison of several methods: means, wins, losses and ties of every pair, and tests of the differences."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oddsmith import _check
from oddsmith._types import Bools, Floats, Weights
from oddsmith.data import ScoreTable
from oddsmith.maps import logit
from oddsmith.metrics import resampling_tests, significance
from oddsmith.metrics.classes import ClassForecast, class_forecast
from oddsmith.metrics.comparison import Comparison, MeasureComparison
from oddsmith.metrics.grouped import t_test_of_groups
from oddsmith.metrics.measure import checked_level
from oddsmith.metrics.proper import decision_log_prob, decision_squared_error
from oddsmith.metrics.provenance import HasLogOdds, is_fitted_to
from oddsmith.metrics.significance import Decisions

Test = Literal["t", "sign", "bootstrap"]
ArrayMeaning = Literal["log_odds", "probability"]
#: The test for comparisons of many methods by cluster: it needs no resampling.
GROUPS = "groups"
_NAMES = {
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

    @classmethod
    def of_decisions(
        cls,
        truth: Bools,
        log_odds: Mapping[str, Floats],
        decisions: Decisions,
        clusters: NDArray[Any] | None,
        random_state: int | None,
    ) -> Self:
        """Return the gains of log-odds for decisions of two classes."""
        if any(values.shape != truth.shape for values in log_odds.values()):
            hint = "give every method the same rows"
            _check.fail("methods must have one log-odds per row", "different lengths", hint)
        signed = {name: np.where(truth, values, -values) for name, values in log_odds.items()}
        log = {name: decision_log_prob(values) for name, values in signed.items()}
        squared = {name: -decision_squared_error(values) for name, values in signed.items()}
        hits = {name: ((values > 0) == truth).astype(np.float64) for name, values in log_odds.items()}
        return cls(log, squared, hits, (signed, signed), decisions, clusters, random_state)

    @classmethod
    def of_classes(
        cls,
        forecasts: Mapping[str, ClassForecast],
        decisions: Decisions,
        clusters: NDArray[Any] | None,
        random_state: int | None,
    ) -> Self:
        """Return the gains of forecasts of several classes."""
        log = {name: forecast.log_of_truth for name, forecast in forecasts.items()}
        squared = {name: -forecast.squared_distance for name, forecast in forecasts.items()}
        hits = {name: forecast.right.astype(np.float64) for name, forecast in forecasts.items()}
        return cls(log, squared, hits, (log, squared), decisions, clusters, random_state)

    def with_weight(self) -> "Rows":
        """Leave out decisions of weight 0, whatever the methods forecast for them."""
        held = self.decisions.weight > 0

        def keep(gains: dict[str, Floats]) -> dict[str, Floats]:
            return {name: values[held] for name, values in gains.items()}

        clusters = None if self.clusters is None else self.clusters[held]
        ranks = keep(self.ranks[0]), keep(self.ranks[1])
        gains = keep(self.log), keep(self.squared), keep(self.hits)
        return Rows(*gains, ranks, self.decisions.at(held), clusters, self.random_state)


def compare(
    data: ScoreTable | ArrayLike,
    methods: Mapping[str, Any],
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    test: Test = "t",
    alpha: float = 0.05,
    raw: str | None = None,
    input: ArrayMeaning | None = None,
    random_state: int | None = None,
) -> Comparison:
    """Compare methods on the same cases, which no method was fitted on.

    Calibrators are compared on a table of scores. Methods of any kind, also different classifiers, are compared by
    their forecasts of each row.

    Parameters
    ----------
    data : ScoreTable or array-like of shape (n,)
        A table of scores; or the label of each row: {0, 1}, {−1, +1} or bool, for several classes any labels.
    methods : mapping of str to fitted calibrator, map or array-like
        What gives the log-odds of a score, or an array with one value per score of the table; a calibrator that
        remembers a fit to this very table is refused. With labels: the log-odds or probabilities of every row, as
        ``input`` states, or rows of class probabilities.
    sample_weight : array-like of shape (n,), optional
        With labels: integers are counts. Float weights are refused by ``test="sign"``, which is for counts.
    groups : array-like of shape (n,), optional
        With labels: which rows depend on each other. Sign tests become sign flips of whole groups, the others a
        bootstrap of groups.
    labels : array-like of shape (k,), optional
        Labels in the order of the columns; by default the sorted labels of the rows.
    test : {"t", "sign", "bootstrap"}, default "t"
        "t": paired t-tests of log-loss and squared error, and a micro sign test of errors (exact McNemar), with float
        weights a paired t-test. "sign": micro sign tests of all three. "bootstrap": the paired bootstrap of all three.
    alpha : float, default 0.05
        Below which a p-value is significant.
    raw : str, optional
        The name of the uncalibrated method, for the mark "†".
    input : {"log_odds", "probability"}, optional
        What arrays contain. By default log-odds; those that could as well be probabilities, all in [0, 1], are refused.
    random_state : int, optional
        Seed of the bootstrap and of sign flips.

    Returns
    -------
    Comparison

    See Also
    --------
    oddsmith.report.compare_methods : Fits methods out of sample first.
    compare_net_benefit : Compares decisions.

    Examples
    --------
    >>> table = ScoreTable.from_arrays([-1.0, 0.5, 2.0], [0, 0, 1])
    >>> result = compare(table, {"raw": table.scores, "half": table.scores / 2})
    >>> result["log_loss"].best, result["log_loss"].wins.tolist()
    ('raw', [[0, 2], [1, 0]])
    >>> result = compare([0, 1, 1], {"a": [0.3, 0.7, 0.9], "b": [0.6, 0.7, 0.7]}, input="probability")
    >>> result["zero_one_error"].means.round(3).tolist()
    [0.0, 0.333]
    """
    _check.one_of(input, "input", (None, "log_odds", "probability"))
    options: dict[str, Any] = {"test": test, "alpha": alpha, "raw": raw}
    if isinstance(data, ScoreTable):
        for name, value in {"sample_weight": sample_weight, "groups": groups, "labels": labels}.items():
            if value is not None:
                _check.fail(f"{name} is for rows", "a ScoreTable", f"leave {name} out, or pass the labels of the rows")
        return _compare_on_table(data, methods, input, random_state, options)
    names = None if groups is None else resampling_tests.as_clusters(groups, np.size(data))
    if any(np.ndim(values) == 2 for values in methods.values()):
        classes = {name: class_forecast(data, values, labels=labels) for name, values in methods.items()}
        decisions = Decisions.of(sample_weight, np.size(data))
        return compare_gains(Rows.of_classes(classes, decisions, names, random_state), **options)
    rows = {name: _log_odds(name, values, None, input) for name, values in methods.items()}
    n = len(next(iter(rows.values()))) if rows else 0
    truth = _check.as_labels(data, n).positive
    decisions = Decisions.of(sample_weight, n)
    return compare_gains(Rows.of_decisions(truth, rows, decisions, names, random_state), **options)


def _compare_on_table(
    table: ScoreTable,
    methods: Mapping[str, Any],
    holds: ArrayMeaning | None,
    random_state: int | None,
    options: dict[str, Any],
) -> Comparison:
    for name, method in methods.items():
        if is_fitted_to(method, table):
            _check.fail(
                "p-values on a table that the map was fitted on are refused",
                f"method {name!r}, fitted on these rows",
                "compare on held-out rows",
            )
    scores = table.scores
    log_odds = {name: _log_odds(name, method, scores, holds) for name, method in methods.items()}
    decisions = Decisions(np.concatenate([table.pos, table.neg]), np.concatenate([*table.squares]))
    truth, rows = np.repeat([True, False], len(scores)), {name: np.tile(L, 2) for name, L in log_odds.items()}
    return compare_gains(Rows.of_decisions(truth, rows, decisions, None, random_state), **options)


def _log_odds(name: str, method: HasLogOdds | ArrayLike, scores: Floats | None, holds: ArrayMeaning | None) -> Floats:
    if hasattr(method, "log_odds") and scores is not None:
        method, holds = method.log_odds(scores), "log_odds"
    values = np.asarray(method, dtype=np.float64)
    if holds == "probability":
        values = logit(_check.as_array(values, f"method {name!r}", (1,), unit=True))
    elif holds is None and values.size and 0 <= values.min() < values.max() <= 1:
        _check.fail(
            f"input must state whether method {name!r} gives probabilities or log-odds",
            f"values from {values.min():.4g} to {values.max():.4g}",
            'pass input="probability" or input="log_odds"',
        )
    wrong = values.ndim != 1 if scores is None else values.shape != scores.shape
    if wrong or np.isnan(values).any():
        _check.fail(
            f"method {name!r} must give one log-odds per score", f"shape {values.shape}, or NaN", "check the method"
        )
    return values


def compare_gains(rows: Rows, *, test: str = "t", alpha: float = 0.05, raw: str | None = None) -> Comparison:
    """Compare methods by gains that were computed before."""
    if test != GROUPS or rows.clusters is None:
        _check.one_of(test, "test", ("t", "sign", "bootstrap"))
    alpha = checked_level(alpha, "alpha", 0.05)
    if len(rows.log) < 2:
        _check.fail("methods must be two or more", f"{len(rows.log)}", "name at least two")
    if raw is not None:
        _check.one_of(raw, "raw", tuple(rows.log))
    rows = rows.with_weight()
    of_log, of_squared = rows.ranks
    test_of_errors = "sign" if test == "t" and rows.decisions.counted else test
    parts = {
        "log_loss": _measure("log_loss", rows.log, of_log, test, rows, alpha),
        "squared_error": _measure("squared_error", rows.squared, of_squared, test, rows, alpha),
        "zero_one_error": _measure("zero_one_error", rows.hits, rows.hits, test_of_errors, rows, alpha),
    }
    return Comparison(parts, _check.weight_sum(rows.decisions.weight), raw)


def _measure(
    measure: str, gains: dict[str, Floats], ranks: dict[str, Floats], test: str, rows: Rows, alpha: float
) -> MeasureComparison:
    """Compare methods by their gains, larger being better, and by what orders them."""
    names, weight, k = tuple(gains), rows.decisions.weight, len(gains)
    sums = np.array([float(weight @ gain) for gain in gains.values()])
    total = weight.sum(dtype=np.float64)
    means = ((total - sums) if measure == "zero_one_error" else -sums + 0.0) / total
    wins: Weights = np.zeros((k, k), np.int64) if rows.decisions.counted else np.zeros((k, k))
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
    name = _NAMES[test, rows.clusters is not None]
    if name == "micro sign test" and measure == "zero_one_error":
        name += " (exact McNemar)"
    return MeasureComparison(measure, names, means, wins, ties, p_values, holm, better, name, alpha)


def _p_value(a: Floats, b: Floats, test: str, rows: Rows) -> float:
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
