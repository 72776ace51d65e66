"""Confidence intervals of measures: by formula, by resampling the cells of the table or groups of rows, or by a test.

Shares and the area under the ROC curve have formulas. Calibration errors are 0 at best and biased upwards, so their
percentile bootstrap misses: for a perfect forecast it never contains 0. Their interval inverts a test, and comes with
the band of a perfect forecast.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oddsmith import _check
from oddsmith.data import RandomState, ScoreTable, limit_cells
from oddsmith.errors import InvalidInputError
from oddsmith.metrics._alternatives import further_paths, paths_of_truth, suggest
from oddsmith.metrics._confidence_limits import Asked, Limits, by_inversion, by_percentiles
from oddsmith.metrics._formulas import formula_of
from oddsmith.metrics.classes import ClassForecast, class_forecast
from oddsmith.metrics.groups import GroupedForecast, group_classes, group_forecast
from oddsmith.metrics.measure import Forecast, Null, as_forecast, checked_level, forecast_from_arrays
from oddsmith.metrics.provenance import is_in_sample
from oddsmith.metrics.resampled import labels_again
from oddsmith.metrics.result import Result

#: Tables of more cells are drawn from in so many groups of neighbors.
_CELLS = 2048

#: Log-odds that are as good as infinite, where groups have a mean.
_CERTAIN = 30.0

#: Limits that differ by less, relative to their size, are one.
_ROUNDING = 1e-13

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
        The interval of the true value. It contains ``corrected`` where there is one, else ``value``.
    level : float
        Its nominal coverage.
    method : str
        How it was made.
    corrected : float or None
        For non-negative measures the median-unbiased estimate, less than ``value`` by the bias.
    consistency : tuple of float, or None
        For non-negative measures the band that contains the measure under its null hypothesis: of a perfectly
        calibrated forecast, or for discrimination of a constant one.
    note : str
        Why ``value`` or ``corrected`` is not strictly inside the interval; empty where both are.
    in_sample : bool
        Whether the forecast is known to have been fitted on these rows; then the interval flatters it.

    See Also
    --------
    interval : Returns it.
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    corrected: float | None = None
    consistency: tuple[float, float] | None = None
    note: str = field(default="", kw_only=True)
    in_sample: bool = field(default=False, kw_only=True)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        text = f"{self.value:.6g}, {self.level:.0%} interval [{self.low:.6g}, {self.high:.6g}] ({self.method})"
        if self.corrected is not None and self.consistency is not None:
            low, high = self.consistency
            text += f"; bias-corrected {self.corrected:.6g}; by chance alone within [{low:.6g}, {high:.6g}]"
        text += f"; {self.note}" if self.note else ""
        return f"{text}; in-sample" if self.in_sample else text


def interval(
    measure: Callable[..., SupportsFloat],
    forecast: Any,
    y_prob: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
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
    forecast : ScoreTable, ClassForecast, GroupedForecast, or array-like of shape (n,)
        Scores of a table are log-odds. Float weights enter with their squares. Labels, if ``y_prob`` is given.
    y_prob : array-like of shape (n,) or (n, k), optional
        P(+), or rows of class probabilities.
    sample_weight : array-like of shape (n,), optional
        With ``y_prob``: integer-typed weights are counts, float weights importance weights.
    groups : array-like of shape (n,), optional
        Which rows depend on each other, for example those of one patient: whole groups are resampled. Needs ``y_prob``
        or a `ClassForecast`, as a table has lost its rows.
    pos_label, labels
        With ``y_prob``: the positive label, or the labels in the order of the columns.
    options : mapping, optional
        Keyword arguments of the measure.
    level : float, default 0.95
    n_resamples : int, default 2000
        Number of samples; for non-negative measures of all supposed truths together.
    random_state : int, Generator or None
    nonnegative : bool, optional
        Whether the measure is 0 for perfect calibration and never below; by default as the measure declares.

    Returns
    -------
    Interval

    See Also
    --------
    evaluate : Intervals of all measures.

    Notes
    -----
    Shares of decisions have the exact interval of Clopper and Pearson; of float weights or groups, that of as many
    independent cases of equal weight as would vary as much (Korn and Graubard). So do measures of the base rate alone.
    The area under the ROC curve has Newcombe's score interval (his method 5), with DeLong's variance where it is
    larger. Samples without an error have one-sided intervals.

    Percentiles of the bootstrap for most other measures, taken further out for few rows, or groups, of the rarer class:
    at Φ(−√(n/(n − 1)) t_{n−1}) instead of (1 − level)/2. Samples on which the measure is undefined (one class only) are
    left out. If the value lies outside the percentiles,
    the interval is extended to it.

    For non-negative ones the truth is supposed to be p + λ(q − p), where q is a spline recalibration of the forecast
    and λ runs from 0 through 1, up to 24 standard errors beyond. The interval contains the true values under which the
    observed one is neither among the smallest nor the largest (1 − level)/2; λ = 0 gives the consistency band. An
    upper limit is never below the one of the median sample of a perfect forecast: a small value may be due to chance. A
    recalibration by Platt's line gives a second q; the interval contains the true values of both. With groups, whole
    groups of scores are drawn, and labels that are correlated within groups as those observed.

    Of several classes q is the best softmax(a·log p + b), and the percentiles are those of all rows.

    If the observed value lies beyond what such truths would give, a further q is the forecast moved, in every group of
    about 100 rows with neighboring forecasts, so that its mean is the share of the class; and if that does not suffice,
    in every cell, or of several classes in groups of about 10 rows.

    Tables of more than 2048 cells are resampled in 2048 groups of neighboring forecasts; the measure itself is
    exact.

    Where all samples give the same value there is no interval, as that is not certainty.

    A value that is not strictly inside its interval has a ``note`` that gives the reason: the value is biased upwards
    and the interval is that of the bias-corrected one, or the interval is one-sided.

    References
    ----------
    E. Korn and B. Graubard, Confidence intervals for proportions with small expected number of positive counts
    estimated from survey data, Survey Methodology 1998.
    R. Newcombe, Confidence intervals for an effect size measure based on the Mann-Whitney statistic, part 2, Statistics
    in Medicine 2006.
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
    if y_prob is not None or groups is not None:
        forecast = _read(forecast, y_prob, sample_weight, groups, pos_label, labels)
    null: Null | None = getattr(measure, "null", None)
    if nonnegative is not None:
        null = (null or "calibrated") if nonnegative else None
    asked = {"": Asked(measure, options or {}, null)}
    found = intervals(asked, forecast, level=level, n_resamples=n_resamples, random_state=random_state)[""]
    if isinstance(found, InvalidInputError):
        raise found
    return found


def _read(
    forecast: Any, y_prob: ArrayLike | None, weight: ArrayLike | None, groups: ArrayLike | None, pos: Any, labels: Any
) -> Forecast | GroupedForecast:
    """Return the forecast of rows, or of a class forecast's rows in groups."""
    if groups is not None and isinstance(forecast, ClassForecast):
        return group_classes(forecast, groups)
    if y_prob is None:
        hint = "pass interval(measure, y_true, y_prob, groups=groups)"
        _check.fail("groups need rows", f"a {type(forecast).__name__}", hint)
    if groups is not None:
        return group_forecast(forecast, y_prob, groups, weight, pos_label=pos, labels=labels)
    if np.ndim(y_prob) == 2:
        return class_forecast(forecast, y_prob, weight, labels=labels)
    return forecast_from_arrays(forecast, y_prob, weight, pos_label=pos)


