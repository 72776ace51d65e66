"""Decision stumps: the best single threshold under given case weights, found without sorting anew."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oddsmith.checks import Bools, Floats
from oddsmith_studies.learners._base import FeatureRows, TrainingRows, is_sparse
from oddsmith_studies.learners.trees import TreeCounts, smooth_leaves

RowPlaces = NDArray[np.int32]

# Errors closer than this are ties: sums of weights that are equal on paper differ in their last digits.
SLACK = 1e-12

# Columns are searched in blocks of about this many entries, which stay in the processor's cache.
_BLOCK = 1 << 16


class Stump(NamedTuple):
    """h(x) = ``high`` where x[``feature``] > ``threshold``, and ``low`` elsewhere; both lie in [−1, 1]."""

    feature: int
    threshold: float
    low: float
    high: float

    def score(self, X: FeatureRows) -> Floats:
        """Return h(x) of every row."""
        return np.where(column(X, self.feature) > self.threshold, self.high, self.low)


class _Block(NamedTuple):
    """Some columns in ascending order of value, one after the other, each closed by a separator.

    ``rows`` says whose value stands where: a row of X, n for the separator, n + 1 for all zeros of a sparse
    column. ``cuts`` are the places after which a larger value follows.
    """

    features: RowPlaces
    starts: RowPlaces
    rows: RowPlaces
    cuts: RowPlaces
    zeros: RowPlaces
    has_zeros: Bools


class StumpLearner:
    """Finds stumps for one training set, whose columns are sorted once, under changing weights.

    Ties go to the lowest feature, then to the lowest threshold (midpoints), then to polarity +1, that is +
    above the threshold. A constant stump is returned where it makes strictly less error than every split.
    A ``real`` stump says 2P(+) − 1 of its leaf, smoothed as ``leaves`` says; any other the sign of that. All rows have
    positive weight.

    With signed weights q·y of total T and L the sum up to a cut, the stump + above the cut errs with weight
    W₋ + L and its opposite with W₊ − L. The separator −T after every column lets one running sum serve a
    whole block.
    """

    def __init__(self, data: TrainingRows, leaves: str, real: bool) -> None:
        self.X = by_column(data.X)
        self.positive: Bools = data.positive
        self.sign: Floats = data.sign
        self.leaves = leaves
        self.real = real
        self.blocks: list[_Block] = []
        pending: list[tuple[int, RowPlaces, RowPlaces]] = []
        size = 0
        for feature in range(self.X.shape[1]):
            rows, cuts = _sorted_column(self.X, feature)
            if len(cuts):
                pending.append((feature, rows, cuts))
                size += len(rows)
            if size >= _BLOCK:
                self.blocks.append(_joined(pending, self.X.shape[0]))
                pending, size = [], 0
        if pending:
            self.blocks.append(_joined(pending, self.X.shape[0]))
        # One buffer for all blocks: fresh memory would cost more than the sums.
        self._sums = np.empty(max((len(block.rows) for block in self.blocks), default=0))
        self._below = np.empty_like(self._sums)

    def fit(self, weight: Floats) -> Stump:
        """Return the stump of least weighted error."""
        stump = self._best_stump(self.sign * weight / weight.sum())
        return self._with_leaf_probabilities(stump, weight) if self.real else stump

    def _with_leaf_probabilities(self, stump: Stump, weight: Floats) -> Stump:
        side = (column(self.X, stump.feature) > stump.threshold).astype(np.intp)
        minus, plus = (np.bincount(side, weight * of, minlength=2) for of in (~self.positive, self.positive))
        if stump.low == stump.high:
            leaf = np.array([-1])
            tree = TreeCounts(leaf, leaf, minus.sum(keepdims=True), plus.sum(keepdims=True))
            low = high = smooth_leaves(tree, self.leaves)[0]
        else:
            counts = (np.array([cases.sum(), *cases]) for cases in (minus, plus))
            tree = TreeCounts(np.array([1, -1, -1]), np.array([2, -1, -1]), *counts)
            _, low, high = smooth_leaves(tree, self.leaves)
        return stump._replace(low=2 * low - 1, high=2 * high - 1)

    def _best_stump(self, signed: Floats) -> Stump:
        """Return the stump of least error; the absolute values of ``signed`` sum to 1."""
        total = float(signed.sum())
        minus, plus = (1 - total) / 2, (1 + total) / 2
        entries = np.concatenate([signed, [-total, 0.0]])
        best, error = Stump(0, -np.inf, 0.0, 0.0), np.inf
        for block in self.blocks:
            below = self._running_sums(block, entries)
            least = float(min(minus + below.min(), plus - below.max()))
            if least < error - SLACK:
                good = np.stack([minus + below <= least + SLACK, plus - below <= least + SLACK], axis=1)
                cut, side = divmod(int(np.argmax(good)), 2)
                best, error = self._stump(block, block.cuts[cut], 1.0 if side == 0 else -1.0), least
        if min(minus, plus) < error - SLACK:
            vote = 1.0 if plus > minus else -1.0
            return Stump(0, -np.inf, vote, vote)
        return best

    def _running_sums(self, block: _Block, entries: Floats) -> Floats:
        """Return L at every cut."""
        sums = self._sums[: len(block.rows)]
        # Every place is valid: "clip" only spares NumPy the copy that its check would need.
        np.take(entries, block.rows, out=sums, mode="clip")
        if len(block.zeros):
            # A column sums to 0 with its separator, so the zeros weigh what the others leave.
            sums[block.zeros] = -np.add.reduceat(sums, block.starts)[block.has_zeros]
        np.cumsum(sums, out=sums)
        return np.take(sums, block.cuts, out=self._below[: len(block.cuts)], mode="clip")

    def _stump(self, block: _Block, cut: int, high: float) -> Stump:
        feature = int(block.features[np.searchsorted(block.starts, cut, side="right") - 1])
        # Past the end stands the zero of sparse columns; the separator's value is never read.
        values = np.append(column(self.X, feature), [np.nan, 0.0])
        lower, upper = values[block.rows[cut]], values[block.rows[cut + 1]]
        middle = 0.5 * lower + 0.5 * upper
        # Between neighboring floats the midpoint may round up to the upper one, which must stay above.
        return Stump(feature, float(middle if middle < upper else lower), -high, high)


def _sorted_column(X: FeatureRows, feature: int) -> tuple[RowPlaces, RowPlaces]:
    """Return the rows of a column in ascending order, and the places after which a larger value follows."""
    n = X.shape[0]
    if is_sparse(X):
        part = slice(X.indptr[feature], X.indptr[feature + 1])
        held = X.data[part] != 0
        values, rows = X.data[part][held], X.indices[part][held]
        if len(rows) < n:
            values, rows = np.append(values, 0.0), np.append(rows, n + 1)
        order = np.argsort(values, kind="stable")
        values, rows = values[order], rows[order]
    else:
        rows = np.argsort(X[:, feature], kind="stable")
        values = X[rows, feature]
    cuts = np.flatnonzero(values[:-1] < values[1:])
    return np.append(rows, n).astype(np.int32), cuts.astype(np.int32)


def _joined(columns: list[tuple[int, RowPlaces, RowPlaces]], n: int) -> _Block:
    features, rows, cuts = zip(*columns, strict=True)
    starts = np.cumsum([0, *(len(part) for part in rows)], dtype=np.int32)[:-1]
    all_rows = np.concatenate(rows)
    zeros = np.flatnonzero(all_rows == n + 1).astype(np.int32)
    return _Block(
        features=np.array(features, dtype=np.int32),
        starts=starts,
        rows=all_rows,
        cuts=np.concatenate([part + start for part, start in zip(cuts, starts, strict=True)]),
        zeros=zeros,
        has_zeros=np.isin(np.arange(len(features)), np.searchsorted(starts, zeros, side="right") - 1),
    )


def by_column(X: FeatureRows) -> FeatureRows:
    """Store X so that columns are read quickly."""
    return X.tocsc() if is_sparse(X) else np.asfortranarray(X)


def column(X: FeatureRows, feature: int) -> Floats:
    """Return one column, dense."""
    if not is_sparse(X):
        return np.asarray(X[:, feature])
    return np.asarray(X[:, [feature]].todense()).ravel()


def weighted_sum(stumps: list[Stump], weights: Floats, X: FeatureRows) -> Floats:
    """Return Σ α_t h_t(x), by one lookup a feature instead of one comparison a stump."""
    X = by_column(X)
    parts = np.array(stumps, dtype=np.float64).reshape(-1, 4)
    features, thresholds, low, high = parts.T
    result = np.full(X.shape[0], weights @ low)
    for feature in np.unique(features):
        mine = np.flatnonzero(features == feature)
        mine = mine[np.argsort(thresholds[mine], kind="stable")]
        rises = np.concatenate([[0.0], np.cumsum(weights[mine] * (high[mine] - low[mine]))])
        # x > θ for as many θ as lie strictly below x.
        result += rises[np.searchsorted(thresholds[mine], column(X, int(feature)), side="left")]
    return result
