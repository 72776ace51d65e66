"""Classes that some fold never saw have no score there, whatever the scores of the others mean."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier

from oddsmith.classify import CalibratedClassifier
from oddsmith.errors import InvalidInputError

TREE = DecisionTreeClassifier(max_depth=2, random_state=0)


def probabilities(estimator, X):
    return estimator.predict_proba(X)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", ["platt", "isotonic", "auto"])
@pytest.mark.parametrize("response", ["auto", "predict_proba", probabilities])
@pytest.mark.parametrize("ensemble", [False, True, "auto"])
@pytest.mark.parametrize("estimator", [LogisticRegression(), TREE, OneVsRestClassifier(TREE)], ids=str)
def test_unscored_classes_are_never_refused(method, response, ensemble, estimator):
    rng = np.random.default_rng(0)
    y = np.r_[np.tile([0, 1], 30), np.full(20, 2)]
    X = rng.normal(size=(80, 2)) + 1.5 * np.eye(3)[y][:, :2]
    halves = np.arange(60) // 30 == 1
    first = np.r_[halves, np.ones(20, bool)]  # the only fold that class 2 calibrates never saw it
    folds = [(np.flatnonzero(~first), np.flatnonzero(first)), (np.flatnonzero(first), np.flatnonzero(~first))]
    model = CalibratedClassifier(
        estimator, method, cv=folds, ensemble=ensemble, multiclass="one_vs_rest", response_method=response
    )
    try:
        model.fit(X, y)
    except InvalidInputError as error:
        if not str(error).startswith(("every class must have rows", "with ensemble=True every")):
            raise
        return
    prob = model.predict_proba(X)
    np.testing.assert_allclose(prob.sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), prob, atol=1e-9)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", ["platt", "auto"])
def test_members_that_give_probabilities_are_read_as_such_where_a_fold_saw_two_classes(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.where(X[:, 0] > 0.5, 2, np.where(X[:, 1] > 0, 1, 0))
    groups = np.where(y == 2, 0, rng.integers(0, 6, 300))
    models = [
        CalibratedClassifier(
            OneVsRestClassifier(TREE), method, cv=5, multiclass="one_vs_rest", response_method=response
        ).fit(X, y, groups=groups)
        for response in ("auto", "predict_proba")
    ]
    np.testing.assert_allclose(models[0].predict_proba(X).sum(axis=1), 1)
    assert models[0].score(X, y) == pytest.approx(models[1].score(X, y), abs=0.05)
