"""The default: a blend of four methods, weighted by what each of them gets right out of sample."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from oddsmith import _check
from oddsmith._check import Floats
from oddsmith.blend import BlendMap
from oddsmith.calibrators._base import Calibrator, Laws
from oddsmith.calibrators._guard import RowSketch
from oddsmith.calibrators._stack import OutOfSample, blended, out_of_sample
from oddsmith.calibrators._unit import SoftUnitCalibrator
from oddsmith.calibrators.beta import BetaCalibrator
from oddsmith.calibrators.monotone import MonotoneLogisticCalibrator
from oddsmith.calibrators.temperature import TemperatureCalibrator
from oddsmith.calibrators.venn_abers import VennAbersCalibrator
from oddsmith.errors import NegativeSlopeWarning
from oddsmith.input_maps import unit_log_odds
from oddsmith.maps import CalibrationMap
from oddsmith.rows import ScoreRows
from oddsmith.soft_logit import soft_expit
from oddsmith.table import ScoreTable

__all__ = ["AutoCalibrator"]

#: What is blended. The first always rises and the second never says 0 or 1: both keep a least weight.
_PARTS: dict[str, type[Calibrator]] = {
    "monotone logistic": MonotoneLogisticCalibrator,
    "Venn–Abers": VennAbersCalibrator,
    "beta": BetaCalibrator,
    "temperature": TemperatureCalibrator,
}
_LEAST = np.array([0.01, 0.01, 0.0, 0.0])

#: More cases are worth their while as long as they promise this much log-loss.
_WORTH = 0.001

#: A rise of the log-odds over all scores that is no rise.
_FLAT = 1e-3

#: Doing nothing is judged with probabilities held this far from 0 and 1.
_CERTAIN = 1e-15


@dataclass(eq=False, repr=False)
class AutoCalibrator(SoftUnitCalibrator):
    """Blend four good methods, with weights from honest cross-validation. The default.

    One straight line (temperature), one curve (beta), a few rising pieces (monotone logistic) and free steps
    (Venn–Abers): with few cases the stiff ones get the weight, with many the flexible ones. The ranking of scores never
    changes, and no probability is 0 or 1. When the form of the map is known, the one method that has it may do better.

    Parameters
    ----------
    random_state : int or None, default 0
        Of the folds. A fit does not depend on the order of rows.
    guard : bool, default False
        Remember rows by their hashes, so that `overlap` tells whether others are among them; judging the calibrator on
        rows that it was fitted to then warns.
    pos_label, clip
        As for every calibrator.
    input : {"score", "probability", "log_odds"}, default "score"
        "score" takes scores that all lie in [0, 1] for probabilities and others for log-odds.

    Attributes
    ----------
    weights_ : dict of str to float
        Of each method in the blend.
    verdict_ : str
        What was chosen and why, whether calibrating was worth it, and whether more cases would help.
    gain_, gain_interval_ : float, tuple of float
        By how much the mean log-loss fell out of sample against leaving the scores as they are (taken for probabilities
        where all lie in [0, 1], else for log-odds), with its 95 % interval. NaN where there are two cases only.
    worth_it_ : bool or None
        Whether the gain is clearly above 0; None where it cannot be told.
    enough_cases_ : float
        From about so many cases on, more of them promise less than 0.001 of log-loss; NaN where it cannot be told.

    Notes
    -----
    P = Σ wₖPₖ with weights that maximise the out-of-sample likelihood under a Dirichlet prior worth two cases, in five
    stratified folds; then all methods are fitted to all cases. Probabilities are read as log((p + ε)/(1 − p + ε)) with
    ε = 1/(2N). Every method is non-decreasing, and one that is strictly increasing has weight 0.01 or more, as has one
    that never says 0 or 1. The loss of fits to few and to many cases, extrapolated as L + c/N, tells what more would
    bring. A float weight w counts as w cases. Above 4,096 distinct scores neighbours are pooled for cross-validation,
    not for the fit.

    References
    ----------
    D. Wolpert, Stacked generalization, Neural Networks 5, 1992.
    L. Breiman, Stacked regressions, Machine Learning 24, 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from oddsmith import AutoCalibrator
    >>> s = np.linspace(-3, 3, 200)
    >>> y = (np.sin(40 * s) < np.tanh(s)).astype(int)
    >>> AutoCalibrator().fit(s, y).predict_proba([-1.0, 0.0, 2.0])[:, 1].round(1)
    array([0.2, 0.5, 0.9])
    """

    random_state: int | None = 0
    guard: bool = False

    _when_separable: ClassVar[str] = "the prior and the added case keep the fit from 0 and 1"

    def _check_parameters(self) -> None:
        if self.random_state is not None:
            _check.whole_number(self.random_state, "random_state", low=0)
        _check.one_of(self.guard, "guard", (True, False))

    def _laws(self) -> Laws:
        return frozenset({"monotone"})

    def overlap(self, table: ScoreTable) -> float:
        """Return the share of a table's rows that this calibrator was fitted to; it must have been fitted on guard.

        Only rows that are alone with their score can be told; 0 where there are next to none.
        """
        check_is_fitted(self, "map_")
        if self._rows is None:
            _check.fail("guard must be on when the calibrator is fitted", "guard=False", "pass guard=True")
        return self._rows.shared(table.map(self._enter))

    def _fit_or_degenerate(self, data: ScoreTable | ScoreRows) -> CalibrationMap:
        self._rows = RowSketch.of(data) if self.guard and isinstance(data, ScoreTable) else None
        self.weights_ = dict.fromkeys(_PARTS, 1 / len(_PARTS))
        self.gain_, self.gain_interval_ = math.nan, (math.nan, math.nan)
        self.worth_it_: bool | None = None
        self.enough_cases_ = math.nan
        self.verdict_ = "One class or one score: there is nothing to compare, and the fit is a base rate."
        return super()._fit_or_degenerate(data)

    def _fit(self, table: ScoreTable) -> CalibrationMap:
        judged = out_of_sample(table, _fit_parts, self.random_state)
        equal = np.full(len(_PARTS), 1 / len(_PARTS))
        weights = _LEAST + (1 - _LEAST.sum()) * (equal if judged is None else judged.weights())
        self.weights_ = dict(zip(_PARTS, weights.tolist(), strict=True))
        if judged is None:
            self.verdict_ = "Each class has fewer than two cases: all methods get the same weight, and none is judged."
        else:
            self._judge(judged, weights)
        parts = _fit_parts(table)
        least, most = parts[0].log_odds(np.array(table.span()))
        if most - least < _FLAT:
            self._warn(NegativeSlopeWarning, "The data ask for a falling map: the fit is flat.")
        return BlendMap(parts, weights)

    def _judge(self, judged: OutOfSample, weights: Floats) -> None:
        """Tell what calibrating brought, and what more cases would."""
        ours = judged.losses(blended(judged.log_odds, weights))
        nothing = judged.losses(self._as_is(judged.scores))
        before, after = judged.mean(nothing)[0], judged.mean(ours)[0]
        self.gain_, error = judged.mean((nothing[0] - ours[0], nothing[1] - ours[1]))
        self.gain_interval_ = (self.gain_ - 1.96 * error, self.gain_ + 1.96 * error)
        self.worth_it_ = self.gain_interval_[0] > 0
        self.verdict_ = f"{self._choice()} {self._worth(before, after, judged.n_folds)}"
        if judged.few is not None:
            # L + c/N through the losses of fits to one fold and to all but one.
            k = judged.n_folds
            excess = judged.mean(judged.losses(blended(judged.few, weights)))[0] - after
            lost = max(excess, 0.0) / (k - k / (k - 1))
            self.enough_cases_ = lost * judged.n / _WORTH
            self.verdict_ += f" {self._more(judged.n, lost)}"

    def _as_is(self, scores: Floats) -> Floats:
        """Return the log-odds of leaving the scores as they are."""
        if self.input_ == "log_odds" or self.input == "probability":
            return scores
        return unit_log_odds(soft_expit(scores, self._softness), _CERTAIN)

    def _choice(self) -> str:
        ranked = sorted(self.weights_.items(), key=lambda item: -item[1])
        shares = ", ".join(f"{weight:.0%} {name}" for name, weight in ranked)
        return f"A blend of {shares}, by what each got right out of sample."

    def _worth(self, before: float, after: float, n_folds: int) -> str:
        low, high = self.gain_interval_
        change = (
            f"In {n_folds} folds the log-loss went from {before:.4f} to {after:.4f} "
            f"(gain {self.gain_:.4f}, 95 % interval {low:.4f} to {high:.4f})"
        )
        if self.worth_it_:
            return f"{change}: calibrating was worth it."
        if high < 0:
            return f"{change}: the scores were better as they are."
        return f"{change}: no clear difference from leaving the scores as they are."

    def _more(self, n: float, lost: float) -> str:
        if lost < _WORTH:
            return f"More than these {n:,.0f} cases would help little: about {lost / 2:.1g} for twice as many."
        return (
            f"Twice as many cases would bring about {lost / 2:.1g} more; "
            f"from about {self.enough_cases_:,.0f} on, more help less than {_WORTH:g}."
        )


def _fit_parts(table: ScoreTable) -> tuple[CalibrationMap, ...]:
    maps = []
    for kind in _PARTS.values():
        part = kind(input="log_odds")
        part._learn_quietly(table, np.array([0, 1]))
        maps.append(part.map_)
    return tuple(maps)
