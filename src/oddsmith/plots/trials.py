"""Repeated trials: their mean, with Student's interval."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from oddsmith import _check
from oddsmith.metrics import Interval


def mean_of_trials(values: ArrayLike, level: float) -> Interval:
    """Return the mean of trials with Student's t interval; of a single trial the interval is the value itself."""
    trials = _check.as_array(values, "values", (1,))
    n, mean = len(trials), float(trials.mean())
    if n == 1:
        return Interval(mean, mean, mean, level, "one trial")
    reach = float(stdtrit(n - 1, (1 + level) / 2)) * float(trials.std(ddof=1)) / float(np.sqrt(n))
    return Interval(mean, mean - reach, mean + reach, level, f"t interval of {n} trials")
