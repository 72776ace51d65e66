"""Smooth calibration errors against quadrature and simple smoothers."""

import numpy as np
import pytest
from hypothesis import given

from oddsmith import LogisticCalibrator, ScoreTable
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import forecast_from_arrays
from oddsmith.metrics.slope import calibration_intercept, calibration_slope
from oddsmith.metrics.smooth import integrated_calibration_index, smooth_calibration_error
from samples import samples


def data(seed=0, n=300):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.01, 0.99, n)
    return (rng.random(n) < p**1.5).astype(int), p


def rows_smooth_error(y, p, sigma):
    grid = (np.arange(4000) + 0.5) / 4000
    images = np.concatenate([2 * k + sign * p for k in range(-2, 3) for sign in (1, -1)])
    mass = np.tile(y - p, 10)
    kernel = np.exp(-0.5 * ((grid[:, None] - images) / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi))
    return np.abs(kernel @ mass).mean() / len(y)


@pytest.mark.parametrize("sigma", [0.02, 0.1, 0.5])
def test_equals_quadrature_of_the_reflected_kernel(sigma):
    y, p = data()
    found = smooth_calibration_error(y, p, bandwidth=sigma)
    assert float(found) == pytest.approx(rows_smooth_error(y, p, sigma), rel=2e-4)


@given(samples())
def test_bandwidth_equals_the_error(sample):
    figure = smooth_calibration_error.of(ScoreTable.from_arrays(*sample))
    assert float(figure) == pytest.approx(float(figure.definition.split()[-1]), abs=2e-4)
    assert 0 <= float(figure) <= 1


def test_perfect_calibration_is_near_zero_and_weights_are_repetitions():
    assert float(smooth_calibration_error([0, 1], [0.0, 1.0])) == 0
    y, p = data(1)
    weight = np.arange(300) % 3 + 1
    once = float(smooth_calibration_error(y, p, weight))
    assert once == pytest.approx(float(smooth_calibration_error(np.repeat(y, weight), np.repeat(p, weight))))


@pytest.mark.parametrize("smoother", ["isotonic", "logistic", "kernel"])
def test_ici_family_is_ordered_and_names_its_smoother(smoother):
    y, p = data(2)
    ici, e50, e90, emax = (
        integrated_calibration_index.of(forecast_from_arrays(y, p), smoother=smoother, statistic=statistic)
        for statistic in ("ici", "e50", "e90", "emax")
    )
    assert float(e50) <= float(e90) <= float(emax)
    assert 0 < float(ici) <= float(emax)
    assert "smoother: " in str(ici)
    assert float(ici) == pytest.approx(np.mean(p - p**1.5), abs=0.06)


def test_logistic_ici_equals_the_row_version():
    y, p = data(3)
    logit = np.log(p / (1 - p))
    smooth = LogisticCalibrator().fit(logit, y).predict_proba(logit)[:, 1]
    for statistic, expected in (
        ("ici", np.mean(np.abs(smooth - p))),
        ("e50", np.quantile(np.abs(smooth - p), 0.5)),
        ("e90", np.quantile(np.abs(smooth - p), 0.9)),
    ):
        found = integrated_calibration_index(y, p, smoother="logistic", statistic=statistic)
        assert float(found) == pytest.approx(expected, abs=1e-6)


def test_slope_and_intercept_agree_with_probcal():
    probcal = pytest.importorskip("probcal.metrics")
    y, p = data(4)
    assert calibration_slope(y, p) == pytest.approx(probcal.calibration_slope(y, p), rel=1e-5)
    assert calibration_intercept(y, p) == pytest.approx(probcal.calibration_intercept(y, p), rel=1e-5)


def test_bad_input():
    with pytest.raises(InvalidInputError, match="bandwidth"):
        smooth_calibration_error([0, 1], [0.2, 0.3], bandwidth=0)
    with pytest.raises(InvalidInputError, match="smoother"):
        integrated_calibration_index([0, 1], [0.2, 0.3], smoother="cubic")
    for y, p, words in (
        ([1, 0, 1], [0.0, 0.3, 0.2], r"finite for a regression on them, or right .*wrong for a weight of 1\."),
        ([0, 1], [0.0, 1.0], r"finite for a regression on them, or right .*0 or 1 only"),
        ([0, 1], [0.0, 0.3], "both classes"),
        ([0, 1], [0.3, 0.3], "two distinct"),
        ([0, 1], [0.3, 0.4], "overlap"),
        ([0, 0], [0.3, 0.4], "both classes"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            calibration_slope(y, p)
    assert calibration_intercept([0, 1], [0.3, 0.3]) == pytest.approx(-np.log(0.3 / 0.7))


@pytest.mark.parametrize("weight", [[1e16, 1.0], [1e14, 0.1], [1.0, 1e16], [1e-90, 1e16], [3.0, 2.0]])
def test_the_intercept_of_unequal_classes_solves_its_equation(weight):
    odds = weight[0] / weight[1]
    # n₁(1 − P₁) = n₀P₀ at log-odds ±log 4 + b is the quadratic x² + (1 − r)x/4 − r = 0 in x = exp(b).
    half = (odds - 1) / 8
    root = half + np.hypot(half, np.sqrt(odds)) if half > 0 else odds / (np.hypot(half, np.sqrt(odds)) - half)
    assert calibration_intercept([1, 0], [0.8, 0.2], weight) == pytest.approx(np.log(root), rel=1e-12)
