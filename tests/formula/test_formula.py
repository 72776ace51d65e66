"""Formulas: building, folding, pieces, changes of the score."""

import numpy as np
import pytest

from oddsmith.formula import (
    MISSING,
    SCORE,
    Arithmetic,
    Clip,
    Column,
    Number,
    Pieces,
    Where,
    absolute,
    after,
    as_formula,
    at_piece,
    below,
    clip,
    cos,
    evaluate,
    exp,
    log,
    logit,
    parts,
    pieces,
    rewritten,
    sigmoid,
    walk,
    where,
)

SCORES = np.array([-2.0, -0.5, 0.0, 0.5, 1.0, 3.0])


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (2.0 * SCORE - 1.0, 2 * SCORES - 1),
        (1.0 - SCORE / 4.0, 1 - SCORES / 4),
        (3.0 / (1.0 + SCORE * SCORE), 3 / (1 + SCORES**2)),
        (-absolute(SCORE) + exp(SCORE), -np.abs(SCORES) + np.exp(SCORES)),
        (cos(SCORE) * log(SCORE * SCORE + 1.0), np.cos(SCORES) * np.log(SCORES**2 + 1)),
        (clip(SCORE, -1.0, 0.75), np.clip(SCORES, -1, 0.75)),
        (where(SCORE, 0.0, -SCORE, 7.0), np.where(SCORES <= 0, -SCORES, 7)),
        (where(1.0, SCORE, 1.0, 0.0), SCORES >= 1),
        (pieces([0.0, 1.0], as_formula(np.array([1.0, 2.0, 3.0]))), [1, 1, 1, 2, 2, 3]),
        (pieces([0.0], SCORE * np.array([1.0, 10.0])), [-2, -0.5, 0, 5, 10, 30]),
        (as_formula(0.25), np.full(6, 0.25)),
    ],
)
def test_values(formula, expected):
    np.testing.assert_allclose(evaluate(formula, SCORES), expected, rtol=1e-15)


def test_constants_are_computed_at_once():
    assert (as_formula(2.0) * 3.0 + 1.0).value == 7.0
    assert exp(log(as_formula(5.0))).value == pytest.approx(5.0)
    assert clip(as_formula(5.0), 0.0, 1.0).value == 1.0
    assert where(1.0, 2.0, 3.0, 4.0).value == 3.0
    assert (SCORE * 0.0).value == 0.0
    assert np.signbit(as_formula(-0.0).value) == np.False_
    column = np.array([1.0, 2.0]) * as_formula(np.array([3.0, 4.0]))
    np.testing.assert_array_equal(column.values, [3.0, 8.0])
    assert isinstance(as_formula(np.array([2.0, 2.0])), Number)


@pytest.mark.parametrize("same", [SCORE + 0.0, 0.0 + SCORE, SCORE - 0.0, SCORE * 1.0, 1.0 * SCORE, SCORE / 1.0])
def test_what_changes_nothing_is_left_out(same):
    assert same is SCORE


def test_negative_constants_are_subtracted():
    for formula in (SCORE + -2.0, -2.0 + SCORE):
        assert (formula.operator, formula.right.value) == ("-", 2.0)
    assert (SCORE - -2.0).operator == "+"


def test_knots_that_divide_nothing_go():
    same = pieces([0.0, 1.0, 2.0], as_formula(np.array([5.0, 5.0, 6.0, 6.0])))
    np.testing.assert_array_equal(same.knots, [1.0])
    np.testing.assert_array_equal(same.body.values, [5.0, 6.0])
    assert pieces([0.0], SCORE) is SCORE
    empty = pieces([-np.inf, 0.0, 0.0, np.inf], as_formula(np.array([1.0, 2.0, 3.0, 4.0, 5.0])))
    np.testing.assert_array_equal(empty.knots, [0.0])
    np.testing.assert_array_equal(empty.body.values, [2.0, 4.0])
    assert pieces([-np.inf], as_formula(np.array([1.0, 2.0]))).value == 2.0
    assert pieces([], as_formula(np.array([3.0]))).value == 3.0


def test_one_piece():
    body = SCORE * np.array([0.0, 2.0]) + np.array([1.0, 0.0])
    assert at_piece(body, 0).value == 1.0
    np.testing.assert_array_equal(evaluate(at_piece(body, 1), SCORES), 2 * SCORES)


def test_below():
    np.testing.assert_array_equal(below(np.array([0.0, 1.0])), [-5e-324, 1 - 2.0**-53])
    assert below(np.array([-1.7976931348623157e308]))[0] == -np.inf


def test_probabilities_and_log_odds():
    log_odds = np.array([-2000.0, -30.0, 0.0, 2.0, 2000.0])
    np.testing.assert_allclose(evaluate(sigmoid(SCORE), log_odds), 1 / (1 + np.exp(-np.clip(log_odds, -700, 700))))
    prob = np.array([0.0, 5e-324, 1e-9, 0.5, 1 - 2.0**-53, 1.0])
    expected = [-1e30, *(np.log(prob[1:-1]) - np.log1p(-prob[1:-1])), 1e30]
    np.testing.assert_allclose(evaluate(logit(SCORE), prob), expected, rtol=1e-15, atol=1e-15)
    steps = logit(pieces([0.0], as_formula(np.array([0.0, 0.5]))))
    assert isinstance(steps, Pieces)
    np.testing.assert_array_equal(steps.body.values, [-1e30, 0.0])


def test_a_changed_score():
    inner = pieces([0.0, 100.0], SCORE * np.array([1.0, 2.0, 3.0]))
    outer = after(inner, SCORE / 2.0 - 1.0, lambda knots: np.where(knots > 50, np.inf, 2 * knots + 2))
    np.testing.assert_array_equal(outer.knots, [2.0])
    s = np.array([0.0, 2.0, 4.0])
    np.testing.assert_array_equal(evaluate(outer, s), evaluate(inner, s / 2 - 1))


def test_missing_values_move_outwards():
    partial = where(0.0, SCORE, SCORE, MISSING)
    for built in (clip(partial, 0.0, 1.0), exp(partial), 1.0 + partial, partial * partial, sigmoid(partial)):
        assert isinstance(built, Where)
        assert np.isnan(built.otherwise.value)
        np.testing.assert_array_equal(np.isnan(evaluate(built, SCORES)), SCORES < 0)
    assert np.isnan(evaluate(partial * partial, [-1.0])).all()


def test_shared_parts_are_visited_once():
    shared = SCORE * 2.0
    formula = shared + exp(shared)
    nodes = list(walk(formula))
    assert sum(node is shared for node in nodes) == 1
    assert nodes[-1] is formula
    assert parts(formula)[0] is shared


def test_rewriting():
    formula = clip(pieces([0.0], SCORE * np.array([1.0, 2.0])), -1.0, 1.0)
    same = rewritten(formula)
    assert isinstance(same, Clip)
    np.testing.assert_array_equal(evaluate(same, SCORES), evaluate(formula, SCORES))
    doubled = rewritten(formula, column=lambda values: Column(2 * values))
    np.testing.assert_array_equal(evaluate(doubled, SCORES), np.clip(SCORES * np.where(SCORES > 0, 4, 2), -1, 1))


def test_what_is_no_formula_is_refused():
    with pytest.raises(TypeError):
        evaluate(object(), SCORES)
    assert isinstance(np.float64(2.0) * SCORE, Arithmetic)
