"""Explanations of calibrated probabilities: SHAP values of a classifier's margins on the calibrated log-odds scale."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.model import Model, map_of

__all__ = ["ShiftedExplanation", "explain_shift"]

#: Sums of contributions below this share of their sizes have no stable ratio to what the map makes of them.
_CANCELED = 1e-6


class ShiftedExplanation(NamedTuple):
    """Contributions of features on the calibrated log-odds scale.

    Attributes
    ----------
    values : ndarray of shape (n, features)
    base : ndarray of shape (n,)
        Calibrated log-odds of the base; ``base + values.sum(axis=1)`` is the calibrated log-odds of each row.

    See Also
    --------
    explain_shift : Returns it.
    """

    values: Floats
    base: Floats


def explain_shift(
    shap_values: ArrayLike, base: ArrayLike, model: Any, segments: ArrayLike | None = None
) -> ShiftedExplanation:
    r"""Turn SHAP values of raw margins into contributions to the calibrated log-odds.

    With a map f, margin m = b + Σφ and base b, the contribution of each feature is φ·(f(m) − f(b))/(m − b), and the
    base f(b). This is the Aumann–Shapley value (integrated gradient) of f along the line from the base to the row, and
    for a linear map the SHAP value of the calibrated log-odds itself. Contributions keep their proportions.

    Parameters
    ----------
    shap_values : array-like of shape (n, features)
        Of the raw margin, such as ``explanation.values`` of shap's ``TreeExplainer``, or ``pred_contrib`` of LightGBM
        without its last column. The package shap is not needed.
    base : float or array-like of shape (n,)
        The expected margin, such as ``explanation.base_values``.
    model : Model, fitted calibrator or map
        Of two classes, fitted to these margins.
    segments : array-like of shape (n,) or (n, columns), optional
        Segments of the rows, for a model that has maps of segments.

    Returns
    -------
    ShiftedExplanation

    See Also
    --------
    oddsmith.CalibratedClassifier : Calibrates a classifier.

    Notes
    -----
    Where contributions cancel (|m − b| below 10⁻⁶ Σ|φ|) the slope of f near b takes the place of the ratio. What is
    left of f(m) − f(b) is then shared in proportion to |φ|. Steps of isotonic maps give large ratios where margins are
    close to the base; smooth maps do not.

    References
    ----------
    S. Lundberg and S.-I. Lee, A unified approach to interpreting model predictions, NeurIPS 2017.
    M. Sundararajan, A. Taly and Q. Yan, Axiomatic attribution for deep networks, ICML 2017.

    Examples
    --------
    >>> from oddsmith import ScoreTable, LogisticCalibrator
    >>> model = LogisticCalibrator().fit_table(ScoreTable.from_arrays([-1, 1, 3], [0, 1, 1], [9, 9, 9]).merge(
    ...     ScoreTable.from_arrays([-1, 1, 3], [1, 0, 0], [4, 3, 2])))
    >>> found = explain_shift([[1.5, -0.5]], 0.0, model)
    >>> bool(abs(found.base + found.values.sum(axis=1) - model.log_odds([1.0]))[0] < 1e-10)
    True
    """
    values = np.asarray(shap_values, dtype=np.float64)
    if values.ndim != 2:
        hint = (
            "pass those of the positive class, such as values[:, :, 1]" if values.ndim == 3 else "pass a row per case"
        )
        _check.fail("shap_values must have a row per case and a column per feature", f"shape {values.shape}", hint)
    start = np.asarray(base, dtype=np.float64)
    if start.shape not in ((), (1,), (len(values),)):
        hint = "pass the expected margin of the positive class"
        _check.fail("base must be a number, or one per row", f"shape {start.shape} for {len(values)} rows", hint)
    start = np.broadcast_to(start, (len(values),))
    if len(values):
        _check.refuse_nonfinite(values, "shap_values")
        _check.refuse_nonfinite(start, "base")

    def log_odds(margin: Floats) -> Floats:
        if segments is not None or (isinstance(model, Model) and model.by is not None):
            found = model.log_odds(margin, segments)
        else:
            found = map_of(model).log_odds(margin)
        infinite = ~np.isfinite(found)
        if infinite.any():
            got = f"infinite ones in {int(infinite.sum()):,} of {len(found):,} rows"
            hint = "use a map that never gives 0 or 1, such as platt or auto"
            _check.fail("calibrated log-odds must be finite to be explained", got, hint)
        return np.asarray(found, dtype=np.float64)

    total, size = values.sum(axis=1), np.abs(values).sum(axis=1)
    bottom, top = log_odds(start), log_odds(start + total)
    step = np.where(np.abs(total) > _CANCELED * size, total, _CANCELED * np.where(size > 0, size, 1.0))
    canceled = step != total
    end = np.where(canceled, log_odds(start + step), top) if canceled.any() else top
    shifted = values * ((end - bottom) / step)[:, None]
    left = top - bottom - shifted.sum(axis=1)
    share = np.divide(np.abs(values), size[:, None], out=np.zeros_like(values), where=size[:, None] > 0)
    return ShiftedExplanation(shifted + share * left[:, None], bottom)
