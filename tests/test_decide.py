import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from oddsmith.decide import binary_costs, cost_threshold, decide, expected_cost, uncertainty_sampling
from oddsmith.errors import InvalidInputError
from samples import examples

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


@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(1, 4))
def test_no_decision_is_cheaper_than_the_one_taken(seed, k, d):
    costs = np.random.default_rng(seed).normal(size=(d, k))
    prob = distributions(20, k, seed)
    taken = expected_cost(prob, costs)[np.arange(20), decide(prob, costs)]
    assert_allclose(taken, expected_cost(prob, costs).min(axis=1), atol=1e-11)


amounts = st.builds(lambda sign, tens: sign * 10.0**tens, st.sampled_from([-1, 1]), st.floats(-25, 25))
prices = st.one_of(st.just(0.0), amounts)
probabilities = st.one_of(
    st.sampled_from([0.0, 1.0]),
    st.floats(0, 1),
    st.floats(-40, 0).map(lambda tens: 10.0**tens),
    st.floats(-16, -1).map(lambda tens: 1 - 10.0**tens),
)


def exact_costs(prob, costs):
    """Return expected costs in fractions, and how large the terms are that they are sums of."""
    p = [1 - Fraction(prob), Fraction(prob)]
    terms = [[Fraction(cost) * share for cost, share in zip(row, p, strict=True)] for row in costs]
    return [sum(row) for row in terms], [sum(map(abs, row)) for row in terms]


@examples(500)
@given(probabilities, st.lists(st.tuples(prices, prices), min_size=1, max_size=4), st.none() | prices)
def test_decision_is_the_cheapest_in_exact_arithmetic_whatever_the_sizes_of_costs(prob, costs, abstain):
    rows = [*costs, *([] if abstain is None else [(abstain, abstain)])]
    risk, size = exact_costs(prob, rows)
    taken = int(decide([prob], costs, abstain=abstain)[0]) % len(rows)  # −1 is the last row
    best = min(range(len(rows)), key=lambda d: risk[d])
    # The last place of P shifts the risk by 1.1e-16 of the costs of the other class too.
    slack = Fraction(1, 10**15) * sum(size[d] + abs(Fraction(rows[d][0])) * (prob < 1) for d in (taken, best))
    assert risk[taken] <= risk[best] + slack
    cheaper = [d for d in range(taken) if risk[d] < risk[taken] - slack]
    assert not cheaper


positive_amounts = st.floats(-25, 25).map(lambda tens: 10.0**tens)


@examples(500)
@given(probabilities, positive_amounts, positive_amounts)
def test_threshold_decision_and_expected_cost_agree(prob, false_positive, false_negative):
    costs = binary_costs(false_positive=false_positive, false_negative=false_negative)
    threshold, (negative, positive) = cost_threshold(costs), expected_cost([prob], costs)[0]
    exact = Fraction(false_positive) / (Fraction(false_positive) + Fraction(false_negative))
    assert abs(Fraction(threshold) - exact) <= 2 * Fraction(np.spacing(threshold))
    assert decide([threshold], costs) == [0]
    if abs(prob - threshold) > 8 * np.spacing(threshold):
        assert decide([prob], costs)[0] == (prob > threshold) == (positive < negative)
    elif prob in (0.0, 1.0):
        assert decide([prob], costs)[0] == (prob > threshold) == prob


