"""Beta calibration against an independent optimizer and against the reference package."""

import os
import warnings

import numpy as np
import pytest
from benchmarks.fuzz import sample
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit

from oddsmith import BetaCalibrator, CalibrationMap, LogisticCalibrator
from oddsmith.errors import FarScoreWarning, InvalidInputError, NegativeSlopeWarning
from samples import ours_allowed, samples


def fit(calibrator, *arguments):
    with ours_allowed():
        return calibrator.fit(*arguments)


def skewed(n, seed=0):
    rng = np.random.default_rng(seed)
    prob = rng.beta(0.7, 1.2, n)
    y = (rng.random(n) < expit(0.5 * np.log(prob) - 1.7 * np.log1p(-prob) + 0.3)).astype(int)
    return prob, y


@given(samples(min_size=6), st.sampled_from(["none", "counts", "floats"]))
def test_maximum_likelihood_under_the_bounds(data, kind):
    scores, y = data
    assume(scores[y == 1].min() < scores[y == 0].max() and scores[y == 0].min() < scores[y == 1].max())
    assume(scores.min() < 0)
    rng = np.random.default_rng(len(y))
    v = {"none": None, "counts": rng.integers(1, 5, len(y)), "floats": rng.random(len(y)) + 0.1}[kind]
    cal = fit(BetaCalibrator(), scores, y, v)
    v = np.ones(len(y)) if v is None else v
    left, right = -np.logaddexp(0, -scores), np.logaddexp(0, scores)

    def loss(theta):
        z = theta[0] * left + theta[1] * right + theta[2]
        slope = v * (expit(z) - y)
        return np.sum(v * (np.logaddexp(0, z) - y * z)), [slope @ left, slope @ right, slope.sum()]

    bounds = [(0, None), (0, None), (None, None)]
    options = {"ftol": 1e-15, "gtol": 1e-11}
    best = minimize(loss, [0.5, 0.5, 0.0], jac=True, bounds=bounds, options=options)
    ours = loss([cal.a_, cal.b_, cal.c_])[0]
    assert ours <= best.fun + 1e-9 * (1 + abs(best.fun))
    assert min(cal.a_, cal.b_) >= 0
    z = cal.a_ * left + cal.b_ * right + cal.c_
    np.testing.assert_allclose(cal.log_odds(scores), z, atol=1e-8 * (1 + np.abs(z).max()))


@pytest.mark.parametrize("n", [500, 50_000])
@pytest.mark.parametrize(("parameters", "name"), [(3, "abm"), (2, "am")])
def test_the_reference_package_says_the_same(n, parameters, name):
    if os.environ.get("CI") == "true":
        import betacal
    else:
        betacal = pytest.importorskip("betacal")
    prob, y = skewed(n)
    with warnings.catch_warnings():
        reference = betacal.BetaCalibration(name).fit(prob, y)  # switches warnings off
    found = BetaCalibrator(parameters).fit(prob, y).predict_proba(prob)[:, 1]
    np.testing.assert_allclose(found, reference.predict(prob), atol=2e-3)


def test_long_data_have_no_gradient_left():
    prob, y = skewed(100_000)
    cal = BetaCalibrator().fit(prob, y)
    residual = cal.predict_proba(prob)[:, 1] - y
    assert np.abs([residual.mean(), (residual * np.log(prob)).mean(), (residual * np.log1p(-prob)).mean()]).max() < 1e-9


def test_two_parameters_are_logistic_regression_on_log_odds():
    prob, y = skewed(300)
    two = BetaCalibrator(2).fit(prob, y)
    line = LogisticCalibrator(input="probability").fit(prob, y)
    np.testing.assert_allclose(two.predict_proba(prob), line.predict_proba(prob), atol=1e-9)
    assert two.a_ == two.b_


