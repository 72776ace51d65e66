"""Calibration in the large for several classes: forecasts that sum, but for chance, to the cases of each class."""

import numpy as np

from oddsmith._types import Bools, Floats

#: How far a sum of forecasts may lie from that of the labels, in standard errors.
HALF, TWO = 0.5, 2.0

#: Fewer cases per class than this leave forecasts the larger freedom: class frequencies are then mostly chance.
_MANY = 200

#: Forecasts that are further away are brought to the first share of that freedom; within the second one they pass.
_GOAL, _PASSES = 0.98, 0.99
_MAX_STEPS = 200


def level_classes(prob: Floats, weight: Floats, totals: Floats, free: Bools) -> Floats:
    """Return what to add to the logits so that |Σw(P − Y)| of each free class is within half its standard error.

    With fewer than 200 cases per class two standard errors are allowed. Classes that are within them already are left
    alone, those that are not are raked to the edge. A blend of forecasts that are all within them is so too, since a
    mean of probabilities varies no less than they do.

    Parameters
    ----------
    prob : ndarray of shape (k, n)
        One row per class.
    weight : ndarray of shape (n,)
    totals : ndarray of shape (k,)
        Weight of the cases of each class.
    free : bool array of shape (k,)
        Classes that may be moved.
    """
    shift, freedom = np.zeros(len(prob)), freedom_of(totals)
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


def freedom_of(totals: Floats) -> float:
    """Return how many standard errors sums of forecasts may be away, given the cases of each class."""
    return HALF if totals.sum() >= _MANY * np.count_nonzero(totals) else TWO
