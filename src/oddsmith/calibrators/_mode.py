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
_BLOCK = 512
_AT_ONCE = 16

#: So few blocks are searched without a bound.
_FEW = 4

#: Objectives closer than this are ties, which go to the smallest θ.
_SLACK = 1e-12

#: Deviations below this share of N come from few points, or from rounding: they are summed directly.
_TINY = 1e-6


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
    mode = min(mode for mode, value in found if value <= _tied(best))
    if min(mode.left, mode.right) > _TINY * sample.n:
        return mode
    return sample.mode_at(mode.theta, powers)


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
    index, upto = blocks.running(start, stop)
    inside = slice(*np.searchsorted(index, (allowed[0], allowed[1] + 1)))
    index, upto = index[inside], upto[:, inside]
    if not len(index):
        return []
    scores = blocks.sample.scores[index]
    left, right = blocks.deviations(upto, blocks.sample.x(scores), index == blocks.last)
    found = [_smallest(scores, objective(left, right), left, right)]
    best = min(best, found[0][1])
    if subdivisions == 1:
        return found
    gaps = np.flatnonzero(objective(left[:-1], right[1:]) <= _tied(best))
    if not len(gaps):
        return found
    steps = np.arange(1, subdivisions)
    low, high = scores[gaps, None] / subdivisions, scores[gaps + 1, None] / subdivisions
    theta = (low * (subdivisions - steps) + high * steps).ravel()
    left, right = blocks.deviations(np.repeat(upto[:, gaps], subdivisions - 1, axis=1), blocks.sample.x(theta))
    return [*found, _smallest(theta, objective(left, right), left, right)]


def _smallest(thetas: Floats, values: Floats, left: Floats, right: Floats) -> tuple[Mode, float]:
    """Return the smallest θ whose value ties with the best, and the best value."""
    best = float(values.min())
    at = int(np.argmax(values <= _tied(best)))  # θ ascends
    return Mode(float(thetas[at]), float(left[at]), float(right[at])), best


class _Blocks:
    """Sums of weight, w·x and w·x² over blocks of scores, and from them the sums up to any score."""

    def __init__(self, sample: ClassScores, powers: tuple[Power, Power]) -> None:
        self.sample, self.powers = sample, powers
        self.before = np.cumsum(np.pad(_block_sums(sample), ((0, 0), (1, 0))), axis=1)
        self.total = self.before[:, -1:]
        self.held = np.flatnonzero(self.before[0, 1:] > self.before[0, :-1])

    def allowed(self, min_side: float) -> tuple[int, int]:
        """Return the numbers of the first and last score that leave enough weight on each side."""
        n = self.sample.n
        if min_side <= 0:
            return self.first_in(self.held[0]), self.last
        needed = min_side if min_side >= 1 else min_side * n
        index, upto = self.running(0, len(self.before[0]) - 1)
        fine = index[(upto[0] >= needed) & (n - upto[0] >= needed)]
        if len(fine):
            return int(fine[0]), int(fine[-1])
        middle = int(index[np.argmax(np.minimum(upto[0], n - upto[0]))])
        return middle, middle

    def first_in(self, block: int) -> int:
        """Return the number of the first score with weight in a block."""
        start = int(block) * _BLOCK
        return start + int(np.argmax(self.sample.w(slice(start, start + _BLOCK)) > 0))

    @cached_property
    def last(self) -> int:
        """Number of the last score that has weight."""
        start = int(self.held[-1]) * _BLOCK
        return start + int(np.flatnonzero(self.sample.w(slice(start, start + _BLOCK)) > 0)[-1])

    def bounds(self, allowed: tuple[int, int], objective: Objective) -> Floats:
        """Return for each block a lower bound on the objective anywhere in it, infinite where none is allowed."""
        if self.before.shape[1] <= _FEW + 1:
            return np.zeros(self.before.shape[1] - 1)
        scores = self.sample.scores
        # Scores left of a block's first have no say in how far the ones beyond it are, and the other way round.
        left, right = self.deviations(self.before, self.sample.x(np.append(scores[::_BLOCK], scores[-1])))
        bounds = objective(left[:-1], right[1:])
        bounds[: allowed[0] // _BLOCK] = bounds[allowed[1] // _BLOCK + 1 :] = np.inf
        return bounds

    def running(self, start: int, stop: int) -> tuple[Ints, Floats]:
        """Return the numbers of the scores with weight in some blocks, and the sums up to each.

        The nearest blocks with weight on both sides are included, so that each gap has both its ends.
        """
        before = self.held[self.held < start][-1:]
        after = self.held[self.held >= stop][:1]
        base = int(before[0] if len(before) else start) * _BLOCK
        part = slice(base, int(after[0] + 1 if len(after) else stop) * _BLOCK)
        w, x = self.sample.w(part), self.sample.x(self.sample.scores[part])
        wx = w * x
        upto = np.cumsum([w, wx, wx * x], axis=1)
        upto += self.before[:, base // _BLOCK, None]
        held = np.flatnonzero(w > 0)
        return held + base, upto[:, held]

    def deviations(
        self, upto: Floats, theta: Floats, at_end: NDArray[np.bool_] | None = None
    ) -> tuple[Floats, Floats]:
        """Return the deviations left and right of θ, from the sums over the scores left of it."""
        right = self._deviation(self.total - upto, theta, self.powers[1], 1)
        if at_end is not None:
            right[at_end] = 0.0  # exactly: nothing lies beyond the last score
        return self._deviation(upto, theta, self.powers[0], -1), right

    @staticmethod
    def _deviation(sums: Floats, theta: Floats, power: Power, sign: int) -> Floats:
        w, wx, wxx = sums
        value = sign * (wx - w * theta) if power == 1 else wxx - 2 * wx * theta + w * theta * theta
        return np.maximum(value, 0.0)


def _block_sums(sample: ClassScores) -> Floats:
    """Return Σw, Σwx and Σwx² over each block."""
    fast = _kernels.compiled(len(sample.scores)) if sample.weight is not None and sample.weight.dtype.kind == "i" else None
    if fast is not None:
        result: Floats = fast.block_sums(
            sample.scores, sample.weight, 1 / sample.scale, sample.centre / sample.scale, _BLOCK
        )
        return result
    sums = []
    for start in range(0, len(sample.scores), _AT_ONCE * _BLOCK):
        part = slice(start, start + _AT_ONCE * _BLOCK)
        w, x = _in_rows(sample.w(part)), _in_rows(sample.x(sample.scores[part]))
        wx = w * x
        sums.append([w.sum(axis=1), wx.sum(axis=1), np.einsum("ij,ij->i", wx, x)])
    return np.concatenate(sums, axis=1)


def _in_rows(values: Floats) -> Floats:
    """Return values in rows of one block each, the last filled up with zeros."""
    missing = -len(values) % _BLOCK
    return (np.pad(values, (0, missing)) if missing else values).reshape(-1, _BLOCK)
