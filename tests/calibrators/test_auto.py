"""The default calibrator: a blend that keeps the ranking, never says 0 or 1, and tells what it did."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from oddsmith import (
    AutoCalibrator,
    BetaCalibrator,
    CalibrationMap,
    MonotoneLogisticCalibrator,
    ScoreTable,
    TemperatureCalibrator,
    VennAbersCalibrator,
)
from oddsmith.blend import BlendMap
from oddsmith.errors import NegativeSlopeWarning, OddsmithWarning, SeparableWarning
from oddsmith.maps import constant_map
from oddsmith.soft_logit import soft_expit, soft_logit


def sure(n, seed=0, sharp=1.0):
    """Probabilities, and labels whose true log-odds are ``sharp`` times theirs."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(0, 2, n)
    return expit(log_odds), (rng.random(n) < expit(sharp * log_odds)).astype(int)


def log_loss(log_odds, y):
    return np.mean(np.logaddexp(0, np.where(y == 1, -log_odds, log_odds)))


def test_the_blend_is_the_mean_of_probabilities_and_keeps_digits_at_both_ends():
    blend = BlendMap((constant_map(40.0), constant_map(-700.0)), np.array([1.0, 0.0]))
    assert blend.log_odds([0.0]) == pytest.approx(40.0)
    half = BlendMap((constant_map(2.0), constant_map(-1.0)), np.array([0.25, 0.75]))
    assert half.probability([0.0, 5.0]) == pytest.approx(0.25 * expit(2.0) + 0.75 * expit(-1.0))
    assert CalibrationMap.from_dict(half.to_dict()) == half


@given(st.floats(0, 1), st.floats(1e-9, 0.5))
def test_softened_log_odds_are_finite_and_undone(prob, softness):
    there = soft_logit(np.array([prob]), softness)
    assert np.isfinite(there).all()
    assert soft_expit(there, softness)[0] == pytest.approx(prob, abs=1e-9)


def test_parts_are_those_fitted_alone():
    scores, y = sure(400)
    table = ScoreTable.from_arrays(scores * 6 - 3, y)
    fitted = AutoCalibrator().fit_table(table).map_
    alone = [
        kind(input="log_odds").fit_table(table).map_
        for kind in (MonotoneLogisticCalibrator, VennAbersCalibrator, BetaCalibrator, TemperatureCalibrator)
    ]
    assert list(fitted.parts) == alone


scores_of_any_kind = st.one_of(
    st.lists(st.tuples(st.floats(-50, 50), st.booleans()), min_size=4, max_size=60),
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=4, max_size=60),
    st.lists(st.tuples(st.sampled_from([0.0, 0.25, 1.0]), st.booleans()), min_size=4, max_size=60),
)


