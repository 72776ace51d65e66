"""Isotonic values of one more case, wherever it falls: the two sides of a Venn–Abers prediction.

Let Pᵢ = (Wᵢ, Cᵢ) be the weight and the positive weight of the first i distinct scores: the cumulative-sum diagram,
whose greatest convex minorant has the isotonic fit as slopes. A new positive case above j of the scores has the value

    p₁(j) = max over l ≤ j of the slope of the tangent from Pₗ − (1, 1) to the minorant of all points,

so the diagram need not be changed case by case. Only points close above the minorant can raise the maximum, and of
these there are few; each takes one binary search among the vertices.
"""

from typing import NamedTuple

import numpy as np

from oddsmith import _kernels
from oddsmith._types import Floats, Ints, Weights
from oddsmith.data import ScoreTable


class Steps(NamedTuple):
    """A rising step function: ``values[i]`` after i of the ``knots``, which are scores."""

    knots: Floats
    values: Floats


class _Minorant(NamedTuple):
    """Vertices of the greatest convex minorant: their places, coordinates, and the slopes between them."""

    places: Ints
    weight: Floats
    positive: Floats
    slopes: Floats


def value_steps(table: ScoreTable) -> tuple[Steps, Steps]:
    """Return p₀, whose knots count as passed at themselves, and p₁, whose knots do so after."""
    scores, pos, neg = table.scores, table.pos, table.neg
    starts, _ = _kernels.pool_violators(pos, neg)
    edges = np.append(starts, len(pos))
    places, upper = _positive_case(pos, neg, edges)
    # A negative case is a positive one in the mirror: scores from the other end, labels exchanged.
    mirrored, lower = _positive_case(neg[::-1], pos[::-1], len(pos) - edges[::-1])
    ends = len(pos) - mirrored[::-1]
    return Steps(scores[ends[:-1]], 1 - lower[::-1]), Steps(scores[places[1:] - 1], upper)


def _positive_case(pos: Weights, neg: Weights, edges: Ints) -> tuple[Ints, Floats]:
    """Return p₁ of a case above j scores, j = 0, …, m: from which j on it has another value, and the values."""
    positive = np.append(0.0, np.cumsum(pos, dtype=np.float64))
    weight = positive + np.append(0.0, np.cumsum(neg, dtype=np.float64))
    rise, run = np.diff(positive[edges]), np.diff(weight[edges])
    hull = _Minorant(edges, weight[edges], positive[edges], rise / run)
    near = _may_raise(weight, positive, hull)
    values = np.maximum.accumulate(_tangents(weight[near] - 1, positive[near] - 1, hull))
    first = np.append(True, values[1:] > values[:-1])
    return near[first], values[first]


def _may_raise(weight: Floats, positive: Floats, hull: _Minorant) -> Ints:
    """Return the vertices, and the points between whose tangent is steeper than those of all vertices before."""
    reached = np.maximum.accumulate(_tangents(hull.weight - 1, hull.positive - 1, hull))[:-1]
    touch = np.searchsorted(hull.slopes, reached)
    support = hull.positive[touch] - reached * hull.weight[touch]
    # Rounding may let a point pass that raises nothing, which is harmless.
    level = support + 1 - reached + 1e-12 * (1 + hull.weight[-1])
    size = np.diff(hull.places)
    inner = slice(0, hull.places[-1])
    below = np.repeat(reached, size)
    below *= weight[inner]
    below += np.repeat(level, size)
    below = positive[inner] <= below
    below[hull.places[:-1]] = True
    return np.append(np.flatnonzero(below), hull.places[-1])


def _tangents(weight: Floats, positive: Floats, hull: _Minorant) -> Floats:
    """Return the slope of the tangent from each point to the part of the minorant on its right.

    A point above the minorant has none; what is returned is then below the slope of the minorant there, and so below
    the values of the vertices before it.
    """
    last = len(hull.slopes)
    low = np.minimum(np.searchsorted(hull.weight, weight, side="right"), last)
    high = np.full_like(low, last)
    while np.any(low < high):
        middle = (low + high) // 2
        edge = hull.slopes[np.minimum(middle, last - 1)]
        done = hull.positive[middle] - positive <= edge * (hull.weight[middle] - weight)
        high = np.where(done, middle, high)
        low = np.where(done | (low == high), low, middle + 1)
    run = hull.weight[low] - weight
    # Among weights so large that one case is lost to rounding, the new case is alone where nothing lies on its right.
    return np.divide(hull.positive[low] - positive, run, out=np.ones(len(run)), where=run > 0)
