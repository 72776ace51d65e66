"""Net benefit and decision curves: what acting on probabilities above a threshold is worth."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from oddsmith import _check
from oddsmith._types import Bools, Floats, Ints
from oddsmith.data import ScoreTable
from oddsmith.maps import logit
from oddsmith.metrics.groups import as_groups
from oddsmith.metrics.measure import ForecastFunction, checked_level, size
from oddsmith.metrics.result import Result

#: Thresholds of a decision curve by default, 1 % to 99 %.
_THRESHOLDS = np.arange(1, 100) / 100

#: Draws of the law of the largest deviation over all thresholds.
_DRAWS = 20_000

#: Cases of each class that have to be behind an interval, and behind a band, which allows for skewness: with fewer,
#: they cover less than they promise.
_ENOUGH, _ENOUGH_OF_BAND = 5, 3

#: Skewness of a mean below which it changes no digit that is kept.
_ALMOST_NONE = 1e-9

#: Rows that are turned into differences at a time.
_ROWS_AT_ONCE = 20_000


@dataclass(frozen=True, eq=False, repr=False)
class DecisionCurve(Result):
    """Net benefit by threshold, next to that of treating all and none (which is 0).

    Attributes
    ----------
    thresholds : ndarray
        Cases are treated if P ≥ threshold.
    net_benefit : ndarray
        TP/n − FP/n · t/(1 − t).
    low, high : ndarray
        Its interval at each threshold; NaN where fewer than five positives or negatives are treated.
    treat_all : ndarray
        Net benefit of treating every case.
    treated : ndarray
        Share of cases that are treated.
    avoided : ndarray
        Net share of cases whose treatment is avoided in comparison with treating all:
        (net benefit − treat all)·(1 − t)/t.
    prevalence : float
        Share of positives.
    level : float
        Coverage of the intervals.

    See Also
    --------
    decision_curve : Returns it.
    oddsmith.plots.DecisionCurveDisplay : Draws it.
    """

    thresholds: Floats
    net_benefit: Floats
    low: Floats
    high: Floats
    treat_all: Floats
    treated: Floats
    avoided: Floats
    prevalence: float
    level: float


@dataclass(frozen=True, eq=False, repr=False)
class NetBenefitDifference(Result):
    """Difference in net benefit of two forecasts of the same cases, with a band for all thresholds together.

    Attributes
    ----------
    thresholds : ndarray
    difference : ndarray
        Net benefit of the first forecast less that of the second.
    low, high : ndarray
        Band that contains the true differences at all thresholds with probability ``level``; NaN where the forecasts
        treat fewer than three positives or three negatives differently.
    level : float
    critical : float
        Half width of the band in standard errors where differences are not skewed.

    See Also
    --------
    compare_net_benefit : Returns it.
    """

    thresholds: Floats
    difference: Floats
    low: Floats
    high: Floats
    level: float
    critical: float


@ForecastFunction
def net_benefit(forecast: ScoreTable, *, threshold: float) -> float:
    """Return TP/n − FP/n · t/(1 − t), where cases with P ≥ t are treated.

    A treated positive counts 1, a treated negative −t/(1 − t): the threshold at which a decision maker is indifferent
    states how many false positives a true positive is worth.

    Parameters
    ----------
    threshold : float
        t, between 0 and 1.

    See Also
    --------
    decision_curve : At all thresholds.
    oddsmith.cutoffs.least_cost : The cut-off of least cost.

    References
    ----------
    A. Vickers & E. Elkin, Decision curve analysis: a novel method for evaluating prediction models, Medical Decision
    Making 2006.

    Examples
    --------
    >>> net_benefit([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], threshold=0.2)
    0.4375
    """
    return float(decision_curve.of(forecast, thresholds=[threshold]).net_benefit[0])


@ForecastFunction
def decision_curve(forecast: ScoreTable, *, thresholds: ArrayLike | None = None, level: float = 0.95) -> DecisionCurve:
    """Return the net benefit at many thresholds, with pointwise intervals.

    Intervals are normal: net benefit is a mean of one term per case, whose variance is that of the sample.

    Parameters
    ----------
    thresholds : array-like, optional
        Between 0 and 1; by default 0.01, 0.02, …, 0.99.
    level : float, default 0.95
        Coverage of the intervals.

    See Also
    --------
    net_benefit : At one threshold.
    compare_net_benefit : The difference of two forecasts.

    References
    ----------
    A. Vickers & E. Elkin, Decision curve analysis: a novel method for evaluating prediction models, Medical Decision
    Making 2006.

    Examples
    --------
    >>> curve = decision_curve([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], thresholds=[0.2, 0.5])
    >>> curve.net_benefit.tolist(), curve.treat_all.tolist()
    ([0.4375, 0.0], [0.375, 0.0])
    """
    at, odds = _check_thresholds(thresholds)
    share = checked_level(level)
    n = size(forecast)
    first = np.searchsorted(forecast.scores, logit(at), side="left")  # P ≥ t: the first cell that is treated

    def from_here(values: Any) -> Floats:
        sums = np.concatenate([np.cumsum(np.asarray(values, dtype=np.float64)[::-1])[::-1], [0.0]])
        return sums[first]

    true, false = from_here(forecast.pos), from_here(forecast.neg)
    benefit = (true - odds * false) / n
    squares = forecast.squares
    # Σw²(d − mean)² = Σw²d² − 2·mean·Σw²d + mean²·Σw², with d = 1, −odds or 0.
    true_sq, false_sq, all_sq = from_here(squares[0]), from_here(squares[1]), float(np.add(*squares).sum())
    variance = true_sq + odds**2 * false_sq - 2 * benefit * (true_sq - odds * false_sq) + benefit**2 * all_sq
    reach = float(ndtri((1 + share) / 2)) * np.sqrt(np.maximum(variance, 0.0)) / n
    with np.errstate(invalid="ignore"):
        few = ~((true**2 / true_sq >= _ENOUGH) & (false**2 / false_sq >= _ENOUGH))
    reach = np.where(few, np.nan, reach)
    prevalence = forecast.n_pos / n
    treat_all = prevalence - (1 - prevalence) * odds
    avoided = (benefit - treat_all) / odds
    return DecisionCurve(
        at, benefit, benefit - reach, benefit + reach, treat_all, (true + false) / n, avoided, prevalence, share
    )


def compare_net_benefit(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    other: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    pos_label: Any = None,
    groups: ArrayLike | None = None,
    thresholds: ArrayLike | None = None,
    level: float = 0.95,
    random_state: int = 0,
) -> NetBenefitDifference:
    r"""Return the difference in net benefit of two forecasts of the same cases, with a simultaneous band.

    The band is valid for all thresholds together. It contains the differences δ with |g(t)| ≤ c, where t is (observed
    difference − δ)/standard error, g(t) = t + γt²/3 + γ²t³/27 + γ/6 corrects t for the skewness γ of the mean [2]_, and
    c is the quantile of the largest absolute value of normal variables with the correlations of the differences.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels {0, 1}, {−1, +1}, bool, or any two values with ``pos_label``.
    y_prob, other : array-like of shape (n,)
        P(+) by both forecasts.
    sample_weight : array-like of shape (n,), optional
        Integer-typed weights are counts, float weights importance weights.
    pos_label : object, optional
        The positive label.
    groups : array-like of shape (n,), optional
        Names of groups of dependent rows, such as patients or ranked lists: the band is then that of whole groups.
    thresholds : array-like, optional
        Between 0 and 1; by default 0.01, 0.02, …, 0.99. Thresholds at which both treat the same cases have no width.
    level : float, default 0.95
    random_state : int, default 0

    Returns
    -------
    NetBenefitDifference

    See Also
    --------
    decision_curve : The curve of one forecast.
    oddsmith.plots.NetBenefitDifferenceDisplay : Draws it.

    References
    ----------
    .. [1] A. Vickers, A. Cronin, E. Elkin & M. Gonen, Extensions to decision curve analysis, BMC Medical Informatics
       and Decision Making 2008.
    .. [2] P. Hall, On the removal of skewness by transformation, Journal of the Royal Statistical Society B 1992.

    Examples
    --------
    >>> found = compare_net_benefit([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], [0.5, 0.5, 0.5, 0.5], thresholds=[0.2])
    >>> found.difference.tolist()
    [0.0625]
    """
    at, odds = _check_thresholds(thresholds)
    share = checked_level(level)
    first = _check.as_array(y_prob, "y_prob", (1,), unit=True)
    second = _check.as_array(other, "other", (1,), unit=True)
    if first.shape != second.shape:
        _check.fail("both forecasts must have the same cases", f"shapes {first.shape} and {second.shape}", "pair them")
    positive = _check.as_labels(y_true, len(first), pos_label).positive
    given = _check.as_weights(sample_weight, len(first))
    counts = given is None or given.dtype.kind in "iu"
    weight = np.ones(len(first)) if given is None else given.astype(np.float64)
    n = weight.sum()
    if (weight > 0).sum() < 2:
        _check.fail("there must be at least two cases", f"{int((weight > 0).sum())}", "pass more rows")

    def differences(rows: Ints) -> NDArray[np.float64]:
        value = np.where(positive[rows, None], 1.0, -odds)
        treated = (first[rows, None] >= at).astype(np.float64) - (second[rows, None] >= at)
        return np.asarray(value * treated)

    order, starts = _in_units(groups, len(first))
    edges = np.unique(np.append(starts[:: max(1, round(_ROWS_AT_ONCE * len(starts) / len(first)))], len(first)))
    blocks = [(order[low:high], starts[(starts >= low) & (starts < high)] - low) for low, high in pairwise(edges)]
    mean = sum((weight[rows] @ differences(rows) for rows, _ in blocks), np.zeros(len(at))) / n
    product, cubes, apart = np.zeros((len(at), len(at))), np.zeros(len(at)), np.zeros((4, len(at)))
    for rows, units in blocks:
        found = differences(rows)
        # A unit is a row, a group, or as many rows as its count.
        times = weight[rows] if counts and groups is None else np.ones(len(units))
        size = np.ones(len(rows)) if counts and groups is None else weight[rows]
        centered = _by_unit(size[:, None] * (found - mean), units)
        sides = [_by_unit(side[:, None] * (found != 0), units) for side in _split(size, positive[rows])]
        apart += [times @ side**power for power in (1, 2) for side in sides]
        product += (centered * times[:, None]).T @ centered
        cubes += times @ centered**3
    error = np.sqrt(np.maximum(np.diag(product), 0.0)) / n
    with np.errstate(invalid="ignore"):
        known = (apart[:2] ** 2 / apart[2:] >= _ENOUGH_OF_BAND).all(axis=0)
        skewness = cubes / np.diag(product) ** 1.5
    error = np.where(known, error, np.nan)
    critical = _largest_of_normals(product[np.ix_(known, known)], share, random_state) if known.any() else 0.0
    low, high = (mean - error * _remove_skewness(limit, skewness) for limit in (critical, -critical))
    return NetBenefitDifference(at, mean, low, high, share, critical)


def _remove_skewness(limit: float, skewness: Floats) -> Floats:
    """Return the t at which t + γt²/3 + γ²t³/27 + γ/6 reaches a limit."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = 3 / skewness * (np.cbrt(1 + skewness * (limit - skewness / 6)) - 1)
    return np.where(np.abs(skewness) > _ALMOST_NONE, found, limit)


