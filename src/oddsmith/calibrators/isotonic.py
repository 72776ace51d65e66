"""Isotonic regression: the best non-decreasing function of the score."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from oddsmith import _check, _kernels
from oddsmith.calibrators._base import Calibrator, Fitted
from oddsmith.calibrators._bins import block_ends, block_map
from oddsmith.data import Sample, ScoreTable, around
from oddsmith.fitting import between_targets
from oddsmith.maps import CalibrationMap, StepMap, constant_map, logit


@dataclass(eq=False, repr=False)
class IsotonicCalibrator(Calibrator):
    """Fit the non-decreasing function that is closest to the labels, by pooling adjacent violators.

    Assumes only order. Needs some thousand cases; with fewer it overfits, it ties scores, and predicts 0
    and 1 unless ``bounded``, which costs an infinite log-loss when wrong.

    Parameters
    ----------
    between : {"interpolate", "step"}, default "interpolate"
        Between calibration scores: interpolate linearly, or take the value of the next larger calibration score.
    bounded : bool, default False
        With True the fit is to Platt's targets instead of 0 and 1, so that P stays within
        [1/(N₋ + 2), (N₊ + 1)/(N₊ + 2)] and no single case costs everything.
    pos_label, input, clip
        As for every calibrator.

    See Also
    --------
    CenteredIsotonicCalibrator : The same without flat steps.
    ENIRCalibrator : An average that need not be monotone.
    VennAbersCalibrator : Isotonic regression with limits of P.

    Notes
    -----
    Minimizes Σ v(t − m(s))² over non-decreasing m. Equal scores are pooled first; the fit then also minimizes log-loss
    among monotone functions and keeps the mean. Constant beyond the calibration scores.

    References
    ----------
    B. Zadrozny and C. Elkan, Transforming classifier scores into accurate multiclass probability estimates, KDD 2002.
    A. Niculescu-Mizil and R. Caruana, Obtaining calibrated probabilities from boosting, UAI 2005.

    Examples
    --------
    >>> from oddsmith import IsotonicCalibrator
    >>> cal = IsotonicCalibrator().fit([0.1, 0.3, 0.4, 0.8], [0, 1, 0, 1])
    >>> cal.predict_proba([0.1, 0.2, 0.4, 0.9])[:, 1]
    array([0.  , 0.25, 0.5 , 1.  ])
    """

    between: Literal["interpolate", "step"] = "interpolate"
    bounded: bool = False

    _when_separable: ClassVar[str] = "the fit is a step from 0 to 1"

    def _check_parameters(self) -> None:
        _check.one_of(self.between, "between", ("interpolate", "step"))
        _check.one_of(self.bounded, "bounded", (True, False))

    def _constant(self, data: Sample) -> Fitted:
        share = data.n_pos / (data.n_pos + data.n_neg)
        return Fitted(constant_map(float(logit(np.array(between_targets(share, data) if self.bounded else share)))))

    def _fit(self, table: ScoreTable) -> CalibrationMap:
        starts, means = _kernels.pool_violators(table.pos, table.neg)
        values = between_targets(means, table) if self.bounded else means
        ends = block_ends(table.scores, starts)
        if self.between == "interpolate":
            return block_map(*ends, values)
        _, last = around(ends[1])
        return StepMap(last, values, np.append(values, values[-1]))
