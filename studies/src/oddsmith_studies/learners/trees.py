"""Smoothed probabilities at the leaves of a decision tree."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, logit
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from oddsmith import checks
from oddsmith.checks import Floats
from oddsmith_studies.learners._base import BinaryClassifier

LEAVES = ("none", "laplace", "m_estimate", "curtailment", "bayesian")

#: scikit-learn's trees read features as float32.
FARTHEST = 3.4e38

Nodes = NDArray[np.intp]


class TreeCounts(NamedTuple):
    """The shape of a binary tree and the (weighted) cases of each class that reached each of its nodes.

    Node 0 is the root; a leaf has −1 for both children.
    """

    left: Nodes
    right: Nodes
    negative: Floats
    positive: Floats

    @classmethod
    def of(cls, tree: Any) -> "TreeCounts":
        """Read the counts of a fitted two-class scikit-learn tree."""
        inner = tree.tree_
        # value holds the share of each class at the node.
        cases = inner.value[:, 0, :] * inner.weighted_n_node_samples[:, None]
        return cls(inner.children_left, inner.children_right, cases[:, 0], cases[:, 1])

    def levels(self) -> list[Nodes]:
        """Return the nodes by depth, the root first."""
        levels = []
        level = np.zeros(1, dtype=np.intp)
        while level.size:
            levels.append(level)
            inner = level[self.left[level] >= 0]
            level = np.concatenate([self.left[inner], self.right[inner]])
        return levels


def smooth_leaves(
    tree: TreeCounts, leaves: str = "laplace", *, m: float = 10.0, min_cases: float = 20.0, alpha: float = 1.0
) -> Floats:
    """Estimate P(+) at every leaf of a tree.

    Raw shares of small leaves are extreme; each form pulls them towards something that is known better.

    Parameters
    ----------
    tree : TreeCounts
        Shape and class counts; ``TreeCounts.of`` reads a fitted scikit-learn tree.
    leaves : {"none", "laplace", "m_estimate", "curtailment", "bayesian"}
        See the notes.
    m : float
        Weight of the base rate in the m-estimate.
    min_cases : float
        Curtailment goes up to an ancestor with at least so many cases.
    alpha : float
        Prior count of each class in the Bayesian average.

    Returns
    -------
    ndarray of shape (n_nodes,)
        P(+) by node. Only the values at leaves are estimates for rows.

    Notes
    -----
    With k positive of n cases at a leaf and base rate b at the root: none k/n; Laplace (k+1)/(n+2);
    m-estimate (k+m·b)/(n+m); curtailment, k/n of the deepest node on the path with n ≥ ``min_cases`` (the
    root, if none has); Bayesian, the average over all prunings, a node being a leaf with prior probability ½:
    with M_leaf = B(n₋+α, n₊+α)/B(α, α) and M = ½M_leaf + ½ΠM(child), a node's own estimate (n₊+α)/(n+2α) has
    weight ½M_leaf/M and its children's the rest. All of it is computed in logs.

    References
    ----------
    Buntine (1992), Learning classification trees. Zadrozny & Elkan (2001), Obtaining calibrated probability
    estimates from decision trees and naive Bayesian classifiers.

    Examples
    --------
    >>> import numpy as np
    >>> from oddsmith_studies.learners import TreeCounts, smooth_leaves
    >>> left, right = np.array([1, -1, -1]), np.array([2, -1, -1])
    >>> tree = TreeCounts(left, right, negative=np.array([4.0, 4, 0]), positive=np.array([4.0, 1, 3]))
    >>> smooth_leaves(tree, "laplace")[1:].round(3)
    array([0.286, 0.8  ])
    """
    checks.one_of(leaves, "leaves", LEAVES)
    cases = tree.negative + tree.positive
    if leaves == "laplace":
        return (tree.positive + 1) / (cases + 2)
    if leaves == "m_estimate":
        m = checks.number(m, "m", low=0)
        base_rate = float(tree.positive[0] / cases[0])
        return (tree.positive + m * base_rate) / (cases + m)
    if leaves == "curtailment":
        return _curtailed(tree, checks.number(min_cases, "min_cases", low=0))
    if leaves == "bayesian":
        return _bayesian_average(tree, checks.number(alpha, "alpha", low=0, strict=True))
    return tree.positive / cases


def _curtailed(tree: TreeCounts, min_cases: float) -> Floats:
    cases = tree.negative + tree.positive
    estimate = tree.positive / cases
    for level in tree.levels():
        parents = level[tree.left[level] >= 0]
        for child in (tree.left[parents], tree.right[parents]):
            small = cases[child] < min_cases
            estimate[child[small]] = estimate[parents[small]]
    return estimate


def _bayesian_average(tree: TreeCounts, alpha: float) -> Floats:
    own = (tree.positive + alpha) / (tree.negative + tree.positive + 2 * alpha)
    as_leaf = betaln(tree.negative + alpha, tree.positive + alpha) - betaln(alpha, alpha)
    marginal = as_leaf.copy()
    levels = tree.levels()
    for level in reversed(levels):
        node = level[tree.left[level] >= 0]
        below = marginal[tree.left[node]] + marginal[tree.right[node]]
        marginal[node] = np.logaddexp(as_leaf[node], below) - np.log(2)
    # On the way down: the estimate settled so far, and the weight still open.
    settled, open_weight = np.zeros_like(own), np.ones_like(own)
    for level in levels:
        node = level[tree.left[level] >= 0]
        stop = np.exp(as_leaf[node] - np.log(2) - marginal[node])
        for child in (tree.left[node], tree.right[node]):
            settled[child] = settled[node] + open_weight[node] * stop * own[node]
            open_weight[child] = open_weight[node] * (1 - stop)
    return settled + open_weight * own


@dataclass(eq=False, repr=False)
class SmoothedTreeClassifier(BinaryClassifier):
    """Classify by a decision tree whose leaves give smoothed probabilities.

    Use it where a tree's probabilities matter; do not use ``leaves="none"`` for log-loss, as pure leaves then
    claim certainty. ``min_cases`` and ``m`` count cases, so they depend on the scale of ``sample_weight``.

    Parameters
    ----------
    estimator : scikit-learn tree, default=None
        The tree to grow; None means ``DecisionTreeClassifier()``.
    leaves : {"none", "laplace", "m_estimate", "curtailment", "bayesian"}, default="laplace"
        How leaf counts become a probability; formulas in ``smooth_leaves``.
    m, min_cases, alpha : float
        Constants of the m-estimate, the curtailment and the Bayesian average.
    random_state : int, RandomState or None
        Given to the tree, unless None.

    Attributes
    ----------
    estimator_ : fitted tree
    node_probability_ : ndarray of shape (n_nodes,)
        Smoothed P(+) by node.
    classes_ : ndarray of shape (2,)

    References
    ----------
    Buntine (1992), Learning classification trees. Zadrozny & Elkan (2001), Obtaining calibrated probability
    estimates from decision trees and naive Bayesian classifiers.

    Examples
    --------
    >>> from oddsmith_studies.learners import SmoothedTreeClassifier
    >>> tree = SmoothedTreeClassifier(leaves="laplace").fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    >>> tree.predict_proba([[5.0]])
    array([[0.25, 0.75]])
    """

    estimator: Any = None
    leaves: str = "laplace"
    _: KW_ONLY
    m: float = 10.0
    min_cases: float = 20.0
    alpha: float = 1.0
    random_state: Any = None

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "SmoothedTreeClassifier":
        """Grow the tree and smooth its leaves."""
        data = self._read_training(X, y, sample_weight)
        tree = DecisionTreeClassifier() if self.estimator is None else clone(self.estimator)
        if self.random_state is not None and "random_state" in tree.get_params():
            tree.set_params(random_state=self.random_state)
        # All rows go in, also those of weight 0 (which trees ignore): then the tree knows both classes.
        tree.fit(data.X, data.positive.astype(np.intp), sample_weight=data.weight)
        if not hasattr(tree, "tree_"):
            checks.fail("estimator must be a single scikit-learn tree", repr(self.estimator), "pass a decision tree")
        self.estimator_: Any = tree
        self.node_probability_: Floats = smooth_leaves(
            TreeCounts.of(tree), self.leaves, m=self.m, min_cases=self.min_cases, alpha=self.alpha
        )
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the log-odds of each row's leaf; infinite where ``leaves="none"`` meets a pure leaf."""
        return np.asarray(logit(self._leaf_probability(X)))

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return P(−|x) and P(+|x) of each row's leaf."""
        positive = self._leaf_probability(X)
        return np.column_stack([1 - positive, positive])

    def _farthest(self) -> float:
        return FARTHEST

    def _leaf_probability(self, X: ArrayLike) -> Floats:
        rows = self._read_rows(X)
        return np.asarray(self.node_probability_[self.estimator_.apply(rows)])
