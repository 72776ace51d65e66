"""A classifier whose probabilities are calibrated, by any calibrator and any protocol."""

import inspect
import os
from copy import copy
from dataclasses import KW_ONLY, dataclass
from itertools import cycle
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from oddsmith import _check
from oddsmith._sklearn_compat import num_samples
from oddsmith._types import Floats, Weights
from oddsmith.calibrators import Calibrator, resolve_method
from oddsmith.classify._sources import known_classes
from oddsmith.classify.in_sample import remember_rows, row_hashes, warn_if_copied, warn_if_in_sample
from oddsmith.classify.multiclass import (
    CalibratedPair,
    ProblemClassifier,
    is_joint,
    make_calibration,
    warn_of_lost_accuracy,
)
from oddsmith.classify.protocols import (
    FitProgress,
    Pooled,
    Training,
    averages,
    fit_folds,
    fit_rows,
    make_splits,
    make_splitter,
    pool,
    pool_members,
    score_all,
    weight_params,
)
from oddsmith.classify.scores import ClassifierScores, ResponseMethod
from oddsmith.classify.target import Target, read_target
from oddsmith.model import Model

__all__ = ["CalibratedClassifier"]

#: Parameters by names that they no longer have.
_RENAMED = {"calibrator": "method", "score": "response_method"}


class _Renamed:
    """Refuse old names of parameters, naming the new ones; a subclass may have parameters of these names."""

    def __new__(cls, *_: Any, **given: Any) -> Self:
        for old, new in _RENAMED.items():
            if old in given and old not in inspect.signature(cls.__init__).parameters:
                _check.fail(f"{old} is called {new}", f"{old}={given[old]!r}", f"pass it as {new}")
        return super().__new__(cls)


