import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import log_expit, softmax

import oddsmith.classify.coupling as coupling
from oddsmith.classify.coupling import couple_code_matrix, couple_pairwise, normalize_one_vs_rest
from oddsmith.errors import InvalidInputError, NonConvergenceWarning
from samples import examples

VECTORS = json.loads((Path(__file__).parents[1] / "golden" / "vectors.json").read_text(encoding="utf-8"))["methods"]
seeds = st.integers(0, 2**32 - 1)
quick = examples(40)


def pairs(upper):
    """Complete r[i, j] given for i < j by r[j, i] = 1 − r[i, j]."""
    above = np.triu(upper, 1)
    return above + np.tril(1.0 - np.swapaxes(above, -1, -2), -1)


def pair_code(k):
    return np.array([[(c == i) - (c == j) for c in range(k)] for i in range(k) for j in range(i + 1, k)])


def one_vs_rest_code(k):
    return 2 * np.eye(k) - 1


def weighted_kl(p, r, n):
    upper = np.triu_indices(len(p), 1)
    r, mu, n = r[upper], (p[:, None] / (p[:, None] + p))[upper], n[upper]
    return np.sum(n * (r * np.log(r / mu) + (1 - r) * np.log((1 - r) / (1 - mu))))


def squared_error(p, r, code):
    return np.sum(((code > 0) @ p - r * ((code != 0) @ p)) ** 2)


@pytest.mark.parametrize("case", VECTORS["one_vs_all"], ids=lambda case: case["case"])
def test_one_vs_rest_vector(case):
    assert_allclose(normalize_one_vs_rest(case["inputs"]), case["probabilities"], atol=1e-10)
    assert_allclose(normalize_one_vs_rest([case["inputs"]]), [case["probabilities"]], atol=1e-10)


@pytest.mark.parametrize("case", VECTORS["pairwise_coupling"], ids=lambda case: case["case"])
def test_pairwise_vector(case):
    p = couple_pairwise(case["r"], case["n"])
    assert_allclose(p, case["probabilities"], atol=1e-10)
    kl = weighted_kl(p, np.array(case["r"]), np.array(case["n"]))
    assert_allclose(kl, case["weighted_kl"], atol=1e-10)


@pytest.mark.parametrize("case", VECTORS["code_matrix_least_squares"], ids=lambda case: case["case"])
def test_code_matrix_vector(case):
    assert_allclose(couple_code_matrix(case["r"], case["codes"]), case["probabilities"], atol=1e-10)


@quick
@given(seeds, st.integers(2, 5))
def test_pairwise_minimizes_the_weighted_divergence(seed, k):
    rng = np.random.default_rng(seed)
    r, n = pairs(rng.uniform(0.02, 0.98, size=(k, k))), rng.integers(1, 20, size=(k, k)).astype(float)
    n += n.T

    def divergence(theta):
        gap = theta[:, None] - theta
        return -np.sum(np.triu(n, 1) * (r * log_expit(gap) + (1 - r) * log_expit(-gap)))

    best = minimize(divergence, np.zeros(k), method="BFGS", options={"gtol": 1e-9})
    p = couple_pairwise(r, n)
    assert divergence(np.log(p)) <= best.fun + 1e-9
    assert_allclose(p, softmax(best.x), atol=1e-5)


@quick
@given(seeds, st.integers(2, 6))
def test_pairwise_recovers_consistent_answers(seed, k):
    p = np.random.default_rng(seed).dirichlet(np.full(k, 0.7)) * 0.999 + 0.001 / k
    assert_allclose(couple_pairwise(p[:, None] / (p[:, None] + p)), p, atol=2e-6)


@quick
@given(seeds, st.integers(2, 6), st.booleans())
def test_pairwise_gradient_vanishes_for_soft_and_certain_answers(seed, k, certain):
    upper = np.random.default_rng(seed).random((8, k, k))
    r = pairs(np.round(upper) if certain else upper)
    p = couple_pairwise(r)
    mu = p[:, :, None] / (p[:, :, None] + p[:, None, :])
    gap = (mu - np.clip(r, 1e-6, 1 - 1e-6)) * (1 - np.eye(k))
    assert_allclose(gap.sum(axis=2), 0, atol=1e-9)


@pytest.mark.parametrize("k", [2, 3, 30, 60])
def test_pairwise_with_one_class_certain_of_every_pair(k):
    p = couple_pairwise(pairs(np.ones((k, k))))
    assert_allclose(p[0], 1 - (k - 1) * 1e-6, atol=1e-6)
    assert np.all(np.diff(p) <= 0)
    assert_allclose(p.sum(), 1)


@pytest.mark.parametrize("couple", [couple_pairwise, lambda r: normalize_one_vs_rest(r[:, 0])])
def test_rows_are_independent(couple):
    r = pairs(np.random.default_rng(0).random((6, 4, 4)))
    rows = [4, 1, 5, 0, 2, 3]
    assert_allclose(couple(r[rows]), couple(r)[rows], atol=1e-11)
    assert_allclose(couple(r[2:3])[0], couple(r)[2], atol=1e-11)


@quick
@given(seeds, st.permutations(range(4)))
def test_permuting_classes_permutes_probabilities(seed, order):
    rng = np.random.default_rng(seed)
    r = pairs(rng.random((4, 4)))
    assert_allclose(couple_pairwise(r[np.ix_(order, order)]), couple_pairwise(r)[order], atol=1e-9)
    for code in (pair_code(4), one_vs_rest_code(4), np.array([[1, 1, -1, -1], [1, -1, 0, 0]])):
        answers = rng.random(len(code))
        expected = couple_code_matrix(answers, code)[order]
        assert_allclose(couple_code_matrix(answers, code[:, order]), expected, atol=1e-6)


