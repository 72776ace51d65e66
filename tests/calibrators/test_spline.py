"""Spline calibration against scipy's splines and an independent optimizer."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize
from scipy.special import expit, logit

from oddsmith import CalibrationMap, PlattCalibrator, SplineCalibrator
from oddsmith.calibrators.spline import NaturalSpline
from oddsmith.errors import NegativeSlopeWarning
from samples import ours_allowed


def sample(n, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n) * 1.5
    return scores, (rng.random(n) < expit(scores + np.sin(2 * scores))).astype(int)


def platt_targets(y):
    """Return (N₊ + 1)/(N₊ + 2) for positives, 1/(N₋ + 2) for negatives."""
    return np.where(y == 1, (y.sum() + 1) / (y.sum() + 2), 1 / (len(y) - y.sum() + 2))


def fit(calibrator, *arguments):
    with ours_allowed():
        return calibrator.fit(*arguments)


def test_the_basis_is_the_natural_spline():
    knots = np.array([-2.0, -1.5, 0.0, 0.3, 2.0])
    spline = NaturalSpline.over(knots)
    reference = CubicSpline(knots, np.eye(5), bc_type="natural")
    x = np.linspace(-2, 2, 401)
    np.testing.assert_allclose(spline.basis(x), reference(x), atol=1e-12)
    ends = reference(knots[[0, -1]], 1)
    beyond = np.vstack([reference(-2) - ends[0], reference(2) + ends[1]])
    np.testing.assert_allclose(spline.basis(np.array([-3.0, 3.0])), beyond, atol=1e-12)
    fine = np.linspace(-2, 2, 40_001)
    rough = np.trapezoid(reference(fine, 2)[:, :, None] * reference(fine, 2)[:, None], fine, axis=0)
    np.testing.assert_allclose(spline.roughness, rough, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("penalty", [0.01, 1.0, 30.0])
def test_the_penalized_optimum(penalty):
    scores, y = sample(300)
    cal = fit(SplineCalibrator(n_knots=6, penalty=penalty), scores, y)
    spread = scores.std()
    spline = NaturalSpline.over(cal.knots_ / spread)
    basis, targets = spline.basis(scores / spread), platt_targets(y)

    def objective(values):
        z = basis @ values
        slope = basis.T @ (expit(z) - targets) + penalty * spline.roughness @ values
        return np.sum(np.logaddexp(0, z) - targets * z) + penalty * values @ spline.roughness @ values / 2, slope

    best = minimize(objective, np.zeros(6), jac=True, method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(cal.weights_, best.x, atol=1e-5)
    np.testing.assert_allclose(cal.log_odds(scores), basis @ cal.weights_, atol=1e-9)


def test_long_data_have_no_gradient_left():
    scores, y = sample(60_000)
    cal = fit(SplineCalibrator(penalty=1.0), scores, y)
    spread = scores.std()
    spline = NaturalSpline.over(cal.knots_ / spread)
    off = cal.predict_proba(scores)[:, 1] - platt_targets(y)
    gradient = spline.basis(scores / spread).T @ off + spline.roughness @ cal.weights_
    assert np.abs(gradient).max() < 1e-6 * len(y)


def test_held_out_cases_choose_the_penalty():
    scores, y = sample(20_000)
    curve = fit(SplineCalibrator(), scores, y)
    assert curve.penalty_ < 100
    grid = np.linspace(-3, 3, 61)
    np.testing.assert_allclose(curve.predict_proba(grid)[:, 1], expit(grid + np.sin(2 * grid)), atol=0.04)


def test_a_large_penalty_is_platt_scaling():
    scores, y = sample(400)
    line = PlattCalibrator().fit(scores, y)
    spline = fit(SplineCalibrator(penalty=1e6), scores, y)
    np.testing.assert_allclose(spline.predict_proba(scores), line.predict_proba(scores), atol=1e-6)


def test_probabilities_are_read_as_log_odds():
    scores, y = sample(400)
    of_prob = fit(SplineCalibrator(), expit(scores), y)
    direct = fit(SplineCalibrator(input="log_odds"), scores, y)
    assert of_prob.input_ == "probability"
    np.testing.assert_allclose(of_prob.predict_proba(expit(scores)), direct.predict_proba(scores), atol=1e-7)
    np.testing.assert_allclose(of_prob.knots_, logit(expit(direct.knots_)), atol=1e-9)
    assert CalibrationMap.from_dict(of_prob.map_.to_dict()) == of_prob.map_


def test_scale_and_shift_change_nothing():
    scores, y = sample(300)
    expected = fit(SplineCalibrator(input="log_odds"), scores, y).predict_proba(scores)
    for factor, shift in ((1e100, 0.0), (1e-100, 0.0), (1.0, 1e3)):
        there = scores * factor + shift
        found = fit(SplineCalibrator(input="log_odds"), there, y).predict_proba(there)
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_curve_that_falls_is_told_and_the_map_knows():
    rng = np.random.default_rng(0)
    scores = rng.uniform(-3, 3, 3000)
    y = (rng.random(3000) < expit(2 * np.sin(1.7 * scores) + 0.3 * scores)).astype(int)
    with pytest.warns(NegativeSlopeWarning, match="falls somewhere"):
        cal = SplineCalibrator().fit(scores, y)
    assert not cal.map_.is_monotone


def test_two_knots_are_a_line():
    scores, y = sample(200)
    cal = fit(SplineCalibrator(n_knots=2), scores, y)
    line = PlattCalibrator().fit(scores, y)
    np.testing.assert_allclose(cal.predict_proba(scores), line.predict_proba(scores), atol=1e-8)


def test_cells_of_one_class_at_an_end_are_not_nearly_certain():
    """Eight and eighteen cases, all positive, had log-odds of 82 and 107."""
    scores = np.repeat([-2.4, -2.3, 3.3, 5.0], [50, 124, 8, 18])
    y = np.concatenate([np.arange(n) < n_pos for n, n_pos in ((50, 2), (124, 9), (8, 8), (18, 18))]).astype(int)
    log_odds = fit(SplineCalibrator(input="log_odds"), scores, y).log_odds(np.array([-2.4, 3.3, 5.0, 6.0]))
    assert np.all(np.abs(log_odds) < 8)


@pytest.mark.parametrize("n_values", [5, 7, 10])
def test_few_distinct_scores_are_as_safe_as_a_line(n_values):
    """Mean expected losses of twenty samples against Platt's line, which is right; they were worse by .04 to .13."""
    lost = []
    for seed in range(20):
        rng = np.random.default_rng([seed, n_values])
        values, share = np.sort(2 * rng.normal(size=n_values)), rng.dirichlet(np.ones(n_values))
        cell = rng.choice(n_values, 100, p=share)
        prob = expit(values)
        y = (rng.random(100) < prob[cell]).astype(int)
        if y.min() == y.max() or len(set(cell)) == 1:
            continue
        fits = [fit(method(input="log_odds"), values[cell], y) for method in (SplineCalibrator, PlattCalibrator)]
        losses = [share @ (np.logaddexp(0, z) - prob * z) for z in (each.log_odds(values) for each in fits)]
        lost.append(losses[0] - losses[1])
    assert np.mean(lost) < 0.01
