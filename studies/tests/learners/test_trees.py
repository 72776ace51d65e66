import numpy as np
import pytest
from scipy.special import betaln
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from oddsmith_studies.learners import SmoothedTreeClassifier, TreeCounts, smooth_leaves
from oddsmith_studies.learners.trees import LEAVES


def stacked(node, found=None):
    """Return the nodes of a nested tree in depth-first order, with the places of their children."""
    found = [] if found is None else found
    place = len(found)
    found.append([node, -1, -1])
    for slot, child in enumerate(node.get("children", []), start=1):
        found[place][slot] = len(found)
        stacked(child, found)
    return found


def counts_of(nested):
    nodes, left, right = zip(*stacked(nested), strict=True)
    cases = np.array([node["n"] for node in nodes], dtype=float)
    return [node["id"] for node in nodes], TreeCounts(np.array(left), np.array(right), *cases.T)


def test_bayesian_average_vector(vectors):
    (case,) = vectors("tree_bayesian_averaging")
    names, tree = counts_of(case["tree"])
    for leaves, expected in (("bayesian", case["probabilities"]), ("laplace", case["laplace_leaves"])):
        by_name = dict(zip(names, smooth_leaves(tree, leaves), strict=True))
        for leaf, probability in expected.items():
            assert by_name[leaf] == pytest.approx(probability, abs=1e-10)


def test_small_leaf_vector(vectors):
    (case,) = vectors("tree_smoothing")
    k, n, m, b = (case["parameters"][key] for key in ("k", "n", "m", "b"))
    root_n = 1000
    tree = TreeCounts(
        np.array([1, -1, -1]),
        np.array([2, -1, -1]),
        negative=np.array([root_n * (1 - b), n - k, root_n * (1 - b) - (n - k)]),
        positive=np.array([root_n * b, k, root_n * b - k]),
    )
    assert smooth_leaves(tree, "laplace")[1] == pytest.approx(case["laplace"])
    assert smooth_leaves(tree, "m_estimate", m=m)[1] == pytest.approx(case["m_estimate"])
    assert smooth_leaves(tree, "none")[1] == case["raw"]
    assert smooth_leaves(tree, "curtailment", min_cases=3)[1] == case["raw"]
    assert smooth_leaves(tree, "curtailment", min_cases=4)[1] == pytest.approx(b)


def test_curtailment_takes_the_deepest_node_that_is_large_enough(vectors):
    names, tree = counts_of(vectors("tree_bayesian_averaging")[0]["tree"])
    shares = dict(zip(names, smooth_leaves(tree, "curtailment", min_cases=8), strict=True))
    assert shares["LL"] == 0
    assert shares["LR"] == shares["L"] == pytest.approx(2 / 11)
    assert shares["R"] == shares["root"] == pytest.approx(8 / 18)
    np.testing.assert_allclose(smooth_leaves(tree, "curtailment", min_cases=100), 8 / 18)


def recursive_average(tree, node, alpha):
    """Return the marginal likelihood and the estimate at each leaf below a node, without logs or vectors."""
    minus, plus = tree.negative[node], tree.positive[node]
    own = (plus + alpha) / (minus + plus + 2 * alpha)
    as_leaf = np.exp(betaln(minus + alpha, plus + alpha) - betaln(alpha, alpha))
    if tree.left[node] < 0:
        return as_leaf, {node: own}
    left, below = recursive_average(tree, tree.left[node], alpha)
    right, below_right = recursive_average(tree, tree.right[node], alpha)
    marginal = 0.5 * as_leaf + 0.5 * left * right
    stop = 0.5 * as_leaf / marginal
    return marginal, {leaf: stop * own + (1 - stop) * p for leaf, p in {**below, **below_right}.items()}


@pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0])
def test_bayesian_average_equals_the_recursion(alpha):
    X, y = make_classification(60, 5, flip_y=0.3, random_state=0)
    weight = np.random.default_rng(0).random(60)
    model = SmoothedTreeClassifier(leaves="bayesian", alpha=alpha, random_state=0).fit(X, y, sample_weight=weight)
    _, expected = recursive_average(TreeCounts.of(model.estimator_), 0, alpha)
    for leaf, probability in expected.items():
        assert model.node_probability_[leaf] == pytest.approx(probability, rel=1e-10)


def test_counts_are_weighted_cases():
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 1]
    tree = SmoothedTreeClassifier(leaves="laplace").fit(X, y, sample_weight=[3, 2.5, 1.5])
    np.testing.assert_allclose(tree.predict_proba([[0.0], [2.0]])[:, 1], [1 / 5, 5 / 6])


def test_no_smoothing_is_the_tree_itself():
    X, y = make_classification(100, 4, flip_y=0.2, random_state=1)
    base = DecisionTreeClassifier(min_samples_leaf=5)
    smoothed = SmoothedTreeClassifier(base, "none", random_state=3).fit(X, y)
    plain = base.set_params(random_state=3).fit(X, y)
    np.testing.assert_allclose(smoothed.predict_proba(X), plain.predict_proba(X), atol=1e-12)


def test_the_trees_own_seed_counts_unless_another_is_given():
    tree = SmoothedTreeClassifier(DecisionTreeClassifier(random_state=5)).fit([[0.0], [1.0]], [0, 1])
    assert tree.estimator_.random_state == 5
    assert tree.set_params(random_state=6).fit([[0.0], [1.0]], [0, 1]).estimator_.random_state == 6


def test_pure_leaves_give_infinite_log_odds_only_without_smoothing():
    X, y = [[0.0], [1.0]], [0, 1]
    assert SmoothedTreeClassifier(leaves="none").fit(X, y).log_odds(X).tolist() == [-np.inf, np.inf]
    for leaves in LEAVES[1:]:
        assert np.isfinite(SmoothedTreeClassifier(leaves=leaves).fit(X, y).log_odds(X)).all()


def test_a_class_without_weight_leaves_the_other():
    tree = SmoothedTreeClassifier().fit([[0.0], [1.0], [2.0]], ["a", "b", "b"], sample_weight=[0, 1, 1])
    assert tree.predict([[0.0]]) == ["b"]


def test_deep_trees_stay_finite():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 1)), rng.integers(0, 2, 3000)
    bayesian, laplace = (
        SmoothedTreeClassifier(leaves=leaves, random_state=0).fit(X, y).predict_proba(X)[:, 1]
        for leaves in ("bayesian", "laplace")
    )
    assert 0 < bayesian.min() < bayesian.max() < 1
    # Labels are coin flips, and the average over prunings stays nearer to one half.
    assert np.abs(bayesian - 0.5).mean() < np.abs(laplace - 0.5).mean()
