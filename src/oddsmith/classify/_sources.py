"""Where the scores of a classifier are found: its methods, a booster's raw margins, the votes of its members."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import log_softmax
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier
from sklearn.utils import indexable

from oddsmith import _check
from oddsmith._sklearn_compat import num_samples, safe_indexing
from oddsmith._types import Floats

#: What the columns are: a class's own score against the rest · its log-probability up to a constant per row · its
#: probability · the first class against the second, for all pairs · one score per two-class problem or label.
Form = Literal["own", "log_probability", "probability", "pairs", "problems"]

#: So many rows show whether a classifier is a softmax of its margins.
_SHOWN = 64


def known_classes(estimator: Any) -> NDArray[Any] | None:
    """Return the labels that a fitted classifier tells apart, or None where it does not say."""
    classes = getattr(estimator, "_label_names", getattr(estimator, "classes_", None))
    return None if classes is None or isinstance(classes, list) else np.asarray(classes)


class ScoreSource(NamedTuple):
    """A place to find scores: by what it is found, how it is read, what its columns are."""

    name: str
    found: Callable[[Any], bool]
    read: Callable[[Any, Any], Any]
    form: Form
    softmax: bool = False

    def as_softmax(self) -> "ScoreSource":
        """Return the same margins as log-probabilities, for classifiers whose probabilities are their softmax."""
        return self._replace(name=f"softmax of {self.name}", form="log_probability", softmax=True)


def _method(name: str, form: Form) -> ScoreSource:
    return ScoreSource(name, lambda final: hasattr(final, name), lambda final, X: getattr(final, name)(X), form)


def library(final: Any) -> str:
    """Name the boosting library that a classifier comes from, without importing it."""
    roots = {cls.__module__.partition(".")[0] for cls in type(final).__mro__}
    return next((name for name in ("xgboost", "lightgbm") if name in roots), "")


def _raw_margin(final: Any, X: Any) -> Any:
    if library(final) == "lightgbm":
        return final.predict(X, raw_score=True)
    if hasattr(final, "fit"):
        return final.predict(X, output_margin=True)
    return final.inplace_predict(X, predict_type="margin")


def is_softmax(source: ScoreSource, final: Any, X: Any) -> bool:
    """Say whether the probabilities of several classes are the softmax of their margins, by some of the rows."""
    if hasattr(final, "decision_function_shape"):  # a support vector classifier's probabilities are fitted apart
        return False
    (rows,) = indexable(X)
    rows = safe_indexing(rows, slice(min(_SHOWN, num_samples(rows))))
    prob = np.asarray(_probabilities(final, rows), dtype=np.float64)
    if prob.ndim != 2 or prob.shape[1] < 3:
        return False
    margins = np.asarray(source.read(final, rows), dtype=np.float64)
    if prob.shape != margins.shape:
        return False
    # In logarithms, where margins of one class against the rest differ even if all rows are sure.
    held = prob > 1e-30
    return np.allclose(log_softmax(margins, axis=1)[held], np.log(prob[held]), rtol=1e-4, atol=1e-4)


def _probabilities(final: Any, X: Any) -> Any:
    if hasattr(final, "predict_proba"):
        return final.predict_proba(X)
    if not library(final):
        return np.empty(0)
    return final.predict(X) if library(final) == "lightgbm" else final.inplace_predict(X)


def log_proba(final: Any, X: Any) -> Floats | list[Floats]:
    prob = final.predict_proba(X)
    parts = [np.asarray(part, dtype=np.float64) for part in (prob if isinstance(prob, list) else [prob])]
    if any(part.min() <= 0 or part.max() >= 1 for part in parts):
        _check.fail(
            "probabilities must lie between 0 and 1, exclusive, to have log-odds",
            f"some of exactly 0 or 1 from {type(final).__name__}",
            'use response_method="predict_proba", perhaps with PlattCalibrator(input="probability", clip=1e-6)',
        )
    logs = [np.log(part) for part in parts]
    return logs if isinstance(prob, list) else logs[0]


_ENSEMBLES = (AdaBoostClassifier, BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier, VotingClassifier)
_NEIGHBORS = (KNeighborsClassifier, RadiusNeighborsClassifier)


def _has_votes(final: Any) -> bool:
    return isinstance(final, (*_ENSEMBLES, *_NEIGHBORS)) and known_classes(final) is not None


def _votes(final: Any, X: Any) -> Floats:
    """Return the share of (weighted) votes for each class."""
    if isinstance(final, _NEIGHBORS):
        return np.asarray(final.predict_proba(X))
    members = final.estimators_
    weights = [1.0] * len(members)
    if isinstance(final, AdaBoostClassifier):
        weights = final.estimator_weights_[: len(members)]
    if isinstance(final, VotingClassifier):
        if final.weights is not None:
            weights = [w for w, (_, member) in zip(final.weights, final.estimators, strict=True) if member != "drop"]
    elif not sparse.issparse(X):
        X = np.asarray(X)  # members were fitted without names of columns
    columns = getattr(final, "estimators_features_", [None] * len(members))
    share = np.zeros((num_samples(X), len(final.classes_)))
    for weight, member, used in zip(weights, members, columns, strict=True):
        vote = member.predict(X if used is None else X[:, used])
        # AdaBoost's members answer with labels, all others with their numbers.
        index = np.searchsorted(final.classes_, vote) if isinstance(final, AdaBoostClassifier) else vote.astype(np.intp)
        share[np.arange(len(share)), index] += weight
    return np.asarray(share / share.sum(axis=1, keepdims=True))


_JOINT = _method("predict_joint_log_proba", "log_probability")
_BOOSTER = ScoreSource("raw margin", lambda final: bool(library(final)), _raw_margin, "own")
_DECISION = _method("decision_function", "own")
_LOG_ODDS = ScoreSource(
    "log_odds",
    lambda final: hasattr(final, "log_odds") and len(final.classes_) == 2,
    lambda final, X: final.log_odds(X),
    "log_probability",
)
_TWO_CLASS_BOOSTER = _BOOSTER._replace(
    found=lambda final: bool(library(final)) and len(getattr(final, "classes_", (0, 1))) == 2, form="log_probability"
)
_PROBABILITY = _method("predict_proba", "probability")

SOURCES: dict[str, tuple[ScoreSource, ...]] = {
    "decision_function": (_BOOSTER, _DECISION),
    "log_odds": (
        _JOINT,
        _LOG_ODDS,
        _BOOSTER.as_softmax(),
        _DECISION.as_softmax(),
        _TWO_CLASS_BOOSTER,
        ScoreSource("log of predict_proba", _PROBABILITY.found, log_proba, "log_probability"),
    ),
    "predict_proba": (_PROBABILITY,),
    "votes": (_method("vote_fraction", "probability"), ScoreSource("votes", _has_votes, _votes, "probability")),
}
AUTO = [
    ("log_odds", _JOINT),
    ("log_odds", _BOOSTER.as_softmax()),
    ("log_odds", _DECISION.as_softmax()),
    ("decision_function", _BOOSTER),
    ("decision_function", _DECISION),
    ("log_odds", _LOG_ODDS),
    ("predict_proba", _PROBABILITY),
]
