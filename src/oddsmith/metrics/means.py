"""Means and shares with their intervals, by formula."""

import math
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

from oddsmith._types import Floats
from oddsmith.metrics.significance import Decisions, mean_and_error


def mean_with_interval(values: Floats, decisions: Decisions, level: float = 0.95) -> dict[str, Any]:
    """Return a mean with Student's interval as "value", "low" and "high"; None and a "reason" where there is none.

    Examples
    --------
    >>> mean_with_interval(np.array([0.0, 1.0, 1.0, 0.0]), Decisions.of(None, 4))["value"]
    0.5
    """
    if np.isinf(values).any():
        return {"value": math.inf, "low": None, "high": None, "reason": "some case has an infinite loss"}
    mean, error, n = mean_and_error(values, decisions)
    if not math.isfinite(error):
        return {"value": mean, "low": None, "high": None, "reason": "one case alone has no interval"}
    half = float(stdtrit(n - 1, (1 + level) / 2)) * error
    return {"value": mean, "low": mean - half, "high": mean + half}


def share_with_interval(share: float, n: float, level: float = 0.95) -> dict[str, Any]:
    """Return a share of n cases with Wilson's interval.

    Examples
    --------
    >>> round(share_with_interval(0.0, 10)["high"], 3)
    0.278
    """
    z2 = float(ndtri((1 + level) / 2)) ** 2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * share * (1 - share) / n + (z2 / (2 * n)) ** 2) / (1 + z2 / n)
    return {"value": share, "low": max(middle - half, 0.0), "high": min(middle + half, 1.0)}
