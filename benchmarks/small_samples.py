"""Settings in which tests and intervals of few units, rare events, weights and groups are tried; see `coverage`.

Every cell draws a sample of a known law. A test must reject in at most 5 % of samples under its null hypothesis, and is
taken to do so up to 6.5 %; an interval of 95 % must contain the true value in at least 93 %.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtri

from oddsmith import metrics
from oddsmith.data.score_rows import ScoreRows
from oddsmith.metrics import interval, paired_bootstrap

Draw = Callable[[np.random.Generator], bool]
Differences = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]

LEVEL, SIZE, COVERAGE = 0.05, 0.065, 0.93


class Cell(NamedTuple):
    """A law, its size, what is counted in each sample, and the bar that the share of samples must keep."""

    row: str
    column: str
    draw: Draw
    bar: float
    at_most: bool
    samples: int


def _normal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.normal(size=shape)


def _exponential(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.exponential(size=shape) - 1


def _equal_classifiers(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return differences in log-loss of two forecasts whose log-odds err by N(0, ½)."""
    log_odds, errors = rng.normal(-1, 1.5, shape), rng.normal(0, 0.5, (2, *shape))
    sign = np.where(rng.random(shape) < expit(log_odds), 1, -1)
    return np.logaddexp(0, -sign * (log_odds + errors[1])) - np.logaddexp(0, -sign * (log_odds + errors[0]))


@cache
def _law_of_losses() -> tuple[np.ndarray, np.ndarray]:
    log_odds = -1 + 1.5 * ndtri((np.arange(100_000) + 0.5) / 100_000)
    return log_odds, expit(log_odds)


def _expected_loss(slope: float, shift: float) -> float:
    log_odds, prob = _law_of_losses()
    at = slope * log_odds + shift
    return float(np.mean(prob * np.logaddexp(0, -at) + (1 - prob) * np.logaddexp(0, at)))


@cache
def _as_bad(slope: float, shift: float) -> tuple[float, float]:
    """Return another slope, or another shift, with the same expected log-loss."""
    loss = _expected_loss(slope, shift)
    if slope != 1:
        return float(brentq(lambda other: _expected_loss(other, 0.0) - loss, 0.2, 0.999)), 0.0
    return 1.0, float(brentq(lambda other: _expected_loss(1.0, other) - loss, 0.001, 3.0))


