"""The default: a blend of methods and readings of the score, weighted by what each gets right out of sample."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.calibrators._base import Calibrator, Fitted, Note
from oddsmith.calibrators._cross_validated_blend import OutOfSample, blend_log_odds, out_of_sample
from oddsmith.calibrators._gain import MeasuredGain, are_log_odds, measure_gain, no_gain
from oddsmith.calibrators._log_odds_input import UnitCalibrator
from oddsmith.calibrators._reading import (
    Reading,
    ScoreKind,
    as_log_odds,
    in_foreign_units,
    in_other_units,
    soft_reading,
)
from oddsmith.calibrators._recenter import is_right_in_the_large, level_in_the_large
from oddsmith.calibrators.beta import BetaCalibrator
from oddsmith.calibrators.monotone import MonotoneLogisticCalibrator
from oddsmith.calibrators.temperature import TemperatureCalibrator
from oddsmith.calibrators.venn_abers import VennAbersCalibrator
from oddsmith.data import Hashes, RowSketch, Sample, ScoreTable, as_table, marks
from oddsmith.errors import NegativeSlopeWarning, NonConvergenceWarning
from oddsmith.fitting import in_blocks
from oddsmith.maps import BlendMap, CalibrationMap

#: What is blended. The first always rises and the second never gives 0 or 1: both keep a least weight.
_METHODS: dict[str, type[Calibrator]] = {
    "monotone logistic": MonotoneLogisticCalibrator,
    "Venn–Abers": VennAbersCalibrator,
    "beta": BetaCalibrator,
    "temperature": TemperatureCalibrator,
}
_LEAST = np.array([0.01, 0.01, 0.0, 0.0])

#: The method that is indifferent to how scores are read.
_STEPS = "Venn–Abers"

#: Parts with less weight than this are left out.
_NEGLIGIBLE = 0.005

#: Longer tables are fitted in about so many blocks.
_FINE = 2**12

#: A rise of the log-odds over all scores that is no rise.
_FLAT = 1e-3

#: What tells a remembered positive row from a negative one with the same score.
_POSITIVE = np.uint64(0x5555555555555555)

#: With fewer rows that have a unique score, overlap cannot be detected.
_FEW = 20


@dataclass(eq=False, repr=False)
class AutoCalibrator(UnitCalibrator):
    """Blend four methods with weights from cross-validation. The default.

    One straight line (temperature), one curve (beta), a few rising pieces (monotone logistic) and free steps
    (Venn–Abers): with few cases the stiff ones get the weight, with many the flexible ones. The ranking of scores never
    changes, and no probability is 0 or 1. When the form of the map is known, the one method that has it may do better.

    Parameters
    ----------
    random_state : int or None, default 0
        Seed for drawing the folds. A fit does not depend on the order of rows.
    guard : bool, default False
        Keep hashes of the rows, by which `overlap` recognizes them; evaluating the calibrator on
        rows of its fit then warns.
    pos_label, clip
        As for every calibrator.
    input : {"score", "probability", "log_odds"}, default "score"
        "score" reads scores that all lie in [0, 1] as probabilities and others as log-odds, or in other units: see
        Notes. "log_odds" uses scores as given.

    Attributes
    ----------
    weights_ : dict of str to float
        Weight of each method in the blend.
    verdict_ : str
        First what is wrong with the score, if it is reversed or without signal; then what was chosen, and whether
        calibrating was worth it.
    gain_, gain_interval_ : float, tuple of float
        By how much the mean log-loss fell out of sample against the uncalibrated scores (read as probabilities where
        all lie in [0, 1], else as log-odds), with its 95 % interval. Infinite where a score of exactly 0 or 1
        was wrong; where such scores were right so far, the upper limit is infinite. NaN where there are only two cases,
        and where scores are neither probabilities nor plausible log-odds (some beyond ±37, ranks, points): the verdict
        then compares with the base rate.
    worth_it_ : bool or None
        Whether the gain is clearly above 0; False for a score that is reversed or without signal, None where the gain
        is not known.
    input_ : {"probability", "log_odds", "clipped", "standardized"}
        How the scores were read.
    softened_ : bool
        Whether log-odds were softened.

    See Also
    --------
    AutoScaling : The default for several classes.
    CalibratedClassifier : Calibrates a classifier and trains it.
    oddsmith.report.compare_methods : Compares it with other methods.

    Notes
    -----
    P = Σ wₖPₖ. The weights maximize the likelihood of cases held out in five stratified folds, under a Dirichlet prior
    that is worth five cases; then all methods are fitted to all cases. With few cases a blend of equal weights varies
    least, so the methods share the prior nearly equally: in proportion to their own held-out likelihood to the power
    0.1, which leaves out a method that is far off. Methods with a weight below 0.005 are dropped.

    Scores are read by their log-odds z, or by the softened log((p + ε)/(1 − p + ε)) with p = σ(z) and ε = 1/(2N),
    whichever blend is likelier out of sample: the first suits networks and boosters, the second nearest neighbors and
    forests, which predict exactly 0 and 1. Scores that are not plausible as log-odds (some beyond ±37, or whole numbers
    that span 20 or more) are standardized, (s − median)/IQR, where that is likelier; whole numbers of one sign that
    span 2 or more, such as ratings or ranks, always. It does not matter whether scores are given as probabilities or
    as their log-odds.

    Every component is non-decreasing. Monotone logistic, which is strictly increasing, and Venn–Abers, which is never 0
    or 1, have a weight of 0.01 or more. The blend is calibrated in the large: the log-odds of all components are moved
    by the same amount, the least that makes |Σ(P − Y)| over the fitted cases smaller than half of its standard error.
    If no such amount exists, components that cannot be recentered alone get weight 0. A float weight w counts as w
    cases. Above 4,096 distinct scores neighbors are pooled, fewer at both ends; for cross-validation to 600 cells.

    The interval of the gain is that of Student's t with the variance of Nadeau and Bengio, since folds share the cases
    that they were fitted to. A score is without signal where its area under the ROC curve is less than two standard
    errors above ½.

    References
    ----------
    C. Nadeau and Y. Bengio, Inference for the generalization error, Machine Learning 52, 2003.
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

    weights_: dict[str, float] = field(init=False)
    softened_: bool = field(init=False)
    gain_: float = field(init=False)
    gain_interval_: tuple[float, float] = field(init=False)
    worth_it_: bool | None = field(init=False)
    verdict_: str = field(init=False)

    _when_separable: ClassVar[str] = "the prior and the added case keep the fit from 0 and 1"

    def _check_parameters(self) -> None:
        if self.random_state is not None:
            _check.whole_number(self.random_state, "random_state", low=0)
        _check.one_of(self.guard, "guard", (True, False))

    def overlap(self, table: ScoreTable) -> float:
        """Return the share of a table's rows that this calibrator was fitted to; it must have been fitted on guard.

        Only rows with a unique score can be recognized; 0 where there are too few.

        Parameters
        ----------
        table : ScoreTable
            Counts of positives and negatives by score.

        Returns
        -------
        float
        """
        check_is_fitted(self, "map_")
        if self._rows is None:
            _check.fail("guard must be on when the calibrator is fitted", "guard=False", "pass guard=True")
        return 0.0 if len(self._rows) < _FEW else self._rows.overlap(_row_hashes(self._declared_reading().read(table)))

    def _constant(self, data: Sample) -> Fitted:
        gain = no_gain("One class or one score: there is nothing to compare, and the fit is a base rate")
        attributes = {
            "_rows": self._sketch(as_table(data)),
            "weights_": dict.fromkeys(_METHODS, 1 / len(_METHODS)),
            "softened_": False,
            **_gain_attributes(gain),
        }
        return Fitted(super()._constant(data).map, attributes)

    def _sketch(self, table: ScoreTable) -> RowSketch | None:
        return RowSketch.of(_row_hashes(table)) if self.guard else None

    def _readings(self, data: Sample) -> list[Reading]:
        return [Reading(kind=self._kind(data))]  # the parts read the scores, each in its own way

    def _fit(self, table: ScoreTable) -> Fitted:
        kind = self._kind(table)
        rows, table = table, in_blocks(table.exact(), _FINE)
        given = as_log_odds(kind, table)
        readings = [given, soft_reading(kind, 0.5 / (table.n_pos + table.n_neg))]
        if self.input == "score":
            foreign = in_foreign_units(table) if rows.meaning == "score" else []
            readings = foreign or [*readings, *map(given.then, in_other_units(given.read(table)))]
        unconverged: set[str] = set()

        def fit_both(part: ScoreTable) -> list[CalibrationMap]:
            steps = _fit_one(_STEPS, part, unconverged)
            return [fitted for reading in readings for fitted in _fit_parts(part, reading, steps, unconverged)]

        both = out_of_sample(table, fit_both, self.random_state)
        unconverged.clear()  # only fits that are part of the result are reported
        if both is None:
            chosen = int(kind == "probability")  # log-odds as given, or standardized
            weights = _LEAST / _LEAST.sum()
            gain = no_gain("Too few cases for cross-validation: monotone logistic and Venn–Abers get equal weight")
        else:
            blends = [(*_best_weights(one), one) for one in both.split(len(readings))]
            chosen = int(np.argmin([loss for loss, _, _ in blends]))
            _, weights, judged = blends[chosen]
            gain = measure_gain(rows, judged, blend_log_odds(judged.log_odds, weights), self._kind_of_gain(rows, kind))
        steps = _fit_one(_STEPS, table, unconverged)
        parts = _fit_parts(table, readings[chosen], steps, unconverged)
        weights, fitted = _put_together(parts, weights, table)
        by_name = dict(zip(_METHODS, weights.tolist(), strict=True))
        attributes = {
            "_rows": self._sketch(rows),
            "weights_": by_name,
            "softened_": len(readings) > 1 and chosen == 1,
            **self._attributes_of(readings[chosen], rows),
            **_gain_attributes(gain, "" if both is None else _choice(by_name)),
        }
        notes: list[Note] = [(NonConvergenceWarning, message) for message in sorted(unconverged)]
        least, most = parts[0].log_odds(np.array(table.span()))
        if most - least < _FLAT:
            message = "The best map would decrease with the score: the fit is almost flat."
            notes.append((NegativeSlopeWarning, message))
        return Fitted(fitted, attributes, notes)

    def _kind_of_gain(self, table: ScoreTable, kind: ScoreKind) -> ScoreKind | None:
        """Return as what the scores have a log-loss without calibration; None for points, ranks and the like."""
        guessed = self.input == "score" and table.meaning == "score" and kind == "log_odds"
        return None if guessed and not are_log_odds(table) else kind


