"""What every measure shares: a plain function of labels and probabilities, defined on a forecast.

A *forecast* is a `ScoreTable` whose score is a log-odds, possibly infinite, or a `ClassForecast` of several classes.
"""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Concatenate, Generic, Literal, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from oddsmith import _check
from oddsmith._docstrings import with_parameters
from oddsmith._types import Floats, Weights
from oddsmith.data import ScoreTable
from oddsmith.maps import logit
from oddsmith.metrics.classes import ClassForecast, class_forecast
from oddsmith.metrics.provenance import Forecast as Forecast
from oddsmith.metrics.provenance import is_in_sample
from oddsmith.metrics.result import Result

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
M = TypeVar("M", bound="Measure[..., Any]")
Null = Literal["calibrated", "constant"]
IntervalFormula = Literal["error", "accuracy", "area"]
Takes = Literal["table", "classes", "both"]

#: Measures by name, in the order in which summaries show them.
MEASURES: dict[str, "Measure[..., Any]"] = {}


class ForecastFunction(Generic[P, R]):
    """A function of labels and probabilities, defined on a forecast.

    ``f(y_true, y_prob, sample_weight=None, *, pos_label=None, labels=None, **options)`` takes what scikit-learn's
    metrics take; ``f.of(forecast, **options)`` takes a forecast table.

    Parameters
    ----------
    function : callable
        The definition, a function of a forecast.
    takes : {"table", "classes", "both"}, default "table"
        Which forecasts: a `ScoreTable` of two classes, a `ClassForecast`, or both.

    See Also
    --------
    Measure : Such a function that returns a number.
    """

    __name__: str
    __qualname__: str

    def __init__(self, function: Callable[Concatenate[Any, P], R], takes: Takes = "table") -> None:
        functools.update_wrapper(self, function)
        self._function, self.takes = function, takes
        shared = list(inspect.signature(ForecastFunction.__call__).parameters.values())[1:-1]
        options = list(inspect.signature(function).parameters.values())[1:]
        bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in (*shared, *options)]
        self.__signature__: inspect.Signature = inspect.Signature(bare)
        names = ", ".join(parameter.name for parameter in shared)
        self.__doc__ = with_parameters(function.__doc__, ForecastFunction.__call__.__doc__, names, self._returns())

    def _returns(self) -> str:
        """Return what the docstring lists as returned."""
        return getattr(inspect.signature(self._function).return_annotation, "__name__", "object")

    def of(self, forecast: Forecast, *args: P.args, **options: P.kwargs) -> R:
        """Return the result for a forecast.

        Parameters
        ----------
        forecast : ScoreTable or ClassForecast
            Log-odds, or log-probabilities, with the counts of labels.
        *args
            Options of the function, by place.
        **options
            Options of the function, by name.

        Returns
        -------
        float, Figure or other result of the definition
        """
        if not isinstance(forecast, _TAKEN[self.takes][0]):
            hint = f"call {self.__name__}(y_true, y_prob), or make one with forecast_from_arrays or class_forecast"
            _check.fail(f"{self.__name__}.of needs a {_TAKEN[self.takes][1]}", type(forecast).__name__, hint)
        result = self._function(forecast, *args, **options)
        if isinstance(result, Figure) and is_in_sample(forecast):
            return replace(result, in_sample=True)
        return result

    def __call__(
        self,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        pos_label: Any = None,
        labels: ArrayLike | None = None,
        **options: Any,
    ) -> Any:
        """Return the result for labels and probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels {0, 1}, {−1, +1}, bool, or any two values with ``pos_label``; with rows of probabilities, any labels.
        y_prob : array-like of shape (n,) or (n, k)
            P(+), 0 and 1 allowed; or rows of class probabilities.
        sample_weight : array-like of shape (n,), optional
            Integer-typed weights are counts, float weights importance weights.
        pos_label : object, optional
            The positive label of two.
        labels : array-like of shape (k,), optional
            Labels in the order of the columns; by default the sorted labels of ``y_true``.
        **options
            Keyword arguments of the definition.
        """
        of: Callable[..., R] = self.of
        return of(self._read(y_true, y_prob, sample_weight, pos_label, labels), **options)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.__name__}>"

    def __reduce__(self) -> str:
        return self.__qualname__

    def _read(self, y_true: Any, y_prob: Any, weight: Any, pos_label: Any, labels: Any) -> Forecast:
        columns = np.shape(y_prob)[1] if np.ndim(y_prob) == 2 else 0
        if columns < 2 and self.takes != "classes":
            return forecast_from_arrays(y_true, y_prob, weight, pos_label=pos_label)
        if columns < 2 or (columns > 2 and self.takes == "table"):
            hint = "take one class against the rest (y == c, P[:, c]), or class_forecast(y, P).of_top_label()"
            hint = hint if columns else "pass rows of class probabilities"
            _check.fail(f"{self.__name__} needs a {_TAKEN[self.takes][1]}", f"y_prob of shape {np.shape(y_prob)}", hint)
        read = class_forecast(y_true, y_prob, weight, labels=labels)
        if columns > 2 or self.takes == "classes":
            if pos_label is not None:
                must = "pos_label must be left out where every class counts"
                _check.fail(must, f"pos_label={pos_label!r}", "pass (y == c, P[:, c]) for one class against the rest")
            return read
        known = read.labels.tolist()
        positive = known[1] if pos_label is None else pos_label
        _check.one_of(positive, "pos_label", known)
        return read.of_class(known.index(positive))


