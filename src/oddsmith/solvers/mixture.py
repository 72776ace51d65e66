"""Weights of a blend of forecasts, from the likelihoods that each gave to cases that it had not seen."""

import numpy as np

from oddsmith._types import Floats

#: Weight of the prior, equal for all parts, in cases.
_PRIOR = 2.0

_MAX_STEPS = 500


def mixture_weights(likelihood: Floats, cases: Floats) -> Floats:
    """Return the weights of the most probable blend under a Dirichlet prior, by EM.

    The likelihood, shape (parts, n), is P of what happened by each part, of a case up to a factor that all parts share;
    ``cases`` says how many cases each column stands for.
    """
    size, n = len(likelihood), float(cases.sum())
    weights = np.full(size, 1 / size)
    for _ in range(_MAX_STEPS):
        due = likelihood @ (cases / (weights @ likelihood))
        new = (weights * due + _PRIOR / size) / (n + _PRIOR)
        moved, weights = float(np.abs(new - weights).max()), new
        if moved < 1e-5:
            break
    return np.asarray(weights / weights.sum())
