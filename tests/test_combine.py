import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

import oddsmith.combine
from oddsmith.combine import (
    StackingCombiner,
    combine_class_probabilities,
    combine_probabilities,
    independent_evidence,
    mean_log_odds,
    mean_probability,
)
from oddsmith.errors import InvalidInputError, NonConvergenceWarning, SingleClassWarning
from samples import examples

VECTOR = json.loads((Path(__file__).parent / "golden" / "vectors.json").read_text(encoding="utf-8"))["methods"]
VECTOR = VECTOR["combine"][0]
RULES = [mean_probability, mean_log_odds, lambda L: independent_evidence(L, 0.3)]
log_odds = arrays(np.float64, (4, 3), elements=st.floats(-30, 30))


def stacking_data(n=300, seed=0):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n, 3))
    return columns, rng.random(n) < expit(columns @ [1.0, 0.5, 0.0] - 0.5)


@pytest.mark.parametrize(
    ("rule", "options", "key"),
    [
        (mean_probability, {}, "arithmetic_mean"),
        (mean_log_odds, {}, "mean_log_odds"),
        (independent_evidence, {"prior": VECTOR["prior"]}, "independent_bayes"),
    ],
)
def test_vector(rule, options, key):
    assert_allclose(combine_probabilities(VECTOR["inputs"], rule, **options), VECTOR[key], atol=1e-10)
    assert_allclose(expit(rule(logit(VECTOR["inputs"]), **options)), VECTOR[key], atol=1e-10)


@given(log_odds)
def test_mean_probability_equals_the_plain_mean(columns):
    assert_allclose(expit(mean_probability(columns)), expit(columns).mean(axis=1), rtol=1e-12)


@pytest.mark.parametrize("rule", RULES)
@given(log_odds, st.permutations(range(3)))
def test_order_of_classifiers_is_irrelevant(rule, columns, order):
    assert_allclose(rule(columns[:, order]), rule(columns), atol=1e-11)


@pytest.mark.parametrize("rule", RULES)
def test_a_single_classifier_is_kept(rule):
    assert_allclose(rule([[-3.0], [0.25]]), [-3.0, 0.25], atol=1e-12)


@given(log_odds, st.floats(0.01, 0.99))
def test_swapping_the_classes_swaps_the_sign(columns, prior):
    assert_allclose(mean_probability(-columns), -mean_probability(columns), atol=1e-11)
    swapped = independent_evidence(-columns, 1 - prior)
    assert_allclose(swapped, -independent_evidence(columns, prior), atol=1e-9)


def test_huge_log_odds_stay_finite():
    extreme = [[1e4, -1e4], [1e4, 1e4], [-1e4, -1e4], [1e4, 0.0]]
    assert_allclose(mean_probability(extreme), [0.0, 1e4, -1e4, np.log(3)], atol=1e-9)
    assert_allclose(mean_log_odds([[1.7e308, 1.7e308]]), [1.7e308])


certainties = arrays(np.float64, (4, 3), elements=st.sampled_from([0.0, 1.0, 0.25, 1e-300, 1 - 1e-16]))


@given(certainties)
def test_certain_classifiers_are_combined_wherever_the_rule_has_a_value(prob):
    assert_allclose(combine_probabilities(prob, mean_probability), prob.mean(axis=1), rtol=1e-12)
    low, high = (prob == 0).any(axis=1), (prob == 1).any(axis=1)
    for rule in RULES[1:]:
        if (low & high).any():
            with pytest.raises(InvalidInputError, match=f"both ways .*got {int((low & high).sum())} such rows"):
                combine_probabilities(prob, rule)
        found = combine_probabilities(prob[~(low & high)], rule) if not (low & high).all() else np.zeros(0)
        sure = (low | high)[~(low & high)]
        assert np.array_equal(found[sure], high[~(low & high)][sure])
        assert ((found[~sure] >= 0) & (found[~sure] <= 1)).all()


def objective(theta, columns, y, weight, l2):
    signed = (2.0 * y - 1.0) * (columns @ theta[:-1] + theta[-1])
    return weight @ np.logaddexp(0, -signed) + l2 / 2 * theta[:-1] @ theta[:-1]


def test_stacking_minimizes_its_objective():
    columns, y = stacking_data()
    weight = np.random.default_rng(1).random(len(y))
    fitted = StackingCombiner(penalty=0.5).fit(columns, y, sample_weight=weight)
    found = np.append(fitted.coef_, fitted.intercept_)
    best = minimize(objective, np.zeros(4), args=(columns, y, weight, 0.5), tol=1e-10)
    assert objective(found, columns, y, weight, 0.5) <= best.fun + 1e-10
    assert_allclose(found, best.x, atol=1e-4)


