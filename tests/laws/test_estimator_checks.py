"""scikit-learn's own checks of estimators, on every calibrator.

Twice: as it is, with each expected failure and its reason; and with the two things that the checks presume and a
calibrator refuses, several columns and any two labels, taken care of by a thin subclass, so that all the rest of the
contract is checked too.
"""

import re
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import scipy
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version
from sklearn.utils.validation import check_is_fitted, validate_data

from catalogue import CLASSES
from oddsmith.errors import OddsmithWarning

COLUMNS = "the check passes several columns; a calibrator takes one score per row"
LABELS = "the check uses labels that need pos_label, since guessing which is positive is how scores get reversed"
ONE_D = "the check indexes or unpacks the shape of X as two-dimensional after cutting it to one column"
REFUSED = "the check expects one-dimensional scores to be refused; they are the native input"

AS_IT_IS = {
    "check_estimators_partial_fit_n_features": ONE_D,
    "check_classifier_not_supporting_multiclass": COLUMNS,
    "check_classifiers_classes": LABELS,
    "check_classifiers_one_label_sample_weights": COLUMNS,
    "check_classifiers_train": ONE_D,
    "check_dict_unchanged": ONE_D,
    "check_dont_overwrite_parameters": ONE_D,
    "check_dtype_object": LABELS,
    "check_estimator_sparse_array": ONE_D,
    "check_estimators_empty_data_messages": COLUMNS,
    "check_estimators_nan_inf": COLUMNS,
    "check_f_contiguous_array_estimator": ONE_D,
    "check_fit1d": REFUSED,
    "check_fit2d_1feature": ONE_D,
    "check_fit2d_1sample": ONE_D,
    "check_fit2d_predict1d": ONE_D,
    "check_methods_sample_order_invariance": ONE_D,
    "check_methods_subset_invariance": ONE_D,
    "check_n_features_in": ONE_D,
    "check_n_features_in_after_fitting": ONE_D,
    "check_sample_weight_equivalence_on_dense_data": COLUMNS,
    "check_sample_weights_not_overwritten": COLUMNS,
    "check_sample_weights_shape": COLUMNS,
    "check_transformer_data_not_an_array": ONE_D,
    "check_transformer_general": ONE_D,
}
#: With SciPy below 1.15, whose sparse arrays are two-dimensional.
FORMERLY = {"check_estimator_sparse_tag": ONE_D} if parse_version(scipy.__version__) < parse_version("1.15") else {}


def first_column(cls):
    """Return a subclass that calibrates the first of several columns and takes the larger label as positive."""

    class FirstColumn(cls):
        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.input_tags.one_d_array = False
            tags.classifier_tags.poor_score = True  # one column does not predict well; that is not the question
            return tags

        def fit(self, X, y, sample_weight=None):
            if y is None:
                super().fit([0.0], None)
            X, y = validate_data(self, X, y)
            classes, codes = np.unique(y, return_inverse=True)
            if len(classes) > 2:
                super().fit(X[:, 0], y)
            columns = self.n_features_in_
            super().fit(X[:, 0], codes, sample_weight)
            self.classes_, self.n_features_in_ = np.resize(classes, 2), columns
            return self

        def partial_fit(self, X, y, sample_weight=None, classes=None):
            X, y = validate_data(self, X, y, reset=not hasattr(self, "table_"))
            columns, classes = self.n_features_in_, np.unique(y) if classes is None else classes
            super().partial_fit(X[:, 0], (y == classes[-1]).astype(int), sample_weight)
            self.classes_, self.n_features_in_ = np.resize(classes, 2), columns
            return self

        def _column(self, X):
            check_is_fitted(self)
            return validate_data(self, X, reset=False)[:, 0]

        def predict_proba(self, X):
            return super().predict_proba(self._column(X))

        def predict_log_proba(self, X):
            return super().predict_log_proba(self._column(X))

        def predict(self, X):
            return super().predict(self._column(X))

        def log_odds(self, X):
            return super().log_odds(self._column(X))

        def transform(self, X):
            return self.predict_proba(X)[:, 1:]

    FirstColumn.__name__ = FirstColumn.__qualname__ = f"{cls.__name__}OnFirstColumn"
    globals()[FirstColumn.__name__] = FirstColumn  # so that it pickles
    FirstColumn.__module__ = __name__
    return FirstColumn


def run(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OddsmithWarning)
        check(estimator)


@parametrize_with_checks([cls() for cls in CLASSES], expected_failed_checks=lambda _: AS_IT_IS | FORMERLY)
def test_check_as_it_is(estimator, check):
    run(estimator, check)


@parametrize_with_checks([first_column(cls)() for cls in CLASSES])
def test_check_on_the_first_column(estimator, check):
    run(estimator, check)


def test_the_page_on_laws_counts_the_expected_failures_by_reason():
    page = (Path(__file__).parents[2] / "docs" / "inside" / "laws.md").read_text(encoding="utf-8")
    counts = [int(count) for count in re.findall(r"^\| (\d+) \|", page, re.M)]
    assert sorted(counts, reverse=True) == counts == sorted(Counter(AS_IT_IS.values()).values(), reverse=True)
    assert f"{len(AS_IT_IS)} are expected to fail" in page
