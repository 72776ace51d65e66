"""scikit-learn's tests of ``IsotonicRegression``, run on `IsotonicCalibrator`."""

import numpy as np
import peer_tests
import pytest
from sklearn.base import BaseEstimator, TransformerMixin

from oddsmith import IsotonicCalibrator

BEYOND = "beyond the calibration scores a map is constant, and nothing else is offered"
SINGLE = "answers are always float64"
LAST_BIT = "compares all bits: values of any range, taken through probabilities and back, differ in the last ones"
WORDS = "bad shapes are refused in our words"
DIFFERENCES = {
    "test_assert_raises_exceptions": WORDS,
    "test_isotonic_2darray_more_than_1_feature": WORDS,
    "test_isotonic_regression_oob_raise": BEYOND,
    "test_isotonic_regression_oob_nan": BEYOND,
    "test_isotonic_dtype[float32]": SINGLE,
    "test_isotonic_mismatched_dtype": SINGLE,
    "test_isotonic_sample_weight": LAST_BIT,
    "test_isotonic_make_unique_tolerance": LAST_BIT,
    "test_get_feature_names_out": "the output is named after our class",
}

DIRECTION = "check_increasing is not replaced: whether scores are the wrong way round is for a warning, not a choice"
UNIQUE = "tests a private function; near_ties joins scores here"
NOT_OURS = {
    "test_check_increasing_small_number_of_samples": DIRECTION,
    "test_check_increasing_up": DIRECTION,
    "test_check_increasing_up_extreme": DIRECTION,
    "test_check_increasing_down": DIRECTION,
    "test_check_increasing_down_extreme": DIRECTION,
    "test_check_ci_warn": DIRECTION,
    "test_isotonic_regression_auto_decreasing": DIRECTION,
    "test_make_unique_dtype": UNIQUE,
    "test_make_unique_tolerance": UNIQUE,
    "test_fast_predict": "compares two private methods",
}


class Regression(TransformerMixin, BaseEstimator):
    """Isotonic regression of any target by a calibrator of two classes.

    A target t between the least one, a, and the largest, b, is a positive case of weight t − a and a negative one of
    weight b − t. What lies beyond the calibration scores always has the value at their end.
    """

    def __init__(self, *, y_min=None, y_max=None, increasing=True, out_of_bounds="clip"):
        self.y_min = y_min
        self.y_max = y_max
        self.increasing = increasing
        self.out_of_bounds = out_of_bounds

    def fit(self, X, y, sample_weight=None):
        self._sign = 1.0 if self.increasing else -1.0
        scores, target = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        weight = np.ones(len(target)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        self._low, high = target.min(), target.max()
        self._range = high - self._low or 1.0
        above = target - self._low
        labels = np.repeat([1, 0], len(target))
        shares = np.concatenate([weight * above, weight * (self._range - above)])
        self.calibrator_ = IsotonicCalibrator().fit(np.concatenate([self._sign * scores] * 2), labels, shares)
        knots = np.sort(self._sign * self.calibrator_.map_.knots)  # a constant has none
        self.X_thresholds_, self.y_thresholds_ = knots, self.predict(knots) if len(knots) else knots
        self.X_min_, self.X_max_ = scores.min(), scores.max()
        return self

    def predict(self, T):
        prob = self.calibrator_.predict_proba(self._sign * np.asarray(T, dtype=float))[:, 1]
        return np.clip(self._low + self._range * prob, self.y_min, self.y_max)

    def transform(self, T):
        return self.predict(T)

    def get_feature_names_out(self, input_features=None):
        return self.calibrator_.get_feature_names_out(input_features)


def isotonic_regression(y, *, sample_weight=None, y_min=None, y_max=None, increasing=True):
    """Return the isotonic values of a sequence."""
    places = np.arange(len(y))
    return Regression(y_min=y_min, y_max=y_max, increasing=increasing).fit(places, y, sample_weight).predict(places)


theirs = peer_tests.load(
    "test_isotonic",
    {"sklearn.isotonic": {"IsotonicRegression": Regression, "isotonic_regression": isotonic_regression}},
)
globals().update(peer_tests.ours(theirs, DIFFERENCES, NOT_OURS))


@pytest.fixture(autouse=True)
def _expected_differences(request):
    peer_tests.differ(request, DIFFERENCES)
