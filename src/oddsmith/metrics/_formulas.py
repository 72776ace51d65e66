"""Limits by formula, of shares and of the area under the ROC curve.

A sample without an error has only resamples without one, so a bootstrap takes it for proof that there are none.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri, stdtrit

from oddsmith._types import Bools, Floats, Weights
from oddsmith.data import ScoreTable
from oddsmith.metrics._confidence_limits import Asked, Limits, over_rates
from oddsmith.metrics.classes import ClassForecast
from oddsmith.metrics.groups import GroupedForecast
from oddsmith.metrics.means import share_with_interval
from oddsmith.metrics.measure import Forecast, require_classes

#: Cases of the rarer class that count as much as the model's variance of an area where the data show a smaller one.
_CASES_OF_MODEL = 100

#: Cases, or groups, of a class below which an area may vary as much as any can.
_FEW_OF_A_CLASS = 5

#: How far from an area, as a share of the way to the end of the range, the search for its limits stops.
_NEXT = 1e-12


class _Placed(NamedTuple):
    """Cells of a forecast by class, or rows in groups: where each is, its class and weights, and its group."""

    cell: Weights
    truth: Weights
    weight: Floats
    squares: Floats
    grouped: GroupedForecast | None

    @classmethod
    def of(cls, forecast: Forecast | GroupedForecast) -> "_Placed":
        if isinstance(forecast, GroupedForecast):
            columns = (forecast.weight, forecast.squared_weight)
            weight, squares = (column.astype(np.float64) for column in columns)
            return cls(forecast.cell, forecast.truth, weight, squares, forecast)
        if isinstance(forecast, ClassForecast):
            weight, squares = (column.astype(np.float64) for column in (forecast.weight, forecast.squared_weight))
            return cls(np.arange(len(forecast)), forecast.truth, weight, squares, None)
        at = np.arange(len(forecast))
        weight = np.concatenate([forecast.neg, forecast.pos]).astype(np.float64)
        squares = np.concatenate([forecast.squares[1], forecast.squares[0]]).astype(np.float64)
        held = weight > 0
        truth = np.repeat([0, 1], len(forecast))
        return cls(np.tile(at, 2)[held], truth[held], weight[held], squares[held], None)

    def variance(self, influence: Floats) -> float:
        """Return the variance of a sum over rows, of how much one of weight 1 adds to it."""
        if self.grouped is None:
            return float(self.squares @ influence**2)
        sums = self.grouped.sums(self.weight * influence)
        return float(sums @ sums) * len(sums) / (len(sums) - 1)

    def cases(self, among: Bools | slice = slice(None)) -> float:
        """Return how many rows of equal weight vary as much."""
        return float(self.weight[among].sum()) ** 2 / float(self.squares[among].sum())

    def groups(self, among: Bools) -> float:
        """Return how many groups of equal weight vary as much; of rows without groups the rows."""
        return self.cases(among) if self.grouped is None else self.grouped.n_effective(self.weight * among)

    def reach(self, level: float) -> float:
        """Return the standard errors to either side of an estimate: of groups by Student's t."""
        share = (1 + level) / 2
        return float(ndtri(share) if self.grouped is None else stdtrit(self.grouped.n_groups - 1, share))


def _share(rows: _Placed, counted: Bools, level: float) -> Limits:
    """Return exact limits of the share of the weight that some rows have; of weights and groups approximate ones.

    The share is that of as many independent cases of equal weight as would vary as much (Korn and Graubard). Groups
    that all have the same share vary as their number.
    """
    total = float(rows.weight.sum())
    share, cases = float(rows.weight @ counted) / total, rows.cases()
    if 0 < share < 1:
        variance = rows.variance(np.asarray((counted - share) / total, dtype=np.float64))
        cases = min(cases, share * (1 - share) / variance) if variance > 0 else cases
    else:
        cases = rows.groups(np.ones(len(counted), bool))
    z = float(ndtri((1 + level) / 2))
    found = share_with_interval(share, cases * (z / rows.reach(level)) ** 2, level)
    return Limits(found["low"], found["high"], f"Clopper-Pearson, as for {cases:.6g} independent cases")


def error_limits(forecast: Forecast | GroupedForecast, level: float) -> Limits:
    """Return limits of the share of wrong decisions."""
    rows = _Placed.of(forecast)
    return _share(rows, _wrong(forecast, rows), level)


def _accuracy_limits(forecast: Forecast | GroupedForecast, level: float) -> Limits:
    rows = _Placed.of(forecast)
    return _share(rows, ~_wrong(forecast, rows), level)