def forecast_function(takes: Takes) -> Callable[[Callable[Concatenate[Any, P], R]], ForecastFunction[P, R]]:
    """Make a function of such forecasts one of labels and probabilities."""
    return lambda function: ForecastFunction(function, takes)


#: What is taken, and what it is called in errors.
_TAKEN: dict[Takes, tuple[tuple[type, ...], str]] = {
    "table": ((ScoreTable,), "forecast of two classes, a ScoreTable of log-odds"),
    "classes": ((ClassForecast,), "forecast of several classes, a ClassForecast"),
    "both": ((ScoreTable, ClassForecast), "forecast, a ScoreTable of log-odds or a ClassForecast"),
}


class Measure(ForecastFunction[P, R]):
    """A number that rates a forecast: ``measure(y_true, y_prob)`` is a float, as ``make_scorer`` takes it.

    Parameters
    ----------
    function : callable
        The definition, a function of a forecast.
    takes : {"table", "classes", "both"}, default "table"
        Which forecasts: a `ScoreTable` of two classes, a `ClassForecast`, or both.

    Attributes
    ----------
    definition : str
        How the number is computed; empty where ``measure.of(forecast)`` is a `Figure`, which carries it.
    null : {"calibrated", "constant"} or None
        What makes the measure 0, its lower bound, so that its bootstrap is biased upwards: perfect
        calibration, or forecasts that are all equal.
    of_base_rate : bool
        Whether it depends on the share of positives alone, concave and largest at ½, where its bootstrap is biased
        downwards.
    formula : {"error", "accuracy", "area"} or None
        The formula of its interval, where resampling would treat a sample without errors as certainty.
    resampled : bool
        Whether its interval can be found by resampling rows.

    See Also
    --------
    measure : Makes it, as a decorator.
    register_measure : Adds it to summaries and reports.
    """

    def __init__(
        self,
        function: Callable[Concatenate[Any, P], R],
        definition: str = "",
        takes: Takes = "table",
        *,
        null: Null | None = None,
        of_base_rate: bool = False,
        formula: IntervalFormula | None = None,
        resampled: bool = True,
    ) -> None:
        self.definition, self.null, self.of_base_rate, self.resampled = definition, null, of_base_rate, resampled
        self.formula = formula
        super().__init__(function, takes)

    def _returns(self) -> str:
        figure = ", and returns a `Figure` with its definition" if not self.definition else ""
        given = {"table": "a forecast table", "classes": "a `ClassForecast`"}.get(self.takes, "either kind of forecast")
        return f"float\n    The measure; ``{self.__name__}.of`` takes {given}{figure}."

    def __call__(self, *args: Any, **options: Any) -> float:
        """Return the measure of probabilities against labels, as `ForecastFunction` reads them."""
        return float(super().__call__(*args, **options))


def measure(
    definition: str = "", takes: Takes = "table", **marks: Any
) -> Callable[[Callable[Concatenate[Any, P], R]], Measure[P, R]]:
    """Make a function of a forecast a measure.

    Parameters
    ----------
    definition : str
        How the number is computed; empty where the function returns a `Figure`.
    takes : {"table", "classes", "both"}, default "table"
        Which forecasts: a `ScoreTable` of two classes, a `ClassForecast`, or both.
    **marks
        Further attributes of `Measure`: ``null``, ``of_base_rate``, ``formula`` and ``resampled``.

    Returns
    -------
    callable
        A decorator, which returns a `Measure`.

    See Also
    --------
    register_measure : Adds the measure to summaries and reports.

    Examples
    --------
    >>> @measure("mean of P")
    ... def mean_forecast(forecast):
    ...     return float(forecast.total @ probability(forecast)) / size(forecast)
    >>> mean_forecast([0, 1], [0.2, 0.6])
    0.4
    """
    return lambda function: Measure(function, definition, takes, **marks)


