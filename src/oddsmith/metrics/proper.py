"""Proper scores: log-loss, squared error, 0/1 error, and what they are made of."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit

from oddsmith import _check, _kernels
from oddsmith._types import Floats
from oddsmith.metrics.measure import log_odds, measure, nonnegative, of_base_rate, size, weighted_sum
from oddsmith.metrics.result import Result
from oddsmith.table import ScoreTable

__all__ = [
    "Decomposition",
    "decompose",
    "discrimination",
    "log_loss",
    "miscalibration",
    "root_mean_squared_error",
    "squared_error",
    "uncertainty",
    "zero_one_error",
]

Convention = Literal["mean", "total", "B03", "ZY04", "P99", "NC05"]
Score = Literal["log", "squared"]

#: Convention → (sign, whether it is a mean, base of the logarithm).
_CONVENTIONS: dict[str, tuple[float, bool, float]] = {
    "mean": (1.0, True, math.e),
    "total": (1.0, False, math.e),
    "B03": (-1.0, False, math.e),
    "ZY04": (-1.0, False, math.e),
    "P99": (1.0, False, math.e),
    "NC05": (1.0, True, 2.0),
}


@measure
def log_loss(
    forecast: ScoreTable,
    *,
    convention: Convention = "mean",
    base: float | None = None,
    clip: float | None = None,
) -> float:
    """Return the log-loss, from log-odds, infinite when a certain forecast was wrong.

    Parameters
    ----------
    forecast : ScoreTable
        Scores are log-odds L.
    convention : {"mean", "total", "B03", "ZY04", "P99", "NC05"}, default "mean"
        "mean" and "total" are ≥ 0, smaller is better. "B03" and "ZY04" are Σ log P(true class) ≤ 0, larger is
        better. "P99" is −Σ log P(true class). "NC05" is the mean cross-entropy in bits.
    base : float, optional
        Base of the logarithm, instead of the convention's.
    clip : float, optional
        Hold P within [clip, 1 − clip] first; by default nothing is clipped.

    Notes
    -----
    −log P(y) = log(1 + exp(−yL)), y = ±1.

    References
    ----------
    P. Bennett, Using asymmetric distributions to improve text classifier probability estimates, SIGIR 2003 (B03).
    J. Zhang and Y. Yang, ICML 2004 (ZY04). J. Platt, 1999 (P99). A. Niculescu-Mizil and R. Caruana, UAI 2005 (NC05).

    Examples
    --------
    >>> round(log_loss.from_arrays([1, 0, 1], [0.9, 0.2, 0.6]), 4)
    0.2798
    >>> round(log_loss.from_arrays([1, 0, 1], [0.9, 0.2, 0.6], convention="ZY04"), 4)
    -0.8393
    """
    _check.one_of(convention, "convention", tuple(_CONVENTIONS))
    sign, averaged, usual = _CONVENTIONS[convention]
    base = usual if base is None else _check.number(base, "base", low=1, strict=True)
    if clip is not None:
        bound = abs(float(log_odds(np.array(_clip_share(clip)))))
        forecast = forecast.map(lambda scores: np.clip(scores, -bound, bound))
    return sign * _total("log", forecast) / ((size(forecast) if averaged else 1.0) * math.log(base))


@measure
def squared_error(forecast: ScoreTable, *, total: bool = False) -> float:
    """Return the mean (or total) squared error (Brier score), Σ(t − P)².

    Examples
    --------
    >>> round(squared_error.from_arrays([1, 0, 1], [0.9, 0.2, 0.6]), 4)
    0.07
    """
    return _total("squared", forecast) / (1.0 if total else size(forecast))


@measure
def root_mean_squared_error(forecast: ScoreTable) -> float:
    """Return the root of the mean squared error.

    Examples
    --------
    >>> round(root_mean_squared_error.from_arrays([1, 0, 1], [0.9, 0.2, 0.6]), 4)
    0.2646
    """
    return math.sqrt(_total("squared", forecast) / size(forecast))


@measure
def zero_one_error(forecast: ScoreTable, *, total: bool = False) -> float:
    """Return the share (or weight) of wrong decisions at P = ½; P exactly ½ decides negative.

    Examples
    --------
    >>> zero_one_error.from_arrays([1, 0, 1, 1], [0.9, 0.7, 0.6, 0.5])
    0.5
    """
    positive = forecast.scores > 0
    wrong = float(forecast.neg[positive].sum() + forecast.pos[~positive].sum())
    return wrong if total else wrong / size(forecast)


@dataclass(frozen=True)
class Decomposition(Result):
    """Mean score = miscalibration − discrimination + uncertainty.

    Miscalibration is what the best monotone recalibration would save, discrimination what that one saves against the
    base rate, uncertainty the score of the base rate.
    """

    kind: Score
    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float

    def __str__(self) -> str:
        return (
            f"{self.kind} score {self.score:.6g} = miscalibration {self.miscalibration:.6g} "
            f"- discrimination {self.discrimination:.6g} + uncertainty {self.uncertainty:.6g} (CORP, by PAV)"
        )


@measure
def decompose(forecast: ScoreTable, *, score: Score = "log") -> Decomposition:
    """Split a mean score in miscalibration, discrimination and uncertainty.

    Parameters
    ----------
    forecast : ScoreTable
        Scores are log-odds.
    score : {"log", "squared"}, default "log"
        Log-loss in nats, or squared error.

    Notes
    -----
    MCB = S(P) − S(PAV), DSC = S(ȳ) − S(PAV), UNC = S(ȳ); PAV is the isotonic regression of the labels on P.

    References
    ----------
    T. Dimitriadis, T. Gneiting and A. Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.

    Examples
    --------
    >>> parts = decompose.from_arrays([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9], score="squared")
    >>> parts.score, parts.miscalibration, parts.discrimination, parts.uncertainty
    (0.1925, 0.0675, 0.125, 0.25)
    """
    _check.one_of(score, "score", ("log", "squared"))
    n = size(forecast)
    mean = _total(score, forecast) / n
    starts, rates = _kernels.pool_violators(forecast.pos, forecast.neg)
    best = _entropy(score, rates, np.add.reduceat(forecast.total, starts)) / n
    base = _entropy(score, np.array([forecast.n_pos / n]), np.array([n])) / n
    # Rounding must not turn a saving of 0 negative.
    return Decomposition(score, mean, max(mean - best, 0.0), max(base - best, 0.0), base)


@nonnegative("calibrated")
def miscalibration(forecast: ScoreTable, *, score: Score = "log") -> float:
    """Return what the best monotone recalibration would save of the mean score.

    Examples
    --------
    >>> miscalibration.from_arrays([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9], score="squared")
    0.0675
    """
    return decompose(forecast, score=score).miscalibration


@nonnegative("constant")
def discrimination(forecast: ScoreTable, *, score: Score = "log") -> float:
    """Return what the best monotone recalibration saves of the mean score, against the base rate.

    Examples
    --------
    >>> discrimination.from_arrays([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9], score="squared")
    0.125
    """
    return decompose(forecast, score=score).discrimination


@of_base_rate
def uncertainty(forecast: ScoreTable, *, score: Score = "log") -> float:
    """Return the mean score of the base rate.

    Examples
    --------
    >>> uncertainty.from_arrays([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9], score="squared")
    0.25
    """
    return decompose(forecast, score=score).uncertainty


def decision_log_loss(signed_log_odds: Floats) -> Floats:
    """Return log P(true class) of decisions with log-odds yL for the true class: ≤ 0, larger is better."""
    return np.asarray(-np.logaddexp(0.0, -signed_log_odds))


def decision_squared_error(signed_log_odds: Floats) -> Floats:
    """Return (t − P)² of decisions with log-odds yL for the true class."""
    return np.asarray(expit(-signed_log_odds) ** 2)


_LOSSES: dict[str, Callable[[Floats], Floats]] = {
    "log": lambda signed: -decision_log_loss(signed),
    "squared": decision_squared_error,
}


def _total(score: Score, forecast: ScoreTable) -> float:
    loss = _LOSSES[score]
    return weighted_sum(forecast.pos, loss(forecast.scores)) + weighted_sum(forecast.neg, loss(-forecast.scores))


def _entropy(score: Score, rates: Floats, weight: np.ndarray) -> float:
    """Return the total score of forecasts that equal the rates of what happened."""
    loss, at = _LOSSES[score], log_odds(rates)
    return weighted_sum(weight * rates, loss(at)) + weighted_sum(weight * (1 - rates), loss(-at))


def _clip_share(clip: float) -> float:
    share = _check.number(clip, "clip", low=0, strict=True)
    if share >= 0.5:
        _check.fail("clip must be below ½", f"clip={clip!r}", "pass a small number such as 1e-6")
    return share