def test_a_large_cost_elsewhere_changes_no_decision():
    assert decide([0.9], ZERO_ONE, abstain=1e12).tolist() == [1]
    assert decide([0.9], [*ZERO_ONE, [1e12, 1e12]]).tolist() == [1]
    assert decide([0.9, 0.9], [ZERO_ONE, [[0, 1e300], [1e300, 0]]]).tolist() == [1, 1]
    # One in 1e20 at a cost of 1e20: 1.5 against 1.
    assert decide([1.5e-20, 0.5e-20], binary_costs(false_positive=1, false_negative=1e20)).tolist() == [1, 0]
    assert cost_threshold(binary_costs(false_positive=1.7e308, false_negative=1.7e308)) == 0.5


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(2, 4), st.booleans())
def test_costs_of_each_row_are_those_of_the_row_alone(seed, n, k, with_price):
    rng = np.random.default_rng(seed)
    prob, costs = distributions(n, k, seed), rng.normal(size=(n, 3, k)) * 10.0 ** rng.integers(-9, 9, (n, 3, 1))
    price = rng.normal(size=n) if with_price else None
    alone = [decide(prob[i : i + 1], costs[i], abstain=None if price is None else float(price[i]))[0] for i in range(n)]
    assert decide(prob, costs, abstain=price).tolist() == alone
    each = np.concatenate([expected_cost(prob[i : i + 1], costs[i]) for i in range(n)])
    assert_allclose(expected_cost(prob, costs), each, rtol=1e-12)


def test_named_costs_of_each_row():
    amounts = np.array([2.0, 9.0, 400.0])
    costs = binary_costs(false_positive=1, false_negative=amounts)
    assert costs.shape == (3, 2, 2)
    assert_allclose(cost_threshold(costs), 1 / (1 + amounts))
    assert decide([0.2, 0.2, 0.002], costs).tolist() == [0, 1, 0]
    for row, amount in zip(costs, amounts, strict=True):
        assert np.array_equal(row, binary_costs(false_positive=1, false_negative=amount))


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
        (lambda: decide([[0.2]], ZERO_ONE), "prob must have one column"),
        (lambda: decide([], ZERO_ONE), "must not be empty"),
        (lambda: decide(np.zeros((1, 2, 2)), ZERO_ONE), "1 or 2 axes; got shape"),
        (lambda: decide([0.2], [1, 2]), "costs must have 2 or 3 axes"),
        (lambda: decide([0.2], [[1, 2, 3], [0, 0, 0]]), r"one column per class; got costs of shape \(2, 3\)"),
        (lambda: decide([0.2], [[0, np.inf], [1, 0]]), r"costs must be finite.*costs\[0, 1\]=inf"),
        (lambda: decide([0.2], ZERO_ONE, abstain="cheap"), "abstain must be a number"),
        (lambda: decide([0.2], ZERO_ONE, abstain=np.nan), "abstain must be finite;"),
        (lambda: decide(["a"], ZERO_ONE), "prob must be numeric"),
        (lambda: binary_costs(false_positive=None, false_negative=1), "false_positive must be a number"),
        (lambda: cost_threshold([[1, 0], [0, 1]]), "being wrong must cost more than being right"),
        (lambda: cost_threshold(1 - np.eye(3)), r"shape \(2, 2\) or \(n, 2, 2\)"),
        (lambda: cost_threshold([ZERO_ONE, [[1, 0], [0, 1]]]), "TP=1 in row 1"),
        (lambda: decide([0.2, 0.4], [ZERO_ONE]), r"one matrix per row of prob; got costs of shape \(1, 2, 2\) for 2"),
        (lambda: decide([0.2, 0.4], ZERO_ONE, abstain=[0.1]), "abstain must be a number or one per row; got 1 prices"),
        (lambda: decide([0.2], ZERO_ONE, abstain=[np.nan]), r"abstain must be finite.*abstain\[0\]=nan"),
        (
            lambda: binary_costs(false_positive=[1, 2], false_negative=[1, 2, 3]),
            r"equally long; got false_negative \(3,\), false_positive \(2,\)",
        ),
        (lambda: binary_costs(false_positive=[1, np.inf], false_negative=1), r"false_positive\[1\]=inf"),
        (lambda: uncertainty_sampling([0.1, 0.2], 3), "at most the size of the pool; got k=3 for 2 items"),
        (lambda: uncertainty_sampling([0.1, 0.2], 0), "k must be an integer ≥ 1"),
    ],
)
def test_bad_input_is_refused_in_the_house_form(call, words):
    with pytest.raises(InvalidInputError, match=words) as caught:
        call()
    assert "; got " in str(caught.value)
    assert ". Hint: " in str(caught.value)
