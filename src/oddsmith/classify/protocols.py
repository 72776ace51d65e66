"""Protocols: scores of rows that did not train the classifier, and a guard against those that did.

A calibrator must never see scores of the classifier's own training rows: they are too good, and the map that fits them
is too sure of everything else.
"""

import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    check_cv,
)
from sklearn.utils import indexable
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, _num_samples

from oddsmith import _check
from oddsmith._check import Floats, Weights
from oddsmith.classify.multiclass import Target, read_target
from oddsmith.classify.scores import ClassScores, Form, Layout, Score, classifier_scores, unwrap
from oddsmith.errors import OddsmithWarning
from oddsmith.table import ScoreTable

__all__ = ["InSampleWarning", "SkippedFoldWarning", "score_tables"]

Rows = NDArray[np.intp]
Hashes = NDArray[np.uint64]
Progress = Callable[[int, int], Any]

#: So many of the smallest row hashes stand for all training rows: 8 kB, whatever their number.
_SKETCH = 1024
#: Rows that happen to be equal are few; rows that were used twice are many.
_SHARED = 0.1
#: Fewer rows are often separable by chance.
_MANY = 50
#: Numbers hashed at a time.
_BLOCK = 1 << 18


class InSampleWarning(OddsmithWarning):
    """The rows that calibrate a classifier seem to be rows that trained it."""


class SkippedFoldWarning(OddsmithWarning):
    """A fold left one class to train on: its rows do not calibrate."""


class Fold(NamedTuple):
    """Rows, their scores by a classifier that was trained on others, and that classifier, where it is kept."""

    train: Rows
    test: Rows
    scores: ClassScores
    estimator: Any


class Pooled(NamedTuple):
    """The aligned scores of all folds; a row scored r times is there r times, each with the share 1/r."""

    rows: Rows
    values: Floats
    form: Form
    share: Floats | None

    def weight(self, sample_weight: Weights | None) -> Weights | None:
        """Return a weight for each score, such that every row keeps its own."""
        given = None if sample_weight is None else sample_weight[self.rows]
        if self.share is None or given is None:
            return self.share if given is None else given
        return given * self.share


class Training(NamedTuple):
    """A classifier to fit, what its fit is given, and how to score it."""

    estimator: Any
    params: dict[str, Any]
    score: Score
    layout: Layout


def make_splitter(cv: Any, target: Target | None, grouped: bool, random_state: Any) -> Any:
    """Resolve ``cv`` once: a number of folds, a held-out fraction, a splitter, or pairs of row numbers.

    Numbers give shuffled folds that keep the shares of the classes, and groups together. Labels of an indicator matrix
    are not stratified, and neither is a held-out part when a class has a single row.
    """
    cv = 5 if cv is None else cv
    smallest, largest = 2, 2
    if target is not None:
        counts = [0] if target.multilabel else np.bincount(target.codes)
        smallest, largest = int(np.min(counts)), int(np.max(counts))
    if isinstance(cv, (float, np.floating)):
        if not 0 < cv < 1:
            _check.fail("cv must be a fraction between 0 and 1, or folds", f"cv={cv!r}", "hold out 0.3")
        kind = GroupShuffleSplit if grouped else StratifiedShuffleSplit if smallest > 1 else ShuffleSplit
        return kind(n_splits=1, test_size=float(cv), random_state=random_state)
    if isinstance(cv, (int, np.integer)):
        folds = _check.whole_number(cv, "cv", low=2)
        if smallest == 0:
            kind = GroupKFold if grouped else KFold
        else:
            kind = StratifiedGroupKFold if grouped else StratifiedKFold
            if target is not None and folds > largest:
                _check.fail("cv must not exceed the rows of the largest class", f"{cv=} for {largest}", "use fewer")
        return kind(n_splits=folds, shuffle=True, random_state=random_state)
    if not hasattr(cv, "split") and (isinstance(cv, str) or not isinstance(cv, Iterable)):
        _check.fail("cv must be folds, a fraction, a splitter or splits", f"cv={cv!r}", "use cv=5")
    return check_cv(cv)