def _wrong(forecast: Forecast | GroupedForecast, rows: _Placed) -> Bools:
    """Whether the decision at P = ½, or the most probable class, is wrong."""
    whole = forecast.forecast if isinstance(forecast, GroupedForecast) else forecast
    if isinstance(whole, ClassForecast):
        return ~whole.right
    return np.asarray((whole.scores > 0)[rows.cell] != (rows.truth == 1))


def _area_limits(forecast: Forecast | GroupedForecast, level: float) -> Limits:
    """Return limits of the area under the ROC curve: where it would differ from the one seen by z standard errors.

    The standard error at each supposed area is Hanley and McNeil's for exponential scores (Newcombe's method 5),
    enlarged if DeLong's is larger at the area that was seen. With many cases DeLong's may also make it smaller. With
    fewer than five of a class nothing is known of the spread of its scores: the limits are then at least those of a
    share of as many cases, which varies as much as an area can (van Dantzig).
    """
    table = forecast.forecast if isinstance(forecast, GroupedForecast) else forecast
    assert isinstance(table, ScoreTable)
    require_classes(table)
    rows = _Placed.of(forecast)
    positive = rows.truth == 1
    below = (np.cumsum(table.neg, dtype=np.float64) - table.neg / 2) / table.n_neg
    above = 1 - (np.cumsum(table.pos, dtype=np.float64) - table.pos / 2) / table.n_pos
    area = float(table.pos @ below) / table.n_pos
    influence = np.where(positive, (below[rows.cell] - area) / table.n_pos, (above[rows.cell] - area) / table.n_neg)
    m, n = rows.cases(positive), rows.cases(~positive)
    variance, factor = rows.variance(influence) * (1 + 1 / max(min(m, n) - 1, 1.0)), 1.0
    separated = not 0 < area < 1
    if separated:
        m, n = rows.groups(positive), rows.groups(~positive)
    else:
        ratio, rarer = variance / _variance_by_model(area, m, n), min(m, n)
        factor = (rarer * ratio + _CASES_OF_MODEL * max(ratio, 1.0)) / (rarer + _CASES_OF_MODEL)
    reach = rows.reach(level)

    def beyond(supposed: float) -> float:
        return abs(supposed - area) - reach * math.sqrt(factor * _variance_by_model(supposed, m, n))

    low = _root(beyond, 0.0, area) if area > 0 else 0.0
    high = _root(beyond, 1.0, area) if area < 1 else 1.0
    method = f"score interval, Newcombe's method 5, variance × {factor:.3g}"
    fewest = min(rows.groups(positive), rows.groups(~positive))
    if fewest < _FEW_OF_A_CLASS:
        widest = share_with_interval(area, max(fewest, 1.0), level)
        low, high = min(low, widest["low"]), max(high, widest["high"])
        method = f"Clopper-Pearson, as for {fewest:.3g} cases, the fewest of a class"
    return Limits(low, high, method)


def _root(beyond: Callable[[float], float], end: float, area: float) -> float:
    """Return the limit between an end of the range and the area, just off which no supposed area is too far away."""
    near = area + _NEXT * (end - area)
    return float(brentq(beyond, end, near)) if beyond(near) < 0 < beyond(end) else area


def _variance_by_model(area: float, m: float, n: float) -> float:
    """Return the variance of an area of m positives and n negatives whose scores are exponential."""
    more = (m + n) / 2 - 1
    return area * (1 - area) * (1 + more * ((1 - area) / (2 - area) + area / (1 + area))) / (m * n)


def _base_rate_limits(asked: Asked, forecast: Forecast | GroupedForecast, level: float) -> Limits:
    """Return limits of a measure that depends on the share of positives alone, from those of the share."""
    rows = _Placed.of(forecast)
    found = _share(rows, rows.truth == 1, level)
    low, high = over_rates(asked, found.low, found.high)
    return found._replace(low=low, high=high, method=f"{found.method}, of the share of positives")


_LimitsFormula = Callable[[Forecast | GroupedForecast, float], Limits]

#: Formulas by the name that a measure gives.
_FORMULAS: dict[str, _LimitsFormula] = {"error": error_limits, "accuracy": _accuracy_limits, "area": _area_limits}


def formula_of(asked: Asked, forecast: Forecast) -> _LimitsFormula | None:
    """Return what gives the limits of a measure by formula, None where they are found by resampling."""
    if getattr(asked.measure, "of_base_rate", False) and isinstance(forecast, ScoreTable):
        return partial(_base_rate_limits, asked)
    name = getattr(asked.measure, "formula", None)
    if name is None or any(asked.options.values()) or (name == "area" and isinstance(forecast, ClassForecast)):
        return None
    return _FORMULAS[name]
