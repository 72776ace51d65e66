import numpy as np
import pytest
from sklearn.naive_bayes import MultinomialNB

from oddsmith.errors import InvalidInputError
from oddsmith_studies.learners import MultinomialNaiveBayes

COUNTS = np.random.default_rng(0).poisson(1.0, size=(40, 7))
LABELS = np.random.default_rng(1).integers(0, 2, 40)


@pytest.mark.parametrize(
    ("place", "model"), [(0, MultinomialNaiveBayes()), (1, MultinomialNaiveBayes("bayesian", m=3))]
)
def test_vectors(vectors, place, model):
    case = vectors("naive_bayes_log_odds")[place]
    model.fit(case["X"], case["labels"])
    np.testing.assert_allclose(model.decision_function(case["query"]), case["log_odds"], atol=1e-10)


def test_laplace_equals_scikit_learn():
    ours = MultinomialNaiveBayes().fit(COUNTS, LABELS)
    joint = MultinomialNB(alpha=1.0).fit(COUNTS, LABELS).predict_joint_log_proba(COUNTS)
    np.testing.assert_allclose(ours.decision_function(COUNTS), joint[:, 1] - joint[:, 0], atol=1e-10)


def test_bayesian_takes_as_many_words_as_there_are_by_default():
    explicit = MultinomialNaiveBayes("bayesian", m=7).fit(COUNTS, LABELS)
    np.testing.assert_array_equal(
        MultinomialNaiveBayes("bayesian").fit(COUNTS, LABELS).word_log_odds_, explicit.word_log_odds_
    )


def test_long_documents_keep_their_log_odds():
    model = MultinomialNaiveBayes().fit([[1, 0], [0, 1]], [0, 1])
    assert model.decision_function([[0, 5000]]) == pytest.approx(5000 * np.log(2))
    assert model.predict_proba([[0, 5000], [5000, 0]]).tolist() == [[0, 1], [1, 0]]


def test_a_word_that_nobody_used():
    counts = np.array([[1, 2, 0], [3, 0, 0], [0, 1, 0]])
    n_minus, n_plus, m = 3.0, 4.0, 3.0
    model = MultinomialNaiveBayes("bayesian").fit(counts, [0, 1, 1])
    assert model.word_log_odds_[2] == pytest.approx(np.log((n_minus + m) / (n_plus + m)))
    laplace = MultinomialNaiveBayes().fit(counts, [0, 1, 1])
    assert laplace.word_log_odds_[2] == pytest.approx(model.word_log_odds_[2])
    empty = MultinomialNaiveBayes("bayesian").fit(np.zeros((3, 2)), [0, 1, 1])
    np.testing.assert_allclose(empty.decision_function([[1, 5]]), np.log(3 / 2))


def test_negative_counts_are_refused():
    with pytest.raises(
        InvalidInputError, match=r"^X must contain counts ≥ 0; got Negative values .*, down to -2\. Hint: "
    ):
        MultinomialNaiveBayes().fit([[1, -2], [0, 1]], [0, 1])
