"""What a fit chose from the data, and whether cells of scores decided the choice.

Most of a fit moves little when scores are pooled in cells. A choice may jump: another mode, other knots, another
penalty. The scores themselves are out of reach by then, but cells twice as wide are at hand: what differs between the
two widths depends on the cells, and may well differ from the choice that the scores would have made.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from oddsmith._types import Floats
from oddsmith.data import ScoreTable
from oddsmith.maps import CalibrationMap

#: Log-odds beyond these would let a few certain cases decide the mean loss.
_CERTAIN = 36.0
#: Standard errors by which the mean log-loss may differ between cells and others.
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
        return f"{self.words}: {_show(own)} at this width, {_show(other)} at twice the width"

    def _of(self, fit: Any) -> Floats:
        """Return the choice as numbers, none where the fit had nothing to choose."""
        try:
            return np.atleast_1d(np.asarray(attrgetter(self.attribute)(fit), dtype=np.float64))
        except AttributeError:
            return np.empty(0)


def other_cells(table: ScoreTable) -> list[ScoreTable]:
    """Return tables of the same rows that are as likely as evenly filled cells, to compare fits of them with its own.

    One has pairs of cells that begin at odd ones, for cells of twice the width begin at even ones. In the other the
    ends are sharp: the first row is negative and the last positive, as they would be among the scores themselves.
    """
    grid = table.grid
    assert grid is not None
    cells = grid.cells(table.scores)
    pairs = table.in_runs(np.flatnonzero(np.diff(np.floor((cells + 1) / 2), prepend=np.nan)))
    if table.kind != "count":
        return [pairs]
    scores, pos, neg = table.scores, table.pos.copy(), table.neg.copy()
    low, high = grid.score((cells[[0, -1]] + [0, 1]) * grid.width)
    if low < scores[0] and pos[0] > 0 and neg[0] > 0:
        neg[0] -= 1
        scores, pos, neg = np.append(low, scores), np.append(0, pos), np.append(1, neg)
    if high > scores[-1] and pos[-1] > 0 and neg[-1] > 0:
        pos[-1] -= 1
        scores, pos, neg = np.append(scores, high), np.append(pos, 1), np.append(neg, 0)
    return [pairs, ScoreTable(scores, pos, neg, **table.origin._asdict())]


def loss_difference(table: ScoreTable, fitted: CalibrationMap, others: Sequence[CalibrationMap]) -> str:
    """Return in words by how much the mean log-loss of fits differs; empty where that is little.

    The others are fitted to other cells. The largest of their differences bounds that of the first from a fit to the
    scores, as far as one of them puts the rows in an order that moves the fit as much.
    """
    n = table.n_pos + table.n_neg

    def losses(each: CalibrationMap) -> tuple[Floats, Floats, float]:
        log_odds = np.clip(each.log_odds(table.scores), -_CERTAIN, _CERTAIN)
        pos, neg = np.logaddexp(0, -log_odds), np.logaddexp(0, log_odds)
        return pos, neg, float(table.pos @ pos + table.neg @ neg) / n

    pos, neg, mean = losses(fitted)
    error = np.sqrt(float(table.pos @ (pos - mean) ** 2 + table.neg @ (neg - mean) ** 2)) / n
    farthest = max((losses(each)[2] for each in others), key=lambda other: abs(other - mean))
    if abs(farthest - mean) <= _MOST * error:
        return ""
    return f"mean log-loss: {mean:.6g} in these cells, {farthest:.6g} in others"


def _show(values: Floats) -> str:
    if len(values) > 6:
        return f"{len(values)} values from {values[0]:g} to {values[-1]:g}"
    return ", ".join(f"{value:g}" for value in values.tolist()) or "none"
