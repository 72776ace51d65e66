"""What resampled tables say of a measure: where its true value may lie.

Most measures are read off the percentiles of their bootstrap. Of those that are 0 at best and biased upwards a test is
inverted: which supposed truths would have given what was seen?
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, SupportsFloat

import numpy as np
from scipy.special import ndtr, stdtrit

from oddsmith import _check
from oddsmith._check import Floats
from oddsmith.errors import InvalidInputError
from oddsmith.metrics._measure import Null, value_of
from oddsmith.metrics._resampled import equal_rows, labels_again, rows_again
from oddsmith.metrics._truths import supposed_truths
from oddsmith.table import ScoreTable


class Asked(NamedTuple):
    """A measure with its options, and what makes it 0."""

    measure: Callable[..., SupportsFloat]
    options: dict[str, Any]
    null: Null | None

    def of(self, table: ScoreTable) -> float:
        """Return the measure, NaN where it is undefined."""
        try:
            return value_of(self.measure, table, self.options)
        except InvalidInputError:
            return math.nan


class Limits(NamedTuple):
    """Where a true value may lie; for non-negative measures, where the middle is, and the band of the null."""

    low: float
    high: float
    method: str
    corrected: float | None = None
    consistency: tuple[float, float] | None = None


def by_percentiles(
    asked: Mapping[str, Asked], table: ScoreTable, level: float, draws: int, rng: np.random.Generator
) -> Callable[[str, float], Limits]:
    """Draw rows again; return what gives the limits of a measure."""
    samples = _values(asked, rows_again(table, draws, rng))
    tail = _tail(table, level)

    def limits(name: str, seen: float) -> Limits:
        del seen
        low, high = _order_statistics(_defined(samples[name]), tail, 1 - tail)
        return Limits(low, high, f"percentile bootstrap of {draws} tables, tails of {tail:.3g}")

    return limits


def by_inversion(
    asked: Mapping[str, Asked], table: ScoreTable, null: Null, level: float, draws: int, rng: np.random.Generator
) -> Callable[[str, float], Limits]:
    """Draw labels again under supposed truths; return what gives the limits of a measure, of which a value was seen."""
    truths = supposed_truths(table, null)
    # The null hypothesis is drawn most often: its band is shown, and decides whether 0 is covered.
    first, others = math.ceil(draws / 4), len(truths) - 1
    each = math.ceil((draws - first) / others)
    amounts = [first, *[each] * others]
    samples = [
        _values(asked, labels_again(table, truth.prob, amount, rng))
        for truth, amount in zip(truths, amounts, strict=True)
    ]

    def limits(name: str, seen: float) -> Limits:
        true = np.array([0.0, *(asked[name].of(truth.population) for truth in truths[1:])])
        curves = _quantile_curves([_defined(sample[name]) for sample in samples], (1 - level) / 2)
        if not (np.isfinite(true).all() and np.isfinite(curves).all()):
            _check.fail("an interval needs finite measures", "others in samples", "clip forecasts of 0 or 1")
        # Larger truths give larger measures; the simulation's noise must not say otherwise.
        true, low, middle, high = (np.maximum.accumulate(curve) for curve in (true, *curves))
        return Limits(
            float(np.interp(seen, high, true)),
            float(np.interp(max(seen, middle[0]), low, true)),
            f"test inversion over {others + 1} supposed truths, {first} + {others} x {each} tables",
            float(np.interp(seen, middle, true)),
            (float(low[0]), float(high[0])),
        )

    return limits


def _tail(table: ScoreTable, level: float) -> float:
    """Return the share beyond a percentile that makes up for few rows of the rarer class."""
    sides = ((table.pos, table.pos_sq), (table.neg, table.neg_sq))
    rows = min(float(equal_rows(side, side if squares is None else squares)[0].sum()) for side, squares in sides)
    n = max(rows, 2.0)
    return float(ndtr(-math.sqrt(n / (n - 1)) * stdtrit(n - 1, (1 + level) / 2)))


def _quantile_curves(samples: list[Floats], tail: float) -> Floats:
    """Return the outer quantiles and the median under each truth, the shape of the law being taken from neighbours."""
    means, spreads = (np.array([function(values) for values in samples]) for function in (np.mean, np.std))
    scaled = [
        (values - mean) / max(spread, 1e-300) for values, mean, spread in zip(samples, means, spreads, strict=True)
    ]
    near = [scaled[:1], *(scaled[max(k - 1, 1) : k + 2] for k in range(1, len(samples)))]
    shapes = np.array([_order_statistics(np.concatenate(values), tail, 0.5, 1 - tail) for values in near])
    return np.asarray(means + spreads * shapes.T)


def _values(asked: Mapping[str, Asked], tables: Iterable[ScoreTable]) -> dict[str, Floats]:
    """Return the measures of many tables."""
    rows = np.array([[one.of(table) for one in asked.values()] for table in tables])
    return dict(zip(asked, rows.T, strict=True))


def _defined(values: Floats) -> Floats:
    """Leave out samples on which a measure is undefined, unless there are too many."""
    defined = values[~np.isnan(values)]
    if 2 * len(defined) < len(values):
        _check.fail(
            "the measure must be defined on most samples",
            f"{len(defined)} of {len(values)}",
            "collect more rows of the rarer class",
        )
    return defined


def _order_statistics(values: Floats, *shares: float) -> tuple[float, ...]:
    """Return quantiles that are values themselves, so that infinite ones do no harm; from the tails the outer ones."""
    ordered, n = np.sort(values), len(values)
    places = [math.floor((n + 1) * share) if share <= 0.5 else math.ceil((n + 1) * share) for share in shares]
    return tuple(float(ordered[min(max(place, 1), n) - 1]) for place in places)
