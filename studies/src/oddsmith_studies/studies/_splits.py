"""Intervals over repeated random splits of the same rows."""

import math

from numpy.typing import ArrayLike
from scipy.special import stdtrit

from oddsmith import checks
from oddsmith.metrics import Interval


def interval_over_splits(values: ArrayLike, *, n_test: int, n_train: int, level: float = 0.95) -> Interval:
    """Return the mean over random splits, with an interval that knows that the splits share their rows.

    Student's interval takes the splits for independent samples and is far too short: more splits of the same rows are
    not more rows. Nadeau and Bengio add the share of the test rows to the variance.

    Parameters
    ----------
    values : array-like of shape (splits,)
        A measure, or a paired difference of two.
    n_test, n_train : int
        Rows that judge, and rows that everything was fitted on, in each split.
    level : float, default 0.95

    Returns
    -------
    Interval

    Notes
    -----
    mean ± t·s·√(1/J + n_test/n_train) for J splits with standard deviation s, t with J − 1 degrees of freedom.

    References
    ----------
    C. Nadeau and Y. Bengio, Inference for the generalization error, Machine Learning 2003.

    Examples
    --------
    >>> found = interval_over_splits([0.2, 0.3, 0.25, 0.25], n_test=100, n_train=900)
    >>> round(found.low, 3), round(found.high, 3)
    (0.172, 0.328)
    """
    trials = checks.as_array(values, "values", (1,))
    if len(trials) < 2:
        checks.fail("an interval over splits needs two splits or more", f"{len(trials)}", "repeat the split")
    share = checks.number(level, "level", low=0, strict=True)
    mean, spread = float(trials.mean()), float(trials.std(ddof=1))
    reach = float(stdtrit(len(trials) - 1, (1 + share) / 2)) * spread * math.sqrt(1 / len(trials) + n_test / n_train)
    return Interval(mean, mean - reach, mean + reach, share, f"corrected t interval of {len(trials)} random splits")
