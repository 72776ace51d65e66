"""Confidence intervals of measures, by resampling the cells of the table.

Calibration errors are 0 at best and biased upwards, so their percentile bootstrap misses: its interval for a perfect
forecast never holds 0. Theirs is found by inverting a test, and stands beside the band of a perfect forecast.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, SupportsFloat

import numpy as np

from oddsmith import _check
from oddsmith.errors import InvalidInputError
from oddsmith.metrics._limits import Asked, Limits, by_inversion, by_percentiles
from oddsmith.metrics._truths import further_paths, paths_of_truth
from oddsmith.metrics.classes import ClassForecast
from oddsmith.metrics.measure import AnyForecast, Null, as_forecast, checked_level
from oddsmith.metrics.provenance import is_in_sample
from oddsmith.metrics.resampled import labels_again
from oddsmith.metrics.result import Result
from oddsmith.table.resample import RandomState, pooled

#: Tables of more cells are drawn from in so many groups of neighbors.
_CELLS = 2048

#: Log-odds that are as good as infinite, where groups have a mean.
_CERTAIN = 30.0

#: Log-odds of 1 − 2⁻⁵⁴, from which on P is 1.0 in doubles.
_NEXT_TO_ONE = 54 * math.log(2)


@dataclass(frozen=True)
class Interval(Result):
    """A measure with its confidence interval.

    Attributes
    ----------
    value : float
        The measure on the data.
    low, high : float
        The interval.
    level : float
        Its nominal coverage.
    method : str
        How it was made.
    corrected : float or None
        For non-negative measures the median-unbiased estimate, less than ``value`` by the bias.
    consistency : tuple of float, or None
        For non-negative measures the band that holds the measure under its null hypothesis: of a perfectly calibrated
        forecast, or for discrimination of one that says nothing.
    in_sample : bool
        Whether the forecast is known to have been fitted on these rows; then the interval flatters it.
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    corrected: float | None = None
    consistency: tuple[float, float] | None = None
    in_sample: bool = field(default=False, kw_only=True)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        text = f"{self.value:.6g}, {self.level:.0%} interval [{self.low:.6g}, {self.high:.6g}] ({self.method})"
        if self.corrected is not None and self.consistency is not None:
            low, high = self.consistency
            text += f"; bias-corrected {self.corrected:.6g}; by chance alone within [{low:.6g}, {high:.6g}]"
        return f"{text}; in-sample" if self.in_sample else text


def interval(
    measure: Callable[..., SupportsFloat],
    forecast: AnyForecast,
    *,
    options: Mapping[str, Any] | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    random_state: RandomState = None,
    nonnegative: bool | None = None,
) -> Interval:
    """Return a confidence interval of a measure.

    Parameters
    ----------
    measure : callable
        Any measure of `oddsmith.metrics`, or a function of a forecast whose result has ``float``.
    forecast : ScoreTable or ClassForecast
        Scores are log-odds. Float weights enter with their squares.
    options : mapping, optional
        Keyword arguments of the measure.
    level : float, default 0.95
    n_resamples : int, default 2000
        Number of samples; for non-negative measures of all supposed truths together.
    random_state : int, Generator or None
    nonnegative : bool, optional
        Whether the measure is 0 for perfect calibration and never below; by default what the measure says of itself.

    Notes
    -----
    Percentiles of the bootstrap for most measures, taken further out for few rows of the rarer class: at
    Φ(−√(n/(n − 1)) t_{n−1}) instead of (1 − level)/2. Samples on which the measure is undefined (one class only) are
    left out.

    For non-negative ones the truth is supposed to be p + λ(q − p), where q is a spline recalibration of the forecast
    and λ runs from 0 through 1, up to 24 standard errors beyond. The interval holds the true values under which the
    observed one is neither among the smallest nor the largest (1 − level)/2; λ = 0 gives the consistency band. An
    upper limit is never below the one of the median sample of a perfect forecast: luck is no evidence. A recalibration
    by Platt's line gives a second q; the interval holds the true values of both.

    Of several classes q is the best softmax(a·log p + b), and the percentiles are those of all rows.

    If the observed value lies beyond what such truths would give, a further q is the forecast moved, in every group of
    about 100 rows with neighboring forecasts, so that its mean is the share of the class; and if that does not suffice,
    in every cell, or of several classes in groups of about 10 rows.

    Tables of more than 2048 cells are resampled in so many groups of neighboring forecasts; the measure itself is
    exact.

    References
    ----------
    T. Hesterberg, What teachers should know about the bootstrap, The American Statistician 2015.
    J. Bröcker and L. Smith, Increasing the reliability of reliability diagrams, Weather and Forecasting 2007.

    Examples
    --------
    >>> from oddsmith.metrics.proper import squared_error
    >>> from oddsmith import ScoreTable
    >>> forecast = ScoreTable.from_arrays([-1.0, 0.5, 2.0], [0, 1, 1], [40, 30, 30])
    >>> found = interval(squared_error, forecast, random_state=0)
    >>> found.low < found.value < found.high
    True
    """
    null: Null | None = getattr(measure, "null", None)
    if nonnegative is not None:
        null = (null or "calibrated") if nonnegative else None
    asked = {"": Asked(measure, options or {}, null)}
    found = intervals(asked, forecast, level=level, n_resamples=n_resamples, random_state=random_state)[""]
    if isinstance(found, InvalidInputError):
        raise found
    return found


