"""The classifiers of all the documents, with fast settings: what each is given, and the score it gives."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from oddsmith.checks import Floats
from oddsmith.classify import classifier_scores
from oddsmith.maps.base import logit
from oddsmith_studies.data.text_choices import mean_norm_cost
from oddsmith_studies.learners import (
    BoostedClassifier,
    KernelLogisticRegression,
    MultinomialNaiveBayes,
    VotedPerceptron,
)
from oddsmith_studies.studies._study import Setting
from oddsmith_studies.studies.summary.tasks import Problem, Rows

#: Words kept for classifiers that want few, dense features.
_FEW_WORDS = 300

#: What a classifier is given: of texts counts, or words present or absent, few of them where it needs dense rows; of
#: tables attributes themselves, above or not above their median, or standardized.
Features = Literal["counts", "linear", "kernel", "plain"]


@dataclass(frozen=True)
class Classifier:
    """A way to get scores.

    Parameters
    ----------
    estimator : classifier
        Not fitted; a seed is put in where it takes one.
    features : {"counts", "linear", "kernel", "plain"}
    texts : classifier, optional
        Another one for texts.
    mean_norm : bool, default False
        Whether the cost on texts is `mean_norm_cost`.
    quick : mapping of str to value, optional
        Parameters of a quick run.
    response_method : {"auto", "votes"}
        See `oddsmith.classify.classifier_scores`.
    raw : callable, optional
        Probabilities by a fitted estimator that are its own; by default scores outside [0, 1] are log-odds.
    """

    estimator: Any
    features: Features
    texts: Any = None
    mean_norm: bool = False
    quick: Mapping[str, Any] = field(default_factory=dict)
    response_method: Literal["auto", "votes"] = "auto"
    raw: Callable[[Any, Any], Floats] | None = None

    def make(self, X: Any, seed: int, *, quick: bool, is_text: bool) -> Any:
        """Return the estimator for these training rows, not fitted."""
        model = clone(self.texts if is_text and self.texts is not None else self.estimator)
        wanted = dict(self.quick) if quick else {}
        if "random_state" in model.get_params():
            wanted["random_state"] = seed
        if is_text and self.mean_norm:
            wanted["C"] = mean_norm_cost(X)
        return model.set_params(**wanted)


class Scored(NamedTuple):
    """Scores of the pool and of test rows, and the log-odds that the latter are without calibration."""

    pool: Floats
    test: Floats
    raw: Floats


def _votes(model: Any, X: Any) -> Floats:
    share: Floats = model.vote_fraction(X)
    return share


def _boosted(base: Any, rounds: int, sampling: str = "reweight") -> Classifier:
    """Return boosting, whose score is the sum of votes, F; raw it is their share, as in its document."""
    model = BoostedClassifier(base, rounds, sampling=sampling)
    return Classifier(model, "plain", quick={"n_estimators": rounds // 8}, raw=_votes)


CLASSIFIERS: dict[str, Classifier] = {
    "naive Bayes": Classifier(BernoulliNB(), "counts", texts=MultinomialNaiveBayes()),
    "linear SVM": Classifier(
        LinearSVC(dual=False), "linear", texts=LinearSVC(loss="hinge", max_iter=200_000), mean_norm=True
    ),
    "quadratic SVM": Classifier(SVC(kernel="poly", degree=2, coef0=1.0, gamma=1.0), "kernel"),
    "logistic regression": Classifier(LogisticRegression(solver="liblinear"), "linear"),
    "kernel logistic": Classifier(KernelLogisticRegression("quadratic", penalty=1e-4), "kernel"),
    "voted perceptron": Classifier(VotedPerceptron(shuffle=True), "linear"),
    "boosted stumps": _boosted(None, 256),
    "boosted small trees": _boosted(DecisionTreeClassifier(max_depth=2), 64),
    "boosted trees": _boosted(DecisionTreeClassifier(), 64, "resample"),
    "random forest": Classifier(
        RandomForestClassifier(200), "plain", quick={"n_estimators": 20}, response_method="votes"
    ),
    "neighbors": Classifier(KNeighborsClassifier(25), "kernel", response_method="votes"),
    "neural network": Classifier(MLPClassifier((32,), max_iter=40), "linear"),
}


def score_rows(setting: Setting, problem: Problem, rows: Rows, name: str) -> Scored:
    """Train a classifier and score what it did not see."""
    how = CLASSIFIERS[name]
    X = _features(rows.X, how.features, problem.is_text)
    seed = setting.seed_of("classifier", problem.name, name)
    model = how.make(X["train"], seed, quick=setting.quick, is_text=problem.is_text)
    with warnings.catch_warnings():
        # A network is stopped before it has learned its rows by heart, which is meant.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X["train"], rows.y["train"])
    pool, test = (
        classifier_scores(model, X[use], how.response_method).align(model.classes_)[:, 0] for use in ("pool", "test")
    )
    if how.raw is not None:
        return Scored(pool, test, logit(how.raw(model, X["test"])))
    are_probabilities = min(pool.min(), test.min()) >= 0 and max(pool.max(), test.max()) <= 1
    return Scored(pool, test, logit(test) if are_probabilities else test)


def _features(X: dict[str, Any], wanted: Features, is_text: bool) -> dict[str, Any]:
    if is_text:
        return {use: _words(each, wanted) for use, each in X.items()}
    if wanted == "plain":
        return X
    if wanted == "counts":
        median = np.median(X["train"], axis=0)
        return {use: (each > median).astype(np.float64) for use, each in X.items()}
    scaler = StandardScaler().fit(X["train"])
    # Kernels and distances are of rows whose length is about 1, however many attributes there are.
    scale = 1 / np.sqrt(X["train"].shape[1]) if wanted == "kernel" else 1.0
    return {use: scale * scaler.transform(each) for use, each in X.items()}


def _words(counts: Any, wanted: Features) -> Any:
    if wanted == "counts":
        return counts
    present = (counts > 0).astype(np.float64)
    if wanted == "linear":
        return present
    few = present[:, :_FEW_WORDS].toarray()
    return few if wanted == "plain" else few / np.sqrt(max(few.sum(axis=1).mean(), 1.0))
