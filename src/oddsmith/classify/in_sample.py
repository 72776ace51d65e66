"""A guard against calibrating a classifier on the rows that trained it: rows are recognized by their hashes."""

import warnings
from contextlib import suppress
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from oddsmith._sklearn_compat import num_samples, safe_indexing
from oddsmith._types import Floats
from oddsmith.classify.scores import unwrap
from oddsmith.classify.target import Target
from oddsmith.data import MANY_SHARED, Hashes, RowSketch
from oddsmith.errors import InSampleWarning

#: Fewer rows are often separable by chance.
_MANY = 50
#: Fewer leaves may get the same numbers of other rows by chance.
_LEAVES = 8
#: Trees that are compared.
_TREES = 3
#: Fitted tables of the width of X that are not rows.
_PARAMETERS = frozenset({"coef_", "theta_", "var_", "means_", "centroids_", "components_"})
#: Numbers hashed at a time.
_BLOCK = 1 << 18


def row_hashes(X: Any) -> Hashes:
    """Return one number per row, the same for equal rows of numbers in any container."""
    if hasattr(X, "tocsr"):
        rows = X.tocsr()
        terms = _mix(_bits(rows.data)) * _multipliers(rows.shape[1])[rows.indices]
        return _mix(
            sparse.csr_array((terms, rows.indices, rows.indptr), rows.shape) @ np.ones(rows.shape[1], np.uint64)
        )
    if hasattr(X, "columns"):
        columns = (np.asarray(safe_indexing(X, column, axis=1)) for column in range(X.shape[1]))
        terms = zip(columns, _multipliers(X.shape[1]), strict=True)
        return _mix(np.asarray(sum(_mix(_bits(column)) * multiplier for column, multiplier in terms)))
    table = _as_table(X)
    multipliers = _multipliers(table.shape[1])
    height = max(1, _BLOCK // max(1, table.shape[1]))
    blocks = (table[start : start + height] for start in range(0, len(table), height))
    return np.concatenate([_mix(_mix(_bits(block)) @ multipliers) for block in blocks])


def _as_table(X: Any) -> NDArray[Any]:
    """Return two axes; texts, dicts and rows of unequal length are one object each."""
    try:
        # An array of texts would give each the width of the longest.
        whole = isinstance(X, list) and isinstance(X[0], (str, bytes, dict))
        table = np.fromiter(X, object, len(X)) if whole else np.asarray(X)
    except ValueError:
        table = np.fromiter(X, object, len(X))
    return table.reshape(len(table), -1)


def _bits(values: NDArray[Any]) -> Hashes:
    """Return 64 bits for each value: those of a number, a digest of anything else."""
    if values.dtype.kind in "fiub":
        return (values.astype(np.float64) + 0.0).view(np.uint64)  # −0.0 becomes 0.0
    texts = [repr(value) for value in values.ravel().tolist()]
    digest = {text: int.from_bytes(blake2b(text.encode(), digest_size=8).digest()) for text in set(texts)}
    return np.fromiter((digest[text] for text in texts), np.uint64, len(texts)).reshape(values.shape)


def _mix(bits: Hashes) -> Hashes:
    """Scatter the bits of each number (the finalizer of splitmix64); 0 stays 0, so that sparse equals dense."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _multipliers(columns: int) -> Hashes:
    return _mix(np.arange(1, columns + 1, dtype=np.uint64)) | np.uint64(1)


def remember_rows(estimator: Any, hashes: Hashes) -> None:
    """Leave a sketch of its training rows with a classifier that was fitted here."""
    with suppress(AttributeError, TypeError):  # some objects take no attribute
        estimator._training_rows = RowSketch.of(hashes)


def warn_if_copied(hashes: Hashes, target: Target, splits: list[tuple[NDArray[np.intp], NDArray[np.intp]]]) -> None:
    """Warn when many rows are scored by a classifier that was trained on a copy of them.

    A copy is an equal row with the same label. Equal rows that also occur with another label are counted as different
    cases which the features do not distinguish, as is common where features have few values.
    """
    _, row = np.unique(hashes, return_inverse=True)
    if row.max() == len(row) - 1:
        return
    labels = target.codes if target.multilabel else target.codes[:, None]
    one_of_them = np.empty((row.max() + 1, labels.shape[1]), dtype=labels.dtype)
    one_of_them[row] = labels
    differs = np.any(labels != one_of_them[row], axis=1)
    alike = (np.bincount(row, differs) == 0)[row]
    copied, scored = np.zeros(len(row), dtype=bool), np.zeros(len(row), dtype=bool)
    for train, test in splits:
        trained = np.zeros(row.max() + 1, dtype=bool)
        trained[row[np.setdiff1d(train, test)]] = True
        copied[test] |= trained[row[test]] & alike[test]
        scored[test] = True
    share = np.count_nonzero(copied) / np.count_nonzero(scored)
    if share > MANY_SHARED:
        message = (
            f"{share:.0%} of the rows have an equal row, with the same label, in another fold, so that the scores of "
            "these rows are not out-of-sample: remove copies, resample within the classifier's own pipeline, or pass "
            "groups= with one value for all copies of a row."
        )
        warnings.warn(message, InSampleWarning, stacklevel=4)


def warn_if_in_sample(estimator: Any, X: Any, X_train: Any, scores: Floats, target: Target) -> None:
    """Warn when a fitted classifier is about to be calibrated on rows that trained it.

    Evidence, in this order: rows of ``X_train``; the sketch that a fit of this library left; rows that the classifier
    or one of its members stores (neighbors, support vectors, Gaussian processes); a tree whose leaves get exactly the
    numbers of rows that it was grown with; scores that separate 50 rows or more perfectly. What is missed is a
    classifier fitted elsewhere that shows none of this, such as a linear one.
    """
    inner, seen = unwrap(estimator, X)
    sketches = [] if X_train is None else [RowSketch.of(row_hashes(X_train))]
    sketches += [estimator._training_rows] if hasattr(estimator, "_training_rows") else []
    hashes = row_hashes(X) if sketches else np.empty(0, dtype=np.uint64)
    shares = [sketch.overlap(hashes) for sketch in sketches]
    stored = _stored_rows(inner, getattr(seen, "shape", ())[1:])
    hashes = row_hashes(seen) if stored else hashes
    shares += [RowSketch.of(row_hashes(rows)).overlap(hashes) for rows in stored]
    share = max(shares, default=0.0)
    if share > MANY_SHARED:
        reason = f"About {share:.0%} of these rows also trained the classifier"
    elif _fills_leaves(inner, seen):
        reason = "These rows fall into the leaves of the classifier's trees in exactly the numbers that trained it"
    elif len(scores) >= _MANY and _separates(scores, target):
        reason = "The scores separate all classes perfectly, as those of training rows often do"
    else:
        return
    message = f"{reason}: calibrate on other rows, or have the classifier fitted here with cv."
    warnings.warn(message, InSampleWarning, stacklevel=3)


def _stored_rows(inner: Any, width: tuple[int, ...], depth: int = 3) -> list[Any]:
    """Return tables of the width of X that a fitted classifier, or a member of it, stores."""
    if not width or depth == 0:
        return []
    found = []
    for name, value in getattr(inner, "__dict__", {}).items():
        if getattr(value, "shape", ())[1:] == width and value.shape[0] > 1 and name not in _PARAMETERS:
            found.append(value)
        for member in value if isinstance(value, (list, tuple)) else [value]:
            if name.endswith("_") and isinstance(member, BaseEstimator):
                found += _stored_rows(member, width, depth - 1)
    return found


def _fills_leaves(inner: Any, X: Any) -> bool:
    """Tell whether each leaf of the first trees gets as many of the rows as it did in training.

    Rows that are drawn with repetition are drawn again, which shows the training rows in their order.
    """
    members = getattr(inner, "estimators_", None)
    trees = [inner] if members is None else list(np.ravel(members)[:_TREES])
    if not all(isinstance(tree, (DecisionTreeClassifier, DecisionTreeRegressor)) for tree in trees):
        return False
    drawn = [np.arange(num_samples(X))] * len(trees)
    if members is not None and getattr(inner, "bootstrap", False):
        if getattr(inner, "_n_samples", None) != num_samples(X):
            return False
        drawn = [np.unique(rows) for rows in inner.estimators_samples_[: len(trees)]]
    table = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    many = sum(tree.get_n_leaves() for tree in trees) >= _LEAVES
    return many and all(_fills(tree, table, rows) for tree, rows in zip(trees, drawn, strict=True))


def _fills(tree: Any, table: Any, rows: NDArray[np.intp]) -> bool:
    grown = tree.tree_
    if grown.n_node_samples[0] != len(rows) or tree.n_features_in_ != table.shape[1]:
        return False
    leaves = np.flatnonzero(grown.children_left < 0)
    # Members of a forest were fitted without names of columns, a single tree perhaps with them.
    counts = np.bincount(grown.apply(table[rows].astype(np.float32)), minlength=grown.node_count)
    return bool(np.array_equal(counts[leaves], grown.n_node_samples[leaves]))


def _separates(scores: Floats, target: Target) -> bool:
    if target.multilabel or scores.shape[1] not in (1, len(target.classes)):
        return False
    if scores.shape[1] == 1:
        positive = target.codes == 1
        return bool(positive.any() and not positive.all() and scores[positive].min() > scores[~positive].max())
    return bool(np.array_equal(scores.argmax(axis=1), target.codes))
