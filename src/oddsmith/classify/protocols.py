"""Protocols: scores of rows that did not train the classifier.

A calibrator must never see scores of the classifier's own training rows: they are too good, and the map that fits them
is too sure of everything else.
"""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    RandomizedSearchCV,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    check_cv,
)
from sklearn.pipeline import Pipeline
from sklearn.utils import indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from oddsmith import _check
from oddsmith._sklearn_compat import check_method_params, num_samples, safe_split
from oddsmith._types import Bools, Floats, Weights
from oddsmith.classify.scores import ClassifierScores, ResponseMethod, ScoreLayout, classifier_scores, wants_numbers
from oddsmith.classify.target import Target, read_target
from oddsmith.data import ScoreTable
from oddsmith.errors import InSampleWarning, SkippedFoldWarning, UnseenClassWarning, UnusedWeightWarning

__all__ = ["score_tables"]

RowNumbers = NDArray[np.intp]
Split = tuple[RowNumbers, RowNumbers]
FitProgress = Callable[[int, int], Any]

#: Classifiers that are kept and averaged by default.
_MOST_MEMBERS = 10


class ScoredFold(NamedTuple):
    """Rows, their scores by a classifier that was trained on others, and that classifier, where it is kept."""

    train: RowNumbers
    test: RowNumbers
    scores: ClassifierScores
    estimator: Any


class Pooled(NamedTuple):
    """The aligned scores of all folds; a row scored r times is there r times, each with the share 1/r.

    Attributes
    ----------
    rows : ndarray of int
    values : ndarray
        NaN in the column of a class that a fold was not trained on.
    scores : ClassifierScores
        Those of the first fold, which are of the same kind as all others.
    share : ndarray or None
    seen : ndarray of bool
        The classes that trained the classifier whose scores are calibrated.
    borrowing : ndarray of bool
        Classes that have rows, of which none can calibrate.
    """

    rows: RowNumbers
    values: Floats
    scores: ClassifierScores
    share: Floats | None
    seen: Bools
    borrowing: Bools

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
    response_method: ResponseMethod
    layout: ScoreLayout

    def present(self, n: int) -> Bools:
        """Mark the rows to train on; one whose weight is 0 is absent."""
        given = [each for name, each in self.params.items() if name.endswith("sample_weight") and each is not None]
        return np.asarray(given[0]) > 0 if given else np.ones(n, dtype=bool)


