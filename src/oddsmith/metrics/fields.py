"""Measures by the names that fields give them: medicine, credit, advertising and forensics.

Each is a function of labels and probabilities, like the measures of this package, with its definition in the docstring.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, ndtr
from scipy.stats import rankdata

from oddsmith import _check, _kernels
from oddsmith._types import Floats
from oddsmith.data import ScoreTable
from oddsmith.metrics.measure import ForecastFunction, require_classes, size, weighted_sum
from oddsmith.metrics.proper import log_loss, squared_error
from oddsmith.metrics.ranking import roc_auc
from oddsmith.metrics.result import Result


@ForecastFunction
def brier_skill_score(forecast: ScoreTable) -> float:
    """Return 1 − Brier score/Brier score of the base rate: 1 is perfect, 0 as good as the share of positives.

    Medicine calls it the scaled Brier score or index of prediction accuracy.

    See Also
    --------
    squared_error : The Brier score.
    normalized_entropy : The same idea for the log-loss.

    References
    ----------
    D. Wilks, Statistical Methods in the Atmospheric Sciences, 2011.

    Examples
    --------
    >>> round(brier_skill_score([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9]), 4)
    0.66
    """
    require_classes(forecast)
    share = forecast.n_pos / size(forecast)
    return 1 - float(squared_error.of(forecast)) / (share * (1 - share))


@ForecastFunction
def normalized_entropy(forecast: ScoreTable) -> float:
    """Return log-loss/entropy of the base rate: 1 is as good as the share of positives, 0 is perfect.

    See Also
    --------
    log_loss : Not divided by that of the base rate.

    References
    ----------
    X. He et al., Practical lessons from predicting clicks on ads at Facebook, ADKDD 2014.

    Examples
    --------
    >>> round(normalized_entropy([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9]), 4)
    0.4445
    """
    require_classes(forecast)
    return float(log_loss.of(forecast)) / _entropy(forecast)


@ForecastFunction
def nagelkerke_r2(forecast: ScoreTable) -> float:
    r"""Return Nagelkerke's R² of the forecast against the base rate.

    (1 − e^{−G/n})/(1 − e^{−2H}), where G is twice the log-likelihood gained over the base rate and H its entropy.
    The forecast is taken as it is: nothing is fitted, so that a miscalibrated one may have a negative value.

    See Also
    --------
    brier_skill_score : By the Brier score.

    References
    ----------
    N. Nagelkerke, A note on a general definition of the coefficient of determination, Biometrika 1991.

    Examples
    --------
    >>> round(nagelkerke_r2([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9]), 4)
    0.716
    """
    require_classes(forecast)
    entropy = _entropy(forecast)
    gain = 2 * (entropy - float(log_loss.of(forecast)))
    return math.expm1(-gain) / math.expm1(-2 * entropy)


@ForecastFunction
def predicted_observed_ratio(forecast: ScoreTable) -> float:
    """Return Σ P/Σ y: above 1, probabilities are too high on average (the calibration ratio of advertising).

    See Also
    --------
    calibration_intercept : The same as a shift of log-odds.

    Examples
    --------
    >>> round(predicted_observed_ratio([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9]), 4)
    1.0
    """
    require_classes(forecast, negatives=False)
    return float(forecast.total @ expit(forecast.scores)) / forecast.n_pos


@ForecastFunction
def gini(forecast: ScoreTable) -> float:
    """Return the Gini coefficient of credit scoring, 2·AUC − 1, also called accuracy ratio or Somers' D.

    See Also
    --------
    roc_auc : (1 + Gini)/2.

    Examples
    --------
    >>> gini([0, 1, 0, 1], [0.2, 0.4, 0.4, 0.9])
    0.75
    """
    return 2 * float(roc_auc.of(forecast)) - 1


@ForecastFunction
def ks_separation(forecast: ScoreTable) -> float:
    """Return the largest difference between the distribution functions of the forecasts of both classes.

    The two-sample Kolmogorov–Smirnov statistic of credit scoring; the calibration test of that name is
    `kolmogorov_smirnov_test`.

    See Also
    --------
    roc_auc : Over all cut-offs.
    kolmogorov_smirnov_test : A test of calibration.

    Examples
    --------
    >>> ks_separation([0, 1, 0, 1], [0.2, 0.4, 0.5, 0.9])
    0.5
    """
    require_classes(forecast)
    pos, neg = (np.cumsum(column, dtype=np.float64) / column.sum() for column in (forecast.pos, forecast.neg))
    return float(np.abs(pos - neg).max())


@ForecastFunction
def equal_error_rate(forecast: ScoreTable) -> float:
    """Return the error rate at which misses and false alarms are equally frequent, on the convex hull of the ROC curve.

    See Also
    --------
    roc_auc : Over all cut-offs.

    Notes
    -----
    On the hull every point can be reached by deciding at random between two thresholds, and the value is unique.

    References
    ----------
    N. Brümmer & E. de Villiers, The BOSARIS toolkit: theory, algorithms and code, 2011.

    Examples
    --------
    >>> equal_error_rate([0, 1, 0, 1], [0.2, 0.4, 0.5, 0.9])
    0.25
    """
    require_classes(forecast)
    pos, neg = _blocks(forecast)
    miss = np.concatenate([[0.0], np.cumsum(pos) / pos.sum()])
    alarm = 1 - np.concatenate([[0.0], np.cumsum(neg) / neg.sum()])
    gap = miss - alarm  # from −1 to 1, rising
    place = int(np.searchsorted(gap, 0.0, side="left"))
    if gap[place] == 0:
        return float(miss[place])
    share = -gap[place - 1] / (gap[place] - gap[place - 1])
    return float(miss[place - 1] + share * (miss[place] - miss[place - 1]))


@ForecastFunction
def log_likelihood_ratio_cost(forecast: ScoreTable, *, prior: float | None = None) -> float:
    """Return Cllr, the cost of the log-likelihood ratios of a forecast, in bits.

    ½·(mean of log₂(1 + 1/LR) over positives + mean of log₂(1 + LR) over negatives), where LR = odds/prior odds. An
    uninformative forecast has Cllr = 1.

    Parameters
    ----------
    prior : float, optional
        Share of positives for which the probabilities were made; by default that of the rows.

    See Also
    --------
    min_log_likelihood_ratio_cost : After the best recalibration.
    log_loss : In nats, at the base rate of the rows.

    References
    ----------
    N. Brümmer & J. du Preez, Application-independent evaluation of speaker detection, Computer Speech & Language 2006.

    Examples
    --------
    >>> round(log_likelihood_ratio_cost([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9]), 4)
    0.4445
    """
    require_classes(forecast)
    ratio = forecast.scores - _prior_log_odds(forecast, prior)
    return _cost_in_bits(forecast.pos, forecast.neg, ratio)


@ForecastFunction
def min_log_likelihood_ratio_cost(forecast: ScoreTable) -> float:
    """Return min Cllr: the Cllr after the best increasing recalibration of these rows.

    Cllr − min Cllr is the calibration loss.

    See Also
    --------
    log_likelihood_ratio_cost : Before recalibration.

    References
    ----------
    N. Brümmer & J. du Preez, Application-independent evaluation of speaker detection, Computer Speech & Language 2006.

    Examples
    --------
    >>> min_log_likelihood_ratio_cost([0, 0, 1, 1], [0.1, 0.6, 0.6, 0.9])
    0.5
    """
    require_classes(forecast)
    pos, neg = _blocks(forecast)
    with np.errstate(divide="ignore"):
        ratio = np.log(pos / pos.sum()) - np.log(neg / neg.sum())
    return _cost_in_bits(pos, neg, ratio)


@dataclass(frozen=True, eq=False)
class DeLongTest(Result):
    """Two areas under the ROC curve for the same cases, and the test of their difference.

    Attributes
    ----------
    areas : tuple of float
        Of both forecasts.
    difference : float
        The first less the second.
    standard_error : float
        Of the difference.
    z, p_value : float
        Two-sided.

    See Also
    --------
    delong_test : Returns it.
    """

    areas: tuple[float, float]
    difference: float
    standard_error: float
    z: float
    p_value: float


def delong_test(y_true: ArrayLike, y_prob: ArrayLike, other: ArrayLike, *, pos_label: Any = None) -> DeLongTest:
    """Test whether two forecasts of the same cases have the same area under the ROC curve.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels {0, 1}, {−1, +1}, bool, or any two values with ``pos_label``.
    y_prob, other : array-like of shape (n,)
        Scores or probabilities of both; only their order counts.
    pos_label : object, optional
        The positive label.

    Returns
    -------
    DeLongTest

    See Also
    --------
    roc_auc : One area.

    References
    ----------
    E. DeLong, D. DeLong & D. Clarke-Pearson, Comparing the areas under two or more correlated receiver operating
    characteristic curves, Biometrics 1988.
    X. Sun & W. Xu, Fast implementation of DeLong's algorithm, IEEE Signal Processing Letters 2014.

    Examples
    --------
    >>> test = delong_test([0, 0, 0, 1, 1, 1], [0.1, 0.3, 0.5, 0.4, 0.7, 0.9], [0.2, 0.6, 0.5, 0.4, 0.7, 0.3])
    >>> round(test.difference, 4), round(test.p_value, 4)
    (0.3333, 0.2207)
    """
    first = _check.as_array(y_prob, "y_prob", (1,))
    second = _check.as_array(other, "other", (1,))
    if first.shape != second.shape:
        _check.fail("both forecasts must have the same cases", f"shapes {first.shape} and {second.shape}", "pair them")
    positive = _check.as_labels(y_true, len(first), pos_label).positive
    m, n = int(positive.sum()), int((~positive).sum())
    if min(m, n) < 2:
        _check.fail("there must be two cases of each class", f"{m} positive, {n} negative", "pass more rows")
    above = [_placements(scores, positive) for scores in (first, second)]
    areas = [float(of_positives.mean()) for of_positives, _ in above]
    variances = [np.var(one - two, ddof=1) / len(one) for one, two in zip(*above, strict=True)]
    difference, error = areas[0] - areas[1], math.sqrt(sum(variances))
    certain = 0.0 if difference == 0 else math.copysign(math.inf, difference)
    z = difference / error if error > 0 else certain
    return DeLongTest((areas[0], areas[1]), difference, error, z, float(2 * ndtr(-abs(z))))


def _placements(scores: Floats, positive: Any) -> tuple[Floats, Floats]:
    """Return the share of negatives below each positive, and of positives above each negative; ties count half."""
    ranks = rankdata(scores)
    pos, neg = scores[positive], scores[~positive]
    return (
        (ranks[positive] - rankdata(pos)) / len(neg),
        1 - (ranks[~positive] - rankdata(neg)) / len(pos),
    )


def _entropy(forecast: ScoreTable) -> float:
    """Return the entropy of the base rate in nats."""
    share = forecast.n_pos / size(forecast)
    return -share * math.log(share) - (1 - share) * math.log1p(-share)


def _prior_log_odds(forecast: ScoreTable, prior: float | None) -> float:
    if prior is None:
        return math.log(forecast.n_pos / forecast.n_neg)
    share = _check.number(prior, "prior", low=0, strict=True)
    if share >= 1:
        _check.fail("prior must be below 1", f"prior={prior!r}", "pass the share of positives")
    return math.log(share / (1 - share))


def _cost_in_bits(pos: Any, neg: Any, ratio: Floats) -> float:
    """Return the mean cost of both classes of log-likelihood ratios, infinite where a certain one is wrong."""
    costs = np.logaddexp(0, -ratio), np.logaddexp(0, ratio)
    total = sum(weighted_sum(weight, cost) / weight.sum() for weight, cost in zip((pos, neg), costs, strict=True))
    return float(total) / (2 * math.log(2))


def _blocks(forecast: ScoreTable) -> tuple[Floats, Floats]:
    """Return the weights of positives and negatives in the blocks of the isotonic fit, whose shares rise."""
    starts, _ = _kernels.pool_violators(forecast.pos, forecast.neg)
    pos, neg = (np.add.reduceat(column, starts).astype(np.float64) for column in (forecast.pos, forecast.neg))
    return pos, neg
