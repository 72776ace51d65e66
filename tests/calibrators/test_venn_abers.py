"""Venn–Abers against isotonic regression with the case added, and against the reference package."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from oddsmith import VennAbersCalibrator
from samples import grid, ours_allowed, samples


def brute_force(scores, y, weights, new, label):
    """Pool, add the case, and fit."""
    s, t, w = np.append(scores, new), np.append(y, label), np.append(weights, 1.0)
    distinct, place = np.unique(s, return_inverse=True)
    total, positive = np.bincount(place, w), np.bincount(place, w * t)
    return isotonic_regression(positive / total, weights=total).x[np.searchsorted(distinct, new)]


@given(samples(), st.sampled_from(["none", "counts", "floats", "light"]))
def test_both_values_are_fits_with_the_case_added(data, kind):
    scores, y = data
    rng = np.random.default_rng(len(y))
    weights = {
        "none": None,
        "counts": rng.integers(1, 5, len(y)),
        "floats": 3 * rng.random(len(y)) + 0.01,
        "light": 0.1 * rng.random(len(y)) + 1e-3,
    }[kind]
    with ours_allowed():
        cal = VennAbersCalibrator().fit(scores, y, weights)
    if np.min(scores) == np.max(scores):
        return
    queries = grid(scores)[::5]
    weights = np.ones(len(y)) if weights is None else weights
    expected = [[brute_force(scores, y, weights, q, label) for q in queries] for label in (0, 1)]
    low, high = cal.predict_interval(queries)
    np.testing.assert_allclose([low, high], expected, atol=1e-12)
    assert np.all(low <= high)
    np.testing.assert_allclose(cal.predict_proba(queries)[:, 1], high / (1 - low + high), atol=1e-15)


def test_long_data_against_fits_with_the_case_added():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=30_000)
    y = (rng.random(30_000) < 1 / (1 + np.exp(-2 * scores))).astype(int)
    cal = VennAbersCalibrator().fit(scores, y)
    queries = np.concatenate([rng.normal(size=20), scores[:20], [-9.0, 9.0]])
    expected = [[brute_force(scores, y, np.ones(len(y)), q, label) for q in queries] for label in (0, 1)]
    np.testing.assert_allclose(cal.predict_interval(queries), expected, atol=1e-12)


def test_the_reference_package_says_the_same():
    if os.environ.get("CI") == "true":
        import venn_abers
    else:
        venn_abers = pytest.importorskip("venn_abers")
    rng = np.random.default_rng(1)
    prob = rng.random(500)
    y = (rng.random(500) < prob**2).astype(int)
    queries = rng.random(200)
    reference = venn_abers.VennAbers()
    reference.fit(np.column_stack([1 - prob, prob]), y, precision=None)
    p, interval = reference.predict_proba(np.column_stack([1 - queries, queries]))
    cal = VennAbersCalibrator().fit(prob, y)
    np.testing.assert_allclose(np.column_stack(cal.predict_interval(queries)), interval, atol=1e-9)
    np.testing.assert_allclose(cal.predict_proba(queries)[:, 1], p[:, 1], atol=1e-9)


def test_degenerate_data_have_an_interval_too():
    with ours_allowed():
        one_class = VennAbersCalibrator().fit([1.0, 2.0, 3.0], [1, 1, 1])
        one_score = VennAbersCalibrator().fit([2.0] * 4, [0, 1, 0, 0])
    for cal, low, high in ((one_class, 3 / 4, 1.0), (one_score, 1 / 5, 2 / 5)):
        p0, p1 = cal.predict_interval([0.0, 2.0])
        np.testing.assert_allclose(p0, low)
        np.testing.assert_allclose(p1, high)
        np.testing.assert_allclose(cal.predict_proba([0.0])[:, 1], p1[0] / (1 - p0[0] + p1[0]))


def test_probability_input():
    prob, y = [0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1]
    direct = VennAbersCalibrator().fit(prob, y).predict_interval([0.3, 0.4])
    declared = VennAbersCalibrator(input="probability").fit(prob, y).predict_interval([0.3, 0.4])
    np.testing.assert_array_equal(direct, declared)
