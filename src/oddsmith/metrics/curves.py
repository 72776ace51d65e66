"""The data of reliability diagrams and of empirical log-odds plots."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.data import ScoreTable
from oddsmith.metrics.bins import bin_index, binned, sum_by
from oddsmith.metrics.measure import ForecastFunction, as_forecast, probability
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
    sums = binned(forecast, n_bins, bins)
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
