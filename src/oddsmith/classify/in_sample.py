"""A guard against calibrating a classifier on the rows that trained it: rows are recognized by their hashes."""

import warnings
from contextlib import suppress
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from oddsmith._sklearn_compat import safe_indexing
from oddsmith._types import Floats
from oddsmith.classify.scores import unwrap
from oddsmith.classify.target import Target
from oddsmith.errors import InSampleWarning
from oddsmith.table.row_sketch import MANY_SHARED, Hashes, RowSketch

#: Fewer rows are often separable by chance.
_MANY = 50
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


def warn_if_in_sample(estimator: Any, X: Any, X_train: Any, scores: Floats, target: Target) -> None:
    """Warn when a fitted classifier is about to be calibrated on rows that trained it.

    Evidence, in this order: rows of ``X_train``; the sketch that a fit of this library left; rows that the classifier
    itself stores (neighbors, support vectors); scores that separate 50 rows or more perfectly. What is missed is a
    classifier fitted elsewhere that stores no rows and does not separate them, whose in-sample bias is the smallest.
    """
    inner, seen = unwrap(estimator, X)
    hashes = row_hashes(X)
    sketches = [] if X_train is None else [RowSketch.of(row_hashes(X_train))]
    sketches += [estimator._training_rows] if hasattr(estimator, "_training_rows") else []
    shares = [sketch.shared(hashes) for sketch in sketches]
    width = getattr(seen, "shape", ())[1:]
    stored = [rows for rows in getattr(inner, "__dict__", {}).values() if getattr(rows, "shape", ())[1:] == width]
    shares += [
        RowSketch.of(row_hashes(rows)).shared(row_hashes(seen)) for rows in stored if width and rows.shape[0] > 1
    ]
    share = max(shares, default=0.0)
    if share > MANY_SHARED:
        reason = f"About {share:.0%} of these rows also trained the classifier"
    elif len(scores) >= _MANY and _separates(scores, target):
        reason = "The scores separate all classes perfectly, as those of training rows often do"
    else:
        return
    message = f"{reason}: calibrate on other rows, or have the classifier fitted here with cv."
    warnings.warn(message, InSampleWarning, stacklevel=3)


def _separates(scores: Floats, target: Target) -> bool:
    if target.multilabel or scores.shape[1] not in (1, len(target.classes)):
        return False
    if scores.shape[1] == 1:
        positive = target.codes == 1
        return bool(positive.any() and not positive.all() and scores[positive].min() > scores[~positive].max())
    return bool(np.array_equal(scores.argmax(axis=1), target.codes))
