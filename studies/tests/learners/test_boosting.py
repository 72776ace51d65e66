import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.ensemble import AdaBoostClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from oddsmith.errors import InvalidInputError
from oddsmith_studies.learners import BoostedClassifier, MultinomialNaiveBayes, SmoothedTreeClassifier


@pytest.fixture
def noisy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = (X @ [1, -1, 0.5, 0] + rng.normal(size=150) > 0).astype(int)
    return X, y


def losses(model, X, y, loss):
    """Return the total training loss before the first round and after each one."""
    sign = np.where(np.asarray(y) == model.classes_[1], 1, -1)
    margins = [np.zeros(len(sign)), *(sign * F for F in model.staged_decision_function(X))]
    of_margin = {"exponential": lambda z: np.exp(-z), "log": lambda z: np.logaddexp(0, -z)}[loss]
    return np.array([of_margin(margin).sum() for margin in margins])


@pytest.mark.parametrize(("name", "loss"), [("adaboost_stumps", "exponential"), ("logloss_boost_stumps", "log")])
def test_vectors(vectors, name, loss):
    (case,) = vectors(name)
    X, y = np.array(case["X"]), case["labels"]
    model = BoostedClassifier(n_estimators=5, loss=loss).fit(X, y)
    for stump, step in zip(model.estimators_, case["trace"], strict=True):
        assert stump.feature == step["feature"]
        assert stump.threshold == pytest.approx(step["threshold"], abs=1e-12)
        assert (stump.low, stump.high) == (-step["polarity"], step["polarity"])
    trace = {key: np.array([step[key] for step in case["trace"]]) for key in case["trace"][0]}
    np.testing.assert_allclose(model.estimator_errors_, trace["weighted_error"], atol=1e-10)
    np.testing.assert_allclose(model.estimator_weights_, trace["alpha"], atol=1e-10)
    np.testing.assert_allclose(losses(model, X, y, loss)[1:], trace["loss_after"], rtol=1e-10)
    np.testing.assert_allclose(model.decision_function(X), case["F"], atol=1e-10)
    probability = case["probabilities_logistic_correction" if loss == "exponential" else "probabilities"]
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], probability, atol=1e-10)
    likelihood = case["log_likelihood_logistic_correction" if loss == "exponential" else "log_likelihood"]
    assert -np.logaddexp(0, -np.array(y) * model.log_odds(X)).sum() == pytest.approx(likelihood, abs=1e-10)
    if loss == "exponential":
        np.testing.assert_allclose(model.vote_fraction(X), case["f"], atol=1e-10)
        assert model.estimator_weights_.sum() == pytest.approx(case["sum_alpha"], abs=1e-10)


def test_exponential_loss_falls_by_its_factor(noisy):
    model = BoostedClassifier(n_estimators=40).fit(*noisy)
    total = losses(model, *noisy, "exponential")
    error = model.estimator_errors_
    np.testing.assert_allclose(total[1:] / total[:-1], 2 * np.sqrt(error * (1 - error)), rtol=1e-9)


def test_log_loss_falls_by_at_least_its_bound(noisy):
    X, y = noisy
    model = BoostedClassifier(n_estimators=40, loss="log").fit(X, y)
    total = losses(model, X, y, "log")
    sign = np.where(y == 1, 1, -1)
    before = [np.zeros(len(y)), *model.staged_decision_function(X)][:-1]
    weight = np.array([expit(-sign * F).sum() for F in before])
    error = model.estimator_errors_
    bound = weight * (np.sqrt(1 - error) - np.sqrt(error)) ** 2
    assert (total[:-1] - total[1:] >= bound - 1e-9).all()


@pytest.mark.parametrize("votes", ["discrete", "real"])
@pytest.mark.parametrize("base", [None, DecisionTreeClassifier(max_depth=2, random_state=0)])
def test_scores_agree_at_every_round(noisy, votes, base):
    X, y = noisy
    model = BoostedClassifier(base, 12, votes=votes, leaves="laplace", random_state=0).fit(X, y)
    alphas = model.estimator_weights_
    for k, F in enumerate(model.staged_decision_function(X), start=1):
        np.testing.assert_allclose(model.at_round(k).decision_function(X), F, atol=1e-12)
        np.testing.assert_allclose(model.at_round(k).vote_fraction(X), (1 + F / alphas[:k].sum()) / 2, atol=1e-12)
    assert k == 12
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(2 * F), atol=1e-12)
    if votes == "discrete":
        assert set(np.unique(model.at_round(1).vote_fraction(X))) <= {0.0, 1.0}
    else:
        assert 0 < model.vote_fraction(X).min() < model.vote_fraction(X).max() < 1


def test_rounds_before_and_beyond(noisy):
    X, y = noisy
    model = BoostedClassifier(n_estimators=3).fit(X, y)
    assert (model.at_round(0).vote_fraction(X) == 0.5).all()
    with pytest.raises(InvalidInputError, match="n_rounds must be ≤ n_estimators=3; got n_rounds=4"):
        model.at_round(4)


