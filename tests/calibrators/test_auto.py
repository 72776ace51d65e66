"""The default calibrator: a blend that keeps the ranking, never says 0 or 1, and tells what it did."""

import os
import warnings
from importlib import import_module

import numpy as np
import pytest
from benchmarks.families import FAMILIES, network_problems
from hypothesis import given
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
    load,
)
from oddsmith.calibrators._cross_validated_blend import OutOfSample
from oddsmith.errors import NegativeSlopeWarning, NonConvergenceWarning, OddsmithWarning, SeparableWarning
from oddsmith.maps import constant_map
from oddsmith.maps.blend import BlendMap
from oddsmith.maps.soft_logit import SoftLogOddsMap, soft_log_odds, soft_logit
from samples import examples, ours_allowed


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
    odds = np.exp(there)
    assert ((odds * (1 + softness) - softness) / (1 + odds))[0] == pytest.approx(prob, abs=1e-9)


@given(st.floats(-30, 30), st.floats(1e-9, 0.5))
def test_softening_a_probability_or_its_log_odds_is_the_same(log_odds, softness):
    by_prob = soft_logit(np.array([expit(log_odds)]), softness)
    assert soft_log_odds(np.array([log_odds]), softness) == pytest.approx(by_prob, abs=1e-6)


@pytest.mark.parametrize("level", [0.0, -2.0])
def test_parts_are_those_fitted_alone_and_all_moved_alike(level):
    scores, y = sure(400)
    z = scores * 6 - 3
    table = ScoreTable.from_arrays(z, y)
    auto = AutoCalibrator().fit_table(table.map(lambda s: s - level))
    kinds = (MonotoneLogisticCalibrator, VennAbersCalibrator, BetaCalibrator, TemperatureCalibrator)
    used = [kind for kind, weight in zip(kinds, auto.weights_.values(), strict=True) if weight]
    moves = []
    for part, kind in zip(auto.map_.parts, used, strict=True):
        read = table.map(lambda s: s - level)
        if auto.softened_ and kind is not VennAbersCalibrator:
            assert isinstance(part, SoftLogOddsMap)
            part, read = part.inner, read.map(lambda s: soft_log_odds(s, 0.5 / 400))
        alone = kind(input="log_odds").fit_table(read).map_
        moves.append(part.log_odds(read.scores) - alone.log_odds(read.scores))
    assert np.ptp(moves) < 1e-9


scores_of_any_kind = st.one_of(
    st.lists(st.tuples(st.floats(-50, 50), st.booleans()), min_size=4, max_size=60),
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=4, max_size=60),
    st.lists(st.tuples(st.sampled_from([0.0, 0.25, 1.0]), st.booleans()), min_size=4, max_size=60),
)


