"""A fitted classifier is kept whole by skops, and what must be trusted is Oddsmith's own and the classifier's."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from oddsmith import CalibratedClassifier
from optional import needs
from samples import ours_allowed

METHODS = ["auto", "platt", "isotonic", "spline", "venn-abers"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_a_classifier_is_the_same_after_keeping(method, load, tmp_path):
    io = needs("skops.io")
    X, y = load(return_X_y=True)
    X = X[:, :4]
    estimator = LogisticRegression(max_iter=10_000)
    with ours_allowed():  # three kinds of iris are easily told apart
        model = CalibratedClassifier(estimator, method=method, cv=3).fit(X, y)
    io.dump(model, tmp_path / "model.skops")
    unknown = io.get_untrusted_types(file=tmp_path / "model.skops")
    assert {name.partition(".")[0] for name in unknown} == {"oddsmith"}
    same = io.load(tmp_path / "model.skops", trusted=unknown)
    np.testing.assert_array_equal(same.predict_proba(X), model.predict_proba(X))
    assert repr(same) == repr(model)


def test_types_of_the_classifier_are_named_too(tmp_path):
    io = needs("skops.io")
    X, y = load_breast_cancer(return_X_y=True)
    io.dump(CalibratedClassifier(RandomForestClassifier(3, random_state=0), cv=3).fit(X, y), tmp_path / "model.skops")
    unknown = io.get_untrusted_types(file=tmp_path / "model.skops")
    assert [name for name in unknown if not name.startswith("oddsmith.")] == ["sklearn.tree._tree.Tree"]
    with pytest.raises(io.exceptions.UntrustedTypesFoundException, match="oddsmith"):
        io.load(tmp_path / "model.skops")
