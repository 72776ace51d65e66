"""Any method, by name or instance, fitted to rows of any number of classes."""

from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.base import clone

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.calibrators._base import Calibrator
from oddsmith.calibrators._masked_logits import refuse_masked_truth
from oddsmith.calibrators.auto_scaling import AutoScaling
from oddsmith.calibrators.registry import METHODS, find_method, method_name
from oddsmith.calibrators.scaling import (
    DirichletScaling,
    JointScaling,
    MatrixScaling,
    TemperatureScaling,
    VectorScaling,
    logits_of,
)
from oddsmith.data import ScoreRows
from oddsmith.model import Model

__all__ = ["SCALINGS", "fit_rows", "resolve_method"]

#: Every joint scaling by the name of its method.
SCALINGS: dict[str, type[JointScaling]] = {
    method_name(cls): cls for cls in (AutoScaling, DirichletScaling, MatrixScaling, TemperatureScaling, VectorScaling)
}


def resolve_method(method: Any, *, joint: bool = False) -> Any:
    """Resolve a name, or check an instance, once, at the door.

    A name that a calibrator and a scaling share ("auto", "temperature") means the scaling where several classes are
    calibrated jointly, and elsewhere the calibrator.
    """
    if isinstance(method, str):
        known: dict[str, type[Any]] = {**METHODS, **SCALINGS} if joint else {**SCALINGS, **METHODS}
        return find_method(method, known)()
    if not isinstance(method, (Calibrator, JointScaling)):
        _check.fail("method must be a name, a Calibrator or a joint scaling", f"method={method!r}", 'use "platt"')
    if getattr(method, "pos_label", None) is not None:
        got = f"pos_label={method.pos_label!r}"
        _check.fail("the second of the sorted classes is positive", got, "leave pos_label out of the calibrator")
    return method


def fit_rows(rows: ScoreRows, method: JointScaling | Calibrator) -> Model:
    """Fit a method to rows of several classes.

    Parameters
    ----------
    rows : ScoreRows
    method : JointScaling or Calibrator
        Unfitted. A calibrator is fitted to the log-odds of each class against the rest; one that was told to read
        probabilities, to the column of each class where rows are probabilities.

    Examples
    --------
    >>> from oddsmith import TemperatureScaling
    >>> values = np.array([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [2.0, 0.0, 1.0]])
    >>> rows = ScoreRows(values, np.array([0, 1, 2]), ("a", "b", "c"), None, ("a", "b", "c"), "logits")
    >>> fit_rows(rows, TemperatureScaling()).predict(values).tolist()
    ['a', 'b', 'a']
    """
    if isinstance(method, JointScaling):
        scaling = clone(method).set_params(classes=np.arange(len(rows.labels)), input=rows.input)
        scaling.fit(rows.values, rows.truth, rows.weight)
        return Model.from_fitted(scaling, labels=rows.labels, column_names=rows.column_names)
    reads_columns = rows.input == "probabilities" and getattr(method, "input", None) == "probability"
    if reads_columns:
        each = enumerate(rows.values.T)
        calibrators = [clone(method).fit(column, rows.truth == k, rows.weight) for k, column in each]
    else:
        logits = logits_of(rows.values, rows.input)
        _check.refuse_masked_rows(logits, "logits")
        refuse_masked_truth(logits, rows.truth)
        calibrators = [_fit_against_rest(method, logits, rows, k) for k in range(len(rows.labels))]
    return Model.from_one_vs_rest(
        calibrators, rows.labels, input=rows.input, against_rest=not reads_columns, column_names=rows.column_names
    )


def _fit_against_rest(method: Calibrator, logits: Floats, rows: ScoreRows, k: int) -> Calibrator:
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
