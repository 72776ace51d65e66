"""Rows that depend on each other are resampled in groups, and by formula counted as such."""

import numpy as np
import pytest

from oddsmith import metrics
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import group_forecast, interval
from oddsmith.metrics.groups import GroupedForecast

MEASURES = [measure for measure in metrics.MEASURES.values() if measure.resampled] + [metrics.accuracy]
CLASS_MEASURES = [
    metrics.log_loss,
    metrics.accuracy,
    metrics.zero_one_error,
    metrics.classwise_calibration_error,
    metrics.brier_miscalibration,
]


def sample(seed, n=200):
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(0, 1.5, n)
    return (rng.random(n) < 1 / (1 + np.exp(-0.7 * log_odds))).astype(int), 1 / (1 + np.exp(-log_odds))


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_copies_of_rows_in_a_group_say_no_more_than_the_rows(measure):
    y, p = sample(0)
    at = np.repeat(np.arange(len(y)), 10)
    once, copied = (
        interval(measure, y[rows], p[rows], groups=groups, n_resamples=400, random_state=1)
        for rows, groups in ((slice(None), None), (at, at))
    )
    assert copied.value == pytest.approx(once.value, abs=0.01)
    if measure.null:  # a spline follows copies more closely, so supposed truths are others
        assert (copied.low == 0) == (once.low == 0)
        assert copied.high == pytest.approx(once.high, rel=0.7)
    else:
        slack = 0.25 * (once.high - once.low)
        assert (copied.low, copied.high) == pytest.approx((once.low, once.high), abs=slack)
        naive = interval(measure, y[at], p[at], n_resamples=100, random_state=1)
        assert naive.high - naive.low < 0.6 * (copied.high - copied.low)


@pytest.mark.parametrize("measure", CLASS_MEASURES, ids=lambda measure: measure.__name__)
def test_copies_of_rows_of_several_classes(measure):
    rng = np.random.default_rng(2)
    prob = rng.dirichlet(np.ones(3), 150)
    truth = (rng.random((150, 1)) > np.cumsum(prob, axis=1)).sum(axis=1)
    at = np.repeat(np.arange(150), 6)
    once = interval(measure, truth, prob, n_resamples=300, random_state=1)
    copied = interval(measure, truth[at], prob[at], groups=at, n_resamples=300, random_state=1)
    forecast = metrics.class_forecast(truth[at], prob[at])
    assert copied == interval(measure, forecast, groups=at, n_resamples=300, random_state=1)
    assert (copied.low, copied.high) == pytest.approx((once.low, once.high), abs=0.3 * (once.high - once.low))


@pytest.mark.parametrize("kind", ["count", "weight"])
@pytest.mark.parametrize(
    "measure", [metrics.log_loss, metrics.roc_auc, metrics.calibration_error, metrics.zero_one_error]
)
def test_weights_and_groups_of_one_row_are_like_no_groups(measure, kind):
    y, p = sample(3)
    rng = np.random.default_rng(4)
    weight = rng.integers(1, 4, len(y)) if kind == "count" else rng.uniform(0.5, 2, len(y))
    if kind == "count":  # a count is as many rows, so each is a group
        rows = np.repeat(np.arange(len(y)), weight)
        made = interval(measure, y[rows], p[rows], groups=np.arange(len(rows)), n_resamples=600, random_state=0)
    else:
        made = interval(measure, y, p, weight, groups=np.arange(len(y)), n_resamples=600, random_state=0)
    plain = interval(measure, y, p, weight, n_resamples=600, random_state=0)
    assert made.value == pytest.approx(plain.value)
    assert (made.low, made.high) == pytest.approx((plain.low, plain.high), abs=0.2 * (plain.high - plain.low))


def test_a_forecast_in_groups_is_the_forecast():
    y, p = sample(5)
    weight = np.arange(len(y)) % 3
    names = [f"patient {i // 4}" for i in range(len(y))]
    grouped = group_forecast(y, p, names, weight)
    assert isinstance(grouped, GroupedForecast)
    assert grouped.forecast == metrics.forecast_from_arrays(y, p, weight)
    assert grouped.n_groups == 50
    assert group_forecast(y, p, names, weight * 0.5).forecast == metrics.forecast_from_arrays(y, p, weight * 0.5)


def test_long_tables_in_groups_are_pooled():
    y, p = sample(6, 6000)
    groups = np.arange(6000) // 3
    found = interval(metrics.log_loss, y, p, groups=groups, n_resamples=200, random_state=0)
    plain = interval(metrics.log_loss, y, p, n_resamples=200, random_state=0)
    assert found.value == metrics.log_loss(y, p)
    assert found.high - found.low == pytest.approx(plain.high - plain.low, rel=0.3)


@pytest.mark.parametrize(
    "measure", [metrics.log_loss, metrics.zero_one_error, metrics.roc_auc, metrics.calibration_error]
)
def test_correlated_rows_are_covered(measure):
    """Sixty groups of twenty rows that share an error: intervals for independent rows would miss far too often."""
    held = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        group = np.repeat(np.arange(60), 20)
        log_odds = rng.normal(0, 1, 60)[group] + rng.normal(0, 0.5, 1200)
        y = rng.random(1200) < 1 / (1 + np.exp(-log_odds - rng.normal(0, 1, 60)[group]))
        found = interval(measure, y, 1 / (1 + np.exp(-log_odds)), groups=group, n_resamples=60, random_state=seed)
        held.append((found.low, found.high))
    low, high = np.array(held).T
    middle = np.median((low + high) / 2)
    # Of the true value nothing is known but that it is close to the middle of all intervals.
    assert np.mean((low <= middle) & (middle <= high)) >= 0.88


def test_bad_input():
    y, p = sample(7)
    groups = np.arange(len(y)) // 2
    for call, words in (
        (lambda: interval(metrics.roc_auc, metrics.forecast_from_arrays(y, p), groups=groups), "groups need rows"),
        (lambda: interval(metrics.roc_auc, y, p, groups=groups[1:]), "one group per row"),
        (lambda: interval(metrics.roc_auc, y, p, groups=np.zeros(len(y))), "two groups or more"),
        (lambda: interval(metrics.roc_auc, y, p, groups=np.where(groups > 3, np.nan, 0)), "missing"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            call()
