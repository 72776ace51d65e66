"""Monotone logistic regression: log-odds that rise by pieces, and bend only where the data insist."""

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

import numpy as np

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.calibrators._base import Fitted, convergence_notes
from oddsmith.calibrators._log_odds_input import UnitCalibrator
from oddsmith.calibrators._reading import Reading, ScoreKind, soft_reading
from oddsmith.data import Sample, ScoreTable, quantiles
from oddsmith.errors import NegativeSlopeWarning
from oddsmith.fitting import SINGLE, LongDesign, ScoreScale, platt_targets, rising_step, sketch
from oddsmith.maps import PolynomialMap

#: Least slope, in log-odds over the range of the scores: no two scores get the same log-odds.
_LEAST_SLOPE = 1e-6


@dataclass(eq=False, repr=False)
class MonotoneLogisticCalibrator(UnitCalibrator):
    """Fit log-odds that are continuous, linear between quantiles of the score, and always rising.

    Between a sigmoid, which one straight line makes too stiff, and isotonic regression, which steps make too loose:
    slopes may differ from piece to piece, but none is negative and neighboring slopes are pulled together. Never ties
    or reorders scores. Good from a hundred cases on.

    Parameters
    ----------
    n_pieces : int, default 8
        Pieces of equal weight.
    penalty : float, default 1.0
        Weight λ of the penalty on differences of neighboring slopes, for log-odds of unit standard deviation.
    pos_label, clip
        As for every calibrator.
    input : {"score", "probability", "log_odds"}, default "score"
        "score" reads scores that all lie in [0, 1] as probabilities, and others as log-odds. Where some of those
        lie beyond ±37 or far from the others, they may be clipped, if that forecasts best out of sample.

    Attributes
    ----------
    knots_ : ndarray of shape (K − 1,)
        Where pieces meet, as log-odds.
    slopes_ : ndarray of shape (K,)
    input_ : {"probability", "log_odds", "clipped", "standardized"}
        How the scores were read.

    See Also
    --------
    PiecewiseLogisticCalibrator : Fewer pieces, which may fall.
    AutoCalibrator : Blends it with three other methods.

    Notes
    -----
    Minimizes −Σ [tᵢ log pᵢ + (1 − tᵢ) log(1 − pᵢ)] + ½λ Σ (θⱼ₊₁ − θⱼ)² over slopes θⱼ ≥ 0, with Platt's targets t; each
    Newton step is a non-negative least-squares problem. Slopes are at least 10⁻⁶. Probabilities are read as
    log((p + ε)/(1 − p + ε)) with ε = 1/(2N), which is finite at 0 and 1 and keeps all of them apart.

    References
    ----------
    J. Platt, Probabilistic outputs for support vector machines, 1999 (targets).
    J. Zhang and Y. Yang, Probabilistic score estimation with piecewise logistic regression, ICML 2004 (pieces).

    Examples
    --------
    >>> import numpy as np
    >>> from oddsmith import MonotoneLogisticCalibrator
    >>> s = np.linspace(-3, 3, 200)
    >>> y = (np.sin(40 * s) < np.tanh(s)).astype(int)
    >>> MonotoneLogisticCalibrator().fit(s, y).predict_proba([-1.0, 0.0, 2.0])[:, 1].round(2)
    array([0.23, 0.5 , 0.92])
    """

    n_pieces: int = 8
    penalty: float = 1.0

    knots_: Floats = field(init=False)
    slopes_: Floats = field(init=False)

    _affine: ClassVar[bool] = True
    _when_separable: ClassVar[str] = "Platt's targets and the penalty keep the fit finite"

    def _check_parameters(self) -> None:
        _check.whole_number(self.n_pieces, "n_pieces", low=1)
        _check.number(self.penalty, "penalty", low=0, strict=True)

    def _plausible_reading(self, kind: ScoreKind, data: Sample) -> Reading:
        return Reading(kind=kind) if kind == "log_odds" else soft_reading(kind, 0.5 / (data.n_pos + data.n_neg))

    def _fit(self, table: ScoreTable) -> Fitted:
        frame = ScoreScale.of(table)
        knots = self._place(table, frame)
        points = sketch(table, frame, knots, fine=True, longest=SINGLE)
        spread = math.sqrt(points.variance)
        ends = np.concatenate([[-np.inf], frame.x(knots), [np.inf]])

        def ramps(x: Floats) -> Floats:
            """Return one feature per piece, which rises between its knots, and a constant; all are 0 or 1 at x = 0."""
            columns = np.empty((len(x), len(ends)))
            for piece, (low, high) in enumerate(pairwise(ends)):
                columns[:, piece] = (np.clip(x, low, high) - np.clip(0.0, low, high)) / spread
            columns[:, -1] = 1.0
            return columns

        long = LongDesign.of_pieces(table, frame, ramps, platt_targets(table), points)
        bends = np.diff(np.eye(len(knots) + 1), axis=0)
        penalty = np.zeros((len(knots) + 2,) * 2)
        penalty[:-1, :-1] = self.penalty * bends.T @ bends
        theta, _, converged = long.fit(penalty, direction=rising_step)
        notes = convergence_notes(converged)
        if not np.any(theta[:-1] > 0):
            message = "The best map would decrease with the score; a constant was fitted instead."
            notes.append((NegativeSlopeWarning, message))
        # The least slope is one over the range of the scores: their spread vanishes beside a row of huge weight.
        slopes = np.maximum(theta[:-1] / spread, _LEAST_SLOPE)
        fitted = _join(knots, slopes, float(theta[-1]), frame)
        return Fitted(fitted, {"knots_": knots, "slopes_": slopes / frame.scale}, notes)

    def _place(self, table: ScoreTable, frame: ScoreScale) -> Floats:
        """Return inner knots at equally spaced percentiles, apart from each other on the standardized scale."""
        inner = quantiles(table.scores, table.total, np.arange(1, self.n_pieces) / self.n_pieces)
        low, high = table.span()
        x = frame.x(np.array([low, *inner, high]))
        apart = np.diff(x) > 1e-9 * (x[-1] - x[0])
        return np.asarray(inner[apart[:-1] & apart[1:]] if len(inner) else inner)


def _join(knots: Floats, slopes: Floats, level: float, frame: ScoreScale) -> PolynomialMap:
    """Return pieces that meet to the last bit, so that rounding cannot reverse neighbors.

    Each piece is expanded about the knot on its left, with the value that the piece before has there.
    """
    if len(knots) == 0:
        return PolynomialMap(knots, np.array([frame.shift * frame.scale]), np.array([[level, slopes[0]]]), frame.scale)
    x = frame.x(knots)
    ends = np.concatenate([[-np.inf], x, [np.inf]])
    at_first = level + float(np.sum((np.clip(x[0], ends[:-1], ends[1:]) - np.clip(0, ends[:-1], ends[1:])) * slopes))
    origins = np.append(knots[0], knots)
    values = [at_first, at_first]
    for j in range(1, len(knots)):
        piece = PolynomialMap(np.empty(0), origins[j : j + 1], np.array([[values[j], slopes[j]]]), frame.scale)
        values.append(float(piece.log_odds(knots[j])))
    return PolynomialMap(knots, origins, np.column_stack([values, slopes]), frame.scale)