def test_log_probabilities_are_finite_where_probabilities_round():
    columns, y = stacking_data()
    fitted = StackingCombiner().fit(columns, y)
    assert_allclose(fitted.predict_log_proba(columns), np.log(fitted.predict_proba(columns)), rtol=1e-9)
    far = 1e6 * columns[:5]
    assert (fitted.predict_proba(far).min(axis=1) == 0).all()
    assert_allclose(np.diff(fitted.predict_log_proba(far), axis=1)[:, 0], fitted.log_odds(far))


def test_stacking_finds_the_useless_classifier():
    fitted = StackingCombiner().fit(*stacking_data(20_000))
    assert_allclose(fitted.coef_, [1.0, 0.5, 0.0], atol=0.06)
    assert fitted.intercept_ == pytest.approx(-0.5, abs=0.06)


@examples(20)
@given(st.integers(0, 1000))
def test_stacking_weights_are_repetitions_and_zero_is_absence(seed):
    columns, y = stacking_data(60, seed)
    counts = np.random.default_rng(seed).integers(0, 3, size=60)
    weighted = StackingCombiner().fit(columns, y, sample_weight=counts)
    repeated = StackingCombiner().fit(np.repeat(columns, counts, axis=0), np.repeat(y, counts))
    assert_allclose(weighted.coef_, repeated.coef_, atol=1e-8)
    assert_allclose(weighted.log_odds(columns), repeated.log_odds(columns), atol=1e-8)


def test_stacking_ignores_row_order_and_follows_column_order():
    columns, y = stacking_data()
    rows, order = np.random.default_rng(2).permutation(len(y)), [2, 0, 1]
    fitted = StackingCombiner().fit(columns, y)
    assert_allclose(StackingCombiner().fit(columns[rows], y[rows]).coef_, fitted.coef_, atol=1e-9)
    assert_allclose(StackingCombiner().fit(columns[:, order], y).coef_, fitted.coef_[order], atol=1e-9)


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4, 1e150])
def test_stacking_separable_and_scaled_columns_stay_finite(scale):
    columns, _ = stacking_data()
    fitted = StackingCombiner().fit(columns * scale, columns.sum(axis=1) > 0)
    assert np.isfinite(fitted.coef_).all()
    assert np.isfinite(fitted.predict_proba(columns * scale)).all()


@pytest.mark.parametrize(("y", "expected"), [([1, 1, 1], 4 / 5), ([0, 0, 0], 1 / 5)])
def test_stacking_of_one_class_is_the_add_one_prior(y, expected):
    with pytest.warns(SingleClassWarning):
        fitted = StackingCombiner().fit([[1.0, 2.0], [0.0, 1.0], [2.0, 0.0]], y)
    assert_allclose(fitted.predict_proba([[9.0, 9.0]])[0, 1], expected)


def test_stacking_names_the_positive_class():
    columns, y = stacking_data()
    labels = np.where(y, "ham", "spam")
    by_order = StackingCombiner().fit(columns, labels)
    named = StackingCombiner(pos_label="ham").fit(columns, labels)
    assert by_order.classes_.tolist() == ["ham", "spam"]
    assert named.classes_.tolist() == ["spam", "ham"]
    assert_allclose(named.log_odds(columns), -by_order.log_odds(columns), atol=1e-8)
    assert np.array_equal(named.predict(columns), by_order.predict(columns))


def test_stacking_survives_pickle_and_clone():
    columns, y = stacking_data()
    fitted = StackingCombiner(penalty=2.0).fit(columns, y)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).log_odds(columns), fitted.log_odds(columns))
    assert clone(fitted).penalty == 2.0


