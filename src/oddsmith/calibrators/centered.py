"""Centered isotonic regression: isotonic blocks drawn together to points, and joined by lines."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from oddsmith import _check, _kernels
from oddsmith._kernels import Ints
from oddsmith._types import Floats
from oddsmith.calibrators._base import Calibrator, Laws
from oddsmith.maps import CalibrationMap, LinearMap
from oddsmith.solvers.targets import platt_targets
from oddsmith.table import Sample, ScoreTable

__all__ = ["CenteredIsotonicCalibrator"]


@dataclass(eq=False, repr=False)
class CenteredIsotonicCalibrator(Calibrator):
    """Fit isotonic regression and join the centers of its blocks, so that different scores stay different.

    Isotonic regression ties whole ranges of scores; this keeps its values and the order of the scores too, and is
    mostly closer to a smooth truth. Flat only where isotonic regression says 0 or 1, and beyond the first and the last
    center. Like isotonic regression it wants some thousand cases, and unless ``bounded`` it says 0 and 1.

    Parameters
    ----------
    bounded : bool, default False
        With True the fit is to Platt's targets instead of 0 and 1, so that P stays within
        [1/(N₋ + 2), (N₊ + 1)/(N₊ + 2)] and no single case costs everything.
    pos_label, input, clip
        As for every calibrator.

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

    _when_separable: ClassVar[str] = "the fit is a ramp from 0 to 1 between the classes"

    def _check_parameters(self) -> None:
        _check.one_of(self.bounded, "bounded", (True, False))

    def _laws(self) -> Laws:
        return frozenset({"monotone", "scale", "shift", "mirror"})

    def _constant(self, data: Sample) -> float:
        return float(self._bound(np.array(data.n_pos / (data.n_pos + data.n_neg)), data))

    def _fit(self, table: ScoreTable) -> CalibrationMap:
        starts, means = _kernels.pool_violators(table.pos, table.neg)
        centers = _centers(table, starts)
        ends = np.append(starts[1:], len(table)) - 1
        # Blocks at 0 and 1 are the limits of what P can be, not violations of order: they keep their width.
        wide = ((means == 0) | (means == 1)) & (ends > starts)
        first, last = (np.where(wide, table.scores[at], centers) for at in (starts, ends))
        needed = np.column_stack([np.ones_like(wide), wide]).ravel()
        knots = np.column_stack([first, last]).ravel()[needed]
        return LinearMap(knots, self._bound(np.repeat(means, 2)[needed], table))

    def _bound(self, means: Floats, data: Sample) -> Floats:
        if not self.bounded:
            return means
        high, _, low, _ = platt_targets(data)
        return low + (high - low) * means


def _centers(table: ScoreTable, starts: Ints) -> Floats:
    """Return the mean score of each block, as a distance from its first score: exact far from 0, and never too far."""
    first = table.scores[starts]
    ends = np.append(starts[1:], len(table))
    largest = max(map(abs, table.span()))
    scale = math.ldexp(1.0, max(min(math.frexp(largest)[1], 1023), -1020))
    way = table.scores / scale
    way -= np.repeat(first / scale, ends - starts)
    weight = table.total
    way *= weight
    mean = np.add.reduceat(way, starts) / np.add.reduceat(weight, starts)
    return np.clip((first / scale + mean) * scale, first, table.scores[ends - 1])
