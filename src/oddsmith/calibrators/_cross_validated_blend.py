"""Blending weights from out-of-sample forecasts, and what those forecasts say about calibrating at all."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from oddsmith._types import Floats, Weights
from oddsmith.data import Fold, ScoreTable, deal_weight, limit_cells
from oddsmith.fitting import HeldOutLaw, mixture_weights
from oddsmith.maps import CalibrationMap

_FOLDS = 5

#: Weight of the prior of a blend, in cases.
_PRIOR = 5.0

#: Power of its held-out likelihood with which each part shares in the prior: close to 0, for blends of equal weights
#: vary least with few cases, and not 0, for a part that is far off spoils a blend at any weight.
_TEMPER = 0.1

#: A P of 0 counts as this.
_TINY = float(np.finfo(np.float64).tiny)

#: Longer tables are pooled for cross-validation, to cells of equal weight: weights of a blend need no more.
_LONG = 4096
_CELLS = 600


@dataclass(frozen=True)
class OutOfSample:
    """Forecasts of cells by maps that have not seen them; weights are in cases."""

    scores: Floats
    #: Of each part of the blend, fitted to the other folds: shape (parts, cells).
    log_odds: Floats
    pos: Floats
    neg: Floats
    n_folds: int

    @property
    def n(self) -> float:
        """Cases."""
        return float(self.pos.sum() + self.neg.sum())

    def split(self, n: int) -> "list[OutOfSample]":
        """Return the parts in n groups of the same size."""
        return [replace(self, log_odds=some) for some in np.split(self.log_odds, n)]

    def weights(self) -> Floats:
        """Return the weights of the most probable blend."""
        likelihood = np.hstack([expit(self.log_odds), expit(-self.log_odds)])
        cases = np.concatenate([self.pos, self.neg])
        mean = np.log(np.maximum(likelihood, _TINY)) @ (cases / self.n)
        shares = np.exp(_TEMPER * self.n * (mean - mean.max()))
        return mixture_weights(likelihood, cases, _PRIOR * shares / shares.sum())

    def losses(self, forecast: Floats) -> tuple[Floats, Floats]:
        """Return the log-loss of a positive and of a negative case in each cell, for log-odds."""
        return np.logaddexp(0, -forecast), np.logaddexp(0, forecast)

    def mean(self, losses: tuple[Floats, Floats]) -> tuple[float, float]:
        """Return the mean over cases and its standard error."""
        of_pos, of_neg = losses
        mean = float(self.pos @ of_pos + self.neg @ of_neg) / self.n
        spread = float(self.pos @ (of_pos - mean) ** 2 + self.neg @ (of_neg - mean) ** 2) / self.n
        return mean, math.sqrt(spread / self.n)

    def half_width(self, error: float) -> float:
        """Return half the width of a 95 % interval around a mean, from the error that independent cases would have."""
        return HeldOutLaw.of(error, self.n_folds, [self.pos.sum(), self.neg.sum()]).half_width()


def blend_log_odds(log_odds: Floats, weights: Floats) -> Floats:
    """Return the log-odds of a blend of forecasts, shape (parts, cells)."""
    return np.asarray(np.log(weights @ expit(log_odds)) - np.log(weights @ expit(-log_odds)))


def out_of_sample(
    table: ScoreTable, fit: Callable[[ScoreTable], Sequence[CalibrationMap]], random_state: int | None
) -> OutOfSample | None:
    """Forecast every case by maps fitted without it; None where there are too few to do so.

    A class of one case goes to one fold. That fold is judged by base rates, the others by maps that have seen the case.
    """
    whole = limit_cells(table, _CELLS) if len(table) > _LONG else table.exact()
    rarer, commoner = sorted((whole.n_pos, whole.n_neg))
    n_folds = int(min(_FOLDS, rarer if rarer >= 2 else commoner))
    if n_folds < 2 or rarer < 1:
        return None
    splits = _deal(whole, n_folds, random_state)
    parts = [fold.part for fold in splits]
    return OutOfSample(
        np.concatenate([part.scores for part in parts]),
        np.hstack([[fitted.log_odds(fold.part.scores) for fitted in fit(fold.rest)] for fold in splits]),
        np.concatenate([part.pos for part in parts]).astype(np.float64),
        np.concatenate([part.neg for part in parts]).astype(np.float64),
        n_folds,
    )


def _deal(table: ScoreTable, n_folds: int, random_state: int | None) -> list[Fold[ScoreTable]]:
    """Deal each class to folds at random, unit of weight by unit along the scores.

    The law is that of dealing rows. Who gets a unit depends on its number only: whether two rows have the same score,
    or scores that differ in their last bit, or are one row of weight 2, changes nothing.
    """
    rng = np.random.default_rng(random_state)
    pos, neg = (deal_weight(weight.astype(np.float64), n_folds, rng) for weight in (table.pos, table.neg))
    return [
        Fold(_with_weights(table, table.pos - pos[k], table.neg - neg[k]), _with_weights(table, pos[k], neg[k]))
        for k in range(n_folds)
    ]


def _with_weights(table: ScoreTable, pos: Weights, neg: Weights) -> ScoreTable:
    """Return the same scores with other weights, whole ones as counts; cells without any are dropped."""
    if np.all(pos == np.floor(pos)) and np.all(neg == np.floor(neg)):
        return table.with_weights(pos.astype(np.int64), neg.astype(np.int64))
    weights = pos.astype(np.float64), neg.astype(np.float64)
    return table.with_weights(*weights, weights)
