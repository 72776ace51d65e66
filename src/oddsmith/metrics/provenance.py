"""Forecasts, and whether they are evaluated on the rows that their map was fitted on.

A calibrator keeps a fingerprint of the rows of its fit. A forecast keeps whether its rows have the same one, and so
does everything that is made from it.
"""

import warnings
from dataclasses import replace
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.data import MANY_SHARED, Fingerprint, ScoreRows, ScoreTable
from oddsmith.errors import InSampleWarning
from oddsmith.metrics.classes import ClassForecast


class HasLogOdds(Protocol):
    """A calibration map, a fitted calibrator, or any other object with this method.

    See Also
    --------
    forecast_of : Takes one.
    """

    def log_odds(self, scores: Floats, /) -> ArrayLike:
        """Return the log-odds of scores.

        Parameters
        ----------
        scores : ndarray of shape (n,)

        Returns
        -------
        array-like of shape (n,)
        """


#: Data whose scores are log-odds, or the probabilities of several classes; ``in_sample`` is whether the map was fitted
#: on the same rows.
Forecast = ScoreTable | ClassForecast

#: Probabilities of logits so far apart that they round to 0.
_LEAST = 1e-300


@overload
def forecast_of(data: ScoreTable, method: HasLogOdds, *, in_sample: bool | None = None) -> ScoreTable: ...
@overload
def forecast_of(data: ScoreRows, method: Any = None, *, in_sample: bool | None = None) -> ClassForecast: ...
def forecast_of(data: ScoreTable | ScoreRows, method: Any = None, *, in_sample: bool | None = None) -> Forecast:
    """Return the forecast that a calibrator, scaling, model or map makes for scores.

    Parameters
    ----------
    data : ScoreTable or ScoreRows
        Scores of two classes, or rows of several.
    method : fitted calibrator, scaling, model or map, optional
        With rows of several classes by default none: their probabilities, or the softmax of their logits. Rows without
        weight are left out.
    in_sample : bool, optional
        Whether the method was fitted on these rows; by default whether a table has the fingerprint that the calibrator
        kept of its rows. Rows shared in part or pooled in other cells, maps without their calibrator, and scalings are
        not recognized: pass True for them.

    Returns
    -------
    Forecast

    See Also
    --------
    forecast_from_arrays : From labels and probabilities.

    Examples
    --------
    >>> from oddsmith import SquashCalibrator
    >>> table = ScoreTable.from_arrays([-1.0, 0.5, 2.0], [0, 1, 1])
    >>> forecast_of(table, SquashCalibrator().fit_table(table), in_sample=True).in_sample
    True
    >>> rows = ScoreRows(np.zeros((1, 2)), np.array([0]), ("a", "b"), None, ("a", "b"), "log_odds")
    >>> forecast_of(rows).prob.tolist()
    [[0.5, 0.5]]
    """
    _check.one_of(in_sample, "in_sample", (True, False, None))
    if isinstance(data, ScoreRows):
        return _of_rows(data, method, in_sample=bool(in_sample) or data.in_sample)
    flag = is_fitted_to(method, data) if in_sample is None else bool(in_sample)
    return replace(data.map(method.log_odds), in_sample=flag or data.in_sample)


def _of_rows(rows: ScoreRows, method: Any, *, in_sample: bool) -> ClassForecast:
    log_prob = None
    if method is not None:
        log_prob = np.asarray(getattr(method, "map_", method).class_log_probability(rows.values))
    elif rows.meaning == "log_odds":
        log_prob = np.asarray(log_softmax(rows.values, axis=1))
    prob = rows.values if log_prob is None else np.maximum(np.exp(log_prob), _LEAST)
    weight = np.ones(rows.n_rows, np.int64) if rows.weight is None else rows.weight
    if not weight.any():
        _check.fail("some row must have a weight above 0", f"{rows.n_rows} rows without", "check the weights")
    labels = np.array(rows.labels, dtype=object)
    whole = ClassForecast(prob, rows.truth.astype(np.intp), weight, labels, log_prob, in_sample)
    return whole.at(np.flatnonzero(weight > 0))


def is_fitted_to(method: Any, table: ScoreTable) -> bool:
    """Whether a calibrator was fitted to these very rows, in any order.

    A calibrator that keeps guard of its rows also warns when some of them are judged again.
    """
    if not getattr(method, "_learns", False) or not hasattr(method, "fingerprint_"):
        return False
    if getattr(method, "guard", False) and (share := method.overlap(table)) > MANY_SHARED:
        message = f"{share:.0%} of the rows to be judged are among those that the calibrator was fitted to."
        warnings.warn(message, InSampleWarning, stacklevel=3)
    return bool(method.fingerprint_.matches(Fingerprint.of(table)))


def is_in_sample(forecast: object) -> bool:
    """Whether a forecast was fitted on its own rows, as far as is known."""
    return bool(getattr(forecast, "in_sample", False))