@settings(max_examples=60, deadline=None)
@given(scores_of_any_kind, st.lists(st.floats(-60, 60), min_size=2, max_size=20))
def test_ranking_is_kept_and_nothing_is_certain(data, new):
    scores, y = map(np.array, zip(*data, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OddsmithWarning)
        fitted = AutoCalibrator().fit(scores, y)
    if fitted.map_.is_monotone is False:
        pytest.fail("the map says that it may fall")
    places = np.unique(np.concatenate([scores, np.asarray(new), np.nextafter(scores, 100)]))
    prob = fitted.predict_proba(places)[:, 1]
    assert np.all((prob > 0) & (prob < 1))
    log_odds = fitted.log_odds(places)
    assert np.all(np.diff(log_odds) >= -1e-13 * np.maximum(1, np.abs(log_odds[1:])))


def test_scores_that_differ_clearly_never_tie():
    scores, y = sure(300)
    for at, data in ((np.linspace(0, 1, 5001), scores), (np.linspace(-5, 5, 5001), np.log(scores / (1 - scores)))):
        assert np.all(np.diff(AutoCalibrator().fit(data, y).log_odds(at)) > 0)


def test_falling_data_get_a_flat_map_and_a_warning():
    scores, y = sure(500)
    with pytest.warns(OddsmithWarning) as said:
        fitted = AutoCalibrator().fit(-np.log(scores / (1 - scores)), y)
    assert {NegativeSlopeWarning} <= {warning.category for warning in said}
    prob = fitted.predict_proba(np.linspace(-4, 4, 50))[:, 1]
    assert np.ptp(prob) < 0.1
    assert np.all(np.diff(fitted.log_odds(np.linspace(-4, 4, 50))) > 0)


def test_weights_maximise_the_penalised_likelihood_of_held_out_cases():
    from oddsmith.calibrators._stack import OutOfSample

    rng = np.random.default_rng(3)
    log_odds, pos, neg = rng.normal(size=(3, 40)), rng.integers(0, 4, 40) * 1.0, rng.integers(0, 4, 40) * 1.0
    judged = OutOfSample(np.zeros(40), log_odds, None, pos, neg, 5)

    def minus_objective(free):
        weights = np.exp(free) / np.exp(free).sum()
        likelihood = pos @ np.log(weights @ expit(log_odds)) + neg @ np.log(weights @ expit(-log_odds))
        return -likelihood - 2 / 3 * np.log(weights).sum()

    best = minimize(minus_objective, np.zeros(3)).x
    assert judged.weights() == pytest.approx(np.exp(best) / np.exp(best).sum(), abs=2e-3)


def test_few_cases_get_the_stiff_methods_and_many_the_one_that_fits():
    rng = np.random.default_rng(1)
    scores = rng.uniform(-1, 1, 20_000)
    y = (rng.random(20_000) < np.where(scores > 0.2, 0.8, 0.3)).astype(int)
    assert AutoCalibrator().fit(scores, y).weights_["Venn–Abers"] > 0.8
    assert AutoCalibrator().fit(scores[:60], y[:60]).weights_["Venn–Abers"] < 0.6


@pytest.mark.parametrize(("sharp", "words"), [(0.3, "was worth it"), (1.0, "no clear difference")])
def test_the_verdict_says_whether_calibrating_was_worth_it(sharp, words):
    scores, y = sure(2000, sharp=sharp)
    fitted = AutoCalibrator().fit(scores, y)
    assert words in fitted.verdict_
    assert fitted.worth_it_ is (sharp != 1.0)
    new, truth = sure(50_000, seed=9, sharp=sharp)
    gained = log_loss(np.log(new / (1 - new)), truth) - log_loss(fitted.log_odds(new), truth)
    low, high = fitted.gain_interval_
    assert low - 0.01 < gained < high + 0.01
    assert "cases" in fitted.verdict_


def test_more_cases_are_asked_for_when_there_are_few():
    few, many = (AutoCalibrator().fit(*sure(n, sharp=0.5)) for n in (100, 5000))
    assert few.enough_cases_ > 100
    assert many.enough_cases_ < 5000
    assert "Twice as many" in few.verdict_
    assert "help little" in many.verdict_


def test_two_cases_are_not_judged():
    with pytest.warns(SeparableWarning):
        fitted = AutoCalibrator().fit([0.1, 0.4], [0, 1])
    assert fitted.worth_it_ is None
    assert "fewer than two" in fitted.verdict_
    assert np.isnan(fitted.gain_)


def test_float_weights_are_dealt_whole_and_in_parts():
    scores, y = sure(300)
    rng = np.random.default_rng(5)
    weights = rng.uniform(0.2, 2.5, 300)
    fitted = AutoCalibrator().fit(scores, y, weights)
    assert np.all(np.isfinite(fitted.log_odds(scores)))
    order = rng.permutation(300)
    assert np.allclose(
        AutoCalibrator().fit(scores[order], y[order], weights[order]).log_odds(scores), fitted.log_odds(scores)
    )


def test_monotone_logistic_is_the_optimum():
    rng = np.random.default_rng(7)
    scores = rng.normal(0, 1.5, 250)
    y = (rng.random(250) < expit(np.where(scores > 0, 3 * scores, 0.2 * scores))).astype(int)
    fitted = MonotoneLogisticCalibrator(pieces=4, input="log_odds").fit(scores, y)
    target = np.where(y == 1, (y.sum() + 1) / (y.sum() + 2), 1 / ((1 - y).sum() + 2))
    ends = np.concatenate([[-np.inf], fitted.knots_, [np.inf]])

    def loss(free):
        slopes, level = free[:-1] ** 2, free[-1]
        ramps = np.clip(scores[:, None], ends[:-1], ends[1:]) - np.clip(0.0, ends[:-1], ends[1:])
        z = ramps @ slopes + level
        rough = np.sum((np.diff(slopes) * scores.std()) ** 2) / 2
        return np.sum(np.logaddexp(0, z) - target * z) + rough

    best = minimize(loss, np.full(5, 0.7), method="BFGS", options={"gtol": 1e-7})
    assert fitted.slopes_ == pytest.approx(best.x[:-1] ** 2, abs=1e-4)


def test_one_case_of_a_class_is_enough_to_see_which_parts_fail():
    rng = np.random.default_rng(0)
    scores = np.append(rng.normal(-1, 2, 199), 2.0)
    fitted = AutoCalibrator().fit(scores, np.append(np.zeros(199, int), 1))
    # Temperature has no intercept: it says ½ to most of the 199.
    assert fitted.weights_["temperature"] < 0.02
    assert fitted.predict_proba(scores)[:, 1].mean() < 0.02
    assert fitted.worth_it_