def _in_units(groups: ArrayLike | None, n: int) -> tuple[Ints, Ints]:
    """Return rows in the order of their groups, and where each group starts; without groups rows stand alone."""
    if groups is None:
        return np.arange(n), np.arange(n)
    _, group = np.unique(as_groups(groups, n), return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    if len(starts) < 2:
        _check.fail("there must be two groups or more", f"{len(starts)}", "leave groups= out if rows are independent")
    return order, starts


def _by_unit(values: Floats, starts: Ints) -> Floats:
    """Add up the rows of each unit."""
    return values if len(starts) == len(values) else np.add.reduceat(values, starts, axis=0)


def _split(weight: Floats, positive: Bools) -> tuple[Floats, Floats]:
    """Return the weights of the positives and of the negatives, 0 elsewhere."""
    return np.where(positive, weight, 0.0), np.where(positive, 0.0, weight)


def _check_thresholds(thresholds: ArrayLike | None) -> tuple[Floats, Floats]:
    """Return thresholds and their odds."""
    at = _THRESHOLDS if thresholds is None else _check.as_array(thresholds, "thresholds", (1,))
    if not len(at) or not np.all((at > 0) & (at < 1)):
        got = "none" if not len(at) else f"{float(at[(at <= 0) | (at >= 1)][0]):g}"
        _check.fail("thresholds must lie between 0 and 1", got, "leave out 0 and 1")
    return at, at / (1 - at)


def _largest_of_normals(covariance: Floats, level: float, random_state: int) -> float:
    """Return the quantile of the largest |z| of normal variables with a covariance matrix."""
    scale = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T  # symmetric, so that signs of vectors do not matter
    draws = np.random.default_rng(random_state).standard_normal((_DRAWS, len(scale)))
    largest = np.abs(draws @ root.T).max(axis=1)
    return max(float(np.quantile(largest, level)), float(ndtri((1 + level) / 2)))
