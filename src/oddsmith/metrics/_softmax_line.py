"""The best recalibration softmax(a·log P + b) of a forecast of several classes."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from oddsmith._types import Floats
from oddsmith.metrics.classes import ClassForecast

#: Probabilities below this are as good as impossible.
_LEAST = 1e-300


def recalibrated(forecast: ClassForecast) -> Floats:
    """Return the log-probabilities of the line of largest likelihood, one slope and one intercept per class."""
    z = np.log(np.maximum(forecast.prob, _LEAST))
    z -= z.max(axis=1, keepdims=True)
    rows, share = np.arange(len(z)), forecast.weight / forecast.weight.sum(dtype=np.float64)
    # The slope is scaled to the spread of log P, so that the first step is neither tiny nor huge.
    scale = max(float(z.std()), 1e-12)

    def log_prob(at: Floats) -> Floats:
        u = at[0] / scale * z + at[1:]
        return np.asarray(u - logsumexp(u, axis=1, keepdims=True))

    def loss(at: Floats) -> tuple[float, Floats]:
        logs = log_prob(at)
        gap = np.exp(logs)
        gap[rows, forecast.truth] -= 1
        gap *= share[:, None]
        return -float(share @ logs[rows, forecast.truth]), np.append(np.sum(gap * z) / scale, gap.sum(axis=0))

    start = np.append(scale, np.zeros(z.shape[1]))
    return log_prob(minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500, "gtol": 1e-8}).x)