def make_splitter(cv: Any, target: Target | None, grouped: bool, random_state: Any) -> Any:
    """Resolve ``cv`` once: a number of folds, a held-out fraction, a splitter, or pairs of row numbers.

    Numbers give shuffled folds that keep the shares of the classes, and groups together. Labels of an indicator matrix
    are not stratified, and neither is a held-out part when a class has a single row.
    """
    cv = 5 if cv is None else cv
    stratify = target is None or not target.multilabel
    counts = np.array([2]) if target is None or not stratify else np.bincount(target.codes)
    if isinstance(cv, (float, np.floating)):
        if not 0 < cv < 1:
            _check.fail("cv must be a fraction between 0 and 1, or folds", f"cv={cv!r}", "hold out 0.3")
        kind = StratifiedShuffleSplit if stratify and counts.min() > 1 else ShuffleSplit
        return (GroupShuffleSplit if grouped else kind)(n_splits=1, test_size=float(cv), random_state=random_state)
    if isinstance(cv, (int, np.integer)):
        folds = _check.whole_number(cv, "cv", low=2)
        kind = (
            (StratifiedGroupKFold if grouped else StratifiedKFold) if stratify else (GroupKFold if grouped else KFold)
        )
        if target is not None and stratify and folds > counts.max():
            _check.fail("cv must not exceed the rows of the largest class", f"{cv=} for {counts.max()}", "use fewer")
        return kind(n_splits=folds, shuffle=True, random_state=random_state)
    if isinstance(cv, str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        hint = "use cv=5, or prefit=True for a fitted classifier"
        _check.fail("cv must be folds, a fraction, a splitter or splits", f"cv={cv!r}", hint)
    return check_cv(cv)


def make_splits(
    splitter: Any,
    X: Any,
    target: Target,
    params: dict[str, Any],
    training: Training | None = None,
    *,
    ensemble: bool = False,
) -> list[Split]:
    """Return (train, test) for each fold that can be trained: it has two classes, and scores rows of those.

    Rows of classes that a fold is not trained on are left out of its test part. A class of two that is left without
    any row is an error; of more, a warning, as for all that is left out.
    """
    if isinstance(splitter, (GroupKFold, StratifiedGroupKFold)) and "groups" in params:
        groups = len(np.unique(np.asarray(params["groups"])))
        if groups < splitter.n_splits:
            _check.fail(
                "cv must not exceed the number of groups", f"{splitter.n_splits} folds of {groups}", "use fewer"
            )
    with warnings.catch_warnings():
        # A class with fewer rows than folds is welcome here.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        pairs = splitter.split(X, target.y, **params)
        splits = [(_row_numbers(train), _row_numbers(test)) for train, test in pairs]
    kept, alone = list[Split](), set()
    present = np.ones(len(target.y), dtype=bool) if training is None else training.present(len(target.y))
    for number, (train, test) in enumerate(splits):
        train = train[present[train]]
        if not len(train) or not len(test):
            _check.fail("every fold must train and score rows", f"an empty part in fold {number}", "change cv")
        if ensemble and len(test) < 2:
            _check.fail("with ensemble=True every fold must calibrate on two rows", "1 row", "use ensemble=False")
        trained = np.zeros(len(target.y), dtype=bool)
        trained[train] = True
        if both := np.count_nonzero(trained[test]):
            message = f"Fold {number} scores {both} rows that it was trained on."
            warnings.warn(message, InSampleWarning, stacklevel=4)
        if not target.multilabel and np.count_nonzero(np.bincount(target.codes[train])) < 2:
            (only,) = target.classes[target.codes[train[:1]]].tolist()
            alone.add(f"{only!r}")
            message = f"Fold {number} is skipped: all its training rows are of class {only!r}."
            warnings.warn(message, SkippedFoldWarning, stacklevel=4)
            continue
        if not target.multilabel and not _mark_classes(target, train)[target.codes[test]].any():
            message = f"Fold {number} is skipped: it is trained on none of the classes that it scores."
            warnings.warn(message, SkippedFoldWarning, stacklevel=4)
            continue
        kept.append((train, test))
    if not kept and not alone:
        got = f"{len(splits)} folds that score only classes that they are not trained on"
        _check.fail("some fold must score classes that it is trained on", got, "change cv or groups")
    if not kept:
        got = f"{len(splits)} folds, none with weight in classes other than {' or '.join(sorted(alone))}"
        _check.fail("some fold must have two classes to train on", got, "change cv or sample_weight")
    return _without_strangers(kept, target, present)


def _mark_classes(target: Target, rows: RowNumbers) -> Bools:
    """Mark the classes, or labels with both outcomes, that are among some rows."""
    codes = target.codes[rows]
    if target.multilabel:
        return np.asarray(codes.any(axis=0) & ~codes.all(axis=0))
    return np.bincount(codes, minlength=len(target.classes)) > 0


def _without_strangers(splits: list[Split], target: Target, present: Bools) -> list[Split]:
    """Leave out of each test part the rows of classes that did not train, and warn."""
    known = [_mark_classes(target, train) for train, _ in splits]
    wanted = _mark_classes(target, np.flatnonzero(present))
    unseen = np.sum([wanted & ~each for each in known], axis=0)
    if target.multilabel:
        kept, lacking = splits, np.zeros(len(wanted), dtype=bool)
    else:
        kept = [(train, test[each[target.codes[test]]]) for each, (train, test) in zip(known, splits, strict=True)]
        lacking = wanted & ~_classes_with_scores(kept, target, present)
    names = target.classes.tolist()
    if lacking.any() and len(names) == 2:
        (at,) = np.flatnonzero(lacking)
        got = f"none of class {names[at]!r} ({np.sum(target.codes[present] == at)} rows in all)"
        hint = "have rows of each class in two folds or groups, or calibrate a fitted classifier with prefit=True"
        _check.fail("every class must have rows that calibrate", got, hint)
    for at in np.flatnonzero(unseen | lacking):
        parts = []
        if unseen[at]:
            left = 0 if target.multilabel else sum(np.sum(target.codes[test] == at) for _, test in splits)
            left -= 0 if target.multilabel else sum(np.sum(target.codes[test] == at) for _, test in kept)
            what = "label" if target.multilabel else "class"
            were = "was" if unseen[at] == 1 else "were"
            consequence = (
                f"its {left} rows there are left out of the calibration" if left else "they do not calibrate it"
            )
            parts.append(
                f"{unseen[at]} of {len(splits)} folds {were} trained without {what} {names[at]!r}: {consequence}."
            )
        if lacking[at]:
            parts.append(f"No row of class {names[at]!r} calibrates: the map of the other classes is used for it.")
        warnings.warn(" ".join(parts), UnseenClassWarning, stacklevel=5)
    return kept


def _classes_with_scores(splits: list[Split], target: Target, present: Bools) -> Bools:
    """Mark the classes of which some fold scores a row that has weight."""
    scored = np.zeros(len(target.y), dtype=bool)
    for _, test in splits:
        scored[test] = True
    return _mark_classes(target, np.flatnonzero(scored & present))


def _row_numbers(part: ArrayLike) -> RowNumbers:
    rows = np.asarray(part)
    return np.flatnonzero(rows) if rows.dtype.kind == "b" else rows.astype(np.intp, copy=False)


def averages(estimator: Any, splits: list[Split], target: Target) -> bool:
    """Tell whether the classifiers of all folds are averaged by default, instead of training one on all rows.

    Trees of a forest memorize their rows. Averaging forests of different rows undoes some of that; training one on all
    rows does not. It takes folds that each train on most rows and all classes, and not too many classifiers to keep.
    """
    if not _is_forest(estimator) or not 3 <= len(splits) <= _MOST_MEMBERS:
        return False
    n_rows = len(np.unique(np.concatenate([train for train, _ in splits])))
    most = min(len(train) for train, _ in splits) >= 2 / 3 * n_rows - 1
    return most and all(_mark_classes(target, train).all() for train, _ in splits)


def _is_forest(estimator: Any) -> bool:
    if isinstance(estimator, (BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier)):
        return True
    if isinstance(estimator, Pipeline):
        return _is_forest(estimator.steps[-1][1])
    return isinstance(estimator, (GridSearchCV, RandomizedSearchCV)) and _is_forest(estimator.estimator)


def fit_folds(
    training: Training,
    X: Any,
    y: NDArray[Any],
    splits: list[Split],
    *,
    keep: bool = False,
    n_jobs: int | None = None,
    done: Callable[[], Any] | None = None,
) -> list[ScoredFold]:
    """Train on each fold's rest and score the fold."""
    parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    folds = []
    for fold in parallel(delayed(_fit_fold)(training, X, y, *split, keep) for split in splits):
        folds.append(fold)
        if done is not None:
            done()
    return [fold._replace(scores=scores) for fold, scores in zip(folds, _common_scores(folds), strict=True)]


def _common_scores(folds: list[ScoredFold]) -> list[ClassifierScores]:
    """Return the scores of all folds, which must be of one kind."""
    scores = [fold.scores for fold in folds]
    softmax = next((each for each in scores if each.source.startswith("softmax of ")), None)
    if softmax is not None:
        # A fold that saw two of the classes: its margin is the log-odds between them.
        scores = [
            replace(each, kind=softmax.kind, source=softmax.source, form=softmax.form)
            if f"softmax of {each.source}" == softmax.source and each.values.ndim == 1
            else each
            for each in scores
        ]
    kinds = {(each.kind, each.form) for each in scores}
    if len(kinds) > 1:
        got = " and ".join(kind for kind, _ in sorted(kinds))
        _check.fail("all folds must have one kind of score", got, 'name one, such as response_method="predict_proba"')
    return scores


def _fit_fold(
    training: Training, X: Any, y: NDArray[Any], train: RowNumbers, test: RowNumbers, keep: bool
) -> ScoredFold:
    estimator = fit_rows(training, X, y, train)
    scored, _ = safe_split(estimator, X, None, test, train)
    scores = classifier_scores(estimator, scored, training.response_method, layout=training.layout, rows=test)
    return ScoredFold(train, test, scores, estimator if keep else None)


def fit_rows(training: Training, X: Any, y: NDArray[Any], rows: RowNumbers) -> Any:
    """Fit a copy of the classifier to some of the rows."""
    estimator = clone(training.estimator)
    X_part, y_part = safe_split(estimator, X, y, rows)
    params = check_method_params(X, training.params, rows)
    if not (y.ndim == 1 and wants_numbers(estimator)):
        return estimator.fit(X_part, y_part, **params)
    labels, numbers = np.unique(y_part, return_inverse=True)
    estimator.fit(X_part, numbers, **params)
    estimator._label_names = labels
    return estimator


def weight_params(estimator: Any, weight: Weights | None) -> dict[str, Any]:
    """Return weights by the name under which a classifier's fit takes them; of a pipeline, its last step's."""
    name, final = "sample_weight", estimator
    while isinstance(final, Pipeline):
        step, final = final.steps[-1]
        name = f"{name.removesuffix('sample_weight')}{step}__sample_weight"
    if weight is None or has_fit_parameter(final, "sample_weight"):
        return {} if weight is None else {name: weight}
    message = f"{type(final).__name__} takes no sample_weight: only the calibrator uses it."
    warnings.warn(message, UnusedWeightWarning, stacklevel=4)
    return {}


def pool(folds: list[ScoredFold], target: Target, present: Bools | None = None) -> Pooled:
    """Put the scores of all folds together, for a classifier that is trained on all rows, or those present."""
    present = np.ones(len(target.y), dtype=bool) if present is None else present
    rows = np.concatenate([fold.test for fold in folds])
    values = np.concatenate([_fold_values(fold, target) for fold in folds])
    times = np.bincount(rows)[rows]
    seen = _present(target, present)
    borrowing = seen & ~_classes_with_scores([(fold.train, fold.test) for fold in folds], target, present)
    return Pooled(rows, values, folds[0].scores, None if times.max() == 1 else 1 / times, seen, borrowing)


def pool_members(folds: list[ScoredFold], target: Target, present: Bools) -> list[Pooled]:
    """Return the scores of each fold, for its own classifier."""
    borrowing = pool(folds, target, present).borrowing
    members = []
    for fold in folds:
        trained = np.zeros(len(target.y), dtype=bool)
        trained[fold.train] = True
        alone = pool([fold], target, trained)
        members.append(alone._replace(borrowing=borrowing & alone.seen))
    return members


def _present(target: Target, present: Bools) -> Bools:
    """Mark the classes that have rows to train on; labels are always there."""
    return (
        np.ones(len(target.classes), dtype=bool)
        if target.multilabel
        else _mark_classes(target, np.flatnonzero(present))
    )


def _fold_values(fold: ScoredFold, target: Target) -> Floats:
    """Return aligned scores; NaN for labels of which the fold saw one outcome only."""
    values = fold.scores.align(target.classes)
    return np.where(_mark_classes(target, fold.train), values, np.nan) if target.multilabel else values


def score_all(training: Training, X: Any, target: Target) -> Pooled:
    """Score all rows by a classifier that is fitted already."""
    scores = classifier_scores(training.estimator, X, training.response_method, layout=training.layout)
    everything = np.ones(len(target.classes), dtype=bool)
    return Pooled(np.arange(len(target.y)), scores.align(target.classes), scores, None, everything, ~everything)


def score_tables(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    cv: Any = 5,
    response_method: ResponseMethod = "auto",
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
        Rows, labels (sorted order, the second is positive), and what `CalibratedClassifier.fit` takes in addition.
    cv : int, float, splitter or iterable of (train, test), default 5
        A number of folds, a fraction to hold out, or any splitter.
    response_method : {"auto", "decision_function", "predict_proba", "log_odds", "votes"} or callable, default "auto"
        Which score, or a function of a fitted classifier and X that gives it; see `classifier_scores`.
    random_state : int, RandomState or None, default 0
        Shuffles the folds.
    n_jobs : int, optional
        Folds fitted at a time.

    Returns
    -------
    dict
        "in_sample" and "out_of_fold", a `ScoreTable` each.

    See Also
    --------
    CalibratedClassifier : Calibrates on such scores.
    oddsmith.plots.DensityDisplay : Draws both tables.

    References
    ----------
    J. Platt, Probabilistic outputs for support vector machines, 1999.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = [[i] for i in range(40)], [(i // 3) % 2 for i in range(40)]
    >>> tables = score_tables(DecisionTreeClassifier(random_state=0), X, y)
    >>> [int(tables[name].neg[-1]) for name in ("in_sample", "out_of_fold")]  # negatives with the highest score
    [0, 5]
    """
    (X,) = indexable(X)
    target = read_target(y, num_samples(X))
    if len(target.classes) != 2 or target.multilabel:
        _check.fail("y must contain two classes", f"{len(target.classes)}", "take one class against the rest")
    weight = _check.as_weights(sample_weight, len(target.y))
    training = Training(estimator, weight_params(estimator, weight), response_method, "classes")
    splitter = make_splitter(cv, target, groups is not None, random_state)
    splits = make_splits(splitter, X, target, {} if groups is None else {"groups": groups}, training)
    present = training.present(len(target.y))
    pooled = pool(fit_folds(training, X, target.y, splits, n_jobs=n_jobs), target, present)
    fitted = fit_rows(training, X, target.y, np.flatnonzero(present))
    both = {"in_sample": score_all(training._replace(estimator=fitted), X, target), "out_of_fold": pooled}
    return {
        name: ScoreTable.from_arrays(each.values, target.codes[each.rows], each.weight(weight))
        for name, each in both.items()
    }
