"""Scores at which an export is compared with its map: wherever the two could differ."""

import numpy as np

from oddsmith._types import Floats
from oddsmith.formula import Pieces, evaluate, walk
from oddsmith.maps import CalibrationMap

#: Between neighbouring probes the probability changes by no more than this, unless no double lies between them.
_STEP = 0.01
_MOST_KNOTS = 2_000
_MOST_PROBES = 20_000


def probe_scores(fitted: CalibrationMap) -> Floats:
    """Return the scores, ascending; only scores that the map takes.

    Zero, the smallest and the largest doubles and every power of ten between, both ways; every knot (of very many, a
    selection) and its neighbours; and as many scores between as it takes to follow the probability in small steps.
    """
    formula = fitted.probability_formula()
    largest = np.finfo(np.float64).max
    sizes = np.concatenate([[5e-324], 10.0 ** np.arange(-323, 309), [largest]])
    knots = np.concatenate([np.empty(0), *(node.knots for node in walk(formula) if isinstance(node, Pieces))])
    if len(knots) > _MOST_KNOTS:
        knots = knots[np.linspace(0, len(knots) - 1, _MOST_KNOTS).astype(np.intp)]
    near = [knots, np.nextafter(knots, -largest), np.nextafter(knots, largest)]
    scores = np.unique(np.concatenate([-sizes, [0.0], sizes, *near]) + 0.0)
    scores = scores[~np.isnan(evaluate(formula, scores))]
    while len(scores) < _MOST_PROBES:
        steps = np.abs(np.diff(fitted.probability(scores)))
        wide = np.flatnonzero(steps > _STEP)
        between = np.setdiff1d(_middle(scores[wide], scores[wide + 1]), scores)
        if len(between) == 0:
            break
        scores = np.union1d(scores, between)
    return scores


def _middle(low: Floats, high: Floats) -> Floats:
    """Return the double half-way in the order of doubles: bisection finds a step in any decade."""
    first, last = (_order(ends.view(np.int64)) for ends in (low, high))
    return _order((first >> 1) + (last >> 1) + (first & last & 1)).view(np.float64) + 0.0


def _order(bits: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Turn bits of doubles into integers of the same order, and back."""
    return np.asarray(bits ^ ((bits >> 63) & np.iinfo(np.int64).max))
