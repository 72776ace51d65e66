"""Decision trees for boosting: grown from columns that are sorted once for all rounds.

scikit-learn sorts every feature in every node of every tree, which took four fifths of the time of this study. Here
each node hands its rows to its children in the order of each feature. The trees are the same, but for the choice among
splits that are equally good: the first feature has it, where scikit-learn draws one.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from oddsmith.checks import Floats
from oddsmith_studies.learners import TreeCounts, smooth_leaves

_jit = numba.njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")

#: Values closer than this are not told apart, and nodes of less impurity are pure, as in scikit-learn.
_NEAR = np.float32(1e-7)
_PURE = float(np.finfo(np.float64).eps)

_DEEP = 2**31 - 1


class SortedRows(NamedTuple):
    """Rows of features as scikit-learn's trees see them, by row and by column, and the order of rows in each column."""

    X: Any
    rows: NDArray[np.float32]
    columns: NDArray[np.float32]
    order: NDArray[np.int32]

    @classmethod
    def of(cls, X: Any) -> "SortedRows":
        """Sort the columns, unless they are those that were sorted last."""
        global _last
        if _last is None or _last.X is not X:
            rows = np.ascontiguousarray(X, dtype=np.float32)
            columns = np.ascontiguousarray(rows.T)
            _last = cls(X, rows, columns, np.argsort(columns, axis=1, kind="stable").astype(np.int32))
        return _last


_last: SortedRows | None = None


