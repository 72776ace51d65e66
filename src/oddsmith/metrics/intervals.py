"""Confidence intervals of measures, by resampling the cells of the table.

Calibration errors are 0 at best and biased upwards, so their percentile bootstrap misses: its interval for a perfect
forecast never holds 0. Theirs is found by inverting a test, and stands beside the band of a perfect forecast.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, SupportsFloat

import numpy as np

from oddsmith import _check
from oddsmith._check import Floats
from oddsmith.errors import InvalidInputError
from oddsmith.metrics._bins import bin_index, sum_by
from oddsmith.metrics._measure import as_forecast, probability, residuals, value_of
from oddsmith.resample import RandomState, bootstrap, resample_labels
from oddsmith.table import ScoreTable

__all__ = ["Interval", "interval"]

#: Multiples of the observed miscalibration that are tried as the truth.
_STEPS = np.array([0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0])
_DIRECTION_BINS = 15

#: Rows that stand for one in the table of a supposed truth, where labels are no longer random.
_MANY = 1_000_000


@dataclass(frozen=True)
class Interval:
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
        For non-negative measures the band that holds the measure of a perfectly calibrated forecast.
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    corrected: float | None = None
    consistency: tuple[float, float] | None = None

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        text = f"{self.value:.6g}, {self.level:.0%} interval [{self.low:.6g}, {self.high:.6g}] ({self.method})"
        if self.corrected is None or self.consistency is None:
            return text
        low, high = self.consistency
        return f"{text}; bias-corrected {self.corrected:.6g}; if perfectly calibrated within [{low:.6g}, {high:.6g}]"


def interval(
    measure: Callable[..., SupportsFloat],
    forecast: ScoreTable,
    *,
    options: Mapping[str, Any] | None = None,
    level: float = 0.95,
    n_boot: int = 2000,
    random_state: RandomState = None,
    nonnegative: bool | None = None,
) -> Interval:
    """Return a confidence interval of a measure.

    Parameters
    ----------
    measure : callable
        A function of a forecast table whose result has ``float``, such as any measure of `oddsmith.metrics`.
    forecast : ScoreTable
        Scores are log-odds; counts only.
    options : mapping, optional
        Keyword arguments of the measure.
    level : float, default 0.95
    n_boot : int, default 2000
        Number of samples; for non-negative measures of all supposed truths together.
    random_state : int, Generator or None
    nonnegative : bool, optional
        Whether the measure is 0 for perfect calibration and never below; by default what the measure says of itself.

    Notes
    -----
    Percentiles of the bootstrap for most measures; samples on which the measure is undefined (one class only) are
    drawn again, at most as many as were asked for. For non-negative ones the truth is supposed to be p + λ·(observed
    gap), gaps taken over 15 bins of equal mass, for λ from 0 to 3; the interval holds the true values under which the
    observed one is neither among the smallest nor the largest (1 − level)/2. λ = 0 gives the consistency band.

    References
    ----------
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
    table, chosen = as_forecast(forecast), dict(options or {})
    share = _level(level)
    draws = _check.whole_number(n_boot, "n_boot", low=20)
    rng = np.random.default_rng(random_state)
    value = value_of(measure, table, chosen)
    if not math.isfinite(value):
        _check.fail("an interval needs a finite measure", f"{value}", "clip forecasts of exactly 0 or 1")
    if getattr(measure, "nonnegative", False) if nonnegative is None else nonnegative:
        return _by_inversion(measure, table, chosen, value, share, draws, rng)
    values = _values(measure, bootstrap(table, 2 * draws, random_state=rng), chosen, draws)
    low, high = _order_statistics(values, (1 - share) / 2, (1 + share) / 2)
    return Interval(value, low, high, share, f"percentile bootstrap of {draws} tables")


def _by_inversion(
    measure: Callable[..., SupportsFloat],
    table: ScoreTable,
    options: dict[str, Any],
    value: float,
    level: float,
    draws: int,
    rng: np.random.Generator,
) -> Interval:
    each = math.ceil(draws / len(_STEPS))
    tails = ((1 - level) / 2, 0.5, (1 + level) / 2)
    truths, quantiles = [], []
    for prob in _supposed_truths(table):
        truths.append(value_of(measure, _population(table, prob), options))
        samples = resample_labels(table, prob, 2 * each, random_state=rng)
        quantiles.append(_order_statistics(_values(measure, samples, options, each), *tails))
    if not np.all(np.isfinite([*truths, *np.ravel(quantiles)])):
        _check.fail("an interval needs finite measures", "infinite ones in samples", "clip forecasts of 0 or 1")
    truths[0] = 0.0  # but for the rounding of counts
    # Larger truths give larger measures; the simulation's noise must not say otherwise.
    truth = np.maximum.accumulate(truths)
    low, middle, high = (np.maximum.accumulate(_smoothed(curve)) for curve in np.array(quantiles).T)
    return Interval(
        value,
        float(np.interp(value, high, truth)),
        float(np.interp(value, low, truth)),
        level,
        f"test inversion over {len(_STEPS)} supposed truths, {each} tables each",
        float(np.interp(value, middle, truth)),
        (float(low[0]), float(high[0])),
    )


def _smoothed(curve: Floats) -> Floats:
    """Return a cubic in the steps through simulated quantiles, which takes most of their noise away."""
    return np.asarray(np.polynomial.polynomial.polyval(_STEPS, np.polynomial.polynomial.polyfit(_STEPS, curve, 3)))


def _supposed_truths(table: ScoreTable) -> list[Floats]:
    """Return P moved towards the observed shares of positives by multiples of the gap, 0 first."""
    prob = probability(table)
    index = bin_index(table, prob, _DIRECTION_BINS, "mass", "left")
    weight = sum_by(index, table.total)
    gap = sum_by(index, residuals(table)) / np.maximum(weight, 1.0)
    return [np.clip(prob + step * gap[index], 0.0, 1.0) for step in _STEPS]


def _population(table: ScoreTable, prob: Floats) -> ScoreTable:
    """Return so many rows that the shares of positives are the probabilities."""
    total = table.total.astype(np.int64) * _MANY
    pos = np.rint(total * prob).astype(np.int64)
    return ScoreTable(table.scores, pos, total - pos, None, None, None, None, int(total.sum()), None)


def _values(
    measure: Callable[..., SupportsFloat], tables: Iterable[ScoreTable], options: dict[str, Any], wanted: int
) -> Floats:
    """Return the measure of the first tables on which it is defined."""
    values: list[float] = []
    for table in tables:
        try:
            values.append(value_of(measure, table, options))
        except InvalidInputError:
            continue
        if len(values) == wanted:
            break
    if len(values) < wanted:
        _check.fail(
            "the measure must be defined on most samples",
            f"{len(values)} of {2 * wanted}",
            "collect more rows of the rarer class",
        )
    return np.array(values)


def _order_statistics(values: Floats, *shares: float) -> tuple[float, ...]:
    """Return quantiles that are values themselves, so that infinite ones do no harm; from the tails the outer ones."""
    ordered, n = np.sort(values), len(values)
    places = [math.floor((n + 1) * share) if share <= 0.5 else math.ceil((n + 1) * share) for share in shares]
    return tuple(float(ordered[min(max(place, 1), n) - 1]) for place in places)


def _level(level: float) -> float:
    share = _check.number(level, "level", low=0, strict=True)
    if share >= 1:
        _check.fail("level must be below 1", f"level={level!r}", "pass a share such as 0.95")
    return share
