"""Maps that fit nothing, or only a range: squashing, Logistic Correction, min–max scaling."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from oddsmith.calibrators._base import Calibrator
from oddsmith.data import Sample
from oddsmith.maps import CalibrationMap, LinearMap, line_map


@dataclass(eq=False, repr=False)
class SquashCalibrator(Calibrator):
    """Squash the score: P = σ(s).

    Fits nothing. The baseline for margins, and the identity for scores that are log-odds already.

    Parameters
    ----------
    pos_label, input, clip
        As for every calibrator.

    See Also
    --------
    PlattCalibrator : A fitted slope and intercept.

    Examples
    --------
    >>> from oddsmith import SquashCalibrator
    >>> SquashCalibrator().fit([-1.0, 1.0], [0, 1]).predict_proba([0.0, 2.0])[:, 1].round(3)
    array([0.5  , 0.881])
    """

    _learns: ClassVar[bool] = False
    _needs_order: ClassVar[bool] = False
    _slope: ClassVar[float] = 1.0

    def _fit(self, data: Sample) -> CalibrationMap:
        del data
        return line_map(self._slope)


@dataclass(eq=False, repr=False)
class LogisticCorrectionCalibrator(SquashCalibrator):
    """Correct boosted scores by P = σ(2F).

    For the score F = Σ α h of AdaBoost with α = ½ log((1 − ε)/ε), whose exponential loss is minimized at half the
    log-odds. Fits nothing and needs no calibration set. Fails for strong learners such as full trees, whose |F| grows
    without limit.

    Parameters
    ----------
    pos_label, input, clip
        As for every calibrator.

    See Also
    --------
    PlattCalibrator : A fitted slope and intercept.
    SquashCalibrator : The score itself as log-odds.

    References
    ----------
    A. Niculescu-Mizil and R. Caruana, Obtaining calibrated probabilities from boosting, UAI 2005.

    Examples
    --------
    >>> from oddsmith import LogisticCorrectionCalibrator
    >>> LogisticCorrectionCalibrator().fit([-1.0, 1.0], [0, 1]).predict_proba([0.0, 1.0])[:, 1].round(3)
    array([0.5  , 0.881])
    """

    _slope: ClassVar[float] = 2.0


@dataclass(eq=False, repr=False)
class MinMaxCalibrator(Calibrator):
    """Stretch the range of the calibration scores to [0, 1] and clip.

    P = (s − min)/(max − min). A baseline only: it is not calibrated by anything, and predicts 0 and 1.

    Parameters
    ----------
    pos_label, input, clip
        As for every calibrator.

    See Also
    --------
    SquashCalibrator : Another map without a fit to labels.

    Examples
    --------
    >>> from oddsmith import MinMaxCalibrator
    >>> MinMaxCalibrator().fit([-1.0, 0.5, 0.0, 3.0], [0, 0, 1, 1]).predict_proba([0.0, 9.0])[:, 1]
    array([0.25, 1.  ])
    """

    _needs_order: ClassVar[bool] = False

    def _fit(self, data: Sample) -> CalibrationMap:
        return LinearMap(np.array(data.span()), np.array([0.0, 1.0]))
