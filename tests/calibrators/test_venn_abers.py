"""Venn–Abers against isotonic regression with the case added, and against the reference package."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from oddsmith import CalibrationMap, ScoreTable, VennAbersCalibrator
from oddsmith.errors import InvalidInputError
from optional import needs
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
    low, high = cal.predict_bounds(queries)
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
    np.testing.assert_allclose(cal.predict_bounds(queries), expected, atol=1e-12)


def test_the_reference_package_says_the_same():
    venn_abers = needs("venn_abers")
    rng = np.random.default_rng(1)
    prob = rng.random(500)
    y = (rng.random(500) < prob**2).astype(int)
    queries = rng.random(200)
    reference = venn_abers.VennAbers()
    reference.fit(np.column_stack([1 - prob, prob]), y, precision=None)
    p, interval = reference.predict_proba(np.column_stack([1 - queries, queries]))
    cal = VennAbersCalibrator().fit(prob, y)
    np.testing.assert_allclose(np.column_stack(cal.predict_bounds(queries)), interval, atol=1e-9)
    np.testing.assert_allclose(cal.predict_proba(queries)[:, 1], p[:, 1], atol=1e-9)


def test_degenerate_data_have_an_interval_too():
    with ours_allowed():
        one_class = VennAbersCalibrator().fit([1.0, 2.0, 3.0], [1, 1, 1])
        one_score = VennAbersCalibrator().fit([2.0] * 4, [0, 1, 0, 0])
    for cal, low, high in ((one_class, 3 / 4, 1.0), (one_score, 1 / 5, 2 / 5)):
        p0, p1 = cal.predict_bounds([0.0, 2.0])
        np.testing.assert_allclose(p0, low)
        np.testing.assert_allclose(p1, high)
        np.testing.assert_allclose(cal.predict_proba([0.0])[:, 1], p1[0] / (1 - p0[0] + p1[0]))


def test_probability_input():
    prob, y = [0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1]
    direct = VennAbersCalibrator().fit(prob, y).predict_bounds([0.3, 0.4])
    declared = VennAbersCalibrator(input="probability").fit(prob, y).predict_bounds([0.3, 0.4])
    np.testing.assert_array_equal(direct, declared)


def probabilities(n=400, seed=2):
    rng = np.random.default_rng(seed)
    prob = np.round(rng.random(n), 3)
    return prob, (rng.random(n) < prob**2).astype(int)


def by_venn_abers(prob, y, weights, queries):
    reference = needs("venn_abers").VennAbers()
    prob, y = np.repeat(prob, weights), np.repeat(y, weights)
    reference.fit(np.column_stack([1 - prob, prob]), y, precision=None)
    return reference.predict_proba(np.column_stack([1 - queries, queries]))[1]


def by_probcal(prob, y, weights, queries):
    return needs("probcal").VennAbersCalibrator().fit(prob, y, sample_weight=weights).predict_interval(queries)


@pytest.mark.parametrize("predict_bounds", [by_venn_abers, by_probcal])
def test_folds_merge_the_predictors_without_each_of_them(predict_bounds):
    prob, y = probabilities()
    queries = np.concatenate([prob[:50], np.round(np.linspace(0, 1, 101), 2)])
    rests = [fold.rest.to_arrays() for fold in ScoreTable.from_arrays(prob, y).folds(5, 7)]
    p0, p1 = np.array([predict_bounds(*rest, queries) for rest in rests]).transpose(2, 0, 1)
    positive, negative = (np.exp(np.mean(np.log(p), axis=0)) for p in (p1, 1 - p0))
    cal = VennAbersCalibrator(n_folds=5, random_state=7).fit(prob, y)
    found = cal.predict_proba(queries)[:, 1]
    np.testing.assert_allclose(found, positive / (negative + positive), atol=1e-9)
    np.testing.assert_allclose(cal.predict_bounds(queries), [p0.mean(axis=0), p1.mean(axis=0)], atol=1e-9)
    assert np.all((found > p0.min(axis=0)) & (found < p1.max(axis=0)))
    assert cal.map_.is_monotone


def test_the_peer_merges_alike_what_its_own_folds_say():
    probcal = needs("probcal")
    prob, y = probabilities()
    queries = np.linspace(0, 1, 101)
    peer = probcal.CrossVennAbersCalibrator(cv=4).fit(prob, y).predict_proba(queries)
    ours = [VennAbersCalibrator(4, seed).fit(prob, y).predict_proba(queries)[:, 1] for seed in range(8)]
    # Folds differ by chance: the peer's are as far from ours as ours are from one another.
    spread = np.max(np.ptp(ours, axis=0))
    assert np.max(np.abs(peer - np.mean(ours, axis=0))) < spread


def test_folds_come_close_to_the_truth():
    rng = np.random.default_rng(0)
    gain = []
    for _ in range(10):
        scores = rng.normal(size=1000)
        y = (rng.random(1000) < 1 / (1 + np.exp(-2 * scores))).astype(int)
        new = rng.normal(size=2000)
        truth = 1 / (1 + np.exp(-2 * new))
        found = (VennAbersCalibrator(k, 0).fit(scores, y).predict_proba(new)[:, 1] for k in (None, 5))
        losses = [-np.mean(truth * np.log(p) + (1 - truth) * np.log1p(-p)) for p in found]
        gain.append(losses[0] - losses[1])
    assert np.mean(gain) > 0


def test_folds_of_counts_are_folds_of_rows():
    prob, y = probabilities()
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    cal = VennAbersCalibrator(3, 0).fit(prob, y, weights)
    rows = VennAbersCalibrator(3, 0).fit(np.repeat(prob, weights), np.repeat(y, weights))
    table = VennAbersCalibrator(3, 0).fit_table(ScoreTable.from_arrays(prob, y, weights))
    assert cal.map_ == rows.map_ == table.map_ == CalibrationMap.from_dict(cal.map_.to_dict())
    assert VennAbersCalibrator(3, 1).fit(prob, y, weights).map_ != cal.map_


@given(samples(min_size=4))
def test_folds_of_few_cases_may_lack_a_class(data):
    scores, y = data
    with ours_allowed():
        cal = VennAbersCalibrator(n_folds=4, random_state=0).fit(scores, y)
    p = cal.predict_proba(grid(scores))[:, 1]
    low, high = cal.predict_bounds(grid(scores))
    assert np.all((p > 0) & (p < 1))
    assert np.all((low >= 0) & (low <= high) & (high <= 1))


def test_folds_that_cannot_be_made_are_refused():
    prob, y = probabilities(20)
    with pytest.raises(InvalidInputError, match="needs counts; got float weights"):
        VennAbersCalibrator(n_folds=2).fit(prob, y, np.ones(20))
    with pytest.raises(InvalidInputError, match="folds must be"):
        VennAbersCalibrator(n_folds=1).fit(prob, y)
    with pytest.raises(InvalidInputError, match="at most the number of rows"):
        VennAbersCalibrator(n_folds=21).fit(prob, y)
