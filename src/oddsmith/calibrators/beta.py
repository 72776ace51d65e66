"""Beta calibration: log-odds that follow log p and log(1 − p) each with its own slope."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.calibrators._base import Laws
from oddsmith.calibrators._reading import Reading
from oddsmith.calibrators._unit import UnitCalibrator
from oddsmith.errors import NegativeSlopeWarning
from oddsmith.maps import CalibrationMap
from oddsmith.maps.log_basis import LogBasisMap, log_basis
from oddsmith.solvers.design import FeatureMap, LongDesign, fit_rising, moment_design
from oddsmith.solvers.newton import Minimum
from oddsmith.solvers.sketch import ScoreScale
from oddsmith.solvers.targets import LABELS, platt_targets
from oddsmith.table import Sample, ScoreTable
from oddsmith.table.rows import ScoreRows, binary_scale

#: Cells of log-odds no wider than this, and slopes no larger: sums over cells are those over rows to ten digits.
_FINE = 0.02
_STEEP = 3.0


@dataclass(eq=False, repr=False)
class BetaCalibrator(UnitCalibrator):
    """Fit the map of beta distributed probabilities: logistic regression on log p and −log(1 − p).

    Follows probabilities that are too sure on one side and not on the other, which a sigmoid cannot; and leaves
    calibrated ones as they are. Made for probabilities: of scores that are not, it takes σ(s).

    Parameters
    ----------
    parameters : {3, 2}, default 3
        With 2, a = b: a sigmoid of the log-odds.
    pos_label, clip
        As for every calibrator.
    input : {"score", "probability", "log_odds"}, default "score"
        "score" takes scores that all lie in [0, 1] for probabilities, held 2.2e−16 away from 0 and 1, and others for
        log-odds.

    Attributes
    ----------
    a_, b_, c_ : float
        The fitted parameters.
    input_ : {"probability", "log_odds"}
        What the scores were taken for.

    Notes
    -----
    L = a log p − b log(1 − p) + c by maximum likelihood with a, b ≥ 0: where the best slope is negative it is held at 0
    and the others are fitted anew. With perfectly separated classes the fit is to Platt's targets.

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

    _when_separable: ClassVar[str] = "the fit uses Platt's targets instead of 0 and 1"

    def _check_parameters(self) -> None:
        _check.one_of(self.parameters, "parameters", (3, 2))

    def _laws(self) -> Laws:
        # Mirrored scores in [0, 1] are no longer taken for probabilities.
        return frozenset({"monotone"} if self.input == "score" else {"monotone", "mirror"})

    def _readings(self, data: Sample) -> list[Reading]:
        readings, (low, high) = super()._readings(data), data.span()
        # Of log-odds of one sign one logarithm is next to flat, and its slope makes a wall wherever cases suggest one.
        # Standardized, both bend, and all lines are there too.
        return readings if low < 0 < high else readings[-1:]

    def _fit_sample(self, data: Sample) -> CalibrationMap:
        low, high = data.span()
        # Where both logarithms bend. Measured from far away, most values of one of them would be equal to many digits.
        center = min(max(low, 0.0), high)
        scale = binary_scale(low, high)
        frame = ScoreScale(scale, center / scale)

        def features(x: Floats) -> Floats:
            left, right = log_basis((x + frame.shift) * frame.scale, center, frame.scale)
            slopes = (left, right) if self.parameters == 3 else (left + right,)
            return np.column_stack([*slopes, np.ones_like(x)])

        fit = self._best(data, frame, features)
        self._tell(fit.converged)
        a, b = np.resize(fit.theta[:-1], 2)
        if a == b == 0:
            self._warn(NegativeSlopeWarning, "Both slopes would be negative and are held at 0: the fit is a constant.")
        self.a_: float = a / frame.scale
        self.b_: float = b / frame.scale
        at_center = float(fit.theta[-1])
        self.c_: float = float(at_center + self.a_ * np.logaddexp(0, -center) - self.b_ * np.logaddexp(0, center))
        return LogBasisMap(np.array([a, b]), at_center, center, frame.scale)

    def _best(self, data: Sample, frame: ScoreScale, features: FeatureMap) -> Minimum:
        targets = platt_targets(data) if self._separable else LABELS
        none = np.zeros((self.parameters, self.parameters))
        if isinstance(data, ScoreRows):
            cells = moment_design(data, frame, features, targets, _FINE / frame.scale)
            if cells is not None:
                fit = fit_rising(cells, none)
                if fit.converged and np.abs(fit.theta[:-1]).max() <= _STEEP * frame.scale:
                    return fit
            data = ScoreTable.from_rows(data)
        return fit_rising(LongDesign.of(data, frame, features, targets, np.empty(0)), none)