@examples(60)
@given(scores_of_any_kind, st.lists(st.floats(-60, 60), min_size=2, max_size=20))
def test_ranking_is_kept_and_nothing_is_certain(data, new):
    scores, y = map(np.array, zip(*data, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OddsmithWarning)
        fitted = AutoCalibrator().fit(scores, y)
    if fitted.map_.is_monotone is False:
        pytest.fail("the map says that it may fall")
    places = np.unique(np.concatenate([scores, np.asarray(new), np.nextafter(scores, 100)]))
    if fitted.input_ == "probability":
        places = places[(places >= 0) & (places <= 1)]
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


def test_weights_maximize_the_penalized_likelihood_of_held_out_cases():
    rng = np.random.default_rng(3)
    log_odds, pos, neg = rng.normal(size=(3, 40)), rng.integers(0, 4, 40) * 1.0, rng.integers(0, 4, 40) * 1.0
    judged = OutOfSample(np.zeros(40), log_odds, pos, neg, 5)
    alone = np.logaddexp(0, -log_odds) @ pos + np.logaddexp(0, log_odds) @ neg
    prior = 5 * np.exp(-0.1 * alone) / np.exp(-0.1 * alone).sum()

    def minus_objective(free):
        weights = np.exp(free) / np.exp(free).sum()
        likelihood = pos @ np.log(weights @ expit(log_odds)) + neg @ np.log(weights @ expit(-log_odds))
        return -likelihood - prior @ np.log(weights)

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


def test_two_cases_are_not_judged():
    with pytest.warns(SeparableWarning):
        fitted = AutoCalibrator().fit([0.1, 0.4], [0, 1])
    assert fitted.worth_it_ is None
    assert "Too few cases" in fitted.verdict_
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
    fitted = MonotoneLogisticCalibrator(n_pieces=4, input="log_odds").fit(scores, y)
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


def test_one_case_of_a_class_is_no_reason_to_say_one_half():
    rng = np.random.default_rng(0)
    scores = np.append(rng.normal(-1, 2, 199), 2.0)
    fitted = AutoCalibrator().fit(scores, np.append(np.zeros(199, int), 1))
    assert fitted.predict_proba(scores)[:, 1].mean() < 0.02


def half_errors_off(fitted, scores, y, weight=None):
    """Return |Σw(P − Y)| in units of half its standard error."""
    v = np.ones(len(y)) if weight is None else weight
    p = fitted.predict_proba(scores)[:, 1]
    squared = v**2 if v.dtype.kind == "f" else v
    return abs(v @ (p - y)) / (0.5 * np.sqrt(squared @ (p * (1 - p))))


@pytest.mark.parametrize("n", [200, 5_000, 200_000])
@pytest.mark.parametrize("form", ["log-odds", "probabilities"])
def test_right_in_the_large(n, form):
    rng = np.random.default_rng(n)
    s = rng.normal(size=n)
    y = (rng.random(n) < expit(0.6 * s - 4.5)).astype(int)
    y[:2] = [0, 1]
    scores = s if form == "log-odds" else expit(s)
    fitted = AutoCalibrator().fit(scores, y)
    assert half_errors_off(fitted, scores, y) <= 1


@pytest.mark.parametrize("family", FAMILIES)
def test_right_in_the_large_on_hard_scores(family):
    for seed in range(6):
        scores, y, weight = FAMILIES[family](np.random.default_rng(seed), [12, 60, 400][seed % 3])
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            fitted = AutoCalibrator().fit(scores, y, weight)
        off = half_errors_off(fitted, scores, y, weight)
        if any(one.category is SeparableWarning for one in said):
            v = np.ones(len(y)) if weight is None else weight
            assert off <= 1 or abs(v @ (fitted.predict_proba(scores)[:, 1] - y)) <= 1
        else:
            assert off <= 1


@pytest.mark.skipif("ODDSMITH_DATA" not in os.environ, reason="needs the networks of ODDSMITH_DATA")
def test_the_form_of_the_input_does_not_matter():
    losses = []
    for log_odds in (False, True):
        problems = network_problems(log_odds)
        losses.append([])
        for name, (scores, y, _) in problems.items():
            if name.startswith("wideresnet"):
                fitted = AutoCalibrator().fit(scores[:2000], y[:2000])
                losses[-1].append(log_loss(fitted.log_odds(scores[2000:]), y[2000:]))
    assert np.abs(np.subtract(*losses)).max() < 1e-4
    assert np.mean(losses) < 0.0450


def test_what_did_not_converge_is_said(monkeypatch):
    monkeypatch.setattr(import_module("oddsmith.fitting.newton"), "_MAX_STEPS", 1)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        AutoCalibrator().fit(*sure(300, sharp=0.3))
    words = [str(one.message) for one in said if one.category is NonConvergenceWarning]
    assert any("monotone logistic: Newton" in word for word in words)
    assert any("beta: Newton" in word for word in words)


@pytest.mark.parametrize("seed", range(4))
def test_a_heavy_row_that_makes_a_part_certain_leaves_the_blend_right_in_the_large(seed):
    scores, y, weight = FAMILIES["heavy row"](np.random.default_rng(seed), 40)
    with ours_allowed():
        fitted = AutoCalibrator().fit(scores, y, weight)
    prob = fitted.predict_proba(scores)[:, 1]
    assert sum(fitted.weights_.values()) == pytest.approx(1)
    assert abs(weight @ (prob - y)) <= max(1, 0.5 * np.sqrt(weight @ (prob * (1 - prob))))


def test_tiny_probabilities_are_saved_and_loaded(tmp_path):
    """A score below the distance from 1 to the next double once made a file that could not be read."""
    rng = np.random.default_rng(0)
    score = np.concatenate([[1.7e-19, 5e-324], rng.beta(0.5, 5, 500)])
    fitted = AutoCalibrator().fit(score, rng.random(502) < score)
    fitted.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert np.array_equal(loaded.predict_proba(score), fitted.predict_proba(score))
    assert np.isfinite(loaded.log_odds([0.0, 5e-324, 1.0])).all()
