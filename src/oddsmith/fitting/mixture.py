"""Weights of a blend of forecasts, from the likelihoods that each gave to cases that it had not seen."""

import numpy as np

from oddsmith._types import Floats

#: Weight of a prior that is equal for all parts, in cases.
_PRIOR = 2.0

_MAX_STEPS = 500


def mixture_weights(likelihood: Floats, cases: Floats, prior: Floats | None = None) -> Floats:
    """Return the weights of the most probable blend under a Dirichlet prior, by EM.

    The likelihood, shape (parts, n), is P of what happened by each part, of a case up to a factor that all parts share;
    ``cases`` is the number of cases of each column, ``prior`` that of each part; by default two, in equal shares.
    """
    size = len(likelihood)
    if prior is None:
        prior = np.full(size, _PRIOR / size)
    used = cases > 0
    likelihood, cases = np.ascontiguousarray(likelihood[:, used]), cases[used]  # else columns lie apart: twice the time
    total = float(cases.sum() + prior.sum())
    # Steps become small where rows that all parts forecast alike outweigh the others: then the prior decides.
    weights = (prior / prior.sum() + 1 / size) / 2
    for _ in range(_MAX_STEPS):
        due = likelihood @ (cases / (weights @ likelihood))
        new = (weights * due + prior) / total
        moved, weights = float(np.abs(new - weights).max()), new
        if moved < 1e-5:
            break
    return np.asarray(weights / weights.sum())
