"""What every measure shares: it is a function of a forecast, and has a twin that takes labels and probabilities.

A *forecast* is a `ScoreTable` whose score is a log-odds, possibly infinite.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Concatenate, Generic, Literal, ParamSpec, SupportsFloat, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from oddsmith import _check
from oddsmith._types import Floats, Weights
from oddsmith.metrics.provenance import is_in_sample
from oddsmith.metrics.result import Result
from oddsmith.table import ScoreTable

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
Null = Literal["calibrated", "constant"]


class Measure(Generic[P, R]):
    """A function of a forecast table, with its twin for arrays.

    ``measure(forecast, **options)`` takes a table of log-odds; ``measure.from_arrays(y_true, y_prob, sample_weight,
    **options)`` takes what scikit-learn's metrics take, and makes the table first.

    Attributes
    ----------
    null : {"calibrated", "constant"} or None
        What makes the measure 0, below which it never lies, so that its bootstrap is biased upwards: perfect
        calibration, or forecasts that say nothing.
    of_base_rate : bool
        Whether it depends on the share of positives alone, concave and largest at ½, where its bootstrap is biased
        downwards.
    """

    __name__: str
    __qualname__: str

    def __init__(
        self, function: Callable[Concatenate[ScoreTable, P], R], null: Null | None = None, of_base_rate: bool = False
    ) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self.null = null
        self.of_base_rate = of_base_rate

    def __call__(self, forecast: ScoreTable, *args: P.args, **options: P.kwargs) -> R:
        """Return the measure of a forecast."""
        result = self._function(as_forecast(forecast), *args, **options)
        if isinstance(result, Figure) and is_in_sample(forecast):
            return replace(result, in_sample=True)
        return result

    def from_arrays(
        self,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *args: P.args,
        **options: P.kwargs,
    ) -> R:
        """Measure probabilities of the positive class against labels."""
        return self(forecast_from_arrays(y_true, y_prob, sample_weight), *args, **options)

    def __repr__(self) -> str:
        return f"<measure {self.__name__}>"

    def __reduce__(self) -> str:
        return self.__qualname__


def measure(function: Callable[Concatenate[ScoreTable, P], R]) -> Measure[P, R]:
    """Make a function of a forecast a measure."""
    return Measure(function)


def of_base_rate(function: Callable[Concatenate[ScoreTable, P], R]) -> Measure[P, R]:
    """Make a function of the share of positives, concave and largest at ½, a measure."""
    return Measure(function, of_base_rate=True)


def nonnegative(null: Null) -> Callable[[Callable[Concatenate[ScoreTable, P], R]], Measure[P, R]]:
    """Make a function of a forecast a measure that is 0 under a null hypothesis, and else above."""

    def make(function: Callable[Concatenate[ScoreTable, P], R]) -> Measure[P, R]:
        return Measure(function, null)

    return make


@dataclass(frozen=True)
class Figure(Result):
    """A number that carries its definition.

    ``float(figure)`` is the number, ``str(figure)`` says how it was computed, and whether on rows that the forecast
    was fitted on.

    Examples
    --------
    >>> str(Figure(0.05, "L1, 10 bins"))
    '0.05 (L1, 10 bins)'
    """

    value: float
    definition: str
    in_sample: bool = field(default=False, kw_only=True)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.6g} ({self.passport})"

    @property
    def passport(self) -> str:
        """The definition, with a mark of figures that flatter."""
        return f"{self.definition}; in-sample" if self.in_sample else self.definition


def as_forecast(forecast: object) -> ScoreTable:
    """Refuse what is not a table, with a hint to the twin."""
    if not isinstance(forecast, ScoreTable):
        _check.fail(
            "forecast must be a ScoreTable of log-odds",
            type(forecast).__name__,
            "use the measure's from_arrays(y_true, y_prob), or forecast_from_arrays",
        )
    return forecast


def forecast_from_arrays(y_true: ArrayLike, y_prob: ArrayLike, sample_weight: ArrayLike | None = None) -> ScoreTable:
    """Return the forecast table of labels and probabilities of the positive class.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels {0, 1}, {−1, +1} or bool.
    y_prob : array-like of shape (n,)
        P(+), 0 and 1 allowed.
    sample_weight : array-like of shape (n,), optional
        Integer-typed weights are counts, float weights importance weights.

    Examples
    --------
    >>> forecast_from_arrays([0, 1, 1], [0.5, 0.5, 1.0]).scores
    array([ 0., inf])
    """
    prob = _check.as_array(y_prob, "y_prob", (1,), unit=True)
    table = ScoreTable.from_arrays(prob, y_true, sample_weight)
    return table.map(log_odds)


def log_odds(prob: Floats) -> Floats:
    """Return log p/(1 − p), infinite at 0 and 1."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(prob) - np.log1p(-prob))


def probability(forecast: ScoreTable) -> Floats:
    """Return P(+) at each cell."""
    return np.asarray(expit(forecast.scores))


def weighted_sum(weight: Weights, value: Floats) -> float:
    """Return Σ weight·value, where an infinite value at weight 0 counts nothing."""
    held = weight > 0
    return float(weight[held] @ value[held])


def size(forecast: ScoreTable) -> float:
    """Return the weight of all rows."""
    return forecast.n_pos + forecast.n_neg


def squared_weight(forecast: ScoreTable) -> Weights:
    """Return Σw² of each cell, which is the count for counts."""
    if forecast.pos_sq is None or forecast.neg_sq is None:
        return forecast.total
    return forecast.pos_sq + forecast.neg_sq


def residuals(forecast: ScoreTable) -> Floats:
    """Return Σ w(y − P) of each cell."""
    return np.asarray(forecast.pos * expit(-forecast.scores) - forecast.neg * expit(forecast.scores))


def require_classes(forecast: ScoreTable, negatives: bool = True) -> None:
    """Refuse a forecast without positives, or without one of both classes."""
    if forecast.n_pos == 0 or (negatives and forecast.n_neg == 0):
        needed = "both classes" if negatives else "positives"
        _check.fail(f"{needed} must be present", "rows of one class only", "collect rows of the other")


def value_of(measure_: Callable[..., SupportsFloat], forecast: ScoreTable, options: dict[str, Any]) -> float:
    """Return a measure as a float."""
    return float(measure_(forecast, **options))


def checked_level(level: float) -> float:
    """Return a share between 0 and 1."""
    share = _check.number(level, "level", low=0, strict=True)
    if share >= 1:
        _check.fail("level must be below 1", f"level={level!r}", "pass a share such as 0.95")
    return share
