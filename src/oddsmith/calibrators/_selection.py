"""What a fit chose from the data, and whether cells of scores decided the choice.

Most of a fit moves little when scores are pooled in cells. A choice may jump: another mode, other knots, another
penalty. The scores themselves are out of reach by then, but cells twice as wide are at hand: what differs between the
two widths depends on the cells, and may well differ from the choice that the scores would have made.
"""

from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from oddsmith._types import Floats
from oddsmith.data import ScoreTable
from oddsmith.maps import CalibrationMap

#: Log-odds beyond these would let a few certain cases decide the mean loss.
_CERTAIN = 36.0
#: Standard errors by which the mean log-loss may differ between cells of one width and of twice that width.
_MOST = 0.04


class Selected(NamedTuple):
    """A choice: the fitted attribute that holds it, and what it is in words."""

    attribute: str
    words: str
    #: Numbers are the same while they differ by no more than this share; None for places among the scores, which are
    #: the same while they are no more than a cell apart.
    share: float | None = None

    def difference(self, fitted: Any, coarser: Any, cells: Floats) -> str:
        """Return in words how two fits differ in this choice; empty where they do not.

        The second is fitted to cells twice as wide, which stand at ``cells``.
        """
        own, other = (self._of(fit) for fit in (fitted, coarser))
        if own.shape == other.shape:
            apart = np.searchsorted(cells, own) - np.searchsorted(cells, other)
            if np.all(np.abs(apart) <= 1) if self.share is None else np.allclose(own, other, rtol=self.share, atol=0.0):
                return ""
        return f"{self.words}: {_shown(own)} at this width, {_shown(other)} at twice the width"

    def _of(self, fit: Any) -> Floats:
        """Return the choice as numbers, none where the fit had nothing to choose."""
        try:
            return np.atleast_1d(np.asarray(attrgetter(self.attribute)(fit), dtype=np.float64))
        except AttributeError:
            return np.empty(0)


def loss_difference(table: ScoreTable, fitted: CalibrationMap, coarser: CalibrationMap) -> str:
    """Return in words by how much the mean log-loss of two fits differs; empty where that is little.

    The second is fitted to cells twice as wide. Its difference bounds that of the first from a fit to the scores, as
    far as differences grow with the width.
    """
    losses = []
    for each in (fitted, coarser):
        log_odds = np.clip(each.log_odds(table.scores), -_CERTAIN, _CERTAIN)
        losses.append((np.logaddexp(0, -log_odds), np.logaddexp(0, log_odds)))
    (pos, neg), (wide_pos, wide_neg) = losses
    n = table.n_pos + table.n_neg
    mean = float(table.pos @ pos + table.neg @ neg) / n
    wide = float(table.pos @ wide_pos + table.neg @ wide_neg) / n
    error = np.sqrt(float(table.pos @ (pos - mean) ** 2 + table.neg @ (neg - mean) ** 2)) / n
    if abs(wide - mean) <= _MOST * error:
        return ""
    return f"mean log-loss: {mean:.6g} at this width, {wide:.6g} at twice the width"


def _shown(values: Floats) -> str:
    if len(values) > 6:
        return f"{len(values)} values from {values[0]:g} to {values[-1]:g}"
    return ", ".join(f"{value:g}" for value in values.tolist()) or "none"
