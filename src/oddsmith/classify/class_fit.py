"""Fit any method to rows of several classes: a joint scaling, or a calibrator of each class against the rest."""

import numpy as np
from scipy.special import logsumexp
from sklearn.base import clone

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.calibrators import Calibrator
from oddsmith.classify._masks import refuse_masked_truth
from oddsmith.classify.scaling import JointScaling, logits_of
from oddsmith.data import ClassRows
from oddsmith.model import JointModel

__all__ = ["fit_class_rows"]


def fit_class_rows(rows: ClassRows, method: JointScaling | Calibrator) -> JointModel:
    """Fit a method to rows of several classes.

    Parameters
    ----------
    rows : ClassRows
    method : JointScaling or Calibrator
        Unfitted. A calibrator is fitted to the log-odds of each class against the rest; one that was told to read
        probabilities, to the column of each class where rows are probabilities.

    Examples
    --------
    >>> from oddsmith import TemperatureScaling
    >>> values = np.array([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [2.0, 0.0, 1.0]])
    >>> rows = ClassRows(values, np.array([0, 1, 2]), ("a", "b", "c"), None, ("a", "b", "c"), "logits")
    >>> fit_class_rows(rows, TemperatureScaling()).predict(values).tolist()
    ['a', 'b', 'a']
    """
    if isinstance(method, JointScaling):
        scaling = clone(method).set_params(classes=np.arange(len(rows.labels)), input=rows.input)
        scaling.fit(rows.values, rows.truth, rows.weight)
        return JointModel.from_scaling(scaling, labels=rows.labels, column_names=rows.column_names)
    reads_columns = rows.input == "probabilities" and getattr(method, "input", None) == "probability"
    if reads_columns:
        each = enumerate(rows.values.T)
        calibrators = [clone(method).fit(column, rows.truth == k, rows.weight) for k, column in each]
    else:
        logits = logits_of(rows.values, rows.input)
        _check.refuse_masked_rows(logits, "logits")
        refuse_masked_truth(logits, rows.truth)
        calibrators = [_fit_against_rest(method, logits, rows, k) for k in range(len(rows.labels))]
    return JointModel.from_one_vs_rest(
        calibrators, rows.labels, input=rows.input, against_rest=not reads_columns, column_names=rows.column_names
    )


def _fit_against_rest(method: Calibrator, logits: Floats, rows: ClassRows, k: int) -> Calibrator:
    """Fit one class against all others, to rows in which neither is masked; P is 0 or 1 in the others."""
    scores = _against_rest(logits, k)
    open_rows = np.isfinite(scores)
    if not open_rows.any():  # a class that is never possible: its calibrator is never used
        scores, open_rows = np.zeros(len(scores)), np.ones(len(scores), dtype=bool)
    weight = None if rows.weight is None else rows.weight[open_rows]
    fitted: Calibrator = clone(method)._fit_known("log_odds", scores[open_rows], (rows.truth == k)[open_rows], weight)
    return fitted


def _against_rest(logits: Floats, k: int) -> Floats:
    """Return the log-odds of one class against all others."""
    return np.asarray(logits[:, k] - logsumexp(np.delete(logits, k, axis=1), axis=1))
