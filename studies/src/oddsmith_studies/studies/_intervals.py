"""Intervals that several studies take."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import binomtest

from oddsmith.metrics import Interval

_LEVEL = 0.95
_REACH = 1.959963984540054


def share_interval(count: int, rows: int) -> Interval:
    """Return a share with its exact 95 % interval."""
    ends = binomtest(count, rows).proportion_ci(0.95, "exact")
    return Interval(count / rows, float(ends.low), float(ends.high), 0.95, "exact interval")


def over_draws(found: Sequence[Sequence[float]]) -> Interval:
    """Return one interval of what several draws gave, each as value, low and high.

    The variance is that over documents or rows, mean of the draws, plus that of the mean over draws.

    Examples
    --------
    >>> over_draws([[1.0, 0.0, 2.0], [1.0, 0.0, 2.0]]).high
    2.0
    """
    values, low, high = np.asarray(found, float).T
    middle = float(values.mean())
    if not np.isfinite(values).all():
        return Interval(middle, middle, middle, _LEVEL, "over draws")
    within = float(np.mean(((high - low) / (2 * _REACH)) ** 2))
    between = float(values.var(ddof=1)) / len(values) if len(values) > 1 else 0.0
    reach = _REACH * float(np.sqrt(within + between))
    return Interval(middle, middle - reach, middle + reach, _LEVEL, "over rows and draws")