def intervals(
    asked: Mapping[str, Asked],
    forecast: AnyForecast,
    *,
    level: float = 0.95,
    n_resamples: int = 2000,
    random_state: RandomState = None,
) -> dict[str, Interval | InvalidInputError]:
    """Return the intervals of several measures from the same samples, or why there is none."""
    share = checked_level(level)
    draws = _check.whole_number(n_resamples, "n_resamples", low=20)
    rng = np.random.default_rng(random_state)
    drawn_from, exact = _drawable(forecast)
    found: dict[str, Interval | InvalidInputError] = {}
    for null in dict.fromkeys(one.null for one in asked.values()):
        group = {name: one for name, one in asked.items() if one.null == null}
        if null is None:
            limits = by_percentiles(group, drawn_from, share, draws, rng)
        else:
            paths, further = paths_of_truth(drawn_from, null), further_paths(drawn_from, null)
            limits = by_inversion(group, paths, further, partial(labels_again, drawn_from), share, draws, rng)
        for name, one in group.items():
            try:
                value = one.value(forecast)
                seen = value if exact else one.of(drawn_from)
                if not math.isfinite(value + seen):
                    _check.fail("an interval needs a finite measure", f"{value}", "clip forecasts of exactly 0 or 1")
                found[name] = _interval(limits(name, seen), value, value - seen, share, is_in_sample(forecast))
            except InvalidInputError as reason:
                found[name] = reason
    return {name: found[name] for name in asked}


def _drawable(table: AnyForecast) -> tuple[AnyForecast, bool]:
    """Return a table of finite log-odds, not too many, from which samples are drawn; and whether nothing was changed.

    P = 1.0 is what doubles make of all above 1 − 2⁻⁵⁴: in a sample it may be wrong, and costs so much, not infinitely.
    """
    if isinstance(table, ClassForecast):
        return replace(table, prob=np.maximum(table.prob, math.exp(-_NEXT_TO_ONE))), bool(table.prob.min() > 0)
    table = as_forecast(table)
    if len(table) > _CELLS:
        return pooled(table.map(lambda scores: np.clip(scores, -_CERTAIN, _CERTAIN)), _CELLS), False
    finite = np.abs(table.scores[np.isfinite(table.scores)])
    bound = max(float(finite.max(initial=0.0)) + 1, _NEXT_TO_ONE)
    return table.map(lambda scores: np.clip(scores, -bound, bound)), len(finite) == len(table)


def _interval(limits: Limits, value: float, shift: float, level: float, in_sample: bool) -> Interval:
    low, high, method, corrected, band = limits
    if band is None:
        # Percentiles lie about the value in the groups; those of supposed truths are true values already.
        low, high = low + shift, high + shift
    else:
        band = max(band[0] + shift, 0.0), max(band[1] + shift, 0.0)
    return Interval(value, low, high, level, method, corrected, band, in_sample=in_sample)
