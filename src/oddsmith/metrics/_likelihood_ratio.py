"""How much likelihood a recalibration of a forecast gains, beyond what it would gain by chance."""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtrc, chdtri, chndtr, ndtri, stdtrit

from oddsmith._types import Floats
from oddsmith.metrics.significance import Decisions, mean_and_error

#: Above so large a statistic its root is normal.
_LARGE = 1e4


class LikelihoodRatio(NamedTuple):
    """The gain of a recalibration in log-loss per case.

    Attributes
    ----------
    gain : float
        ≥ 0, inflated by chance.
    low, high, corrected : float
        Interval and median-unbiased estimate of the true gain.
    consistency : tuple of float
        The range of the gain where there is nothing to recalibrate.
    p_value : float
        Of the hypothesis that there is nothing.
    """

    gain: float
    low: float
    high: float
    corrected: float
    consistency: tuple[float, float]
    p_value: float

    @classmethod
    def of(cls, gains: Floats, decisions: Decisions, df: int, level: float) -> "LikelihoodRatio":
        """Look at the gain of each decision from a recalibration of so many parameters.

        2n·gain is χ² with a noncentrality of 2n times the true gain; where gains vary more than that allows, as they do
        for forecasts that are far off, Student's t widens the interval.
        """
        tail, n = (1 - level) / 2, decisions.n_effective
        by_chance = float(chdtri(df, 1 - tail)) / (2 * n), float(chdtri(df, tail)) / (2 * n)
        if np.isinf(gains).any():
            return cls(math.inf, math.inf, math.inf, math.inf, by_chance, 0.0)
        mean, error, _ = mean_and_error(gains, decisions)
        mean = max(mean, 0.0)
        statistic = 2 * n * mean
        low, middle, high = (_noncentrality(statistic, df, share) / (2 * n) for share in (1 - tail, 0.5, tail))
        if math.isfinite(error):
            half = float(stdtrit(max(n - 1, 1.0), 1 - tail)) * error
            low, high = min(low, max(middle - half, 0.0)), max(high, middle + half)
        return cls(mean, low, high, middle, by_chance, float(chdtrc(df, statistic)))


def _noncentrality(statistic: float, df: int, share: float) -> float:
    """Return the noncentrality under which so large a share of χ² is below a statistic; 0 where even 0 is too much."""
    if statistic > _LARGE:
        return max((math.sqrt(statistic) - float(ndtri(share))) ** 2 - df, 0.0)
    if chndtr(statistic, df, 0.0) <= share:
        return 0.0
    upper = statistic + 10 * math.sqrt(statistic + df) + 50
    return float(brentq(lambda noncentral: float(chndtr(statistic, df, noncentral)) - share, 0.0, upper))
