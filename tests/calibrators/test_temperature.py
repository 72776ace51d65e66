"""Temperature scaling against an independent optimizer."""

import numpy as np
import pytest
from hypothesis import assume, given
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

from oddsmith import CalibrationMap, TemperatureCalibrator
from oddsmith.errors import NegativeSlopeWarning
from samples import ours_allowed, samples


def fit(calibrator, *arguments):
    with ours_allowed():
        return calibrator.fit(*arguments)


@given(samples(min_size=6))
def test_maximum_likelihood(data):
    scores, y = data
    sign = 2 * y - 1
    assume(np.any(sign * scores < 0) and scores.min() < 0 and np.sum(sign * scores) > 1e-3)
    best = minimize_scalar(
        lambda beta: np.sum(np.logaddexp(0, -sign * scores * beta)),
        bounds=(0, 60), method="bounded", options={"xatol": 1e-10},
    )  # fmt: skip
    cal = fit(TemperatureCalibrator(), scores, y)
    assert 1 / cal.temperature_ == pytest.approx(best.x, rel=1e-4, abs=1e-5)
    np.testing.assert_allclose(cal.log_odds(scores), scores / cal.temperature_, rtol=1e-12)


def test_long_data():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=200_000) * 3
    y = (rng.random(200_000) < expit(scores / 2)).astype(int)
    cal = TemperatureCalibrator().fit(scores, y)
    assert cal.temperature_ == pytest.approx(2, rel=0.02)
    assert abs(np.mean(scores * (cal.predict_proba(scores)[:, 1] - y))) < 1e-9


def test_scores_in_the_unit_interval_are_probabilities():
    prob, y = np.array([0.1, 0.9, 0.3, 0.8, 0.6, 0.2]), [0, 1, 1, 1, 0, 0]
    cal = fit(TemperatureCalibrator(), prob, y)
    same = fit(TemperatureCalibrator(input="log_odds"), logit(prob), y)
    assert cal.input_ == "probability"
    assert cal.temperature_ == pytest.approx(same.temperature_)
    np.testing.assert_allclose(cal.log_odds(prob), same.log_odds(logit(prob)), atol=1e-12)
    assert CalibrationMap.from_dict(cal.map_.to_dict()) == cal.map_
    assert np.isfinite(cal.log_odds([0.0, 1.0])).all()


def test_scale_and_mirror():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=100)
    y = (rng.random(100) < expit(scores)).astype(int)
    cal = TemperatureCalibrator().fit(scores, y)
    for there, label in ((scores * 1e100, y), (-scores, 1 - y)):
        other = TemperatureCalibrator().fit(there, label)
        expected = cal.log_odds(scores) * (1 if label is y else -1)
        np.testing.assert_allclose(other.log_odds(there), expected, rtol=1e-7)


def test_the_bound_is_told():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=40)
    y = (scores + 0.3 * rng.normal(size=40) < 0).astype(int)
    with pytest.warns(NegativeSlopeWarning, match="at its bound"), pytest.warns(match="wrong way round"):
        cal = TemperatureCalibrator().fit(scores, y)
    assert cal.temperature_ == pytest.approx(1e6 * np.abs(scores).max())
    np.testing.assert_allclose(cal.predict_proba(scores)[:, 1], 0.5, atol=1e-6)


def test_signs_that_always_agree_give_platts_targets():
    cal = fit(TemperatureCalibrator(), [-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1])
    assert 0.3 < cal.temperature_ < 10


def test_scores_far_from_zero():
    """All say the same of every row: the base rate, and no line through 0 says more."""
    rng = np.random.default_rng(0)
    margin = rng.normal(size=30_000)
    y = (rng.random(30_000) < 1 / (1 + np.exp(-2 * margin))).astype(int)
    for n in (500, 30_000):
        prob = TemperatureCalibrator(input="log_odds").fit(margin[:n] + 1e6, y[:n]).predict_proba([1e6])[0, 1]
        assert prob == pytest.approx(max(y[:n].mean(), 0.5), abs=1e-4)
