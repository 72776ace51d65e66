"""Proper scores: log-loss, squared error, 0/1 error, and what they are made of."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import entr, expit

from oddsmith import _check, _kernels
from oddsmith._types import Floats
from oddsmith.maps import logit
from oddsmith.metrics.classes import ClassForecast, recalibrate
from oddsmith.metrics.measure import Forecast, Measure, forecast_function, measure, register_measure, size, weighted_sum
from oddsmith.metrics.result import Result

ProperScore = Literal["log", "squared"]


@register_measure
@measure("mean of -log P(true class), in nats", "both")
def log_loss(forecast: Forecast, *, total: bool = False, base: float = math.e, clip: float | None = None) -> float:
    """Return the mean (or total) log-loss, from log-odds, infinite if a class forecast at 0 occurred.

    Parameters
    ----------
    total : bool, default False
        Return the sum over all cases, −Σ log P(true class), instead of the mean.
    base : float, default e
        Base of the logarithm, above 1; 2 gives bits.
    clip : float, optional
        Clip P to [clip, 1 − clip] first; by default nothing is clipped.

    See Also
    --------
    log_loss_miscalibration : The part that recalibration saves.
    squared_error : The Brier score.

    Notes
    -----
    −log P(y) = log(1 + exp(−yL)), y = ±1.

    Examples
    --------
    >>> round(log_loss([1, 0, 1], [0.9, 0.2, 0.6]), 4)
    0.2798
    >>> round(log_loss([1, 0, 1], [0.9, 0.2, 0.6], total=True), 4)
    0.8393
    """
    base = _check.number(base, "base", low=1, strict=True)
    if clip is not None:
        forecast = _clip(forecast, clip)
    return _total("log", forecast) / ((1.0 if total else size(forecast)) * math.log(base))


@register_measure
@measure("mean of (t - P)², the Brier score", "both")
def squared_error(forecast: Forecast, *, total: bool = False) -> float:
    """Return the mean (or total) squared error (Brier score), Σ(t − P)²; of three or more classes summed over them.

    Parameters
    ----------
    total : bool, default False
        Return the sum over all cases instead of the mean.

    See Also
    --------
    brier_skill_score : Relative to the base rate.
    root_mean_squared_error : Its square root.
    log_loss : The other proper score.

    Examples
    --------
    >>> round(squared_error([1, 0, 1], [0.9, 0.2, 0.6]), 4)
    0.07
    """
    return _total("squared", forecast) / (1.0 if total else size(forecast))


@measure("root of the mean of (t - P)²", "both")
def root_mean_squared_error(forecast: Forecast) -> float:
    """Return the root of the mean squared error.

    See Also
    --------
    squared_error : The Brier score.

    Examples
    --------
    >>> round(root_mean_squared_error([1, 0, 1], [0.9, 0.2, 0.6]), 4)
    0.2646
    """
    return math.sqrt(_total("squared", forecast) / size(forecast))


@register_measure
@measure("share of wrong decisions at P = ½", "both", formula="error")
def zero_one_error(forecast: Forecast, *, total: bool = False) -> float:
    """Return the share (or weight) of wrong decisions at P = ½; P exactly ½ decides negative.

    With several classes the most probable one is chosen, of equals the first.

    Parameters
    ----------
    total : bool, default False
        Return the sum over all cases instead of the mean.

    See Also
    --------
    accuracy : The share of right decisions.

    Examples
    --------
    >>> zero_one_error([1, 0, 1, 1], [0.9, 0.7, 0.6, 0.5])
    0.5
    """
    if isinstance(forecast, ClassForecast):
        wrong = float(forecast.weight[~forecast.right].sum())
    else:
        wrong = float(np.where(forecast.scores > 0, forecast.neg, forecast.pos).sum())
    return wrong if total else wrong / size(forecast)


@dataclass(frozen=True)
class Decomposition(Result):
    """Mean score = miscalibration − discrimination + uncertainty.

    Miscalibration is what the best recalibration would save, discrimination what that one saves against the base rate,
    uncertainty the score of the base rate.

    Parameters
    ----------
    kind : {"log", "squared"}
        Which score is split.
    score : float
        The mean score.
    miscalibration : float
        What recalibration saves.
    discrimination : float
        What recalibrated forecasts save against the base rate.
    uncertainty : float
        The score of the base rate.
    recalibration : str
        How forecasts were recalibrated.

    See Also
    --------
    decompose : Returns it.
    """

    kind: ProperScore
    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    recalibration: str = "isotonic regression (CORP)"

    def __str__(self) -> str:
        return (
            f"{self.kind} score {self.score:.6g} = miscalibration {self.miscalibration:.6g} "
            f"- discrimination {self.discrimination:.6g} + uncertainty {self.uncertainty:.6g} ({self.recalibration})"
        )


@forecast_function("both")
def decompose(forecast: Forecast, *, score: ProperScore = "log") -> Decomposition:
    """Split a mean score into miscalibration, discrimination and uncertainty.

    Parameters
    ----------
    score : {"log", "squared"}, default "log"
        Log-loss in nats, or squared error.

    See Also
    --------
    log_loss_miscalibration : One part alone.
    oddsmith.plots.DecompositionDisplay : Draws several forecasts.

    Notes
    -----
    MCB = S(P) − S(R), DSC = S(ȳ) − S(R), UNC = S(ȳ); R is the isotonic regression of the labels on P. Of several
    classes the squared error is the sum over each class against the rest, and so are its parts; for the log-loss R is
    the best softmax(a·log P + b), with one b per class.

    References
    ----------
    T. Dimitriadis, T. Gneiting and A. Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.

    Examples
    --------
    >>> parts = decompose([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9], score="squared")
    >>> parts.score, parts.miscalibration, parts.discrimination, parts.uncertainty
    (0.1925, 0.0675, 0.125, 0.25)
    """
    _check.one_of(score, "score", ("log", "squared"))
    if isinstance(forecast, ClassForecast):
        return _decompose_classes(forecast, score)
    n = size(forecast)
    mean = _total(score, forecast) / n
    starts, rates = _kernels.pool_violators(forecast.pos, forecast.neg)
    best = _entropy(score, rates, np.add.reduceat(forecast.total, starts)) / n
    base = _entropy(score, np.array([forecast.n_pos / n]), np.array([n])) / n
    # Rounding must not turn a saving of 0 negative.
    return Decomposition(score, mean, max(mean - best, 0.0), max(base - best, 0.0), base)


def _decompose_classes(forecast: ClassForecast, score: ProperScore) -> Decomposition:
    if score == "squared":
        parts = [decompose.of(table, score=score) for table in forecast.of_classes()]
        names = ("score", "miscalibration", "discrimination", "uncertainty")
        sums = {name: math.fsum(getattr(part, name) for part in parts) for name in names}
        return Decomposition(score, **sums, recalibration="isotonic regression of each class (CORP)")
    rates, n = forecast.base_rates, size(forecast)
    mean, base = _total("log", forecast) / n, float(entr(rates).sum())
    logs = np.take_along_axis(recalibrate(forecast), forecast.truth[:, None], axis=1)[:, 0]
    # The base rates and the forecast itself are lines too, which the search may miss by rounding.
    best = min(-float(forecast.weight @ logs) / n, mean, base)
    return Decomposition(score, mean, mean - best, base - best, base, "softmax(a log P + b)")


def _part(name: str, definition: str, **marks: Any) -> Measure[[], float]:
    """Return one part of a decomposition as a measure."""
    score: ProperScore = "log" if name.startswith("log") else "squared"
    part = name.rpartition("_")[2]

    def value(forecast: Forecast) -> float:
        return float(getattr(decompose.of(forecast, score=score), part))

    value.__name__ = value.__qualname__ = name
    value.__doc__ = f"Return the {definition}.\n\nSee Also\n--------\ndecompose : All parts of a score."
    return Measure(value, f"{definition} (CORP)", "both", **marks)


_SAVED = "that the best monotone recalibration saves"
_AGAINST = f"{_SAVED} against the base rate"
log_loss_miscalibration = register_measure(_part("log_loss_miscalibration", f"log-loss {_SAVED}", null="calibrated"))
log_loss_discrimination = register_measure(_part("log_loss_discrimination", f"log-loss {_AGAINST}", null="constant"))
log_loss_uncertainty = register_measure(_part("log_loss_uncertainty", "log-loss of the base rate", of_base_rate=True))
brier_miscalibration = _part("brier_miscalibration", f"Brier score {_SAVED}", null="calibrated")
brier_discrimination = _part("brier_discrimination", f"Brier score {_AGAINST}", null="constant")
brier_uncertainty = _part("brier_uncertainty", "Brier score of the base rate", of_base_rate=True)


def decision_log_prob(signed_log_odds: Floats) -> Floats:
    """Return log P(true class) of decisions with log-odds yL for the true class: ≤ 0, larger is better."""
    return np.asarray(-np.logaddexp(0.0, -signed_log_odds))


def decision_squared_error(signed_log_odds: Floats) -> Floats:
    """Return (t − P)² of decisions with log-odds yL for the true class."""
    return np.asarray(expit(-signed_log_odds) ** 2)


_LOSSES: dict[str, Callable[[Floats], Floats]] = {
    "log": lambda signed: -decision_log_prob(signed),
    "squared": decision_squared_error,
}


def _total(score: ProperScore, forecast: Forecast) -> float:
    if isinstance(forecast, ClassForecast):
        return float(forecast.weight @ (-forecast.log_of_truth if score == "log" else forecast.squared_distance))
    loss = _LOSSES[score]
    return weighted_sum(forecast.pos, loss(forecast.scores)) + weighted_sum(forecast.neg, loss(-forecast.scores))


def _entropy(score: ProperScore, rates: Floats, weight: np.ndarray) -> float:
    """Return the total score of forecasts that equal the rates of what happened."""
    loss, at = _LOSSES[score], logit(rates)
    return weighted_sum(weight * rates, loss(at)) + weighted_sum(weight * (1 - rates), loss(-at))


def _clip(forecast: Forecast, clip: float) -> Forecast:
    share = _check.number(clip, "clip", low=0, strict=True)
    if share >= 0.5:
        _check.fail("clip must be below ½", f"clip={clip!r}", "pass a small number such as 1e-6")
    if isinstance(forecast, ClassForecast):
        return forecast.clip(share, 1 - share)
    bound = abs(float(logit(np.array(share))))
    return forecast.map(lambda scores: np.clip(scores, -bound, bound))
