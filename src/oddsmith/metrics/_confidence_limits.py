"""Confidence limits of a measure from resampled tables.

Most measures are read off the percentiles of their bootstrap. Of those that are 0 at best and biased upwards a test is
inverted: which supposed truths would have given what was seen?
"""

import copy
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, SupportsFloat

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.data import ScoreTable
from oddsmith.errors import InvalidInputError
from oddsmith.metrics._alternatives import Truth
from oddsmith.metrics.groups import GroupedForecast
from oddsmith.metrics.measure import Forecast, ForecastFunction, Null
from oddsmith.metrics.resampled import n_rows, rows_again

#: Standard errors from what the data suggest within which limits mostly lie, and how much more often they are drawn.
_NEAR, _OFTEN = 5.0, 4


class Asked(NamedTuple):
    """A measure with its options, and what makes it 0."""

    measure: Callable[..., SupportsFloat]
    options: Mapping[str, Any] = MappingProxyType({})
    null: Null | None = None

    def value(self, table: Any) -> float:
        """Return the measure."""
        function = self.measure.of if isinstance(self.measure, ForecastFunction) else self.measure
        return float(function(table, **self.options))

    def of(self, table: Any) -> float:
        """Return the measure, NaN where it is undefined."""
        try:
            return self.value(table)
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
    asked: Mapping[str, Asked], table: Forecast | GroupedForecast, level: float, draws: int, rng: np.random.Generator
) -> Callable[[str, float], Limits]:
    """Draw rows again; return what gives the limits of a measure."""
    samples = _values(asked, rows_again(table, draws, rng)) if asked else {}
    tail = _tail(table, level)
    what = "samples of groups" if isinstance(table, GroupedForecast) else "tables"

    def limits(name: str, seen: float) -> Limits:
        del seen
        low, high = _order_statistics(_drop_undefined(samples[name]), tail, 1 - tail)
        return Limits(low, high, f"percentile bootstrap of {draws} {what}, tails of {tail:.3g}")

    return limits


def by_inversion(
    asked: Mapping[str, Asked],
    paths: list[list[Truth]],
    further: Iterator[list[Truth]],
    labels_again: Callable[[Floats, int, np.random.Generator], Iterable[Any]],
    level: float,
    draws: int,
    rng: np.random.Generator,
) -> Callable[[str, float], Limits]:
    """Draw labels again under supposed truths; return what gives the limits of a measure, of which a value was seen.

    The null hypothesis gets a quarter of the draws, as its band is shown and decides whether 0 is covered. Further
    paths are walked one by one, where those before do not go far enough for what was seen; they draw from a copy of the
    generator, so that all other limits stay as they are.
    """
    first = math.ceil(draws / 4)
    at_null = _values(asked, labels_again(paths[0][0].prob, first, rng))

    def walk(path: list[Truth], rng: np.random.Generator) -> "_Walk":
        amounts = _allot((draws - first) / len(paths), [truth.distance for truth in path[1:]])
        tables = (labels_again(truth.prob, n, rng) for truth, n in zip(path[1:], amounts, strict=True))
        return _Walk(path, [at_null, *(_values(asked, some) for some in tables)], sum(amounts))

    walked = [walk(path, rng) for path in paths]

    def walks() -> Iterator[_Walk]:
        yield from walked
        for path in further:
            walked.append(walk(path, copy.deepcopy(rng)))
            yield walked[-1]

    def limits(name: str, seen: float) -> Limits:
        found: list[_Reach] = []
        truths, drawn = 1, first
        for path, samples, amount in walks():
            found.append(
                _invert(asked[name], *_drop_undefined_truths(path, [some[name] for some in samples]), level, seen)
            )
            truths, drawn = truths + len(path) - 1, drawn + amount
            if len(found) >= len(paths) and any(reach.upper for reach in found):
                break
        return _unite(found, seen, f"test inversion over {truths} supposed truths, {drawn} tables")

    return limits


class _Walk(NamedTuple):
    """A path with the measures of what was drawn under each of its truths."""

    path: list[Truth]
    samples: list[dict[str, Floats]]
    drawn: int


class _Reach(NamedTuple):
    """Limits by the truths of a path, and whether it goes far enough for the lower and for the upper one."""

    limits: Limits
    lower: bool
    upper: bool


def _unite(found: list[_Reach], seen: float, method: str) -> Limits:
    """Unite the limits by paths that go far enough for what was seen.

    If no path goes far enough for an upper limit, the limit is not below what was seen.
    """
    told = [reach.limits for reach in found if reach.lower] or [found[-1].limits]
    high = float(np.max([one.high for one in told]))
    if not any(reach.upper for reach in found):
        high = float(np.maximum(high, seen))
    return told[0]._replace(low=float(np.min([one.low for one in told])), high=high, method=method)