def _gain_attributes(gain: MeasuredGain, choice: str = "") -> dict[str, Any]:
    return {
        "gain_": gain.value,
        "gain_interval_": gain.interval,
        "worth_it_": gain.worth_it,
        "verdict_": gain.verdict(choice),
    }


def _choice(weights: Mapping[str, float]) -> str:
    ranked = sorted(weights.items(), key=lambda item: -item[1])
    shares = ", ".join(f"{weight:.0%} {name}" for name, weight in ranked)
    return f"A blend of {shares}, weighted by out-of-sample log-loss."


def _row_hashes(table: ScoreTable) -> Hashes:
    """Return hashes of the rows that are alone with their score: other rows may well have scores that several share."""
    alone = table.total == 1 if table.kind == "count" else np.ones(len(table), bool)
    return marks(table.scores[alone]) ^ np.where(table.pos[alone] > 0, _POSITIVE, 0).astype(np.uint64)


def _best_weights(judged: OutOfSample) -> tuple[float, Floats]:
    """Return the loss of the best blend under one reading, on cases that its methods had not seen, and its weights."""
    weights = _LEAST + (1 - _LEAST.sum()) * judged.weights()
    weights = np.where(weights < _NEGLIGIBLE, 0.0, weights)
    weights /= weights.sum()
    return judged.mean(judged.losses(blend_log_odds(judged.log_odds, weights)))[0], weights


