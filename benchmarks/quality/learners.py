"""Nine learners with fast settings, and the score that each gives by itself."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from benchmarks.quality.sets import Kind

#: Those that also take part where there are several classes.
FOR_SEVERAL = ("naive_bayes", "linear_svm", "forest", "boosting", "network")

#: Words kept for the learners that want few, dense features.
_FEW_WORDS = 300


def learners(kind: Kind, n_features: int) -> dict[str, BaseEstimator]:
    """Return the learners by name, each behind the features that suit it."""

    def scaled(model: BaseEstimator) -> BaseEstimator:
        first = {"numeric": StandardScaler, "text": TfidfTransformer}.get(kind)
        return make_pipeline(first(), model) if first else model

    def few(model: BaseEstimator) -> BaseEstimator:
        if kind != "text":
            return model
        best = SelectKBest(chi2, k=min(_FEW_WORDS, n_features))
        return make_pipeline(best, FunctionTransformer(_dense, accept_sparse=True), model)

    bayes = {"numeric": GaussianNB, "binary": BernoulliNB, "text": MultinomialNB}[kind]
    return {
        "naive_bayes": bayes(),
        "logistic": scaled(LogisticRegression(max_iter=500)),
        "linear_svm": scaled(LinearSVC(random_state=0)),
        "forest": few(RandomForestClassifier(100, random_state=0)),
        "boosting": few(HistGradientBoostingClassifier(random_state=0)),
        "adaboost": few(AdaBoostClassifier(n_estimators=100, random_state=0)),
        "neighbours": scaled(KNeighborsClassifier(15)),
        "tree": few(DecisionTreeClassifier(min_samples_leaf=5, random_state=0)),
        "network": scaled(few(MLPClassifier((50,), max_iter=60, random_state=0))),
    }


def score(model: BaseEstimator, X: np.ndarray | sparse.csr_matrix) -> np.ndarray:
    """Return probabilities, or margins where the learner is made for margins: of two classes those of the second."""
    last = model[-1] if hasattr(model, "steps") else model
    if isinstance(last, (LinearSVC, AdaBoostClassifier)):
        return model.decision_function(X)
    prob = model.predict_proba(X)
    return prob[:, 1] if prob.shape[1] == 2 else prob


def _dense(X: sparse.csr_matrix) -> np.ndarray:
    return X.toarray()
