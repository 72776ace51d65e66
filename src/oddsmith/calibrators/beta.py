"""Beta calibration: log-odds that follow log p and log(1 − p) each with its own slope."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.calibrators._base import Fitted, Note, convergence_notes
from oddsmith.calibrators._log_odds_input import UnitCalibrator
from oddsmith.calibrators._reading import Reading
from oddsmith.data import LabeledScores, Sample, ScoreTable, binary_scale, is_separable
from oddsmith.errors import NegativeSlopeWarning, NonConvergenceWarning
from oddsmith.fitting import (
    LABELS,
    SINGLE,
    FeatureMap,
    LongDesign,
    Minimum,
    ScoreScale,
    fit_rising,
    moment_design,
    platt_targets,
)
from oddsmith.maps import LogBasisMap, log_basis

#: Cells of log-odds no wider than this, and slopes no larger: sums over cells are those over rows to ten digits.
_FINE = 0.02
_STEEP = 3.0

#: A slope this many times the other one, and 1, is a wall where it moves log-odds beyond those of the least double, or
#: multiplies what doubles do not tell from 0.
_WALL = 1e3
_LEAST_DOUBLE = 745.0
_UNTOLD = 1 / float(np.finfo(np.float64).eps)

#: So many scores show where most of them lie.
_FEW = 512


@dataclass(eq=False, repr=False)
class BetaCalibrator(UnitCalibrator):
    """Fit the map of beta distributed probabilities: logistic regression on log p and −log(1 − p).

    Corrects probabilities that are overconfident on one side only, which a sigmoid cannot, and leaves
    calibrated ones as they are. Made for probabilities: other scores are read as σ(s).

    Parameters
    ----------
    parameters : {3, 2}, default 3
        With 2, a = b: a sigmoid of the log-odds.
    pos_label, clip
        As for every calibrator.
    input : {"score", "probability", "log_odds"}, default "score"
        "score" reads scores that all lie in [0, 1] as probabilities, clipped to 2.2e−16 from 0 and 1, and
        others as log-odds. Scores that are not plausible as log-odds (some beyond ±37, or whole numbers that span 20 or
        more) are read as they are, clipped to ±37 or standardized to (s − median)/IQR, whichever forecasts best out of
        sample; whole numbers of one sign that span 2 or more, such as ratings or ranks, are standardized. "log_odds"
        uses scores as given.

    Attributes
    ----------
    a_, b_, c_ : float
        The fitted parameters.
    input_ : {"probability", "log_odds", "clipped", "standardized"}
        How the scores were read.

    See Also
    --------
    PlattCalibrator : A symmetric sigmoid of the score.
    DirichletScaling : The same for several classes.

    Notes
    -----
    L = a log p − b log(1 − p) + c by maximum likelihood with a, b ≥ 0: where the best slope is negative, it is set to
    0 and the others are fitted again. With perfectly separated classes the fit is to Platt's targets. Of log-odds of
    one sign one logarithm is next to 0 for most scores; where its slope would exceed all bounds, a = b is used, with a
    warning.

    References
    ----------
    M. Kull, T. Silva Filho and P. Flach, Beta calibration: a well-founded and easily implemented improvement on
    logistic calibration for binary classifiers, AISTATS 2017.

    Examples
    --------
    >>> from oddsmith import BetaCalibrator
    >>> cal = BetaCalibrator().fit([0.1, 0.2, 0.4, 0.6, 0.7, 0.9], [0, 1, 0, 0, 1, 1])
    >>> cal.predict_proba([0.0, 0.1, 0.5, 1.0])[:, 1].round(3)
    array([0.19 , 0.221, 0.448, 1.   ])
    """

    parameters: Literal[3, 2] = 3

    a_: float = field(init=False)
    b_: float = field(init=False)
    c_: float = field(init=False)

    _needs_order: ClassVar[bool] = False
    _when_separable: ClassVar[str] = "the fit uses Platt's targets instead of 0 and 1"

    def _check_parameters(self) -> None:
        _check.one_of(self.parameters, "parameters", (3, 2))

    def _readings(self, data: Sample) -> list[Reading]:
        readings, (low, high) = super()._readings(data), data.span()
        # With scores of one sign one logarithm is nearly constant, and its slope makes a wall where cases suggest it.
        # Of standardized scores both vary, and every straight line is in the family too.
        return readings if low < 0 < high else readings[-1:]

    def _fit(self, data: Sample) -> Fitted:
        low, high = data.span()
        # Where both logarithms bend. Measured from far away, most values of one of them would be equal to many digits;
        # so they would from the end of scores of one sign, among which one logarithm vanishes.
        few = np.sort(data.scores[:: max(len(data.scores) // _FEW, 1)])
        center = float(min(max(few[len(few) // 4], 0.0), few[(3 * len(few)) // 4]))
        scale = binary_scale(low, high)
        frame = ScoreScale(scale, center / scale)

        def free(x: Floats) -> Floats:
            return np.column_stack([*log_basis((x + frame.shift) * frame.scale, center, frame.scale), np.ones_like(x)])

        def tie(x: Floats) -> Floats:
            left, right, one = free(x).T
            return np.column_stack([left + right, one])

        notes: list[Note] = []
        fit = self._best(data, frame, free if self.parameters == 3 else tie, self.parameters)
        spread = np.ptp(free(np.array([low, high]) / scale - frame.shift), axis=0)
        if self.parameters == 3 and not low < 0 < high and _is_wall(fit.theta / max(scale, 1.0), fit.theta * spread):
            message = (
                "One slope would be beyond all bounds, since log p or log(1 - p) is next to 0 for most scores: both "
                'slopes are the same. Hint: use input="score" if the scores are not log-odds.'
            )
            notes.append((NonConvergenceWarning, message))
            fit = self._best(data, frame, tie, 2)
        notes += convergence_notes(fit.converged)
        a, b = np.resize(fit.theta[:-1], 2)
        if a == b == 0:
            message = "Both slopes would be negative and are set to 0: the fit is a constant."
            notes.append((NegativeSlopeWarning, message))
        at_center = float(fit.theta[-1])
        level = at_center + a / frame.scale * np.logaddexp(0, -center) - b / frame.scale * np.logaddexp(0, center)
        attributes = {"a_": a / frame.scale, "b_": b / frame.scale, "c_": float(level)}
        return Fitted(LogBasisMap(np.array([a, b]), at_center, center, frame.scale), attributes, notes)

    def _best(self, data: Sample, frame: ScoreScale, features: FeatureMap, parameters: int) -> Minimum:
        targets = platt_targets(data) if is_separable(data) else LABELS
        none = np.zeros((parameters, parameters))
        if isinstance(data, LabeledScores):
            cells = moment_design(data, frame, features, targets, _FINE / frame.scale)
            if cells is not None:
                fit = fit_rising(cells, none)
                if fit.converged and np.abs(fit.theta[:-1]).max() <= _STEEP * frame.scale:
                    return fit
            data = ScoreTable.from_rows(data)
        return fit_rising(LongDesign.of(data, frame, features, targets, np.empty(0), SINGLE), none)


def _is_wall(slopes: Floats, effects: Floats) -> bool:
    """Whether one slope makes a wall of a logarithm that is next to 0 for most scores, however far it is moved.

    To move the wall by a unit of the score takes a factor of e: where it is best neither curvature nor cases tell.
    """
    small, large = np.sort(slopes[:2])
    effect = effects[int(np.argmax(slopes[:2]))]
    return bool(large > _WALL * max(small, 1.0) and (effect > _LEAST_DOUBLE or large > _UNTOLD))
