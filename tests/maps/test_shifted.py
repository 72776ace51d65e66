"""Shifted maps: log-odds, or logs of probabilities, that are larger by a constant."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, log_softmax

from catalogue import CLASSES
from oddsmith.errors import InvalidInputError, ModelFileError
from oddsmith.formula import evaluate, with_limits
from oddsmith.maps import (
    OneVsRestMap,
    ScalingMap,
    ScalingPart,
    ShiftedMap,
    SoftLogitMap,
    line_map,
)
from oddsmith.maps.base import CalibrationMap
from oddsmith.model import Model
from samples import ours_allowed
from shapes import HUGE, ONE_SCORE, RAMP, SCORES, STEPS

SHIFTS = st.floats(-8, 8) | st.sampled_from([0.0, -599.0, 599.0, 40.0])

PART = ScalingPart("vector", "logits", 0.0, np.array([0.5, 1.0, 1.5]), np.array([0.1, -0.2, 0.0]))
SOLID = ScalingPart("temperature", "logits", 0.0, np.array(0.4), np.zeros(3))
SEVERAL = [
    ScalingMap(3, "logits", (PART,), np.ones(1), np.zeros(3)),
    ScalingMap(3, "logits", (PART, SOLID), np.array([0.25, 0.75]), np.array([0.1, 0.2, 0.3])),
    ScalingMap(3, "probabilities", (SOLID,), np.ones(1), np.zeros(3)),
    OneVsRestMap(3, "logits", (line_map(1.0), line_map(2.0), STEPS), False),
    OneVsRestMap(3, "logits", (line_map(1.0), RAMP, STEPS), True),
    OneVsRestMap(3, "probabilities", (RAMP, RAMP, STEPS), False),
]
MOVES = st.lists(st.floats(-8, 8), min_size=3, max_size=3) | st.sampled_from([[0, 0, 0], [-300, 300, 0], [5, 5, 5]])


def test_every_shape_is_here():
    known = {one.shape for one in ONE_SCORE} | {one.shape for one in SEVERAL}
    assert known == {*CalibrationMap._shapes, "scaling", "one_vs_rest"} - {"custom"}


@pytest.mark.parametrize("fitted", ONE_SCORE, ids=lambda one: one.shape)
@given(SHIFTS, SHIFTS)
def test_log_odds_are_larger_by_the_shift(fitted, shift, other):
    moved, expected = fitted.shifted(shift), fitted.log_odds(SCORES) + shift
    np.testing.assert_allclose(moved.probability(SCORES), expit(expected), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(np.isinf(moved.log_odds(SCORES)), np.isinf(expected))
    np.testing.assert_allclose(moved.log_odds(SCORES), expected, rtol=1e-13, atol=1e-12)
    assert moved.is_monotone == fitted.is_monotone
    for formula, found in (
        (moved.probability_formula(), lambda values: values),
        (moved.log_odds_formula(), expit),
    ):
        np.testing.assert_allclose(found(evaluate(formula, SCORES)), expit(expected), rtol=0, atol=1e-12)
    if abs(shift + other) <= 599:
        twice, once = moved.shifted(other), fitted.shifted(shift + other)
        np.testing.assert_allclose(twice.probability(SCORES), once.probability(SCORES), rtol=0, atol=1e-12)
    model = Model("Any", {}, moved, (0, 1), None, column_names=("s",))
    assert Model.from_json(model.to_json()).map == moved


@pytest.mark.parametrize("fitted", ONE_SCORE, ids=lambda one: one.shape)
def test_infinite_and_missing_scores(fitted):
    moved, edges = fitted.shifted(-1.5), np.array([-np.inf, np.inf, np.nan])
    try:
        expected = expit(fitted.log_odds(edges) - 1.5)
    except InvalidInputError:
        with pytest.raises(InvalidInputError, match="must lie in"):
            moved.probability(edges)
        return
    np.testing.assert_allclose(moved.probability(edges), expected, rtol=0, atol=1e-12)
    formula = with_limits(moved.probability_formula())
    np.testing.assert_allclose(evaluate(formula, edges[:2]), expected[:2], rtol=0, atol=1e-12)


@pytest.mark.parametrize("fitted", SEVERAL, ids=lambda one: one.shape)
@given(MOVES, MOVES, st.floats(-5, 5))
def test_logs_of_probabilities_are_larger_by_the_shift(fitted, shift, other, level):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 3)) * 3 if fitted.input == "logits" else rng.dirichlet(np.ones(3), 40)
    before = fitted.class_log_probability(rows)
    moved, expected = fitted.shifted(shift), np.exp(log_softmax(before + np.array(shift), axis=1))
    assert isinstance(moved, type(fitted))
    np.testing.assert_allclose(moved.class_probability(rows), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.exp(moved.class_log_probability(rows)), expected, rtol=0, atol=1e-12)
    same = fitted.shifted(np.array(shift) + level)
    np.testing.assert_allclose(same.class_probability(rows), expected, rtol=0, atol=1e-12)
    if np.ptp(np.add(shift, other)) > 600:
        other = np.negative(shift)
    twice, once = moved.shifted(other), fitted.shifted(np.add(shift, other))
    np.testing.assert_allclose(twice.class_probability(rows), once.class_probability(rows), rtol=0, atol=1e-12)
    model = Model("Any", {}, moved, ("a", "b", "c"), None)
    assert Model.from_json(model.to_json()).map == moved
    if fitted.input == "logits":
        masked = moved.class_probability([[1.0, -np.inf, 0.5]])
        known = fitted.class_log_probability([[1.0, -np.inf, 0.5]]) + np.array(shift)
        np.testing.assert_allclose(masked, np.exp(log_softmax(known, axis=1)), rtol=0, atol=1e-12)
        assert masked[0, 1] == 0
    assert np.isnan(moved.class_probability([[0.5, np.nan, 0.5]])).all()


def test_shapes_with_a_constant_term_remain():
    assert line_map(2.0, -1.0).shifted(0.5) == line_map(2.0, -0.5)
    assert SoftLogitMap(line_map(0.7), 1e-3).shifted(1.0) == SoftLogitMap(line_map(0.7, 1.0), 1e-3)
    assert STEPS.shifted(0.4).shifted(-0.4) == STEPS
    assert STEPS.shifted(0) is STEPS
    assert isinstance(HUGE.shifted(0.1), ShiftedMap)
    assert OneVsRestMap(2, "logits", (STEPS, RAMP), False).shifted(0.3).shifted([0.3, 0.0]).shift is None


def test_two_classes_take_one_number_or_two():
    two = ScalingMap(1, "logits", (_tempered(2),), np.ones(1), np.zeros(2))
    for fitted, rows in ((line_map(1.0), [0.5]), (two, [[0.5]])):
        one, both = fitted.shifted(0.7), fitted.shifted([0.2, 0.9])
        np.testing.assert_allclose(one.class_probability(rows), both.class_probability(rows), atol=1e-15)
        np.testing.assert_allclose(one.class_probability(rows)[0, 1], expit(_log_odds(fitted, rows) + 0.7), atol=1e-15)


def _tempered(k):
    return ScalingPart("temperature", "logits", 0.0, np.array(0.4), np.zeros(k))


def _log_odds(fitted, rows):
    before = fitted.class_log_probability(rows)[0]
    return before[1] - before[0]


@pytest.mark.parametrize("shift", [np.nan, np.inf, 601.0, [0.0, 601.0], [1.0, 2.0, 3.0], [], "much", [[0.0, 1.0]]])
def test_bad_shifts_are_refused(shift):
    for fitted in (STEPS, line_map(1.0), ScalingMap(2, "logits", (_tempered(2),), np.ones(1), np.zeros(2))):
        with pytest.raises(InvalidInputError, match="Hint"):
            fitted.shifted(shift)
    with pytest.raises(InvalidInputError, match="at most 600"):
        STEPS.shifted(400).shifted(400)
    with pytest.raises(InvalidInputError, match="must have 3 values; got 1"):
        SEVERAL[0].shifted(0.1)


@pytest.mark.parametrize("shift", [[0.0, 0.0, 0.0], [0.0, 700.0, 0.0], [0.0, 1.0], None, [0.0, 1.0, None]])
def test_bad_shifts_in_files_are_refused(shift):
    bad = dataclasses.replace(SEVERAL[3], shift=None if shift is None else np.array(shift, dtype=float))
    content = Model("Any", {}, bad, ("a", "b", "c"), None)
    if shift is None:
        assert "shift" not in content.to_json()
        return
    with pytest.raises(ModelFileError):
        content.to_json()


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_calibrator_and_its_segments(cls):
    rng = np.random.default_rng(3)
    scores = np.round(rng.normal(size=120) * 2, 1)
    y = (rng.random(120) < expit(scores)).astype(int)
    with ours_allowed():
        model = Model.from_fitted(cls().fit(scores, y))
        parts = {name: Model.from_fitted(cls().fit(scores[rows], y[rows])) for name, rows in _halves().items()}
    whole = model.with_segments("part", parts)
    names = np.repeat(["a", "b", "c"], 40)
    moved = whole.shifted(0.8)
    expected = expit(whole.log_odds(scores, names) + 0.8)
    np.testing.assert_allclose(moved.probability(scores, names), expected, rtol=0, atol=1e-12)
    assert Model.from_json(moved.to_json()) == moved


def _halves():
    return {"a": slice(60), "b": slice(60, 120)}
