"""Vector formulas compute what SciPy does, for rows of every size."""

import numpy as np
import pytest
from scipy import special
from scipy.special import logsumexp

from oddsmith.formula import SCORE, exp
from oddsmith.formula.vector_reader import evaluate_vector
from oddsmith.formula.vectors import (
    Affine,
    Each,
    Inputs,
    against_rest,
    center,
    log_mixture,
    log_softmax,
    mixture,
    row_columns,
    softmax,
    walk_vectors,
    with_whole_rows,
)

K = 4


def rows():
    rng = np.random.default_rng(0)
    extremes = [[1e4, -1e4, 0, 0], [-1e300, 1e300, 0, 1], [0, 0, 0, 0], [-700, 700, 699, 1], [5, 5, 5, -1e5]]
    return np.vstack([4 * rng.normal(size=(50, K)), extremes])


def test_log_softmax():
    np.testing.assert_allclose(
        evaluate_vector(log_softmax(row_columns(K)), rows()), special.log_softmax(rows(), axis=1), atol=1e-13
    )
    np.testing.assert_allclose(
        evaluate_vector(softmax(row_columns(K)), rows()), special.softmax(rows(), axis=1), atol=1e-15
    )


def test_against_rest():
    x = rows()
    others = np.column_stack([logsumexp(np.delete(x, i, axis=1), axis=1) for i in range(K)])
    np.testing.assert_allclose(evaluate_vector(against_rest(row_columns(K)), x), x - others, rtol=1e-13, atol=1e-13)


def test_a_sure_class_keeps_its_digits_against_the_rest():
    found = evaluate_vector(against_rest(Inputs(3)), [[100.0, 1.0, 0.0]])
    assert found[0, 0] == pytest.approx(100 - np.log(np.e + 1), rel=1e-15)


@pytest.mark.parametrize("coef", [np.array(0.5), np.arange(1.0, K + 1), np.arange(1.0, K * K + 1).reshape(K, K)])
def test_affine(coef):
    x, b = rows()[:50], np.arange(K) - 1.5
    expected = (x @ coef.T if coef.ndim == 2 else x * coef) + b
    np.testing.assert_array_equal(evaluate_vector(Affine(coef, b, Inputs(K)), x), expected)


def test_centered_and_each():
    x = rows()[:50]
    found = evaluate_vector(Each((exp(SCORE),), center(Inputs(K))), x)
    np.testing.assert_allclose(found, np.exp(x - x.mean(axis=1, keepdims=True)))
    own = evaluate_vector(Each((SCORE, 2.0 * SCORE, SCORE + 1.0, -SCORE), Inputs(K)), x)
    np.testing.assert_array_equal(own, np.column_stack([x[:, 0], 2 * x[:, 1], x[:, 2] + 1, -x[:, 3]]))


def test_blend():
    x, weights = rows(), np.array([0.2, 0.8])
    one, other = log_softmax(row_columns(K)), log_softmax(Affine(np.array(0.1), np.zeros(K), row_columns(K)))
    found = evaluate_vector(log_mixture(weights, [one, other]), x)
    both = np.stack([evaluate_vector(one, x), evaluate_vector(other, x)])
    np.testing.assert_allclose(found, logsumexp(both, axis=0, b=weights[:, None, None]), atol=1e-13)
    assert np.isfinite(found).all()


def test_a_missing_value_leaves_nothing_of_its_row():
    x = rows()
    x[3, 2] = np.nan
    found = evaluate_vector(log_softmax(row_columns(K)), x)
    assert np.isnan(found[3]).all()
    assert np.isfinite(np.delete(found, 3, axis=0)).all()


def test_infinite_values_are_the_farthest_ones():
    found = np.exp(evaluate_vector(log_softmax(row_columns(3)), [[np.inf, 0.0, -np.inf], [-np.inf, 1.0, 1.0]]))
    np.testing.assert_allclose(found, [[1, 0, 0], [0, 0.5, 0.5]])


def test_a_mixture_is_a_weighted_mean():
    one, other = row_columns(K), Affine(np.array(0.1), np.zeros(K), row_columns(K))
    found = evaluate_vector(mixture(np.array([0.2, 0.8]), [one, other]), rows())
    expected = 0.2 * evaluate_vector(softmax(one), rows()) + 0.8 * evaluate_vector(softmax(other), rows())
    np.testing.assert_allclose(found, expected, atol=1e-15)


def test_shared_parts_are_walked_once():
    shared = log_softmax(row_columns(K))
    nodes = list(walk_vectors(log_mixture(np.array([0.5, 0.5]), [shared, shared])))
    assert len(nodes) == len({id(node) for node in nodes})
    assert sum(isinstance(node, Inputs) for node in nodes) == 1


def test_matrices_of_whole_numbers_are_as_near_as_rounding():
    rng = np.random.default_rng(11)
    for size in (1e-100, 1e-3, 1.0, 1e5, 1e100):
        matrix, level = size * rng.normal(size=(40, 30)), size * rng.normal(size=40)
        exact = Affine(matrix, level, Inputs(30))
        whole = with_whole_rows(exact)
        assert np.all(whole.coef % 1 == 0)
        assert np.abs(whole.coef).max() <= 2.0**50
        rows = rng.normal(size=(50, 30)) * 10.0 ** rng.uniform(-5, 5, (50, 1))
        largest_terms = np.abs(matrix).max() * np.abs(rows).max(axis=1, keepdims=True)
        bound = 2.0**-50 * (30 * largest_terms + np.abs(level).max())
        assert np.all(np.abs(evaluate_vector(whole, rows) - evaluate_vector(exact, rows)) <= bound)
    both = with_whole_rows(Each((SCORE,), exact, (Affine(matrix[::-1], level, exact.of),)))
    assert both.of.of is both.beside[0].of  # what both are multiplied with is there once
