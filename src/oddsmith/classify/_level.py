"""Calibration in the large for several classes: forecasts that sum, but for chance, to the cases of each class."""

import numpy as np

from oddsmith._types import Bools, Floats

#: How far a sum of forecasts may lie from that of the labels, in standard errors: where it is brought, and what passes.
_FREEDOM, _PASSES = 0.49, 0.495
_MAX_STEPS = 200


def level_classes(prob: Floats, weight: Floats, totals: Floats, free: Bools) -> Floats:
    """Return what to add to the logits so that |Σw(P − Y)| of each free class is within half its standard error.

    Classes that are within it already are left alone, those that are not are raked to its edge. A blend of forecasts
    that each hold to this holds to it too, since a mean of probabilities varies no less than they do.

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
    shift = np.zeros(len(prob))
    for _ in range(_MAX_STEPS):
        sums = prob @ weight
        error = np.sqrt(np.maximum(sums - (prob * prob) @ weight, 0.0))
        beyond = sums - totals
        wrong = free & (np.abs(beyond) > _PASSES * error) & (sums > 0)
        if not wrong.any():
            break
        goal = totals + np.clip(beyond, -_FREEDOM * error, _FREEDOM * error)
        factor = np.where(wrong, np.maximum(goal, 1e-300) / np.where(sums > 0, sums, 1.0), 1.0)
        shift += np.log(factor)
        prob = prob * factor[:, None]
        prob /= prob.sum(axis=0)
    return shift
