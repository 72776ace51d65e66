"""Calibration in the large: forecasts that sum, but for chance, to the positives that there were."""

import math
from dataclasses import replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from oddsmith._types import Bools, Floats
from oddsmith.data import ScoreTable
from oddsmith.maps import BlendMap, CalibrationMap, InputMap, LogBasisMap, PolynomialMap, StepMap

#: How far a sum of forecasts may lie from that of the labels, in standard errors. Equality would cost small samples
#: more than it brings; this keeps the influence of the prior.
_FREEDOM = 0.45

#: Forecasts that are further away are brought to the first share of that freedom; within the second one they pass.
_GOAL, _PASSES = 0.98, 0.99
_MAX_STEPS = 200


def level_in_the_large(blend: BlendMap, table: ScoreTable) -> BlendMap:
    """Move the log-odds of all parts by the least that brings Σw(P − Y) within 0.45 of its standard error.

    Parts are polynomial, step or log-basis maps, or these after a change of the score; the table is that of the fit.
    """
    log_odds = np.array([part.log_odds(table.scores) for part in blend.parts])
    weight = table.total.astype(np.float64)
    squared = np.add(*table.squares)
    largest = float(weight.max())
    weight, squared, positive = weight / largest, squared / largest / largest, table.n_pos / largest

    side = math.copysign(1.0, float(weight @ (blend.weights @ expit(log_odds))) - positive)

    def beyond(move: float) -> float:
        """Return how far the sum lies beyond its range, on the side where it was at first."""
        prob = blend.weights @ expit(log_odds + move)
        # The mean of 1 − P, not 1 less that of P: certain forecasts keep their digits.
        spread = prob * (blend.weights @ expit(-log_odds - move))
        # Float weights may count for less than as many cases; they are never taken to count for less than that.
        allowed = _FREEDOM * math.sqrt(min(float(squared @ spread), float(weight @ spread) / largest))
        return side * (float(weight @ prob) - positive) - allowed

    if beyond(0.0) <= 0:
        return blend
    far = -side
    while beyond(far) > 0:
        if abs(far) > 1000:
            return blend  # nothing moves forecasts that are as certain as that
        far *= 2
    move = float(brentq(beyond, 0.0, far, xtol=1e-9))
    return BlendMap(tuple(_move_map(part, move) for part in blend.parts), blend.weights)


def is_right_in_the_large(fitted: CalibrationMap, table: ScoreTable) -> bool:
    """Whether Σw(P − Y) lies within one case or half of its standard error.

    Forecasts as certain as one row of huge weight can make them may have no level that brings them there.
    """
    log_odds, weight = fitted.log_odds(table.scores), table.total.astype(np.float64)
    with np.errstate(invalid="ignore"):
        spread = float(weight @ (expit(log_odds) * expit(-log_odds)))
    return abs(float(weight @ expit(log_odds)) - table.n_pos) <= max(1.0, 0.5 * math.sqrt(spread))


def _move_map(fitted: CalibrationMap, move: float) -> CalibrationMap:
    if isinstance(fitted, InputMap):
        return replace(fitted, inner=_move_map(fitted.inner, move))
    if isinstance(fitted, PolynomialMap):
        first = np.zeros(fitted.coefficients.shape[1])
        first[0] = move
        return replace(fitted, coefficients=fitted.coefficients + first)
    if isinstance(fitted, LogBasisMap):
        return replace(fitted, intercept=fitted.intercept + move)
    assert isinstance(fitted, StepMap)
    # Close to 1 the moved values are rounded: in their order, so that none passes the next one.
    values = np.empty(2 * len(fitted.knots) + 1)
    values[0::2], values[1::2] = fitted.between, fitted.at
    values = np.maximum.accumulate(expit(logit(values) + move))
    return StepMap(fitted.knots, values[1::2], values[0::2])


def level_classes(prob: Floats, weight: Floats, totals: Floats, free: Bools, freedom: float) -> Floats:
    """Return what to add to the logits so that |Σw(P − Y)| of each free class is within some standard errors.

    Classes that are within them already are left alone, those that are not are raked to the edge. A blend of forecasts
    that are all within them is so too, since a mean of probabilities varies no less than they do.

    Parameters
    ----------
    prob : ndarray of shape (k, n)
        One row per class.
    weight : ndarray of shape (n,)
    totals : ndarray of shape (k,)
        Weight of the cases of each class.
    free : bool array of shape (k,)
        Classes that may be moved.
    freedom : float
        How many standard errors sums may be away.
    """
    shift = np.zeros(len(prob))
    for _ in range(_MAX_STEPS):
        sums = prob @ weight
        error = np.sqrt(np.maximum(sums - (prob * prob) @ weight, 0.0))
        beyond = sums - totals
        wrong = free & (np.abs(beyond) > _PASSES * freedom * error) & (sums > 0)
        if not wrong.any():
            break
        reach = _GOAL * freedom * error
        goal = totals + np.clip(beyond, -reach, reach)
        factor = np.where(wrong, np.maximum(goal, 1e-300) / np.where(sums > 0, sums, 1.0), 1.0)
        shift += np.log(factor)
        prob = prob * factor[:, None]
        prob /= prob.sum(axis=0)
    return shift
