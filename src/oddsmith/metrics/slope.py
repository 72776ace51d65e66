"""Calibration slope and intercept: the straight line in log-odds that would recalibrate a forecast."""

import math
import warnings

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from oddsmith import _check
from oddsmith.data import ScoreTable, is_separable
from oddsmith.errors import NonConvergenceWarning
from oddsmith.fitting import LABELS, fit_line
from oddsmith.metrics.measure import measure, register_measure, require_classes


@register_measure
@measure("slope of the labels on the log-odds; 1 is ideal")
def calibration_slope(forecast: ScoreTable) -> float:
    """Return the slope a of the logistic regression y ~ aL + b; 1 is ideal, below 1 the forecast is too extreme.

    See Also
    --------
    calibration_intercept : Too low or too high.
    cox_test : Tests both.

    References
    ----------
    D. Cox, Two further applications of a model for binary regression, Biometrika 1958.

    Examples
    --------
    >>> round(calibration_slope([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9]), 3)
    1.012
    """
    return recalibration_line(forecast)[0]


@register_measure
@measure("shift of the log-odds at slope 1; 0 is ideal")
def calibration_intercept(forecast: ScoreTable) -> float:
    """Return the b of y ~ L + b, with slope 1; 0 is ideal, above 0 the forecast is too low (calibration in the large).

    See Also
    --------
    calibration_slope : Too extreme or not extreme enough.
    calibration_in_the_large_test : A test.

    Examples
    --------
    >>> round(calibration_intercept([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9]), 3)
    -0.137
    """
    forecast = without_certain(forecast)
    require_classes(forecast)
    base = math.log(forecast.n_pos) - math.log(forecast.n_neg)
    low, high = forecast.span()
    if low == high:
        return base - low

    def excess(shift: float) -> float:
        at = forecast.scores + shift
        return float(forecast.neg @ expit(at)) - float(forecast.pos @ expit(-at))

    # At the ends every forecast lies on one side of the base rate, so the root is between.
    return float(brentq(excess, base - high - 1e-9, base - low + 1e-9, xtol=1e-13))


def recalibration_line(forecast: ScoreTable) -> tuple[float, float]:
    """Return slope and intercept of the logistic regression of the labels on the log-odds."""
    forecast = without_certain(forecast)
    require_classes(forecast)
    require_several(forecast)
    if is_separable(forecast):
        _check.fail(
            "a slope needs forecasts whose classes overlap",
            "a threshold that separates them, so the slope is infinite",
            "collect more rows, or report calibration_intercept",
        )
    line = fit_line(forecast, LABELS)
    if not line.converged:
        message = "the recalibration line did not reach its optimum; slope and intercept may be off"
        warnings.warn(message, NonConvergenceWarning, stacklevel=2)
    return line.a, line.b


def without_certain(forecast: ScoreTable) -> ScoreTable:
    """Leave out forecasts of exactly 0 or 1 that were right: their likelihood is 1 on any rising line."""
    finite = np.isfinite(forecast.scores)
    if finite.all():
        return forecast
    wrong = np.where(forecast.scores > 0, forecast.neg, forecast.pos)[~finite].sum()
    if wrong > 0 or not finite.any():
        _check.fail(
            "log-odds must be finite for a regression on them, or right where they are not",
            "forecasts of exactly 0 or 1" + (f", wrong for a weight of {wrong:g}" if wrong else " only"),
            "clip the probabilities first, and report it",
        )
    return forecast.at(finite)


def require_several(forecast: ScoreTable) -> None:
    """Refuse a constant forecast, which has no slope."""
    if len(forecast) == 1:
        _check.fail("a slope needs two distinct forecasts", "one", "use calibration_intercept")