def test_scores_in_the_unit_interval_are_probabilities_and_others_log_odds():
    prob, y = skewed(300)
    cal = BetaCalibrator().fit(prob, y)
    as_log_odds = BetaCalibrator(input="log_odds").fit(logit(prob), y)
    assert (cal.input_, as_log_odds.input_) == ("probability", "log_odds")
    np.testing.assert_allclose(cal.predict_proba(prob), as_log_odds.predict_proba(logit(prob)), atol=1e-9)
    assert BetaCalibrator(input="probability").fit(prob, y).input_ == "probability"
    assert CalibrationMap.from_dict(cal.map_.to_dict()) == cal.map_
    assert np.isfinite(cal.log_odds([-1e-7, 0.0, 1.0, 1 + 1e-7])).all()
    assert "fitted to probabilities" in repr(cal)
    with pytest.raises(InvalidInputError, match=r"must lie in \[0, 1\], as those of the fit"):
        cal.log_odds([0.5, 7.0])


def test_mirrored_log_odds_give_the_mirrored_map():
    prob, y = skewed(200)
    s = logit(prob)
    there, back = (BetaCalibrator(input="log_odds").fit(*data) for data in ((s, y), (-s, 1 - y)))
    np.testing.assert_allclose(there.log_odds(s), -back.log_odds(-s), atol=1e-8)


def test_a_reversed_score_is_not_followed():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=300)
    y = (rng.random(300) < expit(-3 * scores)).astype(int)
    with pytest.warns(NegativeSlopeWarning, match="set to 0"), pytest.warns(match="wrong way round"):
        cal = BetaCalibrator().fit(scores, y)
    np.testing.assert_allclose(cal.predict_proba([-1.0, 1.0])[:, 1], y.mean())


def remaining_gain(cal, scores, y):
    """Return the log-likelihood that one Newton step would gain, by a QR factorization of the weighted features."""
    log_odds = cal.log_odds(scores)
    p, q = expit(log_odds), expit(-log_odds)
    root = np.sqrt(p * q)
    columns = np.column_stack([-np.logaddexp(0, -scores), np.logaddexp(0, scores), np.ones(len(y))])
    columns = columns[:, [cal.a_ > 0, cal.b_ > 0, True]]
    pull = np.divide(np.where(y == 1, -q, p), root, out=np.zeros_like(root), where=root > 0)
    basis, triangle = np.linalg.qr(root[:, None] * columns)
    told_apart = np.abs(triangle.diagonal()) > 1e-12 * np.linalg.norm(triangle, axis=0)
    return float(np.square(basis[:, told_apart].T @ pull).sum() / 2)


@pytest.mark.parametrize("most", [1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("seed", range(4))
def test_log_odds_of_naive_bayes_reach_any_size_and_the_fit_its_optimum(most, seed):
    rng = np.random.default_rng(seed)
    y = (rng.random(300) < 0.3).astype(int)
    scores = np.where(y == 1, 1, -1) * 3 * np.exp(rng.normal(size=300)) + rng.normal(0, 6, 300)
    far = rng.random(300) < 0.02
    scores[far] *= 10 ** rng.uniform(0, np.log10(most), far.sum())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FarScoreWarning)  # a search that did not converge would warn too
        cal = BetaCalibrator(input="log_odds").fit(scores, y)
    assert remaining_gain(cal, scores, y) < 1e-6


def test_probabilities_of_exactly_0_and_1_only():
    cal = fit(BetaCalibrator(), [0.0, 1.0, 0.0, 1.0, 0.0, 1.0], [0, 1, 0, 1, 1, 0])
    np.testing.assert_allclose(cal.predict_proba([0.0, 1.0])[:, 1], [1 / 3, 2 / 3], atol=1e-7)


def test_features_of_very_different_sizes_do_not_make_the_slope_infinite():
    # Their sums left rounding errors, which a steep slope multiplied.
    _, (scores, y, _) = sample(2_000_121)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FarScoreWarning)
        cal = BetaCalibrator(input="log_odds").fit(scores, y)
    assert np.logaddexp(0, np.where(y == 1, -1, 1) * cal.log_odds(scores)).sum() < 17.2
