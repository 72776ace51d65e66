"""Every learner is a scikit-learn classifier, refuses bad input in one form, and takes sparse rows."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from oddsmith.classify import CalibratedClassifier, classifier_scores
from oddsmith.errors import InvalidInputError
from oddsmith_studies import learners
from oddsmith_studies.learners import (
    BoostedClassifier,
    KernelLogisticRegression,
    MultinomialNaiveBayes,
    SmoothedTreeClassifier,
    VotedPerceptron,
)
from samples import ours_allowed

FAST = [
    BoostedClassifier(n_estimators=20),
    BoostedClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=5, leaves="bayesian", votes="real"),
    SmoothedTreeClassifier(),
    KernelLogisticRegression(),
    KernelLogisticRegression("quadratic", penalty=0.01),
    KernelLogisticRegression("rbf", penalty=0.01),
    MultinomialNaiveBayes(),
    MultinomialNaiveBayes("bayesian"),
    VotedPerceptron(epochs=5),
]

DATA = np.array([[1.0, 0, 2], [0, 3, 1], [2, 1, 0], [0, 2, 2], [3, 0, 1], [1, 4, 0], [2, 0, 0], [0, 1, 3]])
LABELS = np.array([1, 0, 1, 0, 1, 0, 1, 1])


def expected_failures(estimator):
    if isinstance(estimator, VotedPerceptron):
        reason = "an online method depends on the order of the rows, which the check shuffles"
        return {
            "check_sample_weight_equivalence_on_dense_data": reason,
            "check_sample_weight_equivalence_on_sparse_data": reason,
        }
    if isinstance(estimator, MultinomialNaiveBayes):
        return {"check_decision_proba_consistency": "the check's data are negative, which counts cannot be"}
    return {}


@parametrize_with_checks(FAST, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", FAST, ids=str)
def test_sparse_rows_give_the_same_scores(model):
    dense = clone(model).fit(DATA, LABELS).decision_function(DATA)
    for container in (sparse.csr_array, sparse.csc_matrix):
        fitted = clone(model).fit(container(DATA), LABELS)
        np.testing.assert_allclose(fitted.decision_function(container(DATA)), dense, rtol=1e-8, atol=1e-9)


def test_duplicate_sparse_entries_are_summed():
    whole = sparse.csr_array(DATA)
    split = sparse.csr_array((np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), whole.indptr * 2))
    assert not split.has_canonical_format
    for model in (VotedPerceptron(), KernelLogisticRegression("quadratic")):
        given = split.copy()
        expected = clone(model).fit(split.toarray(), LABELS).decision_function(DATA)
        np.testing.assert_allclose(clone(model).fit(given, LABELS).decision_function(DATA), expected, atol=1e-9)
        assert given.nnz == split.nnz


@pytest.mark.parametrize("model", FAST, ids=str)
def test_text_labels_pickle_and_log_odds(model):
    text = np.where(LABELS == 1, "spam", "ham")
    fitted = clone(model).fit(DATA, text)
    assert fitted.classes_.tolist() == ["ham", "spam"]
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(DATA), fitted.predict_proba(DATA))
    np.testing.assert_array_equal(fitted.predict(DATA) == "spam", fitted.log_odds(DATA) > 0)
    probability = fitted.predict_proba(DATA)
    np.testing.assert_allclose(np.log(probability[:, 1] / probability[:, 0]), fitted.log_odds(DATA), atol=1e-9)


@pytest.mark.parametrize("model", FAST, ids=str)
def test_integer_weights_are_repetitions_and_zero_is_absence(model):
    weight = np.array([2, 1, 0, 3, 1, 2, 1, 0])
    weighted = clone(model).fit(DATA, LABELS, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(DATA, weight, axis=0), np.repeat(LABELS, weight))
    np.testing.assert_allclose(weighted.decision_function(DATA), repeated.decision_function(DATA), atol=1e-8)


@pytest.mark.parametrize("model", FAST, ids=str)
def test_log_probabilities_are_the_logarithms_and_keep_the_log_odds(model):
    fitted = clone(model).fit(DATA, LABELS)
    logs = fitted.predict_log_proba(DATA)
    np.testing.assert_allclose(np.exp(logs), fitted.predict_proba(DATA), rtol=1e-9)
    np.testing.assert_allclose(logs[:, 1] - logs[:, 0], fitted.log_odds(DATA), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("model", FAST, ids=str)
def test_the_library_calibrates_each_learner_by_its_score_for_two_classes_and_three(model):
    X, y = np.tile(DATA, (6, 1)), np.tile(LABELS, 6)
    fitted = clone(model).fit(X, y)
    scores = classifier_scores(fitted, X)
    assert scores.source == "decision_function"
    np.testing.assert_array_equal(scores.values, fitted.decision_function(X))
    if isinstance(model, BoostedClassifier):
        np.testing.assert_array_equal(classifier_scores(fitted, X, "votes").values, fitted.vote_fraction(X))
    kind = np.where(X[:, 2] == 2, 2, y)
    with ours_allowed():
        calibrated = CalibratedClassifier(model, "platt", cv=3).fit(X, kind)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1)
    assert calibrated.score(X, kind) > np.bincount(kind).max() / len(kind)


@pytest.mark.parametrize("model", FAST, ids=str)
def test_one_class_is_refused(model):
    with pytest.raises(InvalidInputError, match=r"^y must contain two classes; got 1 class\. Hint: "):
        clone(model).fit(DATA, np.ones(len(DATA)))
    if not isinstance(model, SmoothedTreeClassifier):
        with pytest.raises(InvalidInputError, match=r"^both classes must have weight; got "):
            clone(model).fit(DATA, LABELS, sample_weight=LABELS)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            BoostedClassifier(loss="hinge"),
            "loss must be one of 'exponential', 'log'; got loss='hinge'. Hint: ",
        ),
        (
            BoostedClassifier(n_estimators=0),
            "n_estimators must be an integer ≥ 1; got n_estimators=0. Hint: ",
        ),
        (BoostedClassifier(leaves="platt"), "leaves must be one of 'none', 'laplace', "),
        (
            BoostedClassifier(votes="loud"),
            "votes must be one of 'discrete', 'real'; got votes='loud'. Hint: ",
        ),
        (BoostedClassifier(sampling="none"), "sampling must be one of 'reweight', 'resample'; got "),
        (
            BoostedClassifier(LinearSVC(), votes="real"),
            'estimator must have predict_proba for votes="real"; got ',
        ),
        (
            BoostedClassifier(VotedPerceptron(), leaves="laplace"),
            "estimator must be a single scikit-learn tree; got ",
        ),
        (
            SmoothedTreeClassifier(GaussianNB()),
            "estimator must be a single scikit-learn tree; got GaussianNB()",
        ),
        (SmoothedTreeClassifier(leaves="m_estimate", m=-1), "m must be finite and ≥ 0; got m=-1. Hint: "),
        (SmoothedTreeClassifier(leaves="curtailment", min_cases="x"), "min_cases must be a number; got "),
        (
            SmoothedTreeClassifier(leaves="bayesian", alpha=0),
            "alpha must be finite and > 0; got alpha=0. Hint: ",
        ),
        (KernelLogisticRegression("cubic"), "kernel must be one of 'linear', 'quadratic', 'rbf'; got "),
        (KernelLogisticRegression(penalty=0), "penalty must be finite and > 0; got penalty=0. Hint: "),
        (KernelLogisticRegression("rbf", gamma="auto"), "gamma must be a number; got gamma='auto'. Hint: "),
        (
            KernelLogisticRegression(lambda a, b: np.ones(3)),
            "kernel must return a matrix of shape (8, 8); got shape (3,)",
        ),
        (
            MultinomialNaiveBayes("none"),
            "smoothing must be one of 'laplace', 'bayesian'; got smoothing='none'. Hint: ",
        ),
        (MultinomialNaiveBayes("bayesian", m=0), "m must be finite and > 0; got m=0. Hint: "),
        (VotedPerceptron(epochs=1.5), "epochs must be an integer ≥ 1; got epochs=1.5. Hint: "),
        (VotedPerceptron(shuffle="yes"), "shuffle must be one of False, True; got shuffle='yes'. Hint: "),
    ],
)
def test_bad_parameters_are_named(model, message):
    with pytest.raises(InvalidInputError) as caught:
        model.fit(DATA, LABELS)
    assert str(caught.value).startswith(message)
    assert " Hint: " in str(caught.value)


def test_base_must_take_weights():
    class NoWeights(GaussianNB):
        def fit(self, X, y):
            return super().fit(X, y)

    with pytest.raises(InvalidInputError, match=r"estimator\.fit must take sample_weight; got "):
        BoostedClassifier(NoWeights()).fit(DATA, LABELS)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e39, 1e150, 1e300])
@pytest.mark.parametrize("model", FAST, ids=repr)
def test_features_of_any_size_are_learned_or_refused_in_clear_words(model, size, form):
    X = form([[size], [2 * size], [3 * size], [4 * size]])
    try:
        with ours_allowed():
            fitted = clone(model).fit(X, [0, 1, 0, 1])
    except InvalidInputError as error:
        assert str(error).startswith(f"features of {type(model).__name__} must lie within ±")  # noqa: PT017
        with pytest.raises(InvalidInputError, match="must lie within"):
            clone(model).fit([[1.0], [2.0]], [0, 1]).predict_proba(X)
    else:
        assert np.isfinite(fitted.predict_proba(X)).all()


def test_exports_are_sorted_and_exist():
    assert learners.__all__ == sorted(learners.__all__)
    assert all(hasattr(learners, name) for name in learners.__all__)
