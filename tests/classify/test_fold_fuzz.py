"""Tiny fits with rare classes, groups and repeated rows: evidence is never invented, and never dropped in silence."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from oddsmith.classify import CalibratedClassifier
from oddsmith.errors import InSampleWarning, InvalidInputError, OddsmithWarning, SkippedFoldWarning, UnseenClassWarning

ESTIMATORS = (GaussianNB(), LogisticRegression(), DecisionTreeClassifier(max_depth=2, random_state=0))
METHODS = ("platt", "isotonic", "temperature", "vector", "auto")
FITS = 25

#: What may be wrong with folds; a refusal for any other reason is a fault.
REFUSALS = (
    "some fold must",
    "every fold must",
    "every class must have rows that calibrate",
    "with ensemble=True every",
)


def draw(rng):
    """Return rows, labels, groups and folds: some classes are rare or in one group, some rows are repeated."""
    k, n = int(rng.integers(2, 5)), int(rng.integers(16, 70))
    y = rng.choice(k, n, p=rng.dirichlet(np.full(k, 0.7)))
    y[:2] = 0, 1
    X = rng.normal(size=(n, 2)) + 1.5 * np.eye(4)[y][:, :2]
    groups = rng.integers(0, 8, n)
    if rng.random() < 0.4:
        groups[y == rng.integers(k)] = 8
    if rng.random() < 0.3:
        rows = rng.integers(0, n, 2 * n)
        X, y, groups = X[rows], y[rows], groups[rows]
    kind = rng.choice([GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold])
    options = {} if kind is GroupKFold else {"shuffle": True, "random_state": int(rng.integers(1000))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class with fewer rows than folds
        try:
            folds = list(kind(int(rng.integers(2, 5)), **options).split(X, y, groups))
        except ValueError:  # fewer groups, or rows of any class, than folds
            folds = [(np.arange(0, len(y), 2), np.arange(1, len(y), 2))]
    names = np.array(["ant", "bee", "cow", "dog"]) if rng.random() < 0.3 else np.arange(4)
    return X, names[y], [(train, test) for train, test in folds if len(train) and len(test)]


def fit(model, X, y):
    """Return the model, or None where it is refused, and all warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(X, y)
        except InvalidInputError as error:
            if not str(error).startswith(REFUSALS):
                raise
            model = None
    foreign = [each for each in caught if not issubclass(each.category, OddsmithWarning)]
    assert not foreign, [str(each.message) for each in foreign]
    return model, {each.category for each in caught}


def lacks_a_class(y, folds):
    """Tell whether some fold that can be trained has not seen a class."""
    trained = [np.unique(y[train]) for train, _ in folds]
    return any(1 < len(each) < len(np.unique(y)) for each in trained)


def copied(X, y, folds):
    """Return the share of rows that have an equal row among those that train their classifier."""
    rows = [(*row, label) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    copies = {i for train, test in folds for i in test if rows[i] in {rows[j] for j in train}}
    return len(copies) / len({i for _, test in folds for i in test})


@pytest.mark.parametrize("ensemble", [False, True, "auto"])
@pytest.mark.parametrize("block", range(8))
def test_evidence_is_neither_invented_nor_dropped_in_silence(block, ensemble):
    rng = np.random.default_rng([block, 26])
    fitted = 0
    for _ in range(FITS):
        X, y, folds = draw(rng)
        estimator, method = ESTIMATORS[rng.integers(3)], METHODS[rng.integers(5)]
        multiclass = ("auto", "one_vs_rest", "pairwise")[rng.integers(3)]
        model = CalibratedClassifier(estimator, method, cv=folds, ensemble=ensemble, multiclass=multiclass)
        model, caught = fit(model, X, y)
        if model is None:
            continue
        fitted += 1
        prob = model.predict_proba(X)
        np.testing.assert_allclose(prob.sum(axis=1), 1)
        assert prob.min() >= 0
        if lacks_a_class(y, folds):
            assert caught & {UnseenClassWarning, SkippedFoldWarning}
        if SkippedFoldWarning not in caught:
            assert (UnseenClassWarning in caught) >= lacks_a_class(y, folds)
            if UnseenClassWarning not in caught and abs(copied(X, y, folds) - 0.1) > 1e-9:
                assert (InSampleWarning in caught) == (copied(X, y, folds) > 0.1)
        for pair in model.calibrated_classifiers_:
            unseen = ~np.isin(model.classes_, pair.estimator.classes_)
            np.testing.assert_array_equal(pair.predict_proba(X)[:, unseen], 0)
    assert fitted > FITS / 3


def test_the_draws_contain_what_they_are_for():
    rng = np.random.default_rng([0, 26])
    draws = [draw(rng) for _ in range(100)]
    assert sum(lacks_a_class(y, folds) for _, y, folds in draws) > 20
    assert sum(copied(X, y, folds) > 0.1 for X, y, folds in draws) > 20
