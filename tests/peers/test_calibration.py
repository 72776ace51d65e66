"""scikit-learn's tests of ``CalibratedClassifierCV``, run on `CalibratedClassifier`."""

from numbers import Integral

import numpy as np
import peer_tests
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold

from oddsmith import PlattCalibrator
from oddsmith.calibrators import TemperatureScaling as OurTemperatureScaling
from oddsmith.classify import CalibratedClassifier

DIFFERENCES = {
    "test_calibration_cv_nfold": (
        "101 folds and leave-one-out calibrate here; with ensemble=True they are refused in our words"
    ),
}

DISPLAY = "CalibrationDisplay is not replaced: our ReliabilityDisplay has other parameters, and tests of its own"
CURVE = "calibration_curve is not replaced: tests of reliability_curve compare it with this function"
NOT_OURS = {
    "test_calibration_zero_probability": "tests a private class; ours normalizes in normalize_one_vs_rest",
    "test_calibration_curve": CURVE,
    "test_calibration_curve_pos_label_error_str": CURVE,
    "test_calibration_curve_pos_label": CURVE,
    "test_calibration_display_compute": DISPLAY,
    "test_plot_calibration_curve_pipeline": DISPLAY,
    "test_calibration_display_default_labels": DISPLAY,
    "test_calibration_display_label_class_plot": DISPLAY,
    "test_calibration_display_name_multiple_calls": DISPLAY,
    "test_calibration_display_ref_line": DISPLAY,
    "test_calibration_display_kwargs": DISPLAY,
    "test_calibration_display_pos_label": DISPLAY,
    "test_temperature_scaling_array_api_compliance": "other array libraries are not supported: arrays become NumPy's",
    "test_temperature_scaling_array_api_with_str_y_estimator_not_prefit": "the same",
}


class FoldsInOrder(CalibratedClassifier):
    """Ours with scikit-learn's folds: a number of folds means consecutive rows, where ours are drawn at random."""

    def fit(self, X, y, *args, **params):
        given = self.cv
        if isinstance(given, Integral):
            self.cv = StratifiedKFold(int(given))
        try:
            return super().fit(X, y, *args, **params)
        finally:
            self.cv = given


def sigmoid_parameters(predictions, y, sample_weight=None, max_abs_prediction_threshold=30):
    """Return Platt's A and B; ours need no threshold above which predictions are rescaled."""
    del max_abs_prediction_threshold
    fitted = PlattCalibrator().fit(predictions, y, sample_weight)
    return -fitted.a_, -fitted.b_


class Sigmoid(BaseEstimator):
    """Platt's sigmoid behind scikit-learn's private name: ``predict`` gives P of the positive class."""

    def fit(self, X, y, sample_weight=None):
        self.calibrator_ = PlattCalibrator().fit(X, y, sample_weight)
        return self

    def predict(self, T):
        return self.calibrator_.predict_proba(T)[:, 1]


class Temperature(BaseEstimator):
    """Temperature scaling behind scikit-learn's private name: probabilities or logits in, probabilities out."""

    def fit(self, X, y, sample_weight=None):
        self.scaling_ = OurTemperatureScaling().fit(self._logits(X), y, sample_weight)
        self.beta_ = self.scaling_.beta_
        return self

    def predict(self, X):
        return self.scaling_.predict_proba(self._logits(X))

    @staticmethod
    def _logits(X):
        values = np.asarray(X, dtype=float)
        if values.ndim == 1:
            values = values[:, None]
        given = values.shape[1] > 1 and values.min() >= 0 and np.allclose(values.sum(axis=1), 1)
        return np.log(values) if given else values


theirs = peer_tests.load(
    "test_calibration",
    {
        "sklearn.calibration": {
            "CalibratedClassifierCV": FoldsInOrder,
            "_sigmoid_calibration": sigmoid_parameters,
            "_SigmoidCalibration": Sigmoid,
            "_TemperatureScaling": Temperature,
        }
    },
)
globals().update(peer_tests.ours(theirs, DIFFERENCES, NOT_OURS))


@pytest.fixture(autouse=True)
def _expected_differences(request):
    peer_tests.differ(request, DIFFERENCES)