def make_splits(splitter: Any, X: Any, target: Target, params: dict[str, Any]) -> list[tuple[Rows, Rows]]:
    """Return (train, test) for each fold whose training part has two classes or more."""
    with warnings.catch_warnings():
        # A class with fewer rows than folds is welcome here.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        splits = [tuple(_row_numbers(part) for part in pair) for pair in splitter.split(X, target.y, **params)]
    kept = []
    for number, (train, test) in enumerate(splits):
        if not len(train) or not len(test):
            _check.fail("every fold must train and score rows", f"an empty part in fold {number}", "change cv")
        if both := len(np.intersect1d(train, test)):
            message = f"Fold {number} scores {both} rows that it was trained on."
            warnings.warn(message, InSampleWarning, stacklevel=3)
        if not target.multilabel and len(np.unique(target.codes[train])) < 2:
            only = target.classes[target.codes[train[0]]]
            message = f"Fold {number} is skipped: all its training rows are of class {only!r}."
            warnings.warn(message, SkippedFoldWarning, stacklevel=3)
            continue
        kept.append((train, test))
    if not kept:
        _check.fail("some fold must have two classes to train on", f"{len(splits)} folds, none of them", "change cv")
    return kept


def _row_numbers(part: ArrayLike) -> Rows:
    rows = np.asarray(part)
    return np.flatnonzero(rows) if rows.dtype.kind == "b" else rows.astype(np.intp, copy=False)


def fit_folds(
    training: Training,
    X: Any,
    y: NDArray[Any],
    splits: list[tuple[Rows, Rows]],
    *,
    keep: bool = False,
    n_jobs: int | None = None,
    done: Callable[[], Any] | None = None,
) -> list[Fold]:
    """Train on each fold's rest and score the fold."""
    parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    folds = []
    for fold in parallel(delayed(_fit_fold)(training, X, y, *split, keep) for split in splits):
        folds.append(fold)
        if done is not None:
            done()
    kinds = {fold.scores.kind for fold in folds}
    if len(kinds) > 1:
        got = " and ".join(sorted(kinds))
        _check.fail("all folds must have one kind of score", got, 'name one, such as score="probability"')
    return folds


def _fit_fold(training: Training, X: Any, y: NDArray[Any], train: Rows, test: Rows, keep: bool) -> Fold:
    estimator = fit_rows(training, X, y, train)
    scored, _ = _safe_split(estimator, X, None, test, train)
    scores = classifier_scores(estimator, scored, training.score, layout=training.layout, rows=test)
    return Fold(train, test, scores, estimator if keep else None)


def fit_rows(training: Training, X: Any, y: NDArray[Any], rows: Rows) -> Any:
    """Fit a copy of the classifier to some of the rows."""
    estimator = clone(training.estimator)
    X_part, y_part = _safe_split(estimator, X, y, rows)
    return estimator.fit(X_part, y_part, **_check_method_params(X, training.params, rows))


def pool(folds: list[Fold], target: Target) -> Pooled:
    """Put the scores of all folds together."""
    rows = np.concatenate([fold.test for fold in folds])
    values = np.concatenate([_aligned(fold.scores, target) for fold in folds])
    times = np.bincount(rows)[rows]
    return Pooled(rows, values, folds[0].scores.form, None if times.max() == 1 else 1 / times)


def _aligned(scores: ClassScores, target: Target) -> Floats:
    return scores.values if target.multilabel else scores.aligned(target.classes)


