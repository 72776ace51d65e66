"""Centered isotonic regression: isotonic blocks drawn together to points, and joined by lines."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from oddsmith import _check, _kernels
from oddsmith.calibrators._base import Calibrator, Fitted
from oddsmith.calibrators._bins import block_ends, block_map
from oddsmith.data import Sample, ScoreTable
from oddsmith.fitting import between_targets
from oddsmith.maps import CalibrationMap, constant_map, logit


@dataclass(eq=False, repr=False)
class CenteredIsotonicCalibrator(Calibrator):
    """Fit isotonic regression and join the centers of its blocks, so that different scores stay different.

    Isotonic regression ties whole ranges of scores; this keeps its values and the order of the scores too, and is
    mostly closer to a smooth truth. Flat only where isotonic regression predicts 0 or 1, and beyond the first and the
    last center. Like isotonic regression it needs some thousand cases, and predicts 0 and 1 unless ``bounded``.

    Parameters
    ----------
    bounded : bool, default False
        With True the fit is to Platt's targets instead of 0 and 1, so that P stays within
        [1/(N₋ + 2), (N₊ + 1)/(N₊ + 2)] and no single case costs everything.
    pos_label, input, clip
        As for every calibrator.

    See Also
    --------
    IsotonicCalibrator : Steps instead of lines.

    Notes
    -----
    A block of scores sᵢ with weights vᵢ becomes the point Σvᵢsᵢ/Σvᵢ with the block's share of positives; between
    points P is linear in s. Blocks whose share is 0 or 1 keep their width, as in the authors' own implementation: with
    a hundred negatives below one positive, P is 0 up to the last negative.

    References
    ----------
    A. Oron and N. Flournoy, Centered isotonic regression: point and interval estimation for dose–response studies,
    Statistics in Biopharmaceutical Research 9, 2017.

    Examples
    --------
    >>> from oddsmith import CenteredIsotonicCalibrator
    >>> cal = CenteredIsotonicCalibrator().fit([0.0, 1.0, 2.0, 3.0], [0, 1, 0, 1])
    >>> cal.predict_proba([0.0, 1.0, 2.0, 3.0])[:, 1].round(2)
    array([0.  , 0.33, 0.67, 1.  ])
    """

    bounded: bool = False

    #: A block that spans a gap between scores stands in the gap: a row more or less moves all that is interpolated.
    _sensitive_to_cells: ClassVar[bool] = True
    _when_separable: ClassVar[str] = "the fit is a ramp from 0 to 1 between the classes"

    def _check_parameters(self) -> None:
        _check.one_of(self.bounded, "bounded", (True, False))

    def _constant(self, data: Sample) -> Fitted:
        share = data.n_pos / (data.n_pos + data.n_neg)
        return Fitted(constant_map(float(logit(np.array(between_targets(share, data) if self.bounded else share)))))

    def _fit(self, table: ScoreTable) -> CalibrationMap:
        starts, means = _kernels.pool_violators(table.pos, table.neg)
        centers = table.in_runs(starts).scores
        # Blocks at 0 and 1 are the limits of what P can be, not violations of order: they keep their width.
        wide = (means == 0) | (means == 1)
        first, last = (np.where(wide, end, centers) for end in block_ends(table.scores, starts))
        return block_map(first, last, between_targets(means, table) if self.bounded else means)