def _fit_parts(
    table: ScoreTable, reading: Reading, steps: CalibrationMap, unconverged: set[str]
) -> list[CalibrationMap]:
    """Fit all methods to a table under one reading; ``steps`` is that of the method which needs none."""
    read = reading.read(table)
    return [steps if name == _STEPS else reading.wrap(_fit_one(name, read, unconverged)) for name in _METHODS]


def _fit_one(name: str, table: ScoreTable, unconverged: set[str]) -> CalibrationMap:
    """Fit one method; add to ``unconverged`` what did not converge."""
    found = _METHODS[name](input="log_odds")._find(table)
    unconverged |= {f"{name}: {message}" for kind, message in found.notes if issubclass(kind, NonConvergenceWarning)}
    return found.map


def _put_together(parts: list[CalibrationMap], weights: Floats, table: ScoreTable) -> tuple[Floats, BlendMap]:
    """Return the weights in use, and the blend moved to be calibrated in the large."""

    def blend_of(weights: Floats) -> BlendMap:
        kept = np.flatnonzero(weights)
        return level_in_the_large(BlendMap(tuple(parts[i] for i in kept), weights[kept]), table)

    blend = blend_of(weights)
    if is_right_in_the_large(blend, table):
        return weights, blend
    # A row of huge weight makes some parts so certain that no move brings them there: these get weight 0.
    alone = np.eye(len(parts))
    right = np.array([is_right_in_the_large(blend_of(one), table) for one in alone])
    if not weights[right].any():
        return weights, blend
    weights = np.where(right, weights, 0.0) / weights[right].sum()
    return weights, blend_of(weights)
