"""Contributions add up to the calibrated log-odds, whatever the map, and stay in proportion."""

import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

import oddsmith
from oddsmith import ScoreTable
from oddsmith.errors import InvalidInputError
from oddsmith.explain import explain_shift
from oddsmith.pooling import PooledCalibrator
from samples import ours_allowed

METHODS = ["platt", "beta", "auto", "spline", "monotone-logistic", "venn-abers", "temperature"]


def fitted(method):
    rng = np.random.default_rng(0)
    margin = rng.normal(-1, 2, 600)
    table = ScoreTable.from_arrays(margin, rng.random(600) < expit(0.6 * margin - 0.3))
    with ours_allowed():
        return oddsmith.calibrators.registry.find_method(method).fit_table(table)


@pytest.mark.parametrize("method", METHODS)
def test_contributions_add_up(method):
    model = fitted(method)
    rng = np.random.default_rng(1)
    values = rng.normal(0, 1, (300, 7)) * rng.choice([1.0, 1e-9, 0.0], (300, 1))
    base = rng.normal(-1, 1, 300)
    found = explain_shift(values, base, model)
    total = found.base + found.values.sum(axis=1)
    np.testing.assert_allclose(total, model.log_odds(base + values.sum(axis=1)), rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.base, model.log_odds(base), rtol=0, atol=1e-12)
    assert "shap" not in sys.modules


@given(st.integers(0, 10_000))
def test_canceling_contributions_stay_finite_and_add_up(seed):
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(20, 3))
    values = np.hstack([half, -half + rng.choice([0.0, 1e-15, 1e-8, 1e-5], (20, 1))])
    model = fitted("platt")
    found = explain_shift(values, -0.7, model)
    np.testing.assert_allclose(
        found.base + found.values.sum(axis=1), model.log_odds(-0.7 + values.sum(axis=1)), rtol=0, atol=1e-10
    )
    slope = model.log_odds([1.0]) - model.log_odds([0.0])
    np.testing.assert_allclose(found.values, slope * values, atol=1e-6)


def test_a_line_multiplies_every_contribution():
    model = fitted("logistic")
    values = np.random.default_rng(2).normal(size=(50, 4))
    slope = model.log_odds([1.0]) - model.log_odds([0.0])
    np.testing.assert_allclose(explain_shift(values, 0.4, model).values, slope * values, atol=1e-9)


def test_segments_have_their_own_maps():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"shop": rng.choice(list("ab"), 2000), "score": rng.normal(size=2000)})
    frame["label"] = rng.random(2000) < expit(frame["score"] + np.where(frame["shop"] == "a", 1.0, -1.0))
    model = PooledCalibrator("shop", "platt").fit(frame).model_
    values = rng.normal(size=(2, 3))
    found = explain_shift(values, 0.0, model, ["a", "b"])
    expected = model.log_odds(values.sum(axis=1), ["a", "b"])
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), expected, atol=1e-10)
    assert found.base[0] > found.base[1]


@pytest.mark.parametrize(
    ("values", "base", "message"),
    [
        (np.zeros((2, 3, 2)), 0.0, "shap_values must have a row per case"),
        (np.zeros(3), 0.0, "pass a row per case"),
        (np.zeros((2, 3)), np.zeros(3), "base must be a number, or one per row"),
        (np.full((2, 3), np.nan), 0.0, "shap_values must be finite"),
        (np.zeros((2, 3)), np.inf, "base must be finite"),
    ],
)
def test_bad_input(values, base, message):
    with pytest.raises(InvalidInputError, match=message):
        explain_shift(values, base, fitted("platt"))


def test_certain_probabilities_and_several_classes_are_refused():
    table = ScoreTable.from_arrays([-1.0, 1.0, 2.0, 3.0], [0, 1, 0, 1])
    with pytest.raises(InvalidInputError, match="must be finite to be explained; got infinite ones in 1 of 1 rows"):
        explain_shift([[-2.0]], 0.0, oddsmith.IsotonicCalibrator().fit_table(table))
    with ours_allowed():
        scaling = oddsmith.TemperatureScaling().fit(np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 3)
    with pytest.raises(InvalidInputError, match="must be a fitted calibrator or its map"):
        explain_shift([[1.0]], 0.0, scaling)
    assert explain_shift(np.empty((0, 3)), 0.0, fitted("platt")).values.shape == (0, 3)
