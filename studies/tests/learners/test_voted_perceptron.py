import numpy as np
import pytest
from scipy import sparse

from oddsmith_studies.learners import VotedPerceptron, voted_perceptron

ROWS = np.random.default_rng(0).normal(size=(60, 3))
LABELS = (ROWS @ [1, -1, 0.5] + np.random.default_rng(1).normal(size=60) > 0).astype(int)


def by_the_book(X, sign, epochs, query):
    """Return the votes for and against, with every perceptron kept as it is."""
    v, b, kept = np.zeros(X.shape[1]), 0.0, []
    for x, y in list(zip(X, sign, strict=True)) * epochs:
        if y * (v @ x + b) <= 0:
            v, b = v + y * x, b + y
            kept.append([v, b, 0])
        kept[-1][2] += 1
    votes = np.array([[c * (v @ x + b > 0) for v, b, c in kept] for x in query])
    return votes.sum(axis=1), sum(c for _, _, c in kept) - votes.sum(axis=1)


def test_vector(vectors):
    (case,) = vectors("voted_perceptron")
    model = VotedPerceptron(epochs=2).fit(case["X"], case["labels"])
    steps = model.steps_[:, None]
    np.testing.assert_allclose(np.cumsum(steps * model.mistakes_, axis=0), case["parameters"]["v"], atol=1e-12)
    np.testing.assert_allclose(np.cumsum(steps), case["parameters"]["b"], atol=1e-12)
    assert model.survival_.tolist() == case["parameters"]["survival"]
    np.testing.assert_allclose(model.decision_function(case["query"]), case["log_odds_score"], atol=1e-10)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_equals_the_book(form, monkeypatch):
    monkeypatch.setattr(voted_perceptron, "_BLOCK", 100)
    query = np.random.default_rng(2).normal(size=(25, 3))
    model = VotedPerceptron(epochs=3).fit(form(ROWS), LABELS)
    plus, minus = by_the_book(ROWS, 2 * LABELS - 1, 3, query)
    np.testing.assert_allclose(model.decision_function(form(query)), np.log((plus + 0.5) / (minus + 0.5)))


def test_shuffling_is_a_choice_and_repeats():
    plain = VotedPerceptron(epochs=2).fit(ROWS, LABELS).decision_function(ROWS)
    shuffled = [VotedPerceptron(epochs=2, shuffle=True, random_state=0).fit(ROWS, LABELS) for _ in "ab"]
    scores = [model.decision_function(ROWS) for model in shuffled]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], plain)


def test_fractions_of_a_presentation_take_smaller_steps():
    model = VotedPerceptron().fit([[1.0], [-1.0]], [1, 0], sample_weight=[2.5, 0.25])
    assert model.steps_.tolist() == [1.0, -0.25]
    assert model.survival_.tolist() == [2.5, 0.25]


def test_zero_activation_votes_against():
    model = VotedPerceptron().fit([[1.0, 0.0], [1.0, 2.0]], [1, 0])
    # The second perceptron is v = (0, −2), b = 0, and does not see the query.
    assert model.decision_function([[3.0, 0.0]]) == pytest.approx(np.log(1.5 / 1.5))


def test_votes_are_scaled_to_a_total_before_a_half_is_added():
    counted, scaled = (VotedPerceptron(epochs=3, total=total).fit(ROWS, LABELS) for total in (None, 100.0))
    plus, minus = by_the_book(ROWS, 2 * LABELS - 1, 3, ROWS)
    assert (plus + minus == 180).all()
    np.testing.assert_allclose(counted.decision_function(ROWS), np.log((plus + 0.5) / (minus + 0.5)))
    np.testing.assert_allclose(scaled.decision_function(ROWS), np.log((plus / 1.8 + 0.5) / (minus / 1.8 + 0.5)))