def intervals(
    asked: Mapping[str, Asked],
    forecast: Forecast | GroupedForecast,
    *,
    level: float = 0.95,
    n_resamples: int = 2000,
    random_state: RandomState = None,
) -> dict[str, Interval | InvalidInputError]:
    """Return the intervals of several measures from the same samples, or why there is none."""
    share = checked_level(level)
    draws = _check.whole_number(n_resamples, "n_resamples", low=20)
    rng = np.random.default_rng(random_state)
    whole = forecast.forecast if isinstance(forecast, GroupedForecast) else forecast
    drawn, exact = _drawable(whole)
    drawn_from = _regroup(forecast, drawn) if isinstance(forecast, GroupedForecast) else drawn
    found: dict[str, Interval | InvalidInputError] = {}
    for null in dict.fromkeys(one.null for one in asked.values()):
        group = {name: one for name, one in asked.items() if one.null == null}
        if null is None:
            by_draws = {name: one for name, one in group.items() if formula_of(one, whole) is None}
            limits = by_percentiles(by_draws, drawn_from, share, draws, rng)
        else:
            paths, further = paths_of_truth(drawn_from, null), further_paths(drawn_from, null)
            limits = by_inversion(group, paths, further, partial(labels_again, drawn_from), share, draws, rng)
        for name, one in group.items():
            try:
                value = one.value(whole)
                formula = formula_of(one, whole) if null is None else None
                seen = value if exact or formula else one.of(drawn)
                if not math.isfinite(value + seen):
                    _check.fail("an interval needs a finite measure", f"{value}", "clip forecasts of exactly 0 or 1")
                where = formula(forecast, share) if formula else limits(name, seen)
                found[name] = _interval(where, value, value - seen, share, is_in_sample(whole))
            except InvalidInputError as reason:
                found[name] = reason
    return {name: found[name] for name in asked}


