"""The inverse of a map: at which scores the probability reaches a value."""

from functools import singledispatch

import numpy as np

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.formula import Pieces, walk
from oddsmith.maps.adjusted import AdjustedMap
from oddsmith.maps.base import FAR, MAX, CalibrationMap, ShiftedMap
from oddsmith.maps.cosine import CosineMap
from oddsmith.maps.inputs import InputMap, halfway
from oddsmith.maps.linear import LinearMap
from oddsmith.maps.polynomial import PolynomialMap
from oddsmith.maps.step import StepMap

__all__ = ["scores_reaching"]

#: Doubles over which rounding may make P of a rising map fall in its last digit.
_NEIGHBORS = 32

Intervals = tuple[tuple[float, float], ...]


def scores_reaching(fitted: CalibrationMap, prob: float) -> Intervals:
    """Return the closed intervals of scores whose P, as NumPy computes it, is at least ``prob``.

    Their ends are doubles, found by bisection in the order of doubles, or ±∞. A map that neither rises nor has known
    turning points is refused.

    Parameters
    ----------
    fitted : CalibrationMap
    prob : float
        In [0, 1].

    Examples
    --------
    >>> from oddsmith.maps import line_map
    >>> scores_reaching(line_map(2.0, -1.0), 0.75)
    ((1.049306144334055, inf),)
    >>> scores_reaching(line_map(-2.0, -1.0), 0.75)
    ((-inf, -1.049306144334055),)
    """
    least = _check.number(prob, "prob", low=0)
    if least > 1:
        _check.fail("prob must be in [0, 1]", f"prob={prob!r}", "pass a probability such as prob=0.8")
    low, high = np.clip(fitted.domain, -MAX, MAX).tolist()
    starts = _starts(fitted, low, high)
    ends = np.append(np.nextafter(starts[1:], -np.inf), high)
    at_start, at_end = (fitted.probability(scores) >= least for scores in (starts, ends))
    # Of each stretch in which P crosses the value, the end that reaches it and the one that does not.
    crossed = at_start != at_end
    inside = np.where(at_start, starts, ends)[crossed]
    outside = np.where(at_start, ends, starts)[crossed]
    while np.any(np.nextafter(outside, inside) != inside):
        middle = halfway(outside, inside)
        reached = fitted.probability(middle) >= least
        inside, outside = np.where(reached, middle, inside), np.where(reached, outside, middle)
    inside = _farthest(fitted, least, inside, np.where(at_start, ends, starts)[crossed])
    first, last = starts.copy(), ends.copy()
    first[crossed & at_end], last[crossed & at_start] = inside[at_end[crossed]], inside[at_start[crossed]]
    held = at_start | at_end
    return _join(first[held], last[held], low, high)


def _farthest(fitted: CalibrationMap, least: float, found: Floats, beyond: Floats) -> Floats:
    """Return the farthest of the next doubles whose P reaches the value, where rounding makes P fall."""
    if not len(found):
        return found
    steps = [found]
    for _ in range(_NEIGHBORS):
        steps.append(np.nextafter(steps[-1], beyond))
    tried = np.array(steps)
    reached = fitted.probability(tried.ravel()).reshape(tried.shape) >= least
    return np.asarray(tried[_NEIGHBORS - np.argmax(reached[::-1], axis=0), np.arange(len(found))])


def _join(first: Floats, last: Floats, low: float, high: float) -> Intervals:
    """Join intervals between which there is no double, and open those that end where the map does."""
    if not len(first):
        return ()
    apart = np.nextafter(last[:-1], np.inf) < first[1:]
    first, last = first[np.append(True, apart)], last[np.append(apart, True)]
    first[first == low], last[last == high] = -np.inf, np.inf
    return tuple(zip(first.tolist(), last.tolist(), strict=True))


def _starts(fitted: CalibrationMap, low: float, high: float) -> Floats:
    """Return the first scores of the stretches in which the probability never turns."""
    if fitted.is_monotone:
        return np.array([low])
    knots = [node.knots for node in walk(fitted.probability_formula()) if isinstance(node, Pieces)]
    inner = np.concatenate([turning_points(fitted), *knots])
    inner = np.concatenate([inner, np.nextafter(inner, np.inf)]) + 0.0  # −0.0 becomes 0.0
    return np.unique(np.append(inner[(inner > low) & (inner <= high)], low))


@singledispatch
def turning_points(fitted: CalibrationMap) -> Floats:
    """Return the scores, other than knots, at which a map may turn."""
    _check.fail(
        "a map must rise, or consist of pieces whose turning points are known",
        f"a {type(fitted).__name__} that falls somewhere",
        "select rows by their probability: model.probability(scores) >= p",
    )


@turning_points.register
def _(fitted: StepMap | LinearMap) -> Floats:
    del fitted
    return np.empty(0)


@turning_points.register
def _(fitted: ShiftedMap | AdjustedMap) -> Floats:
    return turning_points(fitted.inner)


@turning_points.register
def _(fitted: InputMap) -> Floats:
    return fitted.scores_entering(turning_points(fitted.inner))


@turning_points.register
def _(fitted: CosineMap) -> Floats:
    way = np.arccos(fitted.turns()) / np.pi
    return np.asarray(fitted.low * (1 - way) + fitted.high * way)


@turning_points.register
def _(fitted: PolynomialMap) -> Floats:
    _, c1, c2, c3 = np.pad(fitted.coefficients, ((0, 0), (0, 4 - fitted.coefficients.shape[1]))).T
    with np.errstate(all="ignore"):
        root = np.sqrt(c2**2 - 3 * c1 * c3)
        larger = -(c2 + np.where(c2 < 0, -root, root))  # the two roots of c1 + 2·c2·u + 3·c3·u², without cancellation
        u = np.concatenate([larger / (3 * c3), c1 / larger])
        scores = (np.tile(fitted.origins / fitted.scale, 2) + u) * fitted.scale
    return np.asarray(scores[np.isfinite(scores) & (np.abs(u) < FAR)])