def register_measure(made: M) -> M:
    """Add a measure to `MEASURES`: summaries, reports and the command line then find it by name.

    Usable as a decorator over `measure`.

    Parameters
    ----------
    made : Measure
        What the decorator `measure` returns.

    Returns
    -------
    Measure

    See Also
    --------
    measure : Makes a measure of a function.
    """
    if not isinstance(made, Measure):
        _check.fail("a measure must be made with oddsmith.metrics.measure", repr(made), "decorate the function first")
    if MEASURES.setdefault(made.__name__, made) is not made:
        _check.fail("names of measures must be unique", f"a second {made.__name__!r}", "choose another name")
    return made


@dataclass(frozen=True)
class Figure(Result):
    """A number that carries its definition.

    ``float(figure)`` is the number, ``str(figure)`` adds how it was computed, and whether on rows that the forecast
    was fitted on.

    Parameters
    ----------
    value : float
        The number.
    definition : str
        How it was computed.
    in_sample : bool
        Whether the forecast was fitted on its rows.

    See Also
    --------
    measure : Makes functions that return it.

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
        return f"{self.value:.6g} ({self.description})"

    @property
    def description(self) -> str:
        """The definition, with a mark of figures that flatter."""
        return f"{self.definition}; in-sample" if self.in_sample else self.definition


def as_forecast(forecast: object) -> ScoreTable:
    """Refuse what is not a table."""
    if not isinstance(forecast, ScoreTable):
        hint = "make one with forecast_from_arrays(y_true, y_prob)"
        _check.fail("forecast must be a ScoreTable of log-odds", type(forecast).__name__, hint)
    return forecast


def forecast_from_arrays(
    y_true: ArrayLike, y_prob: ArrayLike, sample_weight: ArrayLike | None = None, *, pos_label: Any = None
) -> ScoreTable:
    """Return the forecast table of labels and probabilities of the positive class.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels {0, 1}, {−1, +1}, bool, or any two values with ``pos_label``.
    y_prob : array-like of shape (n,)
        P(+), 0 and 1 allowed.
    sample_weight : array-like of shape (n,), optional
        Integer-typed weights are counts, float weights importance weights.
    pos_label : object, optional
        The positive label.

    Returns
    -------
    ScoreTable

    See Also
    --------
    class_forecast : For several classes.
    forecast_of : From a table and a calibrator.

    Examples
    --------
    >>> forecast_from_arrays([0, 1, 1], [0.5, 0.5, 1.0]).scores
    array([ 0., inf])
    """
    prob = _check.as_array(y_prob, "y_prob", (1,), unit=True)
    return ScoreTable.from_arrays(prob, y_true, sample_weight, pos_label).map(logit)


def probability(forecast: ScoreTable) -> Floats:
    """Return P(+) at each cell."""
    return np.asarray(expit(forecast.scores))


def weighted_sum(weight: Weights, value: Floats) -> float:
    """Return Σ weight·value, where an infinite value at weight 0 counts nothing."""
    held = weight > 0
    return float(weight[held] @ value[held])


def size(forecast: Forecast) -> float:
    """Return the weight of all rows."""
    if isinstance(forecast, ClassForecast):
        return float(forecast.weight.sum(dtype=np.float64))
    return forecast.n_pos + forecast.n_neg


def squared_weight(forecast: ScoreTable) -> Weights:
    """Return Σw² of each cell, which is the count for counts."""
    pos, neg = forecast.squares
    return pos + neg


def residuals(forecast: ScoreTable) -> Floats:
    """Return Σ w(y − P) of each cell."""
    return np.asarray(forecast.pos * expit(-forecast.scores) - forecast.neg * expit(forecast.scores))


def require_classes(forecast: ScoreTable, negatives: bool = True) -> None:
    """Refuse a forecast without positives, or without one of both classes."""
    if forecast.n_pos == 0 or (negatives and forecast.n_neg == 0):
        needed = "both classes" if negatives else "positives"
        _check.fail(f"{needed} must be present", "rows of one class only", "collect rows of the other")


checked_level = _check.level
