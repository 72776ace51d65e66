"""Binning against its definitions."""

import numpy as np
import pytest
from scipy.special import expit

from oddsmith import CalibrationMap, HistogramCalibrator, PlattCalibrator, ScalingBinningCalibrator
from samples import ours_allowed


def sample(n=1000, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    return scores, (rng.random(n) < expit(2 * scores)).astype(int)


@pytest.mark.parametrize(("smoothing", "added"), [("kt", 0.5), ("laplace", 1.0), (None, 0.0)])
def test_bins_of_equal_weight(smoothing, added):
    scores, y = sample()
    order = np.argsort(scores)
    cal = HistogramCalibrator(20, smoothing=smoothing).fit(scores, y)
    expected = np.repeat((y[order].reshape(20, 50).sum(axis=1) + added) / (50 + 2 * added), 50)
    np.testing.assert_allclose(cal.predict_proba(scores[order])[:, 1], expected)


@pytest.mark.parametrize("calibrator", [HistogramCalibrator(7, "width"), HistogramCalibrator(7, "width", "laplace")])
def test_bins_of_equal_width(calibrator):
    scores, y = sample()
    prob = expit(3 * scores)
    cal = calibrator.fit(prob, y)
    assert cal.input_ == "probability"
    bins = np.minimum((prob * 7).astype(int), 6)
    added = 0.5 if calibrator.smoothing == "kt" else 1.0
    values = (np.bincount(bins, y) + added) / (np.bincount(bins) + 2 * added)
    np.testing.assert_allclose(cal.predict_proba(prob)[:, 1], values[bins])
    on_log_odds = HistogramCalibrator(7, "width", calibrator.smoothing).fit(3 * scores, y)
    assert on_log_odds.input_ == "log_odds"
    np.testing.assert_allclose(on_log_odds.predict_proba(3 * scores), cal.predict_proba(prob))
    assert CalibrationMap.from_dict(cal.map_.to_dict()) == cal.map_


def test_empty_bins_take_after_their_neighbors():
    cal = HistogramCalibrator(10, "width", None).fit([0.25, 0.25, 0.55, 0.55, 0.55], [0, 1, 0, 1, 1])
    values = cal.predict_proba(np.arange(10) / 10 + 0.05)[:, 1]
    middle = np.linspace(1 / 2, 2 / 3, 4)
    np.testing.assert_allclose(values, [1 / 2, 1 / 2, *middle, 2 / 3, 2 / 3, 2 / 3, 2 / 3])


def test_an_edge_belongs_to_the_bin_above():
    cal = HistogramCalibrator(2, "width", None).fit([0.2, 0.5, 0.5, 0.8], [0, 1, 1, 0])
    np.testing.assert_allclose(cal.predict_proba([0.49, 0.5])[:, 1], [0, 2 / 3])


def test_neighboring_doubles_are_divided():
    a = 1.0
    b = np.nextafter(a, 2)
    with ours_allowed():
        cal = HistogramCalibrator(2, smoothing=None).fit([a, a, b, b], [0, 0, 1, 1])
    assert cal.predict_proba([a, b])[:, 1].tolist() == [0.0, 1.0]


def test_heavy_ties_make_fewer_bins():
    scores, y = np.repeat([0.0, 1.0, 2.0], [90, 5, 5]), np.tile([0, 1], 50)
    cal = HistogramCalibrator(10).fit(scores, y)
    assert len(cal.map_.between) <= 3


def test_scaling_binning_is_the_mean_of_the_sigmoid():
    scores, y = sample()
    order = np.argsort(scores)
    sigmoid = PlattCalibrator().fit(scores, y).predict_proba(scores[order])[:, 1]
    expected = np.repeat(sigmoid.reshape(10, 100).mean(axis=1), 100)
    found = ScalingBinningCalibrator().fit(scores, y).predict_proba(scores[order])[:, 1]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_one_bin_is_a_constant():
    scores, y = sample()
    cal = HistogramCalibrator(1, smoothing=None).fit(scores, y)
    np.testing.assert_allclose(cal.predict_proba([-9.0, 9.0])[:, 1], y.mean())
