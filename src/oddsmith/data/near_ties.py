"""Scores that differ by rounding alone: equal rows, scored by two folds or in two orders.

Methods that step from score to score would treat them as far apart as any others. They are told from real differences
by what lies around: two fits to the same rows agree to about ten digits of the spread of their scores, while that close
to each other, by chance, come few of a million scores.
"""

import numpy as np
from numpy.typing import NDArray

from oddsmith._types import Floats

#: What rounding, and the solvers that it passes through, may do to scores: a share of the spread around them.
_NOISE = 2.0**-30

#: What it may do to a score whatever the others: a few last bits.
_LAST_BITS = 2.0**-50

#: What it may do to a score that one classifier gives twice, such as a sum of many terms in another order.
_SAME = 2.0**-44

#: The spread is that of so many neighbors, or of this share of all distinct scores.
_NEIGHBORS, _SHARE = 8, 1 / 16

#: Candidates are looked for in blocks of scores, which stay in the cache.
_BLOCK = 8192

#: Among more distinct scores than this none are joined: a single one moves no step by more than chance does, and many
#: come this close to each other by chance.
_MANY = 2**15


def near_runs(scores: Floats) -> NDArray[np.intp] | None:
    """Return where runs of near-equal scores start, or None where all scores are apart.

    Parameters
    ----------
    scores : ndarray of shape (m,)
        Distinct and ascending. Two have nothing around them, and stay apart; so do very many.
    """
    if not 3 <= len(scores) <= _MANY:
        return None
    with np.errstate(over="ignore", under="ignore"):
        span = scores[-1] - scores[0]
        s = scores if np.isfinite(span) else scores / 4
        close = np.concatenate([_candidates(s, start) for start in range(0, len(s), _BLOCK)])
        if not len(close):
            return None
        slack = _slack(s, close)
        near = s[close + 1] - s[close] <= slack
        close, slack = close[near], slack[near]
        if not len(close):
            return None
        # Where many scores in a row are near each other, they are dense and not equal.
        first = np.flatnonzero(np.diff(close, prepend=-2) > 1)
        size = np.diff(first, append=len(close))
        width = s[close[first + size - 1] + 1] - s[close[first]]
        close = close[np.repeat(width <= 2 * np.maximum.reduceat(slack, first), size)]
    starts = np.ones(len(s), dtype=bool)
    starts[close + 1] = False
    return np.flatnonzero(starts) if len(close) else None


def _candidates(s: Floats, start: int) -> NDArray[np.intp]:
    """Return which scores of a block may be near their next one, by a bound on the slack of all of them."""
    m, reach = len(s), _reach(s)
    stop = min(start + _BLOCK, m - 1)
    left = s[stop] - s[start - reach] if start >= reach else np.inf
    right = s[stop + reach] - s[start] if stop + reach < m else np.inf
    spread = min(left, right, s[-1] - s[0])
    size = max(-s[start], s[stop])
    if s[0] >= 0 or s[-1] <= 0:
        spread = min(spread, size)
    return start + np.flatnonzero(np.diff(s[start : stop + 1]) <= _NOISE * spread + _LAST_BITS * size)


def _reach(s: Floats) -> int:
    """Return of how many neighbors on a side the spread is taken; one side always has so many."""
    return min(max(_NEIGHBORS, int(_SHARE * len(s))), (len(s) - 1) // 2)


def _slack(s: Floats, at: NDArray[np.intp]) -> Floats:
    """Return up to which gap each of these scores and its next one are near."""
    m, reach = len(s), _reach(s)
    left = np.where(at >= reach, s[at] - s[np.maximum(at - reach, 0)], np.inf)
    right = np.where(at + 1 + reach < m, s[np.minimum(at + 1 + reach, m - 1)] - s[at + 1], np.inf)
    spread = np.minimum(left, right)
    sizes = np.abs(s[at]), np.abs(s[at + 1])
    if s[0] >= 0 or s[-1] <= 0:  # of one sign: small ones, such as probabilities, may be as precise as large ones
        spread = np.minimum(spread, np.minimum(*sizes))
        if max(-s[0], s[-1]) <= 1:
            spread = np.minimum(spread, 1 - np.maximum(*sizes))
    return np.asarray(_NOISE * spread + _LAST_BITS * np.maximum(*sizes))


def around(knots: Floats) -> tuple[Floats, Floats]:
    """Return (low, high] about each of ascending knots: the scores that a classifier may give in the knot's place."""
    most = np.finfo(np.float64).max
    with np.errstate(over="ignore", under="ignore"):
        gaps = np.minimum(np.diff(knots), most)
        sizes = np.abs(knots)
        left, right = (np.maximum(sizes, gap) for gap in (np.append(0, gaps), np.append(gaps, 0)))
        if knots[0] >= 0 or knots[-1] <= 0:  # as in _slack
            left, right = sizes, sizes
        room = np.concatenate([[np.inf], gaps / 4, [np.inf]])
        low = np.minimum(knots - np.minimum(_SAME * left, room[:-1]), np.nextafter(knots, -np.inf))
        high = knots + np.minimum(_SAME * right, room[1:])
    return np.maximum(low, -most), np.minimum(high, most)