def _drawable(table: Forecast) -> tuple[Forecast, bool]:
    """Return a table of finite log-odds, not too many, from which samples are drawn; and whether nothing was changed.

    P = 1.0 is what doubles make of all above 1 − 2⁻⁵⁴: in a sample it may be wrong, and costs so much, not infinitely.
    """
    if isinstance(table, ClassForecast):
        return table.clip(math.exp(-_NEXT_TO_ONE)), bool(table.prob.min() > 0)
    table = as_forecast(table)
    if len(table) > _CELLS:
        return limit_cells(table.map(lambda scores: np.clip(scores, -_CERTAIN, _CERTAIN)), _CELLS), False
    finite = np.abs(table.scores[np.isfinite(table.scores)])
    bound = max(float(finite.max(initial=0.0)) + 1, _NEXT_TO_ONE)
    return table.map(lambda scores: np.clip(scores, -bound, bound)), len(finite) == len(table)


def _regroup(grouped: GroupedForecast, drawn: Forecast) -> GroupedForecast:
    """Return rows in groups in the cells from which samples are drawn, with the correlation of their labels."""
    made = replace(grouped, forecast=drawn)
    if isinstance(drawn, ScoreTable) and isinstance(grouped.forecast, ScoreTable):
        made = replace(made, cell=_places(grouped.forecast, drawn)[grouped.cell])
    return made.with_correlation(suggest(drawn))


def _places(table: ScoreTable, pooled: ScoreTable) -> NDArray[np.intp]:
    """Return which cell of the pooled table each cell of a table is in; both are sorted, so weights decide."""
    ends = np.cumsum(pooled.total, dtype=np.float64)
    middles = np.cumsum(table.total, dtype=np.float64) - table.total / 2
    return np.asarray(np.minimum(np.searchsorted(ends, middles), len(pooled) - 1))


def _interval(limits: Limits, value: float, shift: float, level: float, in_sample: bool) -> Interval:
    """Return the interval of a value that is shifted from the one in the cells that were resampled."""
    low, high, method, corrected, band = limits
    if band is None:
        # Percentiles lie about the value in the groups; those of supposed truths are true values already.
        low, high = low + shift, high + shift
    else:
        band = max(band[0] + shift, 0.0), max(band[1] + shift, 0.0)
    low, high, note = explain_interval(value, low, high, corrected)
    return Interval(value, low, high, level, method, corrected, band, note=note, in_sample=in_sample)


def explain_interval(value: float, low: float, high: float, corrected: float | None) -> tuple[float, float, str]:
    """Return the ends of an interval that contains its estimate, and a note where an estimate is not strictly inside.

    That estimate is the bias-corrected value where there is one, and else the value. A point is refused.

    Examples
    --------
    >>> explain_interval(0.0, 0.0, 0.1, None)[2]
    'the interval is one-sided, as the value is the most extreme that these data allow'
    """
    if high - low <= _ROUNDING * max(abs(low), abs(high)):
        _check.fail(
            "an interval needs samples that differ",
            f"{value:.6g} in all of them, which is not certainty",
            "collect more rows, or report the value alone",
        )
    estimate = value if corrected is None else corrected
    low, high = min(low, estimate), max(high, estimate)
    return low, high, _note(value, low, high, corrected)


def _note(value: float, low: float, high: float, corrected: float | None) -> str:
    """Explain an estimate that is not strictly inside its interval."""
    notes = []
    bias = 0.0 if corrected is None else value - corrected
    if not low < value < high and bias > _ROUNDING * abs(value):
        notes.append(f"the value is biased upwards by about {bias:.3g}, the interval is of the bias-corrected one")
    elif not low < value < high:
        notes.append("the interval is one-sided, as the value is the most extreme that these data allow")
    if corrected is not None and not low < corrected < high:
        notes.append(f"the bias-corrected value is at the end of what is possible, {corrected:.3g}")
    return "; ".join(notes)