def score_tables(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    cv: Any = 5,
    score: Score = "auto",
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> dict[str, ScoreTable]:
    """Score the same rows twice: by a classifier that was trained on them, and by classifiers that were not.

    Calibrate or plot both tables to see the bias of in-sample scores: the first looks far better than it is.

    Parameters
    ----------
    estimator : classifier
        Two classes; it is copied.
    X, y, sample_weight, groups
        Rows, labels (sorted order, the second is positive), and what `CalibratedClassifier.fit` takes beside them.
    cv, score, random_state, n_jobs
        As in `CalibratedClassifier`.

    Returns
    -------
    dict
        "in_sample" and "out_of_fold", a `ScoreTable` each.

    References
    ----------
    J. Platt, Probabilistic outputs for support vector machines, 1999, section 2.2.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = [[i] for i in range(40)], [(i // 3) % 2 for i in range(40)]
    >>> tables = score_tables(DecisionTreeClassifier(random_state=0), X, y)
    >>> [int(tables[name].neg[-1]) for name in ("in_sample", "out_of_fold")]  # negatives with the highest score
    [0, 6]
    """
    (X,) = indexable(X)
    target = read_target(y, _num_samples(X))
    if len(target.classes) != 2 or target.multilabel:
        _check.fail("y must hold two classes", f"{len(target.classes)}", "take one class against the rest")
    weight = _check.as_weights(sample_weight, len(target.y))
    training = Training(estimator, {} if weight is None else {"sample_weight": weight}, score, "classes")
    splitter = make_splitter(cv, target, groups is not None, random_state)
    splits = make_splits(splitter, X, target, {} if groups is None else {"groups": groups})
    pooled = pool(fit_folds(training, X, target.y, splits, n_jobs=n_jobs), target)
    everything = np.arange(len(target.y))
    own = _fit_fold(training, X, target.y, everything, everything, False)
    return {
        "in_sample": ScoreTable.from_arrays(_aligned(own.scores, target), target.codes, weight),
        "out_of_fold": ScoreTable.from_arrays(pooled.values, target.codes[pooled.rows], pooled.weight(weight)),
    }


def row_hashes(X: Any) -> Hashes:
    """Return one number a row, the same for equal rows of numbers, dense or sparse."""
    if sparse.issparse(X):
        rows = X.tocsr()
        terms = _mix(_bits(rows.data)) * _multipliers(rows.shape[1])[rows.indices]
        return _mix(
            sparse.csr_array((terms, rows.indices, rows.indptr), rows.shape) @ np.ones(rows.shape[1], np.uint64)
        )
    table = np.asarray(X)
    table = table.reshape(len(table), -1)
    multipliers = _multipliers(table.shape[1])
    height = max(1, _BLOCK // max(1, table.shape[1]))
    blocks = (table[start : start + height] for start in range(0, len(table), height))
    return np.concatenate([_mix(_mix(_bits(block)) @ multipliers) for block in blocks])


def _bits(values: NDArray[Any]) -> Hashes:
    """Return 64 bits for each value: those of a number, a digest of anything else."""
    if values.dtype.kind in "fiub":
        return (values.astype(np.float64) + 0.0).view(np.uint64)  # −0.0 becomes 0.0
    digests = (int.from_bytes(blake2b(repr(v).encode(), digest_size=8).digest()) for v in values.ravel().tolist())
    return np.fromiter(digests, np.uint64, values.size).reshape(values.shape)


def _mix(bits: Hashes) -> Hashes:
    """Scatter the bits of each number (the finaliser of splitmix64); 0 stays 0, so that sparse equals dense."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _multipliers(columns: int) -> Hashes:
    return _mix(np.arange(1, columns + 1, dtype=np.uint64)) | np.uint64(1)


def remember_rows(estimator: Any, hashes: Hashes) -> None:
    """Leave a sketch of its training rows with a classifier that was fitted here."""
    with suppress(AttributeError, TypeError):  # some objects take no attribute
        estimator._training_rows = _sketch(hashes)


def warn_if_in_sample(estimator: Any, X: Any, X_train: Any, scores: Floats, target: Target) -> None:
    """Warn when a fitted classifier is about to be calibrated on rows that trained it.

    Evidence, in this order: rows of ``X_train``; the sketch that a fit of this library left; rows that the classifier
    itself stores (neighbours, support vectors); scores that separate 50 rows or more perfectly. What is missed is a
    classifier fitted elsewhere that stores no rows and does not separate them, whose in-sample bias is the smallest.
    """
    inner, seen = unwrap(estimator, X)
    hashes = row_hashes(X)
    sketches = [] if X_train is None else [_sketch(row_hashes(X_train))]
    sketches += [each._training_rows for each in (estimator, inner) if hasattr(each, "_training_rows")]
    shares = [_shared(sketch, hashes) for sketch in sketches]
    width = getattr(seen, "shape", ())[1:]
    stored = [rows for rows in getattr(inner, "__dict__", {}).values() if getattr(rows, "shape", ())[1:] == width]
    shares += [_shared(_sketch(row_hashes(rows)), row_hashes(seen)) for rows in stored if width and rows.shape[0] > 1]
    share = max(shares, default=0.0)
    if share > _SHARED:
        reason = f"About {share:.0%} of these rows also trained the classifier"
    elif len(scores) >= _MANY and _separates(scores, target):
        reason = "The scores separate all classes perfectly, as those of training rows often do"
    else:
        return
    message = f"{reason}: calibrate on other rows, or have the classifier fitted here with cv."
    warnings.warn(message, InSampleWarning, stacklevel=4)


def _sketch(hashes: Hashes) -> Hashes:
    return np.unique(hashes)[:_SKETCH]


def _shared(sketch: Hashes, hashes: Hashes) -> float:
    """Estimate the share of rows that are among those of a sketch; exact below 1024 distinct rows."""
    if len(sketch) == _SKETCH:
        hashes = hashes[hashes <= sketch[-1]]
    return float(np.isin(hashes, sketch).mean()) if len(hashes) else 0.0


def _separates(scores: Floats, target: Target) -> bool:
    if target.multilabel or scores.shape[1] not in (1, len(target.classes)):
        return False
    if scores.shape[1] == 1:
        positive = target.codes == 1
        return bool(positive.any() and not positive.all() and scores[positive].min() > scores[~positive].max())
    return bool(np.array_equal(scores.argmax(axis=1), target.codes))
