import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from oddsmith.decide import binary_costs, cost_threshold, decide, expected_cost, uncertainty_sampling
from oddsmith.errors import InvalidInputError

VECTORS = json.loads((Path(__file__).parent / "golden" / "vectors.json").read_text(encoding="utf-8"))["methods"]
BINARY, THREE = VECTORS["bayes_decision"]
ZERO_ONE = [[0, 1], [1, 0]]


def vector_costs():
    named = BINARY["options"]
    return binary_costs(
        false_positive=named["c_fp"],
        false_negative=named["c_fn"],
        true_positive=named["c_tp"],
        true_negative=named["c_tn"],
    )


def distributions(n, k, seed):
    return np.random.default_rng(seed).dirichlet(np.full(k, 0.5), size=n)


def test_binary_vector():
    costs = vector_costs()
    assert cost_threshold(costs) == pytest.approx(BINARY["threshold"], abs=1e-12)
    assert_allclose(expected_cost(BINARY["inputs"], costs)[:, 0], BINARY["risk_if_negative"], atol=1e-10)
    assert_allclose(expected_cost(BINARY["inputs"], costs)[:, 1], BINARY["risk_if_positive"], atol=1e-10)
    assert decide(BINARY["inputs"], costs).tolist() == BINARY["decisions"]


def test_three_class_vector():
    assert_allclose(expected_cost(THREE["inputs"], THREE["cost"]), THREE["risks"], atol=1e-10)
    assert decide(THREE["inputs"], THREE["cost"]).tolist() == THREE["decisions"]


def test_uncertainty_vector():
    case = VECTORS["uncertainty_sampling"][0]
    assert uncertainty_sampling(case["inputs"], case["take"]).tolist() == case["picked"]
    assert uncertainty_sampling(case["inputs"], len(case["inputs"])).tolist() == case["order"]


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 100))
def test_binary_decision_is_the_threshold_rule_and_ties_are_negative(wrong, missed, hundredths):
    costs = binary_costs(false_positive=wrong, false_negative=missed)
    exact = hundredths * (wrong + missed) > 100 * wrong
    assert decide([hundredths / 100], costs)[0] == exact


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(1, 4))
def test_no_decision_is_cheaper_than_the_one_taken(seed, k, d):
    costs = np.random.default_rng(seed).normal(size=(d, k))
    prob = distributions(20, k, seed)
    taken = expected_cost(prob, costs)[np.arange(20), decide(prob, costs)]
    assert_allclose(taken, expected_cost(prob, costs).min(axis=1), atol=1e-11)


def test_two_columns_say_the_same_as_one():
    prob = np.linspace(0, 1, 21)
    both = np.column_stack([1 - prob, prob])
    costs = vector_costs()
    assert np.array_equal(decide(prob, costs), decide(both, costs))
    assert np.array_equal(uncertainty_sampling(prob, 21), uncertainty_sampling(both, 21))


def test_permuting_classes_and_decisions_permutes_decisions():
    prob, costs = distributions(50, 4, 0), np.random.default_rng(1).random((4, 4))
    order = np.array([2, 0, 3, 1])
    permuted = decide(prob[:, order], costs[np.ix_(order, order)])
    assert np.array_equal(order[permuted], decide(prob, costs))


def test_adding_a_cost_that_only_depends_on_the_class_changes_no_decision():
    prob, costs = distributions(200, 3, 2), np.random.default_rng(3).random((3, 3))
    assert np.array_equal(decide(prob, costs), decide(prob, costs + np.array([5.0, -2.0, 1.0])))


def test_abstention_where_its_price_is_lower_and_never_on_a_tie():
    assert decide([0.1, 0.25, 0.3, 0.5, 0.75], ZERO_ONE, abstain=0.25).tolist() == [0, 0, -1, -1, 1]
    prob = distributions(100, 3, 4)
    costs = 1 - np.eye(3)
    cheap = expected_cost(prob, costs).min(axis=1) <= 0.3
    assert np.array_equal(decide(prob, costs, abstain=0.3) >= 0, cheap)
    assert np.array_equal(decide(prob, costs, abstain=1.0), decide(prob, costs))


def test_costs_may_be_gains_and_decisions_may_outnumber_classes():
    assert decide([0.1, 0.5, 0.9], [[-1, 0], [0, -1], [-0.6, -0.6]]).tolist() == [0, 2, 1]


def test_rounding_does_not_break_ties():
    assert decide([0.3], binary_costs(false_positive=3, false_negative=7)).tolist() == [0]
    assert uncertainty_sampling([0.7, 0.3, 0.7, 0.3], 4).tolist() == [0, 1, 2, 3]


def test_multi_class_uncertainty_is_the_margin_of_the_two_best():
    prob = [[0.5, 0.3, 0.2], [0.4, 0.35, 0.25], [0.34, 0.33, 0.33], [0.9, 0.05, 0.05]]
    assert uncertainty_sampling(prob, 3).tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: decide([0.2, np.nan], ZERO_ONE), r"prob must be finite.*1 of them NaN.*prob\[1\]=nan"),
        (lambda: decide([0.2, 1.2], ZERO_ONE), r"in \[0, 1\]; got 1 bad values.*prob\[1\]=1.2"),
        (lambda: decide([-0.2], ZERO_ONE), r"prob\[0\]=-0.2"),
        (lambda: decide([[0.2, 0.2]], ZERO_ONE), "rows of prob must sum to 1; got row 0 with sum 0.4"),
        (lambda: decide([[0.2]], ZERO_ONE), "one column a class"),
        (lambda: decide([], ZERO_ONE), "must not be empty"),
        (lambda: decide(np.zeros((1, 2, 2)), ZERO_ONE), "1 or 2 axes; got shape"),
        (lambda: decide([0.2], [1, 2]), "costs must have 2 axes"),
        (lambda: decide([0.2], [[1, 2, 3], [0, 0, 0]]), r"one column a class; got costs of shape \(2, 3\)"),
        (lambda: decide([0.2], [[0, np.inf], [1, 0]]), r"costs must be finite.*costs\[0, 1\]=inf"),
        (lambda: decide([0.2], ZERO_ONE, abstain="cheap"), "abstain must be a number"),
        (lambda: decide([0.2], ZERO_ONE, abstain=np.nan), "abstain must be finite"),
        (lambda: decide(["a"], ZERO_ONE), "prob must be numeric"),
        (lambda: binary_costs(false_positive=None, false_negative=1), "false_positive must be a number"),
        (lambda: cost_threshold([[1, 0], [0, 1]]), "being wrong must cost more than being right"),
        (lambda: cost_threshold(1 - np.eye(3)), r"shape \(2, 2\)"),
        (lambda: uncertainty_sampling([0.1, 0.2], 3), "at most the size of the pool; got k=3 for 2 items"),
        (lambda: uncertainty_sampling([0.1, 0.2], 0), "k must be an integer ≥ 1"),
    ],
)
def test_bad_input_is_refused_in_the_house_form(call, words):
    with pytest.raises(InvalidInputError, match=words) as caught:
        call()
    assert "; got " in str(caught.value)
    assert ". Hint: " in str(caught.value)