def _drop_undefined_truths(path: list[Truth], samples: list[Floats]) -> tuple[list[Truth], list[Floats]]:
    """Leave out far truths that leave the measure undefined, by too few rows of a class for example."""
    kept = [
        k
        for k, (truth, values) in enumerate(zip(path, samples, strict=True))
        if k == 0 or truth.distance < _NEAR or _is_mostly_defined(values)
    ]
    return [path[k] for k in kept], [_drop_undefined(samples[k]) for k in kept]


def _invert(asked: Asked, path: list[Truth], samples: list[Floats], level: float, seen: float) -> _Reach:
    """Return the truths of a path that would have given what was seen."""
    true = np.array([0.0, *(asked.of(truth.population) for truth in path[1:])])
    if not all(np.isfinite(values).all() for values in (true, *samples)):
        _check.fail("an interval needs finite measures", "others in samples", "clip forecasts of 0 or 1")
    curves = _quantile_curves(samples, (1 - level) / 2)
    # Larger truths give larger measures; noise of the simulation must not reverse that.
    true, low, middle, high = (np.maximum.accumulate(curve) for curve in (true, *curves))
    limits = Limits(
        float(np.interp(seen, high, true)),
        float(np.interp(max(seen, middle[0]), low, true)),
        "test inversion",
        float(np.interp(seen, middle, true)),
        (float(low[0]), float(high[0])),
    )
    return _Reach(limits, bool(high[-1] >= seen), bool(low[-1] >= max(seen, middle[0])))


def _tail(table: Forecast | GroupedForecast, level: float) -> float:
    """Return the share beyond a percentile that makes up for few rows, or groups, of the rarer class."""
    n = max(n_rows(table), 2.0)
    return float(ndtr(-math.sqrt(n / (n - 1)) * stdtrit(n - 1, (1 + level) / 2)))


def over_rates(asked: Asked, low: float, high: float) -> tuple[float, float]:
    """Return the least and the largest value over shares of positives; the largest is at the one nearest to ½."""
    rates = (low, high, min(max(low, 0.5), high))
    values = [asked.of(ScoreTable.from_arrays([0.0, 0.0], [1, 0], [rate, 1 - rate])) for rate in rates]
    return float(np.min(values)), float(np.max(values))


def _allot(draws: float, distances: list[float]) -> list[int]:
    """Share draws out between truths; those near what the data suggest get more, as the limits mostly are there."""
    parts = [_OFTEN if distance < _NEAR else 1 for distance in distances]
    return [max(math.ceil(draws * part / sum(parts)), 3) for part in parts]


def _quantile_curves(samples: list[Floats], tail: float) -> Floats:
    """Return the outer quantiles and the median under each truth, the shape of the law being taken from neighbors.

    Few samples leave mean and spread uncertain, and do not reach far into the tails. As a prediction interval does, the
    outer quantiles make up for both.
    """
    sizes = np.array([len(values) for values in samples])
    means = np.array([np.mean(values) for values in samples])
    spreads = np.maximum([np.std(values, ddof=1) for values in samples], 1e-300)
    scaled = [(values - mean) / spread for values, mean, spread in zip(samples, means, spreads, strict=True)]
    near = [scaled[:1], *(scaled[max(k - 1, 1) : k + 2] for k in range(1, len(samples)))]
    pools = [np.concatenate(values) for values in near]
    shapes = np.array([_order_statistics(pool, tail, 0.5, 1 - tail) for pool in pools]).T
    reached = np.maximum([1 / (len(pool) + 1) for pool in pools], tail)
    wider = np.sqrt(1 + 1 / sizes) * stdtrit(sizes - 1, tail) / ndtri(reached)
    return np.asarray(means + spreads * shapes * np.array([wider, np.ones(len(sizes)), wider]))


def _values(asked: Mapping[str, Asked], tables: Iterable[Forecast]) -> dict[str, Floats]:
    """Return the measures of many tables."""
    rows = np.array([[one.of(table) for one in asked.values()] for table in tables])
    return dict(zip(asked, rows.T, strict=True))


def _drop_undefined(values: Floats) -> Floats:
    """Leave out samples on which a measure is undefined, unless there are too many."""
    defined = values[~np.isnan(values)]
    if not _is_mostly_defined(values):
        _check.fail(
            "the measure must be defined on most samples",
            f"{len(defined)} of {len(values)}",
            "collect more rows of the rarer class",
        )
    return defined


def _is_mostly_defined(values: Floats) -> bool:
    return bool(2 * np.isnan(values).sum() <= len(values))


def _order_statistics(values: Floats, *shares: float) -> tuple[float, ...]:
    """Return quantiles that are values themselves, so that infinite ones do no harm; from the tails the outer ones."""
    ordered, n = np.sort(values), len(values)
    places = [math.floor((n + 1) * share) if share <= 0.5 else math.ceil((n + 1) * share) for share in shares]
    return tuple(float(ordered[min(max(place, 1), n) - 1]) for place in places)
