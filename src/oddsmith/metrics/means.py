"""Means, shares and gains of likelihood with their intervals, by formula."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import betaincinv, chdtrc, chdtri, chndtr, ndtri, stdtrit

from oddsmith._types import Floats
from oddsmith.metrics.grouped import mean_and_error_of_groups
from oddsmith.metrics.significance import Decisions, mean_and_error

#: Above so large a likelihood ratio its root is normal.
_LARGE = 1e4


def mean_with_interval(
    values: Floats, decisions: Decisions, level: float = 0.95, group: NDArray[np.intp] | None = None
) -> dict[str, Any]:
    """Return a mean with Student's interval as "value", "low" and "high"; None and a "reason" where there is none.

    Rows of a group are dependent: each group counts once.

    Examples
    --------
    >>> mean_with_interval(np.array([0.0, 1.0, 1.0, 0.0]), Decisions.of(None, 4))["value"]
    0.5
    """
    if np.isinf(values).any():
        return {"value": math.inf, "low": None, "high": None, "reason": "some case has an infinite loss"}
    if group is None:
        mean, error, n = mean_and_error(values, decisions)
    else:
        mean, error, n = mean_and_error_of_groups(values, decisions, group)
    if not math.isfinite(error):
        return {"value": mean, "low": None, "high": None, "reason": "one case alone has no interval"}
    half = float(stdtrit(n - 1, (1 + level) / 2)) * error
    return {"value": mean, "low": mean - half, "high": mean + half}


def share_with_interval(share: float, n: float, level: float = 0.95) -> dict[str, Any]:
    """Return a share of n cases with its exact interval (Clopper and Pearson); n need not be a whole number.

    Examples
    --------
    >>> round(share_with_interval(0.0, 30)["high"], 3)
    0.116
    """
    tail, hits = (1 - level) / 2, share * n
    low = float(betaincinv(hits, n - hits + 1, tail)) if share > 0 else 0.0
    high = float(betaincinv(hits + 1, n - hits, 1 - tail)) if share < 1 else 1.0
    return {"value": share, "low": min(low, share), "high": max(high, share)}


def gain_with_interval(
    gains: Floats, decisions: Decisions, df: int, level: float = 0.95
) -> tuple[dict[str, Any], float]:
    """Return the mean gain in log-likelihood of a recalibration of so many parameters, and the p-value of no gain.

    The gain is ≥ 0, inflated by chance: beside it stand "corrected", the median-unbiased estimate, and "consistency",
    the range where there is nothing to recalibrate. 2n·gain is χ² with a noncentrality of 2n times the true gain; where
    gains vary more than that allows, as they do for forecasts that are far off, Student's t widens the interval.
    """
    if np.isinf(gains).any():
        reason = "some probability of a true class is 0"
        return {"value": math.inf, "low": None, "high": None, "reason": reason}, 0.0
    tail, n = (1 - level) / 2, decisions.n_effective
    mean, error, _ = mean_and_error(gains, decisions)
    mean = max(mean, 0.0)
    statistic = 2 * n * mean
    low, middle, high = (_noncentrality(statistic, df, share) / (2 * n) for share in (1 - tail, 0.5, tail))
    if math.isfinite(error):
        half = float(stdtrit(max(n - 1, 1.0), 1 - tail)) * error
        low, high = min(low, max(middle - half, 0.0)), max(high, middle + half)
    by_chance = [float(chdtri(df, share)) / (2 * n) for share in (1 - tail, tail)]
    found = {"value": mean, "low": low, "high": high, "corrected": middle, "consistency": by_chance}
    return found, float(chdtrc(df, statistic))


def _noncentrality(statistic: float, df: int, share: float) -> float:
    """Return the noncentrality under which so large a share of χ² is below a statistic; 0 where even 0 is too much."""
    if statistic > _LARGE:
        return max((math.sqrt(statistic) - float(ndtri(share))) ** 2 - df, 0.0)
    if chndtr(statistic, df, 0.0) <= share:
        return 0.0
    upper = statistic + 10 * math.sqrt(statistic + df) + 50
    return float(brentq(lambda noncentral: float(chndtr(statistic, df, noncentral)) - share, 0.0, upper))
