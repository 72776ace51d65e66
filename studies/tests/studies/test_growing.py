"""Trees from sorted columns are those of scikit-learn, but for the choice among equally good splits."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from oddsmith_studies.studies.niculescu_mizil_caruana_2005.growing import SortedTreeClassifier


def drawn(values, weights, n=300, features=6):
    rng = np.random.default_rng(features + n)
    X = rng.normal(size=(n, features))
    X = {"continuous": X, "few values": np.round(X), "mostly 0": np.where(X > 1, X, 0.0)}[values]
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n) > 0.5).astype(int)
    weight = {"counts": rng.multinomial(n, np.ones(n) / n).astype(float), "shares": rng.dirichlet(np.ones(n))}[weights]
    return X.astype(np.float32).astype(np.float64), y, weight


def impurity(y, weight, criterion):
    share = np.average(y, weights=weight)
    if criterion == "gini":
        return weight.sum() * 2 * share * (1 - share)
    parts = np.array([share, 1 - share])
    return -weight.sum() * np.sum(parts * np.log2(parts, where=parts > 0, out=np.zeros(2)))


def nodes(tree, X):
    """Yield the number of each node, and which rows reach it."""
    waiting = [(0, np.ones(len(X), dtype=bool))]
    while waiting:
        node, here = waiting.pop()
        yield node, here
        if tree.counts_.left[node] >= 0:
            low = X[:, tree.feature_[node]] <= tree.threshold_[node]
            waiting += [(tree.counts_.left[node], here & low), (tree.counts_.right[node], here & ~low)]


@pytest.mark.parametrize("weights", ["counts", "shares"])
@pytest.mark.parametrize("values", ["continuous", "few values", "mostly 0"])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize(("depth", "least"), [(1, 1), (2, 1), (None, 1), (None, 7)])
def test_every_split_is_as_good_as_the_best(criterion, depth, least, values, weights):
    X, y, weight = drawn(values, weights)
    tree = SortedTreeClassifier(criterion, depth, least).fit(X, y, weight)
    for node, reached in nodes(tree, X):
        here = reached & (weight > 0)
        assert tree.counts_.positive[node] == pytest.approx(weight[here] @ y[here])
        assert tree.counts_.negative[node] == pytest.approx(weight[here] @ (1 - y[here]))
        if tree.counts_.left[node] < 0:
            continue
        best = DecisionTreeClassifier(criterion=criterion, max_depth=1, min_samples_leaf=least, random_state=0)
        best.fit(X[here], y[here], sample_weight=weight[here])
        sides = {
            "ours": X[here, tree.feature_[node]] <= tree.threshold_[node],
            "best": best.apply(X[here]) == 1,
        }
        left = {
            name: sum(impurity(y[here][at], weight[here][at], criterion) for at in (side, ~side))
            for name, side in sides.items()
        }
        assert left["ours"] == pytest.approx(left["best"], abs=1e-9 * weight.sum())
        assert least <= sides["ours"].sum() <= here.sum() - least


@pytest.mark.parametrize("weights", ["counts", "shares"])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_without_ties_the_trees_are_the_same(criterion, weights):
    X, y, weight = drawn("continuous", weights, 2000)
    ours = SortedTreeClassifier(criterion, 3).fit(X, y, weight)
    theirs = DecisionTreeClassifier(criterion=criterion, max_depth=3).fit(X, y, sample_weight=weight)
    fresh = np.random.default_rng(1).normal(size=(500, X.shape[1]))
    np.testing.assert_allclose(ours.leaf_probability(fresh), theirs.predict_proba(fresh)[:, 1], rtol=1e-10)
    assert (ours.predict(fresh) == theirs.predict(fresh)).all()


def test_a_full_tree_knows_its_rows_and_stops_at_pure_leaves():
    X, y, weight = drawn("continuous", "counts")
    tree = SortedTreeClassifier(leaves="none").fit(X, y, weight)
    present = weight > 0
    assert (tree.leaf_probability(X)[present] == y[present]).all()
    inner = tree.counts_.left >= 0
    assert (np.minimum(tree.counts_.positive, tree.counts_.negative)[inner] > 0).all()


def test_absent_rows_do_not_count():
    X, y, weight = drawn("few values", "counts")
    whole = SortedTreeClassifier().fit(X, y, weight)
    present = SortedTreeClassifier().fit(X[weight > 0], y[weight > 0], weight[weight > 0])
    assert (whole.leaf_probability(X) == present.leaf_probability(X)).all()


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("depth", [1, 2, None])
def test_weights_of_any_size(criterion, depth):
    """As boosting gives them to rows that it has long been sure of: sums lose the small ones."""
    X, y, _ = drawn("few values", "shares")
    for seed in range(20):
        weight = 10.0 ** -np.random.default_rng(seed).uniform(0, 300, len(y))
        tree = SortedTreeClassifier(criterion, depth, leaves="laplace").fit(X, y, weight)
        assert ((tree.node_probability_ > 0) & (tree.node_probability_ < 1)).all()
        assert (tree.counts_.negative + tree.counts_.positive > 0).all()


def test_leaves_are_smoothed():
    X, y, weight = drawn("continuous", "counts")
    tree = SortedTreeClassifier(max_depth=1, leaves="laplace").fit(X, y, weight)
    counts = tree.counts_
    assert tree.node_probability_[1] == (counts.positive[1] + 1) / (counts.positive[1] + counts.negative[1] + 2)
