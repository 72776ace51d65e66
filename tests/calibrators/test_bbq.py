"""Bayesian binning against its formula."""

import numpy as np
import pytest
from benchmarks.families import FAMILIES
from scipy.special import expit, gammaln, logit

from oddsmith import BBQCalibrator, CalibrationMap
from oddsmith.errors import InvalidInputError
from samples import ours_allowed


def sample(n=240, seed=0):
    rng = np.random.default_rng(seed)
    prob = np.sort(rng.random(n))
    return prob, (rng.random(n) < prob**2).astype(int)


def by_formula(prob, y, counts):
    """Average equal-frequency binnings of sorted probabilities, whose number divides the cases."""
    scores, means = [], []
    for count in counts:
        size = len(y) // count
        pos = y.reshape(count, size).sum(axis=1)
        log_odds = logit(prob)
        edges = expit((log_odds[size::size] + log_odds[size - 1 : -1 : size]) / 2)
        ends = np.concatenate([[0.0], edges, [1.0]])
        alpha = 2 / count * (ends[1:] + ends[:-1]) / 2
        beta = 2 / count - alpha
        score = gammaln(2 / count) - gammaln(size + 2 / count) + gammaln(pos + alpha) - gammaln(alpha)
        scores.append(np.sum(score + gammaln(size - pos + beta) - gammaln(beta)))
        means.append(np.repeat((pos + alpha) / (size + 2 / count), size))
    share = np.exp(np.array(scores) - max(scores))
    return share / share.sum(), share @ np.array(means) / share.sum()


def test_the_formula():
    prob, y = sample()
    cal = BBQCalibrator(min_bins=1, max_bins=6).fit(prob, y)
    share, expected = by_formula(prob, y, range(1, 7))
    share = share[share > 1e-9 * share.max()]
    np.testing.assert_allclose(cal.posterior_, share, atol=1e-8)
    np.testing.assert_allclose(cal.predict_proba(prob)[:, 1], expected, atol=1e-8)
    assert cal.n_bins_.tolist() == [2, 3, 4, 5, 6]
    assert CalibrationMap.from_dict(cal.map_.to_dict()) == cal.map_


def test_log_odds_are_read_as_such():
    prob, y = sample()
    of_prob = BBQCalibrator().fit(prob, y)
    of_log_odds = BBQCalibrator(input="log_odds").fit(logit(prob), y)
    assert (of_prob.input_, of_log_odds.input_) == ("probability", "log_odds")
    np.testing.assert_allclose(of_prob.predict_proba(prob), of_log_odds.predict_proba(logit(prob)), atol=1e-9)


def test_long_data_come_close_to_the_truth():
    prob, y = sample(50_000)
    cal = BBQCalibrator().fit(prob, y)
    assert np.mean(np.abs(cal.predict_proba(prob)[:, 1] - prob**2)) < 0.02
    assert cal.posterior_.sum() == pytest.approx(1)


def test_a_range_the_wrong_way_round_is_refused():
    with pytest.raises(InvalidInputError, match="min_bins must not exceed max_bins"):
        BBQCalibrator(5, 3).fit(*sample())


def test_never_0_or_1():
    prob = np.linspace(0.01, 0.99, 60)
    y = np.tile([0, 0, 1], 20)
    y[:20], y[40:] = 0, 1
    p = BBQCalibrator().fit(prob, y).predict_proba([0.0, 0.5, 1.0])[:, 1]
    assert np.all((p > 0) & (p < 1))


def test_a_mean_of_certain_binnings_is_a_probability():
    scores, y, weight = FAMILIES["large counts"](np.random.default_rng(7), 60)
    with ours_allowed():
        fitted = BBQCalibrator().fit(scores, y, weight)
    assert fitted.predict_proba(scores)[:, 1].max() <= 1
    assert not np.isnan(fitted.log_odds(scores)).any()
