"""Venn–Abers: isotonic regression twice, once for each label that the new case may have."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from oddsmith import _check
from oddsmith._check import Floats
from oddsmith.calibrators._base import Calibrator, Laws
from oddsmith.calibrators._venn_abers import Steps, value_steps
from oddsmith.maps import CalibrationMap, StepMap
from oddsmith.rows import ScoreRows
from oddsmith.table import ScoreTable

__all__ = ["VennAbersCalibrator"]


@dataclass(eq=False, repr=False)
class VennAbersCalibrator(Calibrator):
    """Fit isotonic regression with the new case added, once as a negative and once as a positive.

    The two values p₀ ≤ p₁ hold the probability between them, one of the two being calibrated whatever the
    distribution, and say by their distance how much the data know. Merged in one number it is isotonic regression that
    never says 0 or 1. Wants some hundred cases; with fewer the interval is wide and the merged value close to ½.

    Parameters
    ----------
    pos_label, input, clip
        As for every calibrator.

    Attributes
    ----------
    lower_, upper_ : StepMap
        p₀ and p₁ as functions of the score (of its log-odds with ``input="probability"``).

    Notes
    -----
    p₀(s) and p₁(s) are the isotonic fits at s to the data with a case (s, 0) or (s, 1) of weight 1 added. The map is
    p = p₁/(1 − p₀ + p₁), the forecast whose worst log-loss regret over the interval is least. All values are found in
    one sort and a few passes, without a fit a case.

    References
    ----------
    V. Vovk and I. Petej, Venn–Abers predictors, UAI 2014.
    V. Vovk, I. Petej and V. Fedorova, Large-scale probabilistic predictors with and without guarantees of validity,
    NIPS 2015.

    Examples
    --------
    >>> from oddsmith import VennAbersCalibrator
    >>> cal = VennAbersCalibrator().fit([-2.0, -1.0, 0.5, 0.0, 1.5, 3.0], [0, 0, 0, 1, 1, 1])
    >>> low, high = cal.predict_interval([-1.5, 0.2, 2.0])
    >>> low.round(2), high.round(2), cal.predict_proba([-1.5, 0.2, 2.0])[:, 1].round(2)
    (array([0.  , 0.33, 0.5 ]), array([0.5 , 0.67, 1.  ]), array([0.33, 0.5 , 0.67]))
    """

    _when_separable: ClassVar[str] = "only the added case keeps the fit from 0 and 1"

    def _laws(self) -> Laws:
        return frozenset({"monotone", "scale", "shift", "mirror"})

    def predict_interval(self, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Return p₀ and p₁, each of shape (n,)."""
        check_is_fitted(self, "map_")
        s = self._enter(_check.as_scores(scores))
        return self.lower_.probability(s), self.upper_.probability(s)

    def _fit_or_degenerate(self, data: ScoreTable | ScoreRows) -> CalibrationMap:
        # With one class or one score the interval is that of a single score, whose merged value is the add-one prior.
        n = data.n_pos + data.n_neg
        self.lower_, self.upper_ = (_flat(data.span()[0], value / (n + 1)) for value in (data.n_pos, data.n_pos + 1))
        return super()._fit_or_degenerate(data)

    def _fit(self, table: ScoreTable) -> CalibrationMap:
        lower, upper = value_steps(table.pos, table.neg)
        # p₁ rises after a score, p₀ at it.
        self.lower_ = _step_map(table.scores, lower, "at")
        self.upper_ = _step_map(table.scores, upper, "after")
        knots = np.union1d(self.lower_.knots, self.upper_.knots)
        parts = []
        for side in (self.lower_, self.upper_):
            place = np.searchsorted(side.knots, knots)
            parts.append((side.probability(knots), side.between[np.append(place, len(side.knots))]))
        (p0_at, p0_between), (p1_at, p1_between) = parts
        return StepMap(knots, p1_at / (1 - p0_at + p1_at), p1_between / (1 - p0_between + p1_between))


def _step_map(scores: Floats, steps: Steps, rise: str) -> StepMap:
    """Return the step function of the score: ``starts`` count the scores that are passed."""
    knots = scores[steps.starts[1:] - 1]
    at = steps.values[1:] if rise == "at" else steps.values[:-1]
    return StepMap(knots, at, steps.values)


def _flat(score: float, value: float) -> StepMap:
    return StepMap(np.array([score]), np.array([value]), np.array([value, value]))