def test_counts_only_matter_by_their_ratio_and_repeat_pairs():
    r = pairs(np.random.default_rng(1).random((3, 3)))
    n = np.array([[0, 3, 5], [3, 0, 2], [5, 2, 0]])
    assert_allclose(couple_pairwise(r, 7 * n), couple_pairwise(r, n), atol=1e-10)
    stacked = np.broadcast_to(n, (2, 3, 3))
    assert_allclose(couple_pairwise([r, r], stacked), [couple_pairwise(r, n)] * 2, atol=1e-12)


def test_a_class_never_seen_gets_zero():
    r = pairs(np.random.default_rng(2).random((5, 4, 4)))
    seen = [0, 1, 3]
    n = np.ones((4, 4))
    n[2] = n[:, 2] = 0
    r[:, 2] = r[:, :, 2] = 0.0
    p = couple_pairwise(r, n)
    assert np.all(p[:, 2] == 0)
    assert_allclose(p[:, seen], couple_pairwise(r[:, seen][:, :, seen]), atol=1e-10)
    assert_allclose(couple_pairwise(r, np.zeros((4, 4))), 0.25)
    code = np.array([[1, 0, -1], [1, 0, -1]])
    assert_allclose(couple_code_matrix([0.7, 0.7], code), [0.7, 0, 0.3], atol=1e-9)


def test_a_class_never_seen_stays_zero_when_newton_finishes():
    n = 1 - np.eye(4)
    n[3] = n[:, 3] = 0
    p = couple_pairwise(pairs(np.ones((4, 4))), n)
    assert p[3] == 0
    assert_allclose(p[:3], couple_pairwise(pairs(np.ones((3, 3)))), atol=1e-11)


def test_groups_that_were_never_compared_give_finite_answers():
    n = np.kron(np.eye(2), np.ones((2, 2)))
    p = couple_pairwise(pairs(np.ones((4, 4))), n)
    assert np.isfinite(p).all()
    assert_allclose(p[1] / p[0], 1e-6, rtol=1e-5)


@quick
@given(seeds, st.integers(2, 5), st.booleans())
def test_code_matrix_minimizes_its_objective(seed, k, rest):
    rng = np.random.default_rng(seed)
    code = one_vs_rest_code(k) if rest else pair_code(k)
    r = rng.random(len(code))
    p = couple_code_matrix(r, code)
    constraint = {"type": "eq", "fun": lambda q: q.sum() - 1}
    start = np.full(k, 1 / k)
    best = minimize(squared_error, start, args=(r, code), method="SLSQP", bounds=[(0, 1)] * k, constraints=constraint)
    assert squared_error(p, r, code) <= squared_error(best.x, r, code) + 1e-8
    assert p.min() >= 0
    assert_allclose(p.sum(), 1)


def test_code_matrix_recovers_consistent_answers_and_bounds_hold():
    p = np.array([[0.5, 0.3, 0.2], [0.98, 0.01, 0.01], [1.0, 0.0, 0.0]])
    assert_allclose(couple_code_matrix(p, one_vs_rest_code(3)), p, atol=1e-9)
    assert_allclose(couple_code_matrix([0.9, 0.8, 0.0], one_vs_rest_code(3)), [0.55, 0.45, 0.0], atol=1e-6)


def test_classes_that_the_code_cannot_tell_apart_share_equally():
    assert_allclose(couple_code_matrix([0.6], [[1, -1, -1]]), [0.6, 0.2, 0.2], atol=1e-6)


def test_non_convergence_is_reported(monkeypatch):
    monkeypatch.setattr(coupling, "_MAX_STEPS", 1)
    with pytest.warns(NonConvergenceWarning):
        couple_pairwise(pairs(np.ones((3, 3))))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: normalize_one_vs_rest([0.5, -0.1]), r"r\[1\]=-0.1"),
        (lambda: normalize_one_vs_rest([[0.5, np.nan]]), "1 of them NaN"),
        (lambda: couple_pairwise([[0.5, 0.5]]), "k × k answers"),
        (lambda: couple_pairwise([[0.5]]), "k ≥ 2"),
        (
            lambda: couple_pairwise([[0, 0.7], [0.7, 0]]),
            r"r\[i, j\] \+ r\[j, i\] must be 1; got a sum off by 0.4",
        ),
        (lambda: couple_pairwise([[0, np.nan], [0.7, 0]]), "r must be finite"),
        (lambda: couple_pairwise([[0, 0.7], [0.3, 0]], [1, 2]), "n must have 2 or 3 axes"),
        (lambda: couple_pairwise([[0, 0.7], [0.3, 0]], np.ones((3, 3))), "shaped like r"),
        (lambda: couple_pairwise([[0, 0.7], [0.3, 0]], [[0, 1], [2, 0]]), "symmetric"),
        (lambda: couple_pairwise([[0, 0.7], [0.3, 0]], [[0, -1], [-1, 0]]), "n must be ≥ 0"),
        (lambda: couple_code_matrix([0.5], [[1, 1]]), "at least one"),
        (lambda: couple_code_matrix([0.5], [[1, -2]]), r"\+1, −1 and 0"),
        (lambda: couple_code_matrix([0.5, 0.5], [[1, -1]]), "one answer per row of code; got 2 for 1 rows"),
        (lambda: couple_code_matrix([1.5], [[1, -1]]), r"in \[0, 1\]"),
    ],
)
def test_bad_input_is_refused_in_the_house_form(call, words):
    with pytest.raises(InvalidInputError, match=words) as caught:
        call()
    assert ". Hint: " in str(caught.value)