class SortedTreeClassifier(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Grow a tree for classes 0 and 1, as scikit-learn's ``DecisionTreeClassifier`` does, and smooth its leaves.

    Made for boosting: rows are not checked, for they are the same in every round.

    Parameters
    ----------
    criterion : {"gini", "entropy"}, default "gini"
    max_depth : int, optional
    min_samples_leaf : int, default 1
    leaves : str, default "none"
        As for `oddsmith_studies.learners.smooth_leaves`.

    Attributes
    ----------
    counts_ : TreeCounts
        The shape of the tree, and the weight of each class in each node.
    feature_, threshold_ : ndarray of shape (n_nodes,)
        Rows up to the threshold go to the left.
    node_probability_ : ndarray of shape (n_nodes,)
        Smoothed P(+) by node.
    """

    def __init__(
        self, criterion: str = "gini", max_depth: int | None = None, min_samples_leaf: int = 1, leaves: str = "none"
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.leaves = leaves

    def fit(self, X: Any, y: Any, sample_weight: Floats) -> "SortedTreeClassifier":
        """Grow the tree; rows of weight 0 are absent."""
        sorted_rows = SortedRows.of(X)
        left, right, self.feature_, self.threshold_, negative, positive = _grow(
            sorted_rows.columns,
            sorted_rows.order,
            sample_weight,
            y == 1,
            self.criterion == "entropy",
            _DEEP if self.max_depth is None else self.max_depth,
            self.min_samples_leaf,
        )
        self.counts_ = TreeCounts(left, right, negative, positive)
        self.node_probability_ = smooth_leaves(self.counts_, self.leaves)
        return self

    def leaf_probability(self, X: Any) -> Floats:
        """Return P(+) of each row's leaf."""
        rows = _last.rows if _last is not None and _last.X is X else np.ascontiguousarray(X, dtype=np.float32)
        leaf = _leaves(rows, self.counts_.left, self.counts_.right, self.feature_, self.threshold_)
        return np.asarray(self.node_probability_[leaf])

    def predict_proba(self, X: Any) -> Floats:
        """Return P(−) and P(+) of each row's leaf."""
        positive = self.leaf_probability(X)
        return np.column_stack([1 - positive, positive])

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the likelier class of each row."""
        return (self.leaf_probability(X) > 0.5).astype(np.intp)


@_jit
def _leaves(X, left, right, feature, threshold):  # type: ignore[no-untyped-def]
    found = np.empty(len(X), np.intp)
    for i in range(len(X)):
        node = 0
        while left[node] >= 0:
            node = left[node] if X[i, feature[node]] <= threshold[node] else right[node]
        found[i] = node
    return found


@_jit
def _x_log_x(x):  # type: ignore[no-untyped-def]
    return x * np.log(x) if x > 0 else 0.0


@_jit
def _is_pure(negative, positive, entropy):  # type: ignore[no-untyped-def]
    total = negative + positive
    n, p = negative / total, positive / total
    return (-(_x_log_x(n) + _x_log_x(p)) / np.log(2.0) if entropy else 1 - n * n - p * p) <= _PURE


@_jit
def _sums(rows, weight, is_positive):  # type: ignore[no-untyped-def]
    negative = positive = 0.0
    for row in rows:
        if is_positive[row]:
            positive += weight[row]
        else:
            negative += weight[row]
    return negative, positive


@_jit
def _is_leaf(rows, depth, negative, positive, entropy, max_depth, least):  # type: ignore[no-untyped-def]
    return depth >= max_depth or rows < max(2, 2 * least) or _is_pure(negative, positive, entropy)


@_jit
def _best_split(columns, places, features, varying, start, stop, weight, positive, total, entropy, table, least):  # type: ignore[no-untyped-def]
    """Return how many features vary, the best one, and the last place on its left; −1 where none can be split.

    Impurity falls most where Σ(n² + p²)/(n + p), or Σ(n log n + p log p − (n + p) log(n + p)), over both sides is
    largest. Weights that count rows have their x log x in a table. Features that do not vary change places with others.
    """
    all_positive, all_weight = total
    best, found, at = -np.inf, -1, 0
    counts = len(table) > 0
    k = 0
    while k < varying:
        f = features[k]
        column, rows = columns[f], places[f]
        value = column[rows[start]]
        if column[rows[stop - 1]] <= value + _NEAR:
            varying -= 1
            features[k], features[varying] = features[varying], f
            continue
        k += 1
        w = p = 0.0
        for i in range(start, stop - 1):
            row = rows[i]
            w += weight[row]
            p += positive[row]
            before, value = value, column[rows[i + 1]]
            if value <= before + _NEAR or i + 1 - start < least or stop - 1 - i < least:
                continue
            n, right = w - p, all_weight - w
            if right <= 0:  # what is left weighs less than the rounding of the sums
                break
            right_p = all_positive - p
            right_n = right - right_p
            if not entropy:
                gain = (n * n + p * p) / w + (right_n * right_n + right_p * right_p) / right
            elif counts:
                gain = table[int(n)] + table[int(p)] - table[int(w)]
                gain += table[int(right_n)] + table[int(right_p)] - table[int(right)]
            else:
                gain = _x_log_x(n) + _x_log_x(p) - _x_log_x(w)
                gain += _x_log_x(right_n) + _x_log_x(right_p) - _x_log_x(right)
            if gain > best or (gain == best and f < found):
                best, found, at = gain, f, i
    return varying, found, at


@_jit
def _grow(columns, order, weight, is_positive, entropy, max_depth, least):  # type: ignore[no-untyped-def]
    n_features, n = order.shape
    present = weight > 0
    m = present.sum()
    places = np.empty((n_features, m), np.int32)
    for f in range(n_features):
        k = 0
        for row in order[f]:
            if present[row]:
                places[f, k] = row
                k += 1
    positive = np.where(is_positive, weight, 0.0)
    table = np.empty(0)
    if entropy and (weight == np.floor(weight)).all():
        table = np.array([_x_log_x(float(x)) for x in range(int(weight.sum()) + 1)])

    size = 2 * m
    left, right, feature = np.full(size, -1), np.full(size, -1), np.full(size, -2)
    threshold, negatives, positives = np.full(size, -2.0), np.empty(size), np.empty(size)
    on_left, spare, features = np.empty(n, np.bool_), np.empty(m, np.int32), np.arange(n_features)
    negatives[0], positives[0] = _sums(places[0], weight, is_positive)
    # Nodes to split, if they can be: number, first row and the one after the last, depth, and how many features vary.
    nodes, waiting = 1, [(0, 0, m, 0, n_features)]
    while waiting:
        node, start, stop, depth, varying = waiting.pop()
        if _is_leaf(stop - start, depth, negatives[node], positives[node], entropy, max_depth, least):
            continue
        total = positives[node], negatives[node] + positives[node]
        varying, f, at = _best_split(
            columns, places, features, varying, start, stop, weight, positive, total, entropy, table, least
        )
        if f < 0:
            continue
        low, high = columns[f, places[f, at]], columns[f, places[f, at + 1]]
        feature[node], threshold[node] = f, low / 2.0 + high / 2.0
        if threshold[node] >= high:
            threshold[node] = low
        left[node], right[node] = nodes, nodes + 1
        middle = at + 1
        leaves = 0
        for child, first, last in ((nodes, start, middle), (nodes + 1, middle, stop)):
            # Summed anew: a difference of sums would leave something of a class that is not there.
            negatives[child], positives[child] = _sums(places[f, first:last], weight, is_positive)
            leaves += _is_leaf(last - first, depth + 1, negatives[child], positives[child], entropy, max_depth, least)
        if leaves < 2:
            for i in range(start, stop):
                on_left[places[f, i]] = i < middle
            for other in features[:varying]:
                here, there = start, 0
                for i in range(start, stop):
                    row = places[other, i]
                    if on_left[row]:
                        places[other, here] = row
                        here += 1
                    else:
                        spare[there] = row
                        there += 1
                places[other, middle:stop] = spare[:there]
            waiting.append((nodes + 1, middle, stop, depth + 1, varying))
            waiting.append((nodes, start, middle, depth + 1, varying))
        nodes += 2
    return left[:nodes], right[:nodes], feature[:nodes], threshold[:nodes], negatives[:nodes], positives[:nodes]
