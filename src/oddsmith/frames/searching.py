"""How to find the piece of a score by arithmetic: cells of one width tell nearly all, a few comparisons the rest.

A binary search among a thousand knots takes ten comparisons, each with a look-up. A guide tells for each cell of a
uniform grid how many knots lie before it; then only the knots inside the cell are left. The cell of a score and that of
a knot come from the same arithmetic, which never falls as the score rises, so nothing depends on how it rounds: knots
of lower cells lie below the score, knots of higher cells above.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oddsmith._types import Floats
from oddsmith.formula import steps_past

#: Numbers of cells to choose from: an engine copies the guide for every few thousand rows.
_CELLS = (1024, 2048, 4096, 8192, 16384)

#: Costs in comparisons: to look at the guide at all, and for each of its cells.
_LOOK, _CELL = 1.5, 0.5 / 16384

#: How far the cells reach beyond the knots, as a share of their span: most scores beyond the knots still fall in one.
_MARGIN = 0.125


class Search(NamedTuple):
    """A plan to find how many knots lie below a score; below ``low`` none and above ``high`` all are passed."""

    knots: Floats
    low: float
    high: float
    per_cell: float  # the cell of a score is ⌊(score − low) · per_cell⌋
    before: NDArray[np.intp]  # how many knots lie in lower cells, for each cell; empty: begin with none
    steps: tuple[int, ...]  # falling powers of two: how many knots to pass next if the score is above the last of them

    @property
    def padded_knots(self) -> Floats:
        """The knots, and as many that are never passed as a step may look at."""
        return np.append(self.knots, np.full(sum(self.steps) + 1, np.inf))


def plan_search(knots: Floats) -> Search:
    """Return the cheapest search among finite ascending knots.

    Examples
    --------
    >>> import numpy as np
    >>> plan_search(np.linspace(0.0, 1.0, 1000)).steps
    (1,)
    """
    first, last = float(knots[0]), float(knots[-1])
    best = Search(knots, first, last, 0.0, np.empty(0, np.intp), steps_past(len(knots)))
    cost = float(len(best.steps))
    half, margin = last / 2 - first / 2, last * _MARGIN - first * _MARGIN
    low, high = first - margin, last + margin
    if not (np.isfinite(low) and np.isfinite(high) and np.isfinite(high - low) and half / _CELLS[-1] > 1e-290):
        return best
    for cells in _CELLS:
        per_cell = (cells - 1) / (high - low)
        held = np.floor((knots - low) * per_cell).astype(np.intp)
        before = np.searchsorted(held, np.arange(cells + 1))
        steps = steps_past(int(np.bincount(held).max()))
        if (price := _LOOK + _CELL * cells + len(steps)) < cost:
            best, cost = Search(knots, low, high, per_cell, before, steps), price
    return best
