"""Weights that make calibration rows look like others, by columns that the score does not contain."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from oddsmith import _check
from oddsmith._types import Floats

__all__ = ["importance_weights"]


def importance_weights(
    calibration: ArrayLike, unlabeled: ArrayLike, estimator: Any = None, *, random_state: int = 0
) -> Floats:
    """Return weights that make calibration rows look like unlabeled ones, by their other columns.

    Where rows differ from those of the calibration in columns that the score does not contain, the probabilities of a
    score differ, too. A classifier separates unlabeled rows from calibration rows, out of fold; the odds are the
    weights (PAPE). Fit a calibrator with them as ``sample_weight``, and pass the weighted table as ``calibration`` to
    `expected_performance`.

    Parameters
    ----------
    calibration, unlabeled : array-like of shape (n, features) and (m, features)
    estimator : classifier, optional
        By default ``HistGradientBoostingClassifier``.
    random_state : int, default 0

    Returns
    -------
    ndarray of shape (n,)
        Of mean 1.

    See Also
    --------
    expected_performance : Takes a model that was fitted with them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> old, new = rng.normal(size=(500, 1)), rng.normal(0.5, size=(500, 1))
    >>> weight = importance_weights(old, new)
    >>> bool(np.corrcoef(weight, old[:, 0])[0, 1] > 0.5)
    True
    """
    from sklearn.base import clone
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    old, new = (_check.as_array(each, name, (2,)) for each, name in ((calibration, "calibration"), (unlabeled, "new")))
    if old.shape[1] != new.shape[1]:
        got = f"{old.shape[1]} and {new.shape[1]}"
        _check.fail("calibration and unlabeled rows must have the same columns", got, "select the same columns of both")
    default = HistGradientBoostingClassifier(max_depth=3, learning_rate=0.05, random_state=random_state)
    folds = StratifiedKFold(5, shuffle=True, random_state=random_state)
    origin = np.repeat([0, 1], [len(old), len(new)])
    chosen = default if estimator is None else clone(estimator)
    prob = cross_val_predict(chosen, np.vstack([old, new]), origin, cv=folds, method="predict_proba")[: len(old), 1]
    odds = prob / np.maximum(1 - prob, 1e-6)
    return np.asarray(odds / odds.mean())
