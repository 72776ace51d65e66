"""Many scores at once: a piece at a time, and which interval each falls in."""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from oddsmith._types import Floats

#: Values handled at a time, so that temporaries stay in the second-level cache.
_PIECE = 16_384

#: Cells of the guide table. Nearly all of them hold no knot, so one look-up settles nearly all scores.
_CELLS = 65_536
_MANY_SCORES = 50_000
#: Fewer knots than this are all compared with every score: no branch is guessed wrong, and a byte counts them.
_MANY_KNOTS = 28

Places = NDArray[np.intp]


def in_pieces(function: Callable[[Floats], Floats], values: Floats) -> Floats:
    """Return an elementwise function of an array of any shape."""
    if values.size <= _PIECE:
        return np.asarray(function(values))
    flat = values.ravel()
    result = np.empty(flat.size)
    for start in range(0, flat.size, _PIECE):
        result[start : start + _PIECE] = function(flat[start : start + _PIECE])
    return result.reshape(values.shape)


def by_interval(
    knots: Floats, scores: Floats, value: Callable[[Floats, Places], Floats], side: Literal["left", "right"] = "left"
) -> Floats:
    """Return ``value(scores, places)``, where places are the numbers of knots below each score.

    With side "right", of knots not above it. Long arrays are handled a cache-sized piece at a time.
    """
    if scores.size < _MANY_SCORES:
        return value(scores, np.searchsorted(knots, scores, side))
    find = _finder(knots, side)
    return in_pieces(lambda part: value(part, find(part)), scores)


def _finder(knots: Floats, side: Literal["left", "right"]) -> Callable[[Floats], Places]:
    """Return a search that looks cells up in a table and searches only where a knot may divide one."""
    if len(knots) < _MANY_KNOTS:
        return lambda scores: _by_comparison(knots, scores, side)
    if (width := knots[-1] / _CELLS - knots[0] / _CELLS) < 1e-300:
        return lambda scores: np.searchsorted(knots, scores, side)
    # Everything below the first knot falls in cell 0 or less, and everything above the last in the last cell or beyond.
    low, per_cell = knots[0] - width, 1 / width

    def cells(scores: Floats) -> Places:
        with np.errstate(over="ignore", invalid="ignore"):
            place = scores - low
            place *= per_cell
            return np.asarray(np.minimum(place, _CELLS + 1, out=place).astype(np.intp))

    # Cells never fall as scores rise, however they are rounded: only knots in the cell of a score are in doubt.
    held = cells(knots)
    guide = np.searchsorted(held, np.arange(_CELLS + 2))
    guide[held] = -1

    def find(scores: Floats) -> Places:
        places = guide.take(cells(scores), mode="clip")
        open_ = np.flatnonzero(places < 0)
        places[open_] = np.searchsorted(knots, scores[open_], side)
        return places

    return find


def _by_comparison(knots: Floats, scores: Floats, side: Literal["left", "right"]) -> Places:
    passes = np.greater if side == "left" else np.greater_equal
    places = np.zeros(len(scores), np.uint8)
    for knot in knots:
        places += passes(scores, knot)
    return places.astype(np.intp)