@dataclass(eq=False, repr=False)
class CalibratedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator, _Renamed):  # type: ignore[misc]
    """Calibrate the probabilities of any classifier.

    By default the protocol of Platt, Bennett, and Zhang & Yang: score every row by a classifier that was not trained on
    it, fit one calibrator to all these scores, train the classifier again on everything. Forests are averaged instead
    of being trained again; see ``ensemble``. Use `Calibrator` itself where out-of-sample scores exist already. A script
    written for scikit-learn's ``CalibratedClassifierCV`` runs with this class; what fails there (groups, time series,
    repeated folds, leave-one-out, classes with few rows) works.

    Parameters
    ----------
    estimator : classifier, optional
        From scikit-learn, of its kind, or a fitted booster of XGBoost or LightGBM with ``prefit=True``. A classifier
        for two classes is trained on each two-class problem. None means ``LinearSVC(random_state=0)``.
    method : str, Calibrator or joint scaling, default "auto"
        The name of a calibrator ("platt", "isotonic", "asymmetric-laplace", …) or of a joint scaling ("temperature",
        "vector", "matrix", "dirichlet"), "sigmoid" (Platt's), or an unfitted instance. "auto" and "temperature" are
        `AutoScaling` and `TemperatureScaling` for more than two classes, unless ``multiclass`` takes them apart, and
        elsewhere `AutoCalibrator` and `TemperatureCalibrator`.
    cv : int, float, splitter or iterable of (train, test), default 5
        A number of folds, stratified and shuffled (those of scikit-learn's ``CalibratedClassifierCV`` are not
        shuffled: pass ``StratifiedKFold(5)`` for the same folds); a fraction to hold out; any splitter. Rows that no
        fold scores only train; a row scored r times calibrates with weight 1/r each time. A fold with one class to
        train on is skipped. Rows of a class that a fold was not trained on do not calibrate.
    ensemble : bool or "auto", default "auto"
        False: one calibrator on all out-of-sample scores, classifier refitted on all rows. True: one classifier and
        calibrator per fold, probabilities averaged, as in scikit-learn; with a held-out fraction, this one pair.
        "auto" is False, except for random forests, extra trees and bagging with three to ten folds that each train on
        two thirds of the rows or more, and on all classes: there one calibrator is fitted to all out-of-sample scores,
        and the probabilities that it gives to the classifiers of all folds are averaged.
    response_method : {"auto", "decision_function", "predict_proba", "log_odds", "votes"} or callable, default "auto"
        The calibrator's input, or a function of a fitted classifier and X that gives it; see `classifier_scores`.
    multiclass : {"auto", "one_vs_rest", "pairwise"} or array of shape (b, k), default "auto"
        How more than two classes are taken apart for a two-class calibrator and put together again: normalized, by
        `couple_pairwise`, or by `couple_code_matrix` with this code. A joint scaling needs none of them. "auto" is
        "one_vs_rest", and lets the default method be a joint one.
    prefit : bool, default False
        The classifier is fitted: all rows calibrate, ``cv`` is not used. So it is within a ``FrozenEstimator``.
    random_state : int, RandomState or None, default 0
        Shuffles the folds.
    n_jobs : int, optional
        Folds fitted at a time.
    progress : callable, optional
        Called with the number of fits done and of all fits.

    Attributes
    ----------
    classes_ : ndarray
        Sorted labels; ``classes_[1]`` is the positive one. Of an indicator matrix, the numbers of its columns.
    estimator_ : classifier
        The one classifier in use; absent where those of several folds are averaged.
    calibrators_ : list
        Fitted calibrators, one per two-class problem (None where it had no rows), fold after fold in an ensemble.
    calibrated_classifiers_ : list
        Pairs with ``estimator``, ``calibrators`` and ``predict_proba``.
    response_method_, source_, protocol_ : str
        The kind of score, where it came from, and how it was calibrated; `describe` shows them.

    See Also
    --------
    AutoCalibrator : Calibrates scores that are there already.
    oddsmith.classify.score_tables : Scores of a classifier out of sample.

    Notes
    -----
    A classifier that is already fitted should not have seen the rows that calibrate it. ``InSampleWarning`` is issued
    when more than a tenth of them are known training rows (those in ``X_train``, or remembered by a classifier that
    this class fitted, or stored by a classifier such as nearest neighbors), when they fall into the leaves of its first
    trees in exactly the numbers that these were grown with, or when its scores separate 50 rows or more perfectly.
    In-sample rows of a classifier fitted elsewhere that shows none of these signs are not detected. `score_tables`
    shows how large the bias is. The same warning is issued when more than a tenth of the rows have a copy, with the
    same label, among the rows that train the classifier by which they are scored: pass ``groups`` to keep copies
    together.

    ``UnseenClassWarning`` is issued for each class that some fold was not trained on. A fold's rows of such a class do
    not calibrate, and its classifier gives the class probability 0. Of a class that is left without any row, nothing is
    known: with two classes this is an error, with more the class gets the map of the others (with a joint scaling, all
    classes get one temperature).

    References
    ----------
    J. Platt, Probabilistic outputs for support vector machines and comparisons to regularized likelihood methods, 1999.
    B. Zadrozny and C. Elkan, Transforming classifier scores into accurate multiclass probability estimates, KDD 2002.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = make_classification(n_samples=100, n_features=2, n_redundant=0, random_state=42)
    >>> model = CalibratedClassifier(GaussianNB(), "platt").fit(X, y)
    >>> model.response_method_, model.predict_proba([[-0.5, 0.5]]).round(2).tolist()
    ('log_odds', [[0.81, 0.19]])
    """

    estimator: Any = None
    method: Any = "auto"
    _: KW_ONLY
    cv: Any = 5
    ensemble: bool | Literal["auto"] = "auto"
    response_method: ResponseMethod = "auto"
    multiclass: Any = "auto"
    prefit: bool = False
    random_state: Any = 0
    n_jobs: int | None = None
    progress: FitProgress | None = None

    # Groups go to the splitter, and X_train to a comparison of rows: a router must ask neither of this class.
    __metadata_request__fit = {"groups": UNUSED, "X_train": UNUSED}  # noqa: RUF012

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        X_train: Any = None,
        **params: Any,
    ) -> Self:
        """Train and calibrate.

        Parameters
        ----------
        X : array, sparse matrix, data frame or list
            Rows, as the classifier takes them.
        y : array-like of shape (n,) or (n, n_labels)
            Labels, or an indicator matrix of 0 and 1 where labels do not exclude each other.
        sample_weight : array-like of shape (n,), optional
            For the classifier, if it takes weights, and the calibrator; integer-typed weights are counts.
        groups : array-like of shape (n,), optional
            For the splitter; with a number as ``cv``, rows of one group stay on one side.
        X_train : optional
            The rows that trained a ``prefit`` classifier: using them again warns.
        **params
            For the classifier's ``fit``. With metadata routing, everything goes to those who request it; a
            calibrator takes ``sample_weight`` unless it requests otherwise.

        Returns
        -------
        self
        """
        _check.one_of(self.ensemble, "ensemble", (True, False, "auto"))
        (X,) = indexable(X)
        estimator, prefit = self._resolve_estimator()
        if X_train is not None and not prefit:
            _check.fail("X_train must come with prefit=True", "a classifier to fit", "leave X_train out")
        target = read_target(y, num_samples(X), known_classes(estimator) if prefit else None)
        method = resolve_method(self.method, len(target.classes) if is_joint(target, self.multiclass) else 2)
        calibration = make_calibration(method, target, self.multiclass)
        fit_params, split_params, weight = self._route(estimator, prefit, sample_weight, groups, params, target)
        training = Training(estimator, fit_params, self.response_method, calibration.problems.layout)
        if prefit:
            estimators, pooled = [estimator], [score_all(training, X, target)]
            warn_if_in_sample(estimator, X, X_train, pooled[0].values, target)
            self.protocol_: str = f"classifier fitted before, calibrated on {len(target.y)} rows"
        else:
            if len(target.classes) > 2 and not target.multilabel and _knows_two_classes(estimator):
                training = training._replace(
                    estimator=ProblemClassifier(estimator, calibration.problems, target.classes)
                )
            estimators, pooled = self._fit_estimators(training, X, target, split_params)
        calibrations = []
        for each in pooled:
            rows, shares = target.at(each.rows), each.weight(weight)
            calibrations.append(copy(calibration).fit(each, rows, shares))
            warn_of_lost_accuracy(calibrations[-1], each, rows, shares)
        self._keep(estimators, calibrations, pooled[0].scores, target)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Return the calibrated P of each class, rows summing to 1, or of each label of an indicator matrix.

        Parameters
        ----------
        X : array-like of shape (n, features)
            Rows, as the classifier takes them.

        Returns
        -------
        ndarray
        """
        check_is_fitted(self)
        total = sum(pair.predict_proba(X) for pair in self.calibrated_classifiers_)
        return np.asarray(total / len(self.calibrated_classifiers_))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return log P of each class or label, finite where P itself rounds to 0, unless a calibrator predicts 0.

        Parameters
        ----------
        X : array-like of shape (n, features)
            Rows, as the classifier takes them.

        Returns
        -------
        ndarray
        """
        check_is_fitted(self)
        logs = [pair.calibration.predict_log_proba(pair.raw_scores(X)) for pair in self.calibrated_classifiers_]
        return logs[0] if len(logs) == 1 else np.asarray(logsumexp(logs, axis=0) - np.log(len(logs)))

    def log_odds(self, X: Any) -> Floats:
        """Return the calibrated log P(+|x)/P(−|x) of two classes, exact where P rounds to 0 or 1.

        Parameters
        ----------
        X : array-like of shape (n, features)
            Rows, as the classifier takes them.

        Returns
        -------
        ndarray
        """
        check_is_fitted(self)
        if len(self.classes_) != 2 or self._multilabel():
            _check.fail("log_odds needs two classes", f"{len(self.classes_)}", "use predict_log_proba")
        if len(self.calibrated_classifiers_) == 1 and isinstance(self.calibrators_[0], Calibrator):
            return self.calibrators_[0].log_odds(self.calibrated_classifiers_[0].raw_scores(X))
        logs = self.predict_log_proba(X)
        return np.asarray(logs[:, 1] - logs[:, 0])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class, the first of equals (of two: the second iff P > ½); labels with P > ½.

        Parameters
        ----------
        X : array-like of shape (n, features)
            Rows, as the classifier takes them.

        Returns
        -------
        ndarray
        """
        prob = self.predict_proba(X)
        if self._multilabel():
            return (prob > 0.5).astype(np.int64)
        return np.asarray(self.classes_[prob.argmax(axis=1)])

    def raw_scores(self, X: Any) -> Floats:
        """Return the scores that are calibrated, which a saved calibration takes: shape (n,), or logits (n, k).

        Parameters
        ----------
        X : array-like of shape (n, features)
            Rows, as the classifier takes them.

        Returns
        -------
        ndarray
        """
        self._only_calibration("raw_scores")
        scores = self.calibrated_classifiers_[0].raw_scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the calibration, without the classifier, to a JSON file; ``force`` replaces one that exists.

        ``oddsmith.load(path)`` predicts from what `raw_scores` returns. There must be one calibrator of two classes,
        one joint scaling, or one calibrator for each class against the rest.

        Parameters
        ----------
        path : str or Path
            The file.
        force : bool, default False
            Whether to replace a file of this name.

        Examples
        --------
        >>> import pathlib, tempfile, oddsmith
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> model, path = CalibratedClassifier().fit(X, y), pathlib.Path(tempfile.mkdtemp()) / "calibration.json"
        >>> model.save(path)
        >>> bool((oddsmith.load(path).predict_proba(model.raw_scores(X)) == model.predict_proba(X)).all())
        True
        """
        calibration = self._only_calibration("save")
        kind, calibrators = calibration.problems.kind, calibration.calibrators
        labels = self.classes_.tolist()
        joint = not isinstance(calibrators[0], Calibrator) and len(calibrators) == 1
        if joint or kind == "two":
            model = Model.from_fitted(calibrators[0], labels=labels)
        else:
            model = Model.from_one_vs_rest(calibrators, labels)
        model.save(path, force=force)

    def _only_calibration(self, wanted: str) -> Any:
        check_is_fitted(self)
        kind = self.calibrated_classifiers_[0].calibration.problems.kind
        if len(self.calibrated_classifiers_) != 1 or kind not in ("two", "one_vs_rest"):
            several = len(self.calibrated_classifiers_) > 1
            got = f"the mean of {len(self.calibrated_classifiers_)} classifiers" if several else f"one of kind {kind}"
            hint = "use ensemble=False" if several else "use a joint scaling, or one_vs_rest"
            _check.fail(f"{wanted} must have one classifier with one calibration, joint or one-vs-rest", got, hint)
        return self.calibrated_classifiers_[0].calibration

    def describe(self) -> str:
        """Describe what is scored and how, the calibrator and the protocol, with the verdict of a single calibrator.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        pair = self.calibrated_classifiers_[0]
        kinds = sorted({type(each).__name__ for each in self.calibrators_ if each is not None})
        verdicts = [each.verdict_ for each in self.calibrators_ if hasattr(each, "verdict_")]
        return "\n".join(
            [
                f"classifier: {type(pair.estimator).__name__}, {len(self.classes_)} classes",
                f"score: {self.response_method_}, from {self.source_}",
                f"calibrators: {len(self.calibrators_)} × {', '.join(kinds)}",
                f"protocol: {self.protocol_}",
                *(f"verdict: {verdict}" for verdict in verdicts if len(verdicts) == 1),
            ]
        )

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which objects receive what is passed to ``fit``: classifier, splitter, calibrator."""
        estimator, prefit = self._resolve_estimator()
        to_fit, to_split = (MethodMapping().add(caller="fit", callee=callee) for callee in ("fit", "split"))
        calibrator = clone(resolve_method(self.method))
        if _routes() and calibrator.get_metadata_routing().fit.requests.get("sample_weight") is None:
            calibrator.set_fit_request(sample_weight=True)
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        router.add(calibrator=calibrator, method_mapping=to_fit)
        if prefit:
            return router
        one_shot = not hasattr(self.cv, "split") and hasattr(self.cv, "__iter__")
        splitter = None if one_shot else make_splitter(self.cv, None, True, self.random_state)
        router.add(estimator=estimator, method_mapping=to_fit)
        return router.add(splitter=splitter, method_mapping=to_split)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        estimator, _ = self._resolve_estimator()
        if hasattr(estimator, "__sklearn_tags__"):
            inner = get_tags(estimator)
            tags.input_tags = inner.input_tags
            tags.classifier_tags.multi_label = inner.classifier_tags is not None and inner.classifier_tags.multi_label
        return tags

    def __sklearn_clone__(self) -> Self:
        copied: Self = super().__sklearn_clone__()
        if self.prefit:
            copied.estimator = self.estimator  # a clone would have forgotten its fit
        return copied

    def _resolve_estimator(self) -> tuple[Any, bool]:
        if self.estimator is None:
            default = LinearSVC(random_state=0)
            return (default.set_fit_request(sample_weight=True) if _routes() else default), False
        prefit = bool(self.prefit) or isinstance(self.estimator, FrozenEstimator)
        if not prefit and not (hasattr(self.estimator, "fit") and hasattr(self.estimator, "get_params")):
            got = f"estimator={self.estimator!r}"
            _check.fail("estimator must be an unfitted classifier", got, "pass an instance, or prefit=True")
        return self.estimator, prefit

    def _route(
        self, estimator: Any, prefit: bool, sample_weight: Any, groups: Any, params: dict[str, Any], target: Target
    ) -> tuple[dict[str, Any], dict[str, Any], Weights | None]:
        """Return what the classifier's fit and the splitter are given, and the calibrator's weights."""
        weight = _check.as_weights(sample_weight, len(target.y))
        if _routes():
            given = {"sample_weight": weight, "groups": groups}
            routed = process_routing(self, "fit", **{k: v for k, v in given.items() if v is not None}, **params)
            weight = _check.as_weights(routed["calibrator"]["fit"].get("sample_weight"), len(target.y))
            return ({}, {}, weight) if prefit else (routed["estimator"]["fit"], routed["splitter"]["split"], weight)
        if prefit and params:
            _check.fail("a fitted classifier takes no parameters", ", ".join(params), "leave them out")
        fit_params = {} if prefit else weight_params(estimator, weight)
        return {**params, **fit_params}, {} if groups is None else {"groups": groups}, weight

    def _fit_estimators(
        self, training: Training, X: Any, target: Target, split_params: dict[str, Any]
    ) -> tuple[list[Any], list[Pooled]]:
        """Return the classifiers to keep, and out-of-sample scores for each one's calibration."""
        splitter = make_splitter(self.cv, target, "groups" in split_params, self.random_state)
        splits = make_splits(splitter, X, target, split_params, training, ensemble=self.ensemble is True)
        hashes = row_hashes(X)
        warn_if_copied(hashes, target, splits)
        averaged = self.ensemble is True or (self.ensemble == "auto" and averages(training.estimator, splits, target))
        done = self._counter(len(splits) + (not averaged))
        folds = fit_folds(training, X, target.y, splits, keep=averaged, n_jobs=self.n_jobs, done=done)
        present = training.present(len(target.y))
        if self.ensemble is True:
            members = pool_members(folds, target, present)
            self.protocol_ = f"mean of {len(folds)} classifiers, each calibrated on the rows that it was not trained on"
        else:
            members = [pool(folds, target, present)]
            scored = np.count_nonzero(np.bincount(members[0].rows))
            trained = "mean of their classifiers" if averaged else f"classifier fitted on all {len(target.y)} rows"
            self.protocol_ = (
                f"one calibrator on out-of-sample scores of {scored} rows from {len(folds)} folds, {trained}"
            )
        if averaged:
            for fold in folds:
                remember_rows(fold.estimator, hashes[fold.train])
            return [fold.estimator for fold in folds], members
        estimator = fit_rows(training, X, target.y, np.flatnonzero(present))
        done()
        remember_rows(estimator, hashes[present])
        return [estimator], members

    def _keep(self, estimators: list[Any], calibrations: list[Any], scored: ClassifierScores, target: Target) -> None:
        used = self.response_method if callable(self.response_method) else scored.kind
        self.calibrated_classifiers_: list[CalibratedPair] = [
            CalibratedPair(estimator, calibration, target.classes, used, scored.source)
            for estimator, calibration in zip(estimators, cycle(calibrations), strict=False)
        ]
        self.calibrators_: list[Any] = [each for calibration in calibrations for each in calibration.calibrators]
        self.classes_: NDArray[Any] = target.classes
        self.response_method_: str = scored.kind
        self.source_: str = scored.source
        # What an earlier fit knew and this one does not must go.
        for name in ("estimator_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if name != "estimator_" and hasattr(estimators[0], name):
                setattr(self, name, getattr(estimators[0], name))
        if len(estimators) == 1:
            self.estimator_: Any = estimators[0]

    def _multilabel(self) -> bool:
        return bool(self.calibrated_classifiers_[0].calibration.problems.layout == "labels")

    def _counter(self, total: int) -> Any:
        fits = iter(range(1, total + 1))
        return lambda: None if self.progress is None else self.progress(next(fits), total)


def _routes() -> bool:
    return bool(get_config()["enable_metadata_routing"])


def _knows_two_classes(estimator: Any) -> bool:
    tags = get_tags(estimator).classifier_tags
    return tags is not None and not tags.multi_class
