"""Scores that differ by rounding alone: which they are, and that the table which joins them is a function of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from oddsmith import ScoreTable
from oddsmith.data.near_ties import around, near_runs

RNG = np.random.default_rng(0)
FAMILIES = {
    "normal": RNG.normal(size=20_000),
    "cauchy": RNG.standard_cauchy(20_000),
    "log-normal": np.exp(4 * RNG.normal(size=20_000)),
    "skewed probabilities": expit(RNG.normal(-15, 6, 20_000)),
    "sure probabilities": expit(RNG.normal(8, 6, 20_000)),
    "log-uniform": 10 ** RNG.uniform(-300, 300, 20_000),
    "far from 0": 1e6 + RNG.normal(size=20_000),
    "integers": np.arange(1.0, 20_001.0),
    "two far clusters": np.concatenate([RNG.normal(size=10_000), 1e8 + RNG.normal(size=10_000)]),
}


def runs(scores):
    """Return the scores, grouped."""
    ordered = np.unique(scores)
    starts = near_runs(ordered)
    return [part.tolist() for part in np.split(ordered, np.arange(len(ordered))[1:] if starts is None else starts[1:])]


@pytest.mark.parametrize("family", FAMILIES)
class TestFamilies:
    def test_scores_that_differ_stay_apart(self, family):
        ordered = np.unique(FAMILIES[family])
        starts = near_runs(ordered)
        joined = 0 if starts is None else len(ordered) - len(starts)
        # A probability of 1 − 1e−16 has no more digits; elsewhere hardly any two come so close by chance.
        assert joined <= (0.001 if family != "sure probabilities" else 0.02) * len(ordered)

    @pytest.mark.parametrize("copies", [1, 3])
    def test_copies_that_differ_in_the_last_bits_are_joined(self, family, copies):
        scores = np.unique(FAMILIES[family])[::10]
        if family == "sure probabilities":
            scores = scores[scores < 1 - 1e-10]
        noisy = [scores]
        for _ in range(copies):
            noisy.append(np.nextafter(noisy[-1], np.inf))
        found = runs(np.concatenate(noisy))
        assert len(found) == len(runs(scores))
        assert {len(run) for run in found} >= {copies + 1}

    def test_the_mirror_joins_the_same(self, family):
        scores = np.unique(FAMILIES[family])[::10]
        scores = np.concatenate([scores, np.nextafter(scores, np.inf)])
        mirrored = [[-score for score in run[::-1]] for run in runs(-scores)[::-1]]
        assert mirrored == runs(scores)


def test_solver_noise_about_0_is_joined():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=500)
    assert len(runs(np.concatenate([scores, scores + 1e-12 * rng.normal(size=500)]))) == 500


def test_small_probabilities_stay_apart():
    assert runs([0, 1e-300, 2e-300, 1]) == [[0], [1e-300], [2e-300], [1]]
    assert runs([0, 5e-324, 1]) == [[0], [5e-324], [1]]
    assert runs([0.2, 1 - 3e-12, 1 - 1e-12]) == [[0.2], [1 - 3e-12], [1 - 1e-12]]


def test_a_few_last_bits_are_joined_where_there_is_anything_else():
    below = np.nextafter(1.0, 0)
    assert runs([0.25, below, 1.0]) == [[0.25], [below, 1.0]]
    assert runs([np.nextafter(below, 0), below, 1.0]) == [[np.nextafter(below, 0), below, 1.0]]
    assert runs([below, 1.0]) == [[below], [1.0]]
    assert runs([3.0]) == [[3.0]]


def test_dense_scores_are_not_one_score():
    dense = 1 - np.arange(2000) * 2.0**-53
    assert len(runs(dense)) == 2000
    assert len(runs(1e10 + np.arange(2000) * 2.0**-19)) == 2000


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_runs_are_narrow_whatever_the_scores(scores):
    with np.errstate(over="ignore"):
        found = runs(np.array(scores) + 0.0)
        ordered = np.unique(np.array(scores) + 0.0)
        span = ordered[-1] / 4 - ordered[0] / 4
        size = max(abs(ordered[0]), abs(ordered[-1])) / 4
    assert [score for run in found for score in run] == ordered.tolist()
    for run in found:
        assert run[-1] / 4 - run[0] / 4 <= 2 * (2.0**-30 * span + 2.0**-50 * size)


@pytest.mark.parametrize("weight", [None, "counts", "weights"])
def test_the_joined_table_has_all_rows(weight):
    rng = np.random.default_rng(2)
    scores = np.repeat(rng.normal(size=50), 2) + np.tile([0, 1e-15], 50)
    y = rng.integers(0, 2, 100)
    given = {None: None, "counts": rng.integers(0, 3, 100), "weights": rng.uniform(size=100)}[weight]
    table = ScoreTable.from_arrays(scores, y, given)
    joined = table.join_near_ties()
    assert len(joined) <= 50
    assert (joined.rows, joined.kind) == (table.rows, table.kind)
    np.testing.assert_allclose([joined.n_pos, joined.n_neg], [table.n_pos, table.n_neg], rtol=1e-14)
    assert joined.join_near_ties() is joined
    order = rng.permutation(100)
    shuffled = ScoreTable.from_arrays(scores[order], y[order], None if given is None else given[order])
    if weight != "weights":
        assert shuffled.join_near_ties() == joined


def test_nothing_to_join_is_the_table_itself():
    table = ScoreTable.from_arrays([0.1, 0.5, 0.9], [0, 1, 1])
    assert table.join_near_ties() is table
    cells = ScoreTable.from_arrays(np.array([0.5, 0.5 + 1e-16, 3]), [0, 1, 1]).quantize(1.0)
    assert cells.join_near_ties() is cells


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_knots_lie_within_what_is_around_them(scores):
    knots = np.unique(np.array(scores) + 0.0)
    low, high = around(knots)
    assert np.all((low < knots) | (knots == -np.finfo(float).max))
    assert np.all(knots <= high)
    assert np.all(high[:-1] <= low[1:])
    assert np.isfinite([low, high]).all()
