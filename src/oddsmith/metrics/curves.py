"""The data of pictures: reliability diagrams, empirical log-odds, Murphy diagrams, cumulative differences."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from oddsmith import _check, _kernels
from oddsmith._types import Floats
from oddsmith.data import ScoreTable
from oddsmith.maps import logit
from oddsmith.metrics.bins import bin_cells, bin_index, sum_by
from oddsmith.metrics.calibration_tests import largest_of_brownian_motion, null_variance
from oddsmith.metrics.measure import (
    ForecastFunction,
    as_forecast,
    checked_level,
    probability,
    require_classes,
    residuals,
    size,
)
from oddsmith.metrics.result import Result


@dataclass(frozen=True, eq=False, repr=False)
class ReliabilityCurve(Result):
    """Non-empty bins of a reliability diagram.

    Attributes
    ----------
    low, high : ndarray
        Edges of equal intervals; smallest and largest forecast of bins of equal mass.
    mean_predicted, fraction_positive, weight : ndarray
        Mean forecast, share of positives and weight (count) of each bin.
    definition : str
        How the bins were made.

    See Also
    --------
    reliability_curve : Returns it.
    oddsmith.plots.ReliabilityDisplay : Draws it.
    """

    low: Floats
    high: Floats
    mean_predicted: Floats
    fraction_positive: Floats
    weight: Floats
    definition: str


@ForecastFunction
def reliability_curve(
    forecast: ScoreTable, *, n_bins: int = 10, bins: Literal["width", "mass"] = "width"
) -> ReliabilityCurve:
    """Return mean forecast and share of positives, bin by bin; empty bins are left out.

    Parameters
    ----------
    n_bins : int, default 10
    bins : {"width", "mass"}, default "width"
        Equal intervals [a, b), the last closed, ⌊nP + 1e−12⌋; or equal weight, ties never split.

    See Also
    --------
    calibration_error : Its mean gap.
    oddsmith.plots.ReliabilityDisplay : Draws it.

    References
    ----------
    M. DeGroot and S. Fienberg, The comparison and evaluation of forecasters, The Statistician 1983.
    A. Niculescu-Mizil and R. Caruana, Obtaining calibrated probabilities from boosting, UAI 2005.

    Examples
    --------
    >>> curve = reliability_curve([0, 1, 1], [0.3, 0.35, 1.0])
    >>> curve.low.tolist(), curve.fraction_positive.tolist()
    ([0.3, 0.9], [0.5, 1.0])
    """
    _check.one_of(bins, "bins", ("width", "mass"))
    sums = bin_cells(forecast, n_bins, bins)
    if bins == "width":
        low, high = sums.index / n_bins, (sums.index + 1) / n_bins
    else:
        prob = probability(forecast)
        owner = bin_index(forecast, prob, n_bins, bins, "left")
        first = np.searchsorted(owner, sums.index)
        low, high = prob[first], prob[np.searchsorted(owner, sums.index, side="right") - 1]
    text = f"{n_bins} bins of equal {bins}" + (", [a, b), last closed" if bins == "width" else ", ties kept together")
    return ReliabilityCurve(low, high, sums.mean_predicted, sums.fraction_positive, sums.weight, text)


@dataclass(frozen=True, eq=False, repr=False)
class EmpiricalLogOdds(Result):
    """Non-empty bins of scores with their smoothed log-odds.

    The variance of a log-odds is 1/(n₊ + ½) + 1/(n₋ + ½), n = (Σw)²/Σw² for float weights.

    Parameters
    ----------
    low : array of shape (m,)
        The smallest score of each bin.
    high : array of shape (m,)
        The largest score of each bin.
    mean_score : array of shape (m,)
        The mean score of each bin.
    pos : array of shape (m,)
        Positive weight in each bin.
    neg : array of shape (m,)
        Negative weight in each bin.
    log_odds : array of shape (m,)
        Log-odds of the share of positives.
    standard_error : array of shape (m,)
        Their standard errors.

    See Also
    --------
    empirical_log_odds : Returns it.
    """

    low: Floats
    high: Floats
    mean_score: Floats
    pos: Floats
    neg: Floats
    log_odds: Floats
    standard_error: Floats

    @property
    def one_class(self) -> np.ndarray:
        """Bins of one class only, whose log-odds come from the added halves."""
        return np.asarray((self.pos == 0) | (self.neg == 0))


def empirical_log_odds(table: ScoreTable, *, n_bins: int = 30, edges: ArrayLike | None = None) -> EmpiricalLogOdds:
    """Return log((n₊ + ½)/(n₋ + ½)) at the mean score of each bin.

    Takes a table of any score, not only a forecast: it shows which map from score to log-odds fits the data.

    Parameters
    ----------
    table : ScoreTable
        Of finite scores.
    n_bins : int, default 30
        Bins of equal weight; ties are never split.
    edges : array-like, optional
        Ascending edges instead: bins [a, b), the last closed; scores beyond them are left out.

    Returns
    -------
    EmpiricalLogOdds

    See Also
    --------
    reliability_curve : In terms of probability.
    oddsmith.plots.ScoreSpaceDisplay : Draws it.

    Examples
    --------
    >>> from oddsmith import ScoreTable
    >>> table = ScoreTable.from_arrays([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1])
    >>> empirical_log_odds(table, n_bins=2).log_odds.round(3)
    array([-1.609,  1.609])
    """
    scores = as_forecast(table).scores
    _check.refuse_nonfinite(scores, "scores")
    if edges is None:
        index = bin_index(table, scores, _check.whole_number(n_bins, "n_bins", low=1), "mass", "left")
        inside = np.ones(len(scores), bool)
    else:
        ends = _check.as_array(edges, "edges", (1,))
        if len(ends) < 2 or np.any(np.diff(ends) <= 0):
            hint = "sort them and drop repeats"
            _check.fail("edges must be at least two ascending numbers", f"{ends.tolist()}", hint)
        inside = (scores >= ends[0]) & (scores <= ends[-1])
        index = np.minimum(np.searchsorted(ends, scores, side="right") - 1, len(ends) - 2)
    held, index = np.unique(index[inside], return_inverse=True)
    pos, neg = (sum_by(index, column[inside], len(held)) for column in (table.pos, table.neg))
    unit = 2.0**80 if np.abs(scores).max() > 1e280 else 1.0  # times their weight, huge scores would overflow
    mean = unit * (sum_by(index, (table.total * (scores / unit))[inside], len(held)) / (pos + neg))
    if edges is None:
        first = np.searchsorted(index, np.arange(len(held)))
        low, high = scores[first], scores[np.append(first[1:], len(scores)) - 1]
    else:
        low, high = ends[held], ends[held + 1]
    variance = np.zeros(len(held))
    for weight, squared in zip((pos, neg), table.squares, strict=True):
        squares = sum_by(index, squared[inside], len(held))
        variance += 1 / (weight**2 / np.where(squares > 0, squares, 1.0) + 0.5)
    return EmpiricalLogOdds(low, high, mean, pos, neg, np.log((pos + 0.5) / (neg + 0.5)), np.sqrt(variance))


@dataclass(frozen=True, eq=False)
class MurphyCurve(Result):
    """Mean elementary score at each threshold; its integral over the thresholds is the Brier score.

    Attributes
    ----------
    thresholds : ndarray
    score : ndarray
        2θ·(share of negatives with P > θ) + 2(1 − θ)·(share of positives with P ≤ θ).
    recalibrated : ndarray
        That of the isotonic recalibration of these rows: what is above it is miscalibration.
    base_rate : ndarray
        That of the share of positives as forecast: what the recalibrated one is below it is discrimination.

    See Also
    --------
    murphy_curve : Returns it.
    """

    thresholds: Floats
    score: Floats
    recalibrated: Floats
    base_rate: Floats


@ForecastFunction
def murphy_curve(forecast: ScoreTable, *, thresholds: ArrayLike | None = None) -> MurphyCurve:
    """Return the mean elementary scores of a forecast; a lower curve at all thresholds is better by every proper score.

    The elementary score of threshold θ is the cost of deciding at P > θ where a false positive costs 2θ and a false
    negative 2(1 − θ). Every proper score of two classes is a mean of them over θ.

    Parameters
    ----------
    thresholds : array-like, optional
        Within [0, 1]; by default 0.005, 0.015, …, 0.995.

    See Also
    --------
    decompose : The parts of one score.
    oddsmith.plots.MurphyDisplay : Draws it.

    References
    ----------
    W. Ehm, T. Gneiting, A. Jordan & F. Krüger, Of quantiles and expectiles, JRSS B 2016.

    Examples
    --------
    >>> curve = murphy_curve([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], thresholds=[0.25, 0.5])
    >>> curve.score.tolist(), curve.recalibrated.tolist(), curve.base_rate.tolist()
    ([0.125, 0.5], [0.125, 0.25], [0.25, 0.5])
    """
    require_classes(forecast)
    at = (np.arange(100) + 0.5) / 100 if thresholds is None else _check.as_array(thresholds, "thresholds", (1,))
    if not np.all((at >= 0) & (at <= 1)):
        got = f"{float(at[(at < 0) | (at > 1)][0]):g}"
        _check.fail("thresholds must lie in [0, 1]", got, "leave out the others")
    n, share = size(forecast), forecast.n_pos / size(forecast)
    starts, rates = _kernels.pool_violators(forecast.pos, forecast.neg)
    recalibrated = np.repeat(rates, np.diff(starts, append=len(forecast)))

    def score(values: Floats, limits: Floats) -> Floats:
        above = np.searchsorted(values, limits, side="right")
        pos, neg = (np.concatenate([[0.0], np.cumsum(side, dtype=np.float64)]) for side in (forecast.pos, forecast.neg))
        return np.asarray(2 * (at * (neg[-1] - neg[above]) + (1 - at) * pos[above]) / n)

    base = np.where(at < share, 2 * at * (1 - share), 2 * (1 - at) * share)
    return MurphyCurve(at, score(forecast.scores, logit(at)), score(recalibrated, at), base)


@dataclass(frozen=True, eq=False)
class CumulativeCalibration(Result):
    """Cumulative differences between labels and forecasts, in the order of the forecasts.

    Attributes
    ----------
    share : ndarray
        Share of the rows up to each distinct forecast, from 0 on.
    difference : ndarray
        Σ(y − P) of these rows over the number of all, from 0 on. Where it rises, probabilities are too low.
    deviation : float
        Standard deviation of the last difference, if the forecast is calibrated: √ΣP(1 − P)/n.
    ecce_range, ecce_max : float
        Estimated cumulative calibration errors: range and largest absolute value of the differences. Tests of them are
        `kuiper_test` and `kolmogorov_smirnov_test`.
    reach : float
        A calibrated forecast stays within ± this at all places with probability ``level`` in large samples.
    level : float

    See Also
    --------
    cumulative_calibration : Returns it.
    """

    share: Floats
    difference: Floats
    deviation: float
    ecce_range: float
    ecce_max: float
    reach: float
    level: float


@ForecastFunction
def cumulative_calibration(forecast: ScoreTable, *, level: float = 0.95) -> CumulativeCalibration:
    """Return the cumulative differences between labels and forecasts (ECCE): neither bins nor smoothing.

    Parameters
    ----------
    level : float, default 0.95

    See Also
    --------
    kolmogorov_smirnov_test : A test by its maximum.
    kuiper_test : A test by its range.

    References
    ----------
    I. Arrieta-Ibarra, P. Gujral, J. Tannen, M. Tygert & C. Xu, Metrics of calibration for probabilistic predictions,
    JMLR 2022.

    Examples
    --------
    >>> found = cumulative_calibration([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9])
    >>> found.difference[:4].round(3).tolist(), round(found.ecce_range, 3)
    ([0.0, -0.025, 0.125, -0.025], 0.15)
    """
    share, n = checked_level(level), size(forecast)
    walk = np.concatenate([[0.0], np.cumsum(residuals(forecast))]) / n
    deviation = float(np.sqrt(null_variance(forecast).sum())) / n
    place = np.concatenate([[0.0], np.cumsum(forecast.total, dtype=np.float64)]) / n
    reach = deviation * float(brentq(lambda x: largest_of_brownian_motion(x) - (1 - share), 0.1, 40.0))
    return CumulativeCalibration(place, walk, deviation, float(np.ptp(walk)), float(np.abs(walk).max()), reach, share)
