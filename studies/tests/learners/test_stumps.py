import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from oddsmith_studies.learners._base import TrainingRows
from oddsmith_studies.learners.stumps import Stump, StumpLearner, weighted_sum
from samples import examples


def brute_force(X, sign, weight):
    """Return the least error and the stump that wins by the rule of ties, from all candidates one by one."""
    candidates = []
    for feature in range(X.shape[1]):
        values = np.unique(X[:, feature])
        for threshold in (values[:-1] + values[1:]) / 2:
            for high in (1.0, -1.0):
                stump = Stump(feature, threshold, -high, high)
                candidates.append((weight[stump.score(X) != sign].sum(), stump))
    least = min((error for error, _ in candidates), default=np.inf)
    constant = min(weight[sign > 0].sum(), weight[sign < 0].sum())
    if constant < least - 1e-9:
        return constant, None
    return least, next(stump for error, stump in candidates if error < least + 1e-9)


@examples(150)
@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 4), st.booleans(), st.booleans())
def test_search_equals_brute_force(seed, n, d, integer_weights, as_sparse):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, d)).astype(float)
    positive = rng.random(n) < 0.5
    weight = rng.integers(1, 4, n).astype(float) if integer_weights else rng.random(n) + 0.01
    data = TrainingRows(sparse.csr_array(X) if as_sparse else X, positive, np.ones(n))
    found = StumpLearner(data, "none", real=False).fit(weight)
    error, expected = brute_force(X, data.sign, weight)
    assert weight[found.score(X) != data.sign].sum() == pytest.approx(error)
    if expected is None:
        assert found.low == found.high
    else:
        assert found == expected


def test_neighboring_floats_are_separated():
    low = 1.0 + 2**-52
    X = np.array([[low], [np.nextafter(low, 2)]])
    stump = StumpLearner(TrainingRows(X, np.array([False, True]), np.ones(2)), "none", real=False).fit(np.ones(2))
    assert stump.score(X).tolist() == [-1, 1]


def test_blocks_do_not_change_the_winner(monkeypatch):
    rng = np.random.default_rng(0)
    X, positive, weight = rng.normal(size=(40, 9)), rng.random(40) < 0.5, rng.random(40)
    whole = StumpLearner(TrainingRows(X, positive, weight), "none", real=False).fit(weight)
    monkeypatch.setattr("oddsmith_studies.learners.stumps._BLOCK", 60)
    parts = StumpLearner(TrainingRows(X, positive, weight), "none", real=False)
    assert len(parts.blocks) > 3
    assert parts.fit(weight) == whole


@pytest.mark.parametrize("leaves", ["none", "laplace", "bayesian"])
def test_real_stumps_speak_in_leaf_probabilities(leaves):
    X, positive = np.array([[0.0], [0], [0], [1], [1]]), np.array([False, False, True, True, True])
    stump = StumpLearner(TrainingRows(X, positive, np.ones(5)), leaves, real=True).fit(np.ones(5))
    if leaves == "none":
        assert ((stump.low + 1) / 2, (stump.high + 1) / 2) == (pytest.approx(1 / 3), 1.0)
    if leaves == "laplace":
        assert ((stump.low + 1) / 2, (stump.high + 1) / 2) == (pytest.approx(2 / 5), pytest.approx(3 / 4))
    constant = StumpLearner(TrainingRows(np.zeros((5, 1)), positive, np.ones(5)), leaves, real=True).fit(np.ones(5))
    assert constant.low == constant.high == pytest.approx({"none": 0.2, "laplace": 1 / 7, "bayesian": 1 / 7}[leaves])


def test_weighted_sum_equals_one_by_one():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(30, 3)).astype(float)
    stumps = [
        Stump(int(f), t, lo, hi)
        for f, t, lo, hi in zip(
            rng.integers(0, 3, 20), rng.integers(0, 4, 20) / 1.0, *rng.uniform(-1, 1, (2, 20)), strict=True
        )
    ]
    stumps.append(Stump(0, -np.inf, 1.0, 1.0))
    weights = rng.random(21)
    expected = sum(w * s.score(X) for w, s in zip(weights, stumps, strict=True))
    np.testing.assert_allclose(weighted_sum(stumps, weights, X), expected, atol=1e-12)
    np.testing.assert_allclose(weighted_sum(stumps, weights, sparse.csr_array(X)), expected, atol=1e-12)