def _losses(slope: float, shift: float) -> Differences:
    """Return differences in log-loss of two forecasts that are wrong in opposite ways, equally bad on average."""

    def differences(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        other = _as_bad(slope, shift)
        log_odds = rng.normal(-1, 1.5, shape)
        sign = np.where(rng.random(shape) < expit(log_odds), 1, -1)
        first, second = (np.logaddexp(0, -sign * (a * log_odds + b)) for a, b in ((slope, shift), other))
        return second - first

    return differences


DIFFERENCES: dict[str, Differences] = {
    "normal": _normal,
    "exponential": _exponential,
    "log-loss of equal classifiers": _equal_classifiers,
    "log-loss, too high against too low": _losses(1.0, -0.5),
    "log-loss, too sure against too timid": _losses(1.6, 0.0),
}


def _rejects_pairs(differences: Differences, n: int, rng: np.random.Generator) -> bool:
    gains = differences(rng, (n,))
    return paired_bootstrap(gains, np.zeros(n), n_resamples=999, random_state=rng).p_value <= LEVEL


def _rejects_clusters(differences: Differences, n: int, rng: np.random.Generator) -> bool:
    """Clusters of one to ten decisions that share half of their variance."""
    sizes = rng.integers(1, 11, n)
    clusters = np.repeat(np.arange(n), sizes)
    gains = differences(rng, (n,))[clusters] + differences(rng, (len(clusters),))
    found = paired_bootstrap(gains, np.zeros(len(gains)), groups=clusters, n_resamples=999, random_state=rng)
    return found.p_value <= LEVEL


def pairs() -> Iterator[Cell]:
    """Sizes of `paired_bootstrap`."""
    for name, differences in DIFFERENCES.items():
        for n in (5, 7, 10, 12, 15, 20, 30, 50):
            yield Cell(name, f"{n} pairs", partial(_rejects_pairs, differences, n), SIZE, True, 3000)


def clusters() -> Iterator[Cell]:
    """Sizes of `paired_bootstrap` by clusters of one to ten decisions."""
    for name, differences in DIFFERENCES.items():
        for n in (3, 5, 7, 10, 20, 50):
            yield Cell(name, f"{n} clusters", partial(_rejects_clusters, differences, n), SIZE, True, 3000)


def _covers_error(rate: float, n: int, rng: np.random.Generator) -> bool:
    y = rng.random(n) < rate
    found = interval(metrics.zero_one_error, y, np.where(rng.random(n) < 0.5, 0.1, 0.2))
    return found.low <= rate <= found.high


def _covers_area(area: float, n_pos: int, n_neg: int, spread: float, rng: np.random.Generator) -> bool:
    """Draw normal scores, those of positives with another standard deviation."""
    positive = rng.normal(ndtri(area) * np.sqrt(1 + spread**2), spread, n_pos)
    scores = np.concatenate([positive, rng.normal(size=n_neg)])
    found = interval(metrics.roc_auc, np.arange(n_pos + n_neg) < n_pos, expit(scores))
    return found.low <= area <= found.high


def intervals() -> Iterator[Cell]:
    """Coverage of intervals of few cases, most of which have no error."""
    for rate, n in ((0.01, 30), (0.02, 60), (0.05, 100), (0.3, 20)):
        yield Cell("error rate", f"{rate:g} of {n}", partial(_covers_error, rate, n), COVERAGE, False, 3000)
    for area, n_pos, n_neg in ((0.98, 30, 30), (0.98, 15, 15), (0.9, 15, 15), (0.9, 1, 39), (0.9, 1, 1), (0.7, 10, 90)):
        for spread, name in ((1.0, "AUC"), (2.0, "AUC, positives spread twice as far")):
            draw = partial(_covers_area, area, n_pos, n_neg, spread)
            yield Cell(name, f"{area:g} of {n_pos}/{n_neg}", draw, COVERAGE, False, 3000)


def _grouped(n_groups: int, rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of a group share a part of their score and a part of what the score does not know."""
    group = np.repeat(np.arange(n_groups), rows)
    score = rng.normal(0, 1, n_groups)[group] + rng.normal(0, 0.5, len(group))
    y = rng.random(len(group)) < expit(score + rng.normal(0, 1, n_groups)[group])
    return y, expit(score), group


GROUPED = {
    "log-loss": metrics.log_loss,
    "squared error": metrics.squared_error,
    "error rate": metrics.zero_one_error,
    "AUC": metrics.roc_auc,
    "calibration error": metrics.calibration_error,
}


@cache
def _true_of_groups(name: str) -> float:
    """Return the measure of very many groups."""
    y, p, _ = _grouped(200_000, 10, np.random.default_rng(0))
    return float(GROUPED[name](y, p))


def _covers_groups(name: str, n_groups: int, rows: int, rng: np.random.Generator) -> bool:
    y, p, group = _grouped(n_groups, rows, rng)
    found = interval(GROUPED[name], y, p, groups=group, n_resamples=200, random_state=rng)
    return found.low <= _true_of_groups(name) <= found.high


def groups() -> Iterator[Cell]:
    """Coverage of intervals by groups of dependent rows."""
    for name in GROUPED:
        for n_groups, rows in ((15, 10), (60, 20)):
            draw = partial(_covers_groups, name, n_groups, rows)
            yield Cell(name, f"{n_groups} groups of {rows}", draw, COVERAGE, False, 1000)


def _class_rows(n_groups: int, rows: int, rng: np.random.Generator) -> tuple[ScoreRows, np.ndarray]:
    """Calibrated rows of three classes; in each group 70 % of the labels follow one random number."""
    group = np.repeat(np.arange(n_groups), rows)
    prob = 0.8 * rng.dirichlet([1, 1, 1], n_groups)[group] + 0.2 * rng.dirichlet([1, 1, 1], len(group))
    place = np.where(rng.random(len(group)) < 0.7, rng.random(n_groups)[group], rng.random(len(group)))
    truth = np.sum(np.cumsum(prob, axis=1) < place[:, None], axis=1).clip(0, 2)
    return ScoreRows(prob, truth, ("a", "b", "c"), None, ("a", "b", "c"), "probability"), group


#: Measures of several classes; those of a calibrated forecast that are 0.
CLASS_MEASURES = {
    "log_loss": False,
    "zero_one_error": False,
    "log_loss_discrimination": False,
    "brier_discrimination": False,
    "brier_miscalibration": True,
    "classwise_calibration_error": True,
    "canonical_calibration_error": True,
}


@cache
def _true_of_classes() -> dict[str, float]:
    """Return the measures of very many groups."""
    rows, _ = _class_rows(30_000, 10, np.random.default_rng(0))
    found = metrics.evaluate(rows, n_resamples=20)["measures"]
    return {name: 0.0 if is_zero else found[name]["value"] for name, is_zero in CLASS_MEASURES.items()}


def _covers_classes(name: str, n_groups: int, rows: int, rng: np.random.Generator) -> bool:
    drawn, group = _class_rows(n_groups, rows, rng)
    found = metrics.evaluate(drawn, groups=group, n_resamples=100)["measures"][name]["interval"]
    return bool(found["low"] - 1e-9 <= _true_of_classes()[name] <= found["high"] + 1e-9)


def class_groups() -> Iterator[Cell]:
    """Coverage of `evaluate` by groups of dependent rows."""
    for name in CLASS_MEASURES:
        for n_groups, rows in ((20, 10), (60, 10)):
            draw = partial(_covers_classes, name, n_groups, rows)
            yield Cell(name, f"{n_groups} groups of {rows}", draw, COVERAGE, False, 400)


def _rare_and_weighted(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    p = expit(rng.normal(-4, 1, 1000))
    return rng.random(1000) < p, p, rng.lognormal(0, 1, 1000)


def _rare_weighted_and_tied(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    p = rng.choice(expit(np.linspace(-6, -2, 10)), 1000)
    return rng.random(1000) < p, p, rng.lognormal(0, 0.5, 1000)


def _weighted(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    p = expit(rng.normal(0, 1.5, 300))
    return rng.random(300) < p, p, rng.exponential(1, 300)


def _few_distinct(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    p = rng.choice([0.1, 0.3, 0.6], 200)
    return rng.random(200) < p, p, None


def _few_rows(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    p = expit(rng.normal(0, 1.5, 30))
    return rng.random(30) < p, p, None


FORECASTS = {
    "1,000 rows, 3 % positive, log-normal weights": _rare_and_weighted,
    "the same with 10 distinct P": _rare_weighted_and_tied,
    "300 rows, exponential weights": _weighted,
    "200 rows, 3 distinct P": _few_distinct,
    "30 rows": _few_rows,
}
TESTS = {
    "Spiegelhalter": metrics.spiegelhalter_test,
    "Hosmer-Lemeshow": metrics.hosmer_lemeshow_test,
    "Cox": metrics.cox_test,
    "Kolmogorov-Smirnov": metrics.kolmogorov_smirnov_test,
    "Kuiper": metrics.kuiper_test,
}


def _rejects_calibration(test: metrics.ForecastFunction, forecast: Callable, rng: np.random.Generator) -> bool:
    y, p, weight = forecast(rng)
    try:
        return test(y, p, weight).p_value <= LEVEL
    except ValueError:  # classes that a threshold separates have no slope
        return False


def tests() -> Iterator[Cell]:
    """Sizes of tests of calibration."""
    for forecast_name, forecast in FORECASTS.items():
        for name, test in TESTS.items():
            draw = partial(_rejects_calibration, test, forecast)
            yield Cell(forecast_name, name, draw, SIZE, True, 3000)


SECTIONS: dict[str, Callable[[], Iterator[Cell]]] = {
    "pairs": pairs,
    "clusters": clusters,
    "intervals": intervals,
    "groups": groups,
    "class_groups": class_groups,
    "tests": tests,
}
