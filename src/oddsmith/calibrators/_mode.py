"""Where the mode of a two-sided density lies: an exact search by branch and bound.

With θ fixed, the likelihood of the two-sided families depends on the data only through a deviation of the points left
of θ and one of the points right of it, Σ|x − θ| or Σ(x − θ)². The left one grows with θ and the right one shrinks, so
the values at the two ends of a block of candidates bound everything inside it: whole blocks are ruled out unseen.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oddsmith import _kernels
from oddsmith._check import Floats, Weights

Power = Literal[1, 2]
Objective = Callable[[Floats, Floats], Floats]
Ints = NDArray[np.int64]

#: Scores in a block, and blocks summed at a time: their temporaries stay in the second-level cache.
_BLOCK = 128
_AT_ONCE = 64

#: So few blocks are searched without a bound.
_FEW = 16

#: Objectives closer than this are ties, which go to the smallest θ.
_SLACK = 1e-12

class Mode(NamedTuple):
    """A mode θ, as a score, with the deviations of the points left (x ≤ θ) and right of it, standardised."""

    theta: float
    left: float
    right: float


@dataclass(frozen=True)
class ClassScores:
    """One class: ascending scores with its weight at each, which may be 0 (None: all ones).

    Sums are taken on a standardised scale, x = (s − centre)/scale within [−1, 1]: running moments about a distant origin
    cancel.
    """

    scores: Floats
    weight: Weights | None
    centre: float
    scale: float

    @cached_property
    def n(self) -> float:
        """Weight of the class."""
        return float(len(self.scores) if self.weight is None else self.weight.sum())

    def x(self, scores: Floats) -> Floats:
        """Return scores on the standardised scale."""
        return scores / self.scale - self.centre / self.scale

    def w(self, part: slice | NDArray[np.intp]) -> Floats:
        """Return weights as floats."""
        return np.ones(len(self.scores[part])) if self.weight is None else self.weight[part].astype(np.float64)

    def ends(self) -> tuple[float, float]:
        """Return the smallest and largest score that has weight."""
        held = np.flatnonzero(self.w(slice(None)))
        return float(self.scores[held[0]]), float(self.scores[held[-1]])

    def deviation(self, theta: float, left: bool, power: Power) -> float:
        """Return Σ|x − θ|ᵖ over the scores ≤ θ (left) or > θ (right), by direct summation."""
        split = int(np.searchsorted(self.scores, theta, side="right"))
        begin, end = (0, split) if left else (split, len(self.scores))
        at = theta / self.scale - self.centre / self.scale
        total = 0.0
        for start in range(begin, end, _kernels.CHUNK):
            part = slice(start, min(start + _kernels.CHUNK, end))
            distance = np.abs(self.x(self.scores[part]) - at)
            total += float(self.w(part).dot(distance if power == 1 else distance * distance))
        return total

    def mode_at(self, theta: float, powers: tuple[Power, Power]) -> Mode:
        """Return a given θ with its deviations."""
        return Mode(theta, self.deviation(theta, True, powers[0]), self.deviation(theta, False, powers[1]))


def find_mode(
    sample: ClassScores, powers: tuple[Power, Power], objective: Objective, subdivisions: int, min_side: float
) -> Mode:
    """Return the θ that minimises ``objective(left deviation, right deviation)``.

    Candidates are the scores of the class, and ``subdivisions`` − 1 evenly spaced points in each gap between them. With
    ``min_side`` > 0 each side must hold at least that weight (a share of the class if < 1).
    """
    blocks = _Blocks(sample, powers)
    allowed = blocks.allowed(min_side)
    bounds = blocks.bounds(allowed, objective)
    best, found = np.inf, []
    # The most promising block first: its best rules out nearly all others.
    chosen = np.array([np.argmin(bounds)]) if len(bounds) > _FEW else np.arange(len(bounds))
    while len(chosen):
        for start, stop in _runs(chosen):
            found += _search(blocks, start, stop, allowed, objective, subdivisions, best)
            best = min((value for _, value in found), default=best)
        bounds[chosen] = np.inf
        chosen = np.flatnonzero((bounds <= _tied(best)) & (bounds < np.inf))
    return min(mode for mode, value in found if value <= _tied(best))


def _tied(best: float) -> float:
    """Return the largest value that ties with the best."""
    return best + _SLACK * abs(best) if math.isfinite(best) else best


def _runs(chosen: NDArray[np.intp]) -> list[tuple[int, int]]:
    """Return first block and the one after the last, for each run of neighbours among the chosen blocks."""
    breaks = np.flatnonzero(np.diff(chosen) > 1)
    starts, stops = np.append(0, breaks + 1), np.append(breaks, len(chosen) - 1)
    return [(int(chosen[a]), int(chosen[b]) + 1) for a, b in zip(starts, stops, strict=True)]


def _search(
    blocks: "_Blocks",
    start: int,
    stop: int,
    allowed: tuple[int, int],
    objective: Objective,
    subdivisions: int,
    best: float,
) -> list[tuple[Mode, float]]:
    """Look at every candidate in blocks ``start`` to ``stop`` and in the gaps that reach into them."""
    index, behind, ahead = blocks.walk(start, stop)
    inside = slice(*np.searchsorted(index, (allowed[0], allowed[1] + 1)))
    index, behind, ahead = index[inside], behind[:, inside], ahead[:, inside]
    if not len(index):
        return []
    left, right = blocks.pick(behind, ahead)
    scores = blocks.sample.scores[index]
    found = [_smallest(scores, objective(left, right), left, right)]
    best = min(best, found[0][1])
    if subdivisions == 1:
        return found
    gaps = np.flatnonzero(objective(left[:-1], right[1:]) <= _tied(best))
    if not len(gaps):
        return found
    steps = np.arange(1, subdivisions) / subdivisions
    low, high = scores[gaps, None], scores[gaps + 1, None]
    theta = low * (1 - steps) + high * steps
    scale = blocks.sample.scale
    # Seen from inside a gap everything is further away than from its ends, by the distance to them.
    behind = _step_back(behind[:, gaps, None], theta / scale - low / scale)
    ahead = np.stack([ahead[0, gaps], ahead[1, gaps + 1], ahead[2, gaps + 1]])[:, :, None]
    ahead = _step_back(ahead, high / scale - theta / scale)
    left, right = (side.ravel() for side in blocks.pick(behind, ahead))
    return [*found, _smallest(theta.ravel(), objective(left, right), left, right)]


def _step_back(stats: Floats, distance: Floats) -> Floats:
    """Return weight, Σd and Σd² of points after the place they are seen from moved away by some distance."""
    weight, first, second = stats
    return np.stack(
        [
            np.broadcast_to(weight, distance.shape),
            first + distance * weight,
            second + 2 * distance * first + distance * distance * weight,
        ]
    )


def _smallest(thetas: Floats, values: Floats, left: Floats, right: Floats) -> tuple[Mode, float]:
    """Return the smallest θ whose value ties with the best, and the best value."""
    best = float(values.min())
    at = int(np.argmax(values <= _tied(best)))  # θ ascends
    return Mode(float(thetas[at]), float(left[at]), float(right[at])), best


class _Blocks:
    """Deviations at any score: of the points behind (smaller) and ahead (larger), from sums over blocks.

    Moving on by δ turns Σd into Σd + δW and Σd² into Σd² + 2δΣd + δ²W. Only positive terms are ever added, so that
    deviations keep their digits even where nearly all scores lie close together.
    """

    def __init__(self, sample: ClassScores, powers: tuple[Power, Power]) -> None:
        self.sample, self.powers = sample, powers
        weight, to_next, from_edge = _block_sums(sample)
        edges = np.append(sample.scores[::_BLOCK], sample.scores[-1]) / sample.scale
        steps = np.diff(edges)
        #: Weight, Σd and Σd² of the points behind, and ahead of, the first score of each block (and the last of all).
        self.behind = _accumulate(weight, to_next, steps)
        self.ahead = _accumulate(weight[::-1], from_edge[:, ::-1], steps[::-1])[:, ::-1]
        self.held = np.flatnonzero(weight > 0)

    def allowed(self, min_side: float) -> tuple[int, int]:
        """Return the numbers of the first and last score that leave enough weight on each side."""
        n = self.sample.n
        if min_side <= 0:
            return self._first_in(int(self.held[0])), self._last_in(int(self.held[-1]))
        needed = min_side if min_side >= 1 else min_side * n
        index, _, ahead = self.walk(0, self.behind.shape[1] - 1)
        left, right = n - ahead[0], ahead[0]
        fine = index[(left >= needed) & (right >= needed)]
        if len(fine):
            return int(fine[0]), int(fine[-1])
        middle = int(index[np.argmax(np.minimum(left, right))])
        return middle, middle

    def _first_in(self, block: int) -> int:
        start = block * _BLOCK
        return start + int(np.argmax(self.sample.w(slice(start, start + _BLOCK)) > 0))

    def _last_in(self, block: int) -> int:
        start = block * _BLOCK
        return start + int(np.flatnonzero(self.sample.w(slice(start, start + _BLOCK)) > 0)[-1])

    def bounds(self, allowed: tuple[int, int], objective: Objective) -> Floats:
        """Return for each block a lower bound on the objective anywhere in it, infinite where none is allowed."""
        if self.behind.shape[1] <= _FEW + 1:
            return np.zeros(self.behind.shape[1] - 1)
        left, right = self.pick(self.behind, self.ahead)
        bounds = objective(left[:-1], right[1:])
        bounds[: allowed[0] // _BLOCK] = bounds[allowed[1] // _BLOCK + 1 :] = np.inf
        return bounds

    def walk(self, start: int, stop: int) -> tuple[Ints, Floats, Floats]:
        """Return the numbers of the scores with weight in some blocks, and what lies behind and ahead of each.

        The nearest blocks with weight on both sides are included, so that each gap has both its ends. The weight behind
        includes the score's own, the weight ahead does not.
        """
        before, after = self.held[self.held < start][-1:], self.held[self.held >= stop][:1]
        first = int(before[0]) if len(before) else start
        last = int(after[0]) + 1 if len(after) else stop
        part = slice(first * _BLOCK, min(last * _BLOCK, len(self.sample.scores)))
        w = self.sample.w(part)
        next_edge = self.sample.scores[min(last * _BLOCK, len(self.sample.scores) - 1)]
        steps = np.diff(np.append(self.sample.scores[part], next_edge) / self.sample.scale)
        behind = _accumulate(w[:-1], None, steps[:-1], self.behind[:, first])
        behind[0] += w
        ahead = _accumulate(np.append(0.0, w[:0:-1]), None, steps[::-1], self.ahead[:, last])[:, :0:-1]
        held = np.flatnonzero(w > 0)
        return held + part.start, behind[:, held], ahead[:, held]

    def pick(self, behind: Floats, ahead: Floats) -> tuple[Floats, Floats]:
        """Return the deviations that count on each side."""
        return behind[self.powers[0]], ahead[self.powers[1]]


def _accumulate(weight: Floats, inside: Floats | None, steps: Floats, start: Floats | None = None) -> Floats:
    """Walk along places ``steps`` apart; return weight, Σd and Σd² of all points passed, at each place.

    Parameters
    ----------
    weight : ndarray of shape (m,)
        Weight between a place and the next (or at the place, if ``inside`` is None).
    inside : ndarray of shape (2, m) or None
        Σd and Σd² of that weight, seen from the next place.
    steps : ndarray of shape (m,)
    start : ndarray of shape (3,), optional
        What was passed before the first place.
    """
    passed = np.zeros((3, len(steps) + 1))
    if start is not None:
        passed[:, 0] = start
    own = (0.0, 0.0)
    if inside is None:
        moving = passed[0, 0] + np.cumsum(weight)  # weight at a place moves away with the next step
        passed[0, 1:] = moving
    else:
        passed[0, 1:] = passed[0, 0] + np.cumsum(weight)
        moving = passed[0, :-1]
        own = (inside[0], inside[1])
    passed[1, 1:] = passed[1, 0] + np.cumsum(moving * steps + own[0])
    passed[2, 1:] = passed[2, 0] + np.cumsum(2 * steps * passed[1, :-1] + moving * steps * steps + own[1])
    return passed


def _block_sums(sample: ClassScores) -> tuple[Floats, Floats, Floats]:
    """Return of each block its weight, and Σd and Σd² as seen from the next block's first score and from its own."""
    fast = _kernels.compiled(len(sample.scores)) if sample.weight is not None and sample.weight.dtype.kind == "i" else None
    if fast is not None:
        sums: Floats = fast.block_sums(sample.scores, sample.weight, 1 / sample.scale, _BLOCK)
        return sums[0], sums[1:3], sums[3:5]
    rows = []
    for start in range(0, len(sample.scores), _AT_ONCE * _BLOCK):
        part = slice(start, start + _AT_ONCE * _BLOCK)
        w, x = _in_rows(sample.w(part)), _in_rows(sample.scores[part] / sample.scale)
        edges = np.append(x[:, 0], sample.scores[min(part.stop, len(sample.scores) - 1)] / sample.scale)
        to_next, from_edge = np.maximum(edges[1:, None] - x, 0.0), np.maximum(x - edges[:-1, None], 0.0)
        one, two = w * to_next, w * from_edge
        rows.append(
            [
                w.sum(axis=1),
                one.sum(axis=1),
                np.einsum("ij,ij->i", one, to_next),
                two.sum(axis=1),
                np.einsum("ij,ij->i", two, from_edge),
            ]
        )
    sums = np.concatenate(rows, axis=1)
    return sums[0], sums[1:3], sums[3:5]


def _in_rows(values: Floats) -> Floats:
    """Return values in rows of one block each, the last filled up with zeros."""
    missing = -len(values) % _BLOCK
    return (np.pad(values, (0, missing)) if missing else values).reshape(-1, _BLOCK)
