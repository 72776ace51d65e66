"""Which interval a score falls in: binary search, with a shortcut for many scores among many knots."""

import numpy as np
from numpy.typing import NDArray

from oddsmith._check import Floats

#: Cells of the guide table. Nearly all of them hold no knot, so one look-up settles nearly all scores.
_CELLS = 65_536
_MANY_SCORES = 50_000
_MANY_KNOTS = 16


def locate(knots: Floats, scores: Floats) -> NDArray[np.intp]:
    """Return for each score the number of knots below it: 0 at or below the first, K above the last."""
    if scores.size < _MANY_SCORES or len(knots) < _MANY_KNOTS:
        return np.searchsorted(knots, scores)
    low, high = knots[0], knots[-1]
    width = high / _CELLS - low / _CELLS
    if width < 1e-300:
        return np.searchsorted(knots, scores)
    flat = scores.ravel()
    place = np.empty(flat.size, np.intp)
    guide = _guide(knots, low, width)
    for start in range(0, flat.size, 8192):
        part = flat[start : start + 8192]
        with np.errstate(over="ignore"):
            cell = np.clip((part - low) / width, -1, _CELLS).astype(np.intp) + 1
        found = guide[cell]
        open_ = np.flatnonzero(found < 0)
        found[open_] = np.searchsorted(knots, part[open_])
        place[start : start + 8192] = found
    return place.reshape(scores.shape)


def _guide(knots: Floats, low: np.float64, width: np.float64) -> NDArray[np.intp]:
    """Return for each cell the answer for all scores in it, or −1 where a knot may divide it.

    The cell of a score is found in floating point, so neighbours of a knot's cell are left open too.
    """
    cell_of_knot = np.clip((knots - low) / width, -1, _CELLS).astype(np.intp) + 1
    guide = np.searchsorted(cell_of_knot, np.arange(_CELLS + 2)).astype(np.intp)
    for offset in (-1, 0, 1):
        guide[np.clip(cell_of_knot + offset, 0, _CELLS + 1)] = -1
    return guide
