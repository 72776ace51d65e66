"""What all learners share: reading rows and labels, and turning a score into a probability."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import expit, log_expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from oddsmith import checks
from oddsmith.checks import Bools, Floats

FeatureRows = Any
"""A float64 matrix of rows, dense or in compressed sparse rows."""


def is_sparse(X: FeatureRows) -> bool:
    """Say whether X is a sparse matrix or array of SciPy, whose own answer would narrow its type to too little."""
    return bool(sparse.issparse(X))


class TrainingRows(NamedTuple):
    """Rows to learn from: which of them are positive, and the weight of each."""

    X: FeatureRows
    positive: Bools
    weight: Floats

    @property
    def sign(self) -> Floats:
        """Labels as −1 and +1."""
        return np.where(self.positive, 1.0, -1.0)

    def present(self) -> "TrainingRows":
        """Leave out the rows of weight 0, and refuse data in which one class has no weight."""
        kept = self.weight > 0
        if self.positive[kept].all() or not self.positive[kept].any():
            checks.fail("both classes must have weight", "weight on one class only", "check sample_weight")
        if kept.all():
            return self
        return TrainingRows(self.X[kept], self.positive[kept], self.weight[kept])


class BinaryClassifier(ABC, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A two-class classifier whose score, by itself or rescaled, is a log-odds."""

    classes_: NDArray[Any]

    @abstractmethod
    def decision_function(self, X: ArrayLike) -> Floats:
        """Return one score per row; larger is more positive."""

    def log_odds(self, X: ArrayLike) -> Floats:
        """Return log P(+|x)/P(−|x), one value per row."""
        return self.decision_function(X)

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return P(−|x) and P(+|x), one row each."""
        log_odds = self.log_odds(X)
        return np.column_stack([expit(-log_odds), expit(log_odds)])

    def predict_log_proba(self, X: ArrayLike) -> Floats:
        """Return log P(−|x) and log P(+|x), one row each: finite where P itself rounds to 0."""
        log_odds = self.log_odds(X)
        return np.asarray(log_expit(np.column_stack([-log_odds, log_odds])))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the likelier class of each row; a tie goes to ``classes_[0]``."""
        # First: an unfitted learner must say so before it is asked for its classes.
        positive = self.log_odds(X) > 0
        return self.classes_[positive.astype(np.intp)]

    def _read_training(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> TrainingRows:
        rows: FeatureRows
        rows, labels = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(labels)
        self._refuse_far(rows)
        self.classes_, code = np.unique(labels, return_inverse=True)
        if len(self.classes_) != 2:
            count = f"{len(self.classes_)} class{'' if len(self.classes_) == 1 else 'es'}"
            checks.fail(
                "y must contain two classes", count, "Only binary classification is supported: take two classes"
            )
        weight = checks.as_weights(sample_weight, len(code))
        if is_sparse(rows) and not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        return TrainingRows(rows, code == 1, np.ones(len(code)) if weight is None else weight.astype(np.float64))

    def _read_rows(self, X: ArrayLike) -> FeatureRows:
        check_is_fitted(self)
        rows: FeatureRows = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        self._refuse_far(rows)
        return rows

    def _farthest(self) -> float:
        """Return the largest feature whose products, as this learner forms them, are finite."""
        return np.inf

    def _refuse_far(self, rows: FeatureRows) -> None:
        entries = rows.data if is_sparse(rows) else rows
        limit, largest = self._farthest(), max(-entries.min(initial=0.0), entries.max(initial=0.0))
        if largest > limit:
            must = f"features of {type(self).__name__} must lie within ±{limit:g}"
            checks.fail(must, f"one of size {largest:g}", "divide each feature by one number")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        base = getattr(self, "estimator", None)
        tags.input_tags.sparse = base is None or get_tags(base).input_tags.sparse
        return tags