def test_stacking_reports_non_convergence(monkeypatch):
    hasty = lambda **options: LogisticRegression(**(options | {"max_iter": 1}))  # noqa: E731
    monkeypatch.setattr(oddsmith.combine, "LogisticRegression", hasty)
    with pytest.warns(NonConvergenceWarning):
        StackingCombiner().fit(*stacking_data())


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mean_log_odds([1.0, 2.0]), "log_odds must have 2 axes"),
        (
            lambda: mean_log_odds([[0.0, 1.0], [np.inf, -np.inf]]),
            r"certain both ways.*1 such rows, first log_odds\[1\]",
        ),
        (lambda: independent_evidence([[np.inf, -np.inf]], 0.5), "certain both ways"),
        (lambda: StackingCombiner().fit([[np.inf], [2.0]], [0, 1]), r"log_odds must be finite.*log_odds\[0, 0\]=inf"),
        (lambda: mean_probability([[np.nan, np.inf]]), "log_odds must not be NaN; got 1 bad values, 1 of them NaN"),
        (lambda: independent_evidence([[1.0]], 0.0), "prior must be finite and > 0"),
        (lambda: independent_evidence([[1.0]], 1.0), "prior must be between 0 and 1"),
        (lambda: combine_probabilities([[0.0, 1.0]], mean_log_odds), "P = 0 and P = 1"),
        (lambda: combine_probabilities([[0.5, -0.1]], mean_log_odds), r"in \[0, 1\]"),
        (lambda: StackingCombiner(penalty=0).fit(*stacking_data()), "penalty must be finite and > 0"),
        (lambda: StackingCombiner().fit([[1.0], [2.0]], [0, 1, 1]), "3 labels for 2"),
        (lambda: StackingCombiner().fit(*stacking_data()).log_odds([[1.0]]), "X has 1 features"),
    ],
)
def test_bad_input_is_refused_in_the_house_form(call, words):
    with pytest.raises(InvalidInputError, match=words) as caught:
        call()
    assert ". Hint: " in str(caught.value)


EXPECTED_FAILURES = {
    "check_dtype_object": "a dict among the numbers is refused with InvalidInputError, a ValueError",
}


@pytest.mark.filterwarnings("ignore::oddsmith.errors.OddsmithWarning")
@parametrize_with_checks([StackingCombiner()], expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


class TestSeveralClasses:
    PROB = np.random.default_rng(3).dirichlet([1, 2, 3], size=(20, 4))

    @pytest.mark.parametrize("rule", [mean_probability, mean_log_odds, independent_evidence])
    def test_two_classes_are_the_rule_itself(self, rule):
        p = np.random.default_rng(4).uniform(0.01, 0.99, size=(30, 3))
        prior = {"prior": 0.3} if rule is independent_evidence else {}
        shares = [0.7, 0.3] if prior else None
        found = combine_class_probabilities(np.stack([1 - p, p], axis=2), rule, shares)
        np.testing.assert_allclose(found[:, 1], combine_probabilities(p, rule, **prior), rtol=1e-12)
        np.testing.assert_allclose(found.sum(axis=1), 1)

    def test_formulas(self):
        np.testing.assert_allclose(combine_class_probabilities(self.PROB, mean_probability), self.PROB.mean(axis=1))
        pooled = np.exp(np.log(self.PROB).mean(axis=1))
        expected = pooled / pooled.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(combine_class_probabilities(self.PROB, mean_log_odds), expected)
        shares = np.array([0.2, 0.3, 0.5])
        product = self.PROB.prod(axis=1) / shares**3
        expected = product / product.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(combine_class_probabilities(self.PROB, independent_evidence, shares), expected)

    @pytest.mark.parametrize(
        ("prob", "rule", "prior", "words"),
        [
            ([[[1.0, 0.0], [0.0, 1.0]]], mean_log_odds, None, r"some class must be possible .* first prob\[0\]"),
            ([[[0.5, 0.6], [0.5, 0.5]]], mean_log_odds, None, "must sum to 1"),
            ([[0.5, 0.5]], mean_log_odds, None, "prob must have 3 axes"),
            (PROB, independent_evidence, None, "prior must be one share > 0 per class; got none"),
            (PROB, independent_evidence, [0.5, 0.5], "prior must be one share > 0 per class"),
            (PROB, np.mean, None, "rule must be a rule of oddsmith.combine"),
        ],
    )
    def test_what_has_no_answer_is_refused(self, prob, rule, prior, words):
        with pytest.raises(InvalidInputError, match=words):
            combine_class_probabilities(prob, rule, prior)


@pytest.mark.parametrize("size", [1e-10, 1e-160, 1e-200, 1e-300])
def test_stacking_of_tiny_log_odds(size):
    stack = StackingCombiner().fit([[size], [-size], [size]], [0, 1, 1])
    # So little evidence leaves the prior alone, and the penalty rules: w = Σ (y − π)·L/penalty.
    assert stack.intercept_ == pytest.approx(np.log(2))
    assert stack.coef_[0] / size == pytest.approx(-2 / 3 / 0.1)


def test_stacking_with_a_huge_penalty():
    stack = StackingCombiner(penalty=1e20).fit([[1.0], [-1.0], [1.0]], [0, 1, 1])
    assert stack.intercept_ == pytest.approx(np.log(2))
    assert stack.coef_[0] == pytest.approx(-2 / 3 / 1e20)
