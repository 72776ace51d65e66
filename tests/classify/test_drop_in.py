"""A script that used scikit-learn's CalibratedClassifierCV runs when only its import line changes."""

import textwrap

import numpy as np
import pytest
import sklearn
from sklearn.utils.fixes import parse_version

from samples import ours_allowed

THEIRS = "from sklearn.calibration import CalibratedClassifierCV"
OURS = "from oddsmith.classify import CalibratedClassifier as CalibratedClassifierCV"

#: scikit-learn scales by a temperature since 1.8.
METHODS = ("sigmoid", "isotonic", "temperature")[
    : 3 if parse_version(sklearn.__version__) >= parse_version("1.8") else 2
]

SCRIPT = """
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

X, y = make_classification(600, 8, n_informative=5, n_classes=CLASSES, flip_y=0.1, random_state=0)
X_fit, X_test, y_fit, y_test = train_test_split(X, y, random_state=0)
found = {}
for estimator in (LinearSVC(), GaussianNB()):
    for method in METHODS:
        for ensemble in (True, False):
            model = CalibratedClassifierCV(estimator, method=method, cv=3, ensemble=ensemble)
            model.fit(X_fit, y_fit, sample_weight=np.ones(len(y_fit)))
            found[type(estimator).__name__, method, ensemble] = model.predict_proba(X_test)
            assert model.predict(X_test).shape == y_test.shape
            assert len(model.calibrated_classifiers_) == (3 if ensemble else 1)
            assert len(model.calibrated_classifiers_[0].calibrators) == (
                1 if method == "temperature" or CLASSES == 2 else CLASSES
            )
            assert (model.classes_ == np.arange(CLASSES)).all() and model.n_features_in_ == 8

model = CalibratedClassifierCV(estimator=make_pipeline(StandardScaler(), LinearSVC()), n_jobs=1)
search = GridSearchCV(model, {"method": ["sigmoid", "isotonic"], "estimator__linearsvc__C": [0.1, 1.0]}, cv=2)
found["search"] = search.fit(X_fit, y_fit).predict_proba(X_test)

half = len(X_fit) // 2
frozen = FrozenEstimator(LinearSVC().fit(X_fit[:half], y_fit[:half]))
found["frozen"] = CalibratedClassifierCV(frozen, method="sigmoid").fit(X_fit[half:], y_fit[half:]).predict_proba(X_test)
found["truth"] = y_test
"""


def run(import_line, classes):
    script = textwrap.dedent(SCRIPT).replace(THEIRS, import_line).replace("CLASSES", str(classes))
    script = script.replace("METHODS", repr(METHODS))
    assert import_line in script
    space = {}
    with ours_allowed():
        exec(compile(script, "drop_in", "exec"), space)
    return space["found"]


def log_loss(prob, y):
    return -np.log(np.clip(prob[np.arange(len(y)), y], 1e-12, 1)).mean()


@pytest.mark.parametrize("classes", [2, 3])
def test_only_the_import_line_changes(classes):
    theirs, ours = run(THEIRS, classes), run(OURS, classes)
    assert theirs.keys() == ours.keys()
    truth = theirs.pop("truth")
    for name, expected in theirs.items():
        got = ours[name]
        assert got.shape == expected.shape, name
        np.testing.assert_allclose(got.sum(axis=1), 1)
        # Other folds, and log-odds instead of probabilities of naive Bayes: near, and no worse.
        assert np.abs(got - expected).mean() < 0.08, name
        assert log_loss(got, truth) < log_loss(expected, truth) + 0.05, name


def test_a_frozen_classifier_gets_the_same_numbers():
    """Nothing is drawn at random here: Platt's sigmoid on the same margins is the same sigmoid."""
    theirs, ours = run(THEIRS, 2)["frozen"], run(OURS, 2)["frozen"]
    np.testing.assert_allclose(ours, theirs, atol=1e-4)
