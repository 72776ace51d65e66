"""Intervals cover: ordinary measures by percentiles, calibration errors by inversion."""

import numpy as np
import pytest

from oddsmith import ScoreTable, metrics
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import ErrorDefinition, interval

ECE = {"definition": ErrorDefinition(10, "width")}


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def sample(seed, slope, n=400):
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(0, 1.5, n)
    return ScoreTable.from_arrays(log_odds, (rng.random(n) < sigmoid(slope * log_odds)).astype(int))


def truth(measure, slope, **options):
    log_odds = np.sort(np.random.default_rng(99).normal(0, 1.5, 20_000))
    many = 1_000_000
    pos = np.rint(many * sigmoid(slope * log_odds)).astype(np.int64)
    table = ScoreTable.from_arrays(
        np.concatenate([log_odds, log_odds]), np.repeat([1, 0], 20_000), np.concatenate([pos, many - pos])
    )
    return float(measure(table, **options))


@pytest.mark.parametrize("slope", [1.0, 0.6])
def test_calibration_error_is_covered(slope):
    true = truth(metrics.calibration_error, slope, **ECE)
    found = [
        interval(metrics.calibration_error, sample(seed, slope), options=ECE, n_boot=450, random_state=seed)
        for seed in range(60)
    ]
    assert np.mean([i.low - 1e-6 <= true <= i.high + 1e-6 for i in found]) >= 0.9
    # The plain value is biased upwards, the corrected one hardly.
    assert abs(np.mean([i.corrected for i in found]) - true) < abs(np.mean([i.value for i in found]) - true)
    inside = np.mean([i.consistency[0] <= i.value <= i.consistency[1] for i in found])
    assert inside >= 0.85 if slope == 1 else inside < 0.5


def test_percentile_bootstrap_would_never_cover_a_perfect_forecast():
    found = [
        interval(
            metrics.calibration_error, sample(seed, 1.0), options=ECE, n_boot=100, random_state=seed, nonnegative=False
        )
        for seed in range(20)
    ]
    assert all(i.low > 1e-3 for i in found)


@pytest.mark.parametrize("measure", [metrics.log_loss, metrics.squared_error, metrics.auc])
def test_ordinary_measures_are_covered(measure):
    true = truth(measure, 0.8)
    found = [interval(measure, sample(seed, 0.8, 300), n_boot=200, random_state=seed) for seed in range(60)]
    assert np.mean([i.low <= true <= i.high for i in found]) >= 0.9
    assert all(i.consistency is None for i in found)


@pytest.mark.parametrize(
    ("measure", "options"),
    [
        (metrics.miscalibration, {}),
        (metrics.integrated_calibration_index, {}),
        (metrics.smooth_calibration_error, {}),
        (metrics.calibration_error, {"definition": "probcal"}),
    ],
)
def test_every_nonnegative_measure_has_an_interval(measure, options):
    found = interval(measure, sample(0, 0.5), options=options, n_boot=180, random_state=0)
    assert 0 <= found.low <= found.corrected <= found.high
    assert found.low > 0
    assert found.consistency[1] < found.value
    assert "bias-corrected" in str(found)
    assert found == interval(measure, sample(0, 0.5), options=options, n_boot=180, random_state=0)


def test_undefined_samples_are_drawn_again():
    table = ScoreTable.from_arrays([-1.0, 0.0, 1.0, 2.0], [0, 0, 0, 1], [5, 5, 5, 3])
    found = interval(metrics.auc, table, n_boot=300, random_state=0)
    assert found.low <= 1.0 == found.high
    assert float(found) == 1.0
    assert "95%" in str(found)


def test_bad_input():
    table = sample(0, 1.0)
    for call, words in (
        (lambda: interval(metrics.auc, table.scale(0.5)), "needs counts"),
        (lambda: interval(metrics.auc, table, level=1.0), "level"),
        (lambda: interval(metrics.auc, table, n_boot=3), "n_boot"),
        (lambda: interval(metrics.log_loss, metrics.forecast_from_arrays([0, 1], [1.0, 0.5])), "finite"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            call()
