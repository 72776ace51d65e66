"""A fitted classifier and the calibration of its scores, which together predict."""

from typing import Any, NamedTuple

from numpy.typing import NDArray

from oddsmith._types import Floats
from oddsmith.classify.multiclass import JointCalibration, ProblemCalibration
from oddsmith.classify.scores import ResponseMethod, classifier_scores


class CalibratedPair(NamedTuple):
    """A fitted classifier with the calibration of its scores."""

    estimator: Any
    calibration: ProblemCalibration | JointCalibration
    classes: NDArray[Any]
    response_method: ResponseMethod
    source: str

    @property
    def calibrators(self) -> list[Any]:
        """The fitted calibrators: one per two-class problem, or one joint scaling."""
        return self.calibration.calibrators

    def predict_proba(self, X: Any) -> Floats:
        """Return the calibrated P of each class or label."""
        return self.calibration.predict_proba(self.raw_scores(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the calibrated P of each class or label."""
        return self.calibration.predict_log_proba(self.raw_scores(X))

    def log_odds(self, X: Any) -> Floats:
        """Return the calibrated log-odds of the second of two classes."""
        return self.calibration.log_odds(self.raw_scores(X))

    def raw_scores(self, X: Any) -> Floats:
        """Return what the calibrators take: one column each, or the logits of a joint scaling."""
        layout = self.calibration.problems.layout
        scores = classifier_scores(self.estimator, X, self.response_method, layout=layout, source=self.source)
        return self.calibration.scores(scores.aligned(self.classes), scores.form)