def test_a_perfect_fit_is_bounded_and_ends():
    X, y = np.arange(8.0)[:, None], np.repeat([0, 1], 4)
    for loss, log_odds in (("exponential", np.log(31)), ("log", np.log(31) / 2)):
        model = BoostedClassifier(n_estimators=50, loss=loss).fit(X, y)
        assert len(model.estimators_) == 1
        np.testing.assert_allclose(model.log_odds(X), np.repeat([-log_odds, log_odds], 4))
        np.testing.assert_array_equal(model.at_round(30).decision_function(X), model.decision_function(X))
    # Weights that sum to 1 leave the floor of ε where it was.
    small = BoostedClassifier().fit(X, y, sample_weight=np.full(8, 1 / 8))
    assert small.estimator_weights_[0] == pytest.approx(np.log(31) / 2)


def test_without_information_the_base_rate_remains():
    X = np.ones((10, 2))
    model = BoostedClassifier().fit(X, [1, 1, 1, 0, 0, 0, 0, 0, 0, 0])
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 0.3)
    assert len(model.estimators_) == 1
    balanced = BoostedClassifier().fit(X, np.arange(10) % 2)
    assert balanced.estimators_ == []
    assert (balanced.predict_proba(X) == 0.5).all()
    assert list(balanced.staged_decision_function(X)) == []


def test_a_hypothesis_no_better_than_chance_is_discarded():
    class Contrarian(DecisionTreeClassifier):
        def predict(self, X):
            return 1 - super().predict(X)

    X, y = np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]
    for sampling in ("reweight", "resample"):
        model = BoostedClassifier(Contrarian(max_depth=1), sampling=sampling, random_state=0).fit(X, y)
        assert model.estimators_ == []


@pytest.mark.parametrize("leaves", ["none", "laplace", "m_estimate", "curtailment", "bayesian"])
@pytest.mark.parametrize("base", [None, DecisionTreeClassifier()])
def test_resampled_trees_boost_on(noisy, base, leaves):
    X, y = noisy
    model = BoostedClassifier(base, 25, sampling="resample", leaves=leaves, votes="real", random_state=1).fit(X, y)
    assert len(model.estimators_) == 25
    assert (model.estimator_errors_ < 0.5).all()
    again = BoostedClassifier(base, 25, sampling="resample", leaves=leaves, votes="real", random_state=1).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))
    other = BoostedClassifier(base, 25, sampling="resample", leaves=leaves, votes="real", random_state=2).fit(X, y)
    assert not np.array_equal(model.decision_function(X), other.decision_function(X))


def test_a_rare_class_survives_resampling():
    X = np.random.default_rng(0).normal(size=(200, 2))
    y = np.zeros(200, dtype=int)
    y[0] = 1
    model = BoostedClassifier(GaussianNB(), 5, sampling="resample", random_state=0).fit(
        X, y, sample_weight=1 + 1e6 * (y == 0)
    )
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("base", [DecisionTreeClassifier(max_depth=1), GaussianNB()])
def test_agrees_with_scikit_learn(noisy, base):
    X, y = noisy
    ours = BoostedClassifier(base, 8).fit(X, y)
    theirs = AdaBoostClassifier(base, n_estimators=8).fit(X, y)
    rounds = len(ours.estimators_)
    np.testing.assert_allclose(theirs.estimator_weights_[:rounds], 2 * ours.estimator_weights_, rtol=1e-8)
    assert not theirs.estimator_weights_[rounds:].any()
    np.testing.assert_allclose(theirs.decision_function(X), 2 * (2 * ours.vote_fraction(X) - 1), atol=1e-8)


def test_sparse_counts_with_a_naive_bayes_base():
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, size=(80, 6))
    y = (X[:, 0] + rng.normal(size=80) > 1).astype(int)
    model = BoostedClassifier(MultinomialNaiveBayes(), 5, votes="real").fit(sparse.csr_array(X), y)
    dense = BoostedClassifier(MultinomialNaiveBayes(), 5, votes="real").fit(X, y)
    assert len(model.estimators_) > 1
    np.testing.assert_allclose(model.vote_fraction(sparse.csr_array(X)), dense.vote_fraction(X), atol=1e-10)


def test_own_constants_come_with_the_estimator(noisy):
    X, y = noisy
    base = SmoothedTreeClassifier(DecisionTreeClassifier(max_depth=2), "m_estimate", m=1e9)
    shares = BoostedClassifier(base, 1, votes="real", random_state=0).fit(X, y).vote_fraction(X)
    np.testing.assert_allclose(shares, y.mean(), atol=1e-6)


def test_many_rounds_stay_finite(noisy):
    X, y = noisy
    for loss in ("exponential", "log"):
        model = BoostedClassifier(DecisionTreeClassifier(max_depth=3), 300, loss=loss, random_state=0).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
        assert model.score(X, y) == 1
