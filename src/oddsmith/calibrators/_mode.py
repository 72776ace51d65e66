"""Where the mode of a two-sided density lies: an exact search by branch and bound.

With θ fixed, the likelihood of the two-sided families depends on the data only through a deviation of the points left
of θ and one of the points right of it, Σ|x − θ| or Σ(x − θ)². The left one grows with θ and the right one shrinks, so
the values at the two ends of a block of candidates bound everything inside it: whole blocks are ruled out unseen.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from oddsmith._check import Floats, Weights

Power = Literal[1, 2]
Objective = Callable[[Floats, Floats], Floats]

#: Candidates in a block of the first level.
_BLOCK = 512

#: Objectives closer than this are ties, which go to the smallest θ.
_SLACK = 1e-12


@dataclass(frozen=True)
class ClassScores:
    """One class: distinct scores, ascending, with weights (None: all ones), raw and standardised.

    ``x`` is (raw − centre)/scale, within [−1, 1] of an overall median: running moments about a distant origin cancel.
    """

    raw: Floats
    x: Floats
    weight: Weights | None
    centre: float
    scale: float

    @property
    def n(self) -> float:
        """Weight of the class."""
        return float(len(self.x) if self.weight is None else self.weight.sum())

    def standardise(self, theta: float) -> float:
        """Return a raw score on the standardised scale."""
        return theta / self.scale - self.centre / self.scale

    def deviation(self, theta: float, left: bool, power: Power) -> float:
        """Return Σ|x − θ|ᵖ over the points with raw score ≤ θ (left) or > θ (right), by direct summation."""
        split = int(np.searchsorted(self.raw, theta, side="right"))
        part = slice(None, split) if left else slice(split, None)
        distance = np.abs(self.x[part] - self.standardise(theta))
        terms = distance if power == 1 else distance * distance
        return float(terms.sum() if self.weight is None else np.dot(self.weight[part], terms))


def find_mode(
    sample: ClassScores, powers: tuple[Power, Power], objective: Objective, subdivisions: int, min_side: float
) -> float:
    """Return the raw θ that minimises ``objective(left deviation, right deviation)``.

    Candidates are the scores, and ``subdivisions`` − 1 evenly spaced points in each gap between them. With ``min_side``
    > 0 each side must hold at least that weight (a share of the class if < 1).
    """
    prefix = _Prefix(sample)
    first, last = _allowed(prefix, sample.n, min_side)
    blocks = np.append(np.arange(first, last, _BLOCK), last)
    left, right = prefix.left(blocks, powers[0]), prefix.right(blocks, powers[1])
    best = float(np.min(objective(left, right)))
    bounds = objective(left[:-1], right[1:])
    found = [(float(sample.raw[first]), float(objective(left[:1], right[:1])[0]))]
    # The most promising block first, so that the others are ruled out early; ties are settled by θ at the end.
    for block in np.argsort(bounds):
        if bounds[block] > best + _SLACK * abs(best):
            break
        index = np.arange(blocks[block], blocks[block + 1] + 1)
        left, right = prefix.left(index, powers[0]), prefix.right(index, powers[1])
        found.append(_smallest(sample.raw[index], objective(left, right)))
        best = min(best, found[-1][1])
        if subdivisions > 1:
            gaps = index[:-1][objective(left[:-1], right[1:]) <= best + _SLACK * abs(best)]
            if len(gaps):
                found.append(_inside_gaps(sample, prefix, gaps, powers, objective, subdivisions))
                best = min(best, found[-1][1])
    thetas, values = (np.array(column) for column in zip(*found, strict=True))
    return _smallest(thetas, values)[0]


def _smallest(thetas: Floats, values: Floats) -> tuple[float, float]:
    """Return the smallest θ whose value ties with the best, and the best value."""
    best = values.min()
    return float(thetas[values <= best + _SLACK * abs(best)].min()), float(best)


def _inside_gaps(
    sample: ClassScores,
    prefix: "_Prefix",
    gaps: np.ndarray,
    powers: tuple[Power, Power],
    objective: Objective,
    subdivisions: int,
) -> tuple[float, float]:
    """Return the best of the points that divide the gaps after the given indices."""
    share = np.arange(1, subdivisions) / subdivisions
    raw = sample.raw[gaps, None] / subdivisions * (subdivisions - np.arange(1, subdivisions))
    raw = (raw + sample.raw[gaps + 1, None] / subdivisions * np.arange(1, subdivisions)).ravel()
    low, high = sample.x[gaps, None], sample.x[gaps + 1, None]
    x = (low + (high - low) * share).ravel()
    at = np.repeat(gaps, subdivisions - 1)
    return _smallest(raw, objective(prefix.left(at, powers[0], x), prefix.right(at, powers[1], x)))


def _allowed(prefix: "_Prefix", n: float, min_side: float) -> tuple[int, int]:
    """Return the first and last candidate that leave enough weight on each side."""
    size = len(prefix.x)
    if min_side <= 0:
        return 0, size - 1
    needed = min_side if min_side >= 1 else min_side * n
    at = prefix.weight(np.arange(size))
    fine = np.flatnonzero((at >= needed) & (n - at >= needed))
    if len(fine):
        return int(fine[0]), int(fine[-1])
    middle = int(np.argmax(np.minimum(at, n - at)))
    return middle, middle


class _Prefix:
    """Sums of weight, w·x and w·x² up to any index, from sums over blocks and the block at hand."""

    def __init__(self, sample: ClassScores) -> None:
        self.x, self.w = sample.x, sample.weight
        full = len(self.x) // _BLOCK * _BLOCK
        blocks = self.x[:full].reshape(-1, _BLOCK)
        if self.w is None:
            sums = [np.full(len(blocks), float(_BLOCK)), blocks.sum(axis=1), np.einsum("ij,ij->i", blocks, blocks)]
        else:
            weights = self.w[:full].reshape(-1, _BLOCK).astype(np.float64)
            weighted = weights * blocks
            sums = [weights.sum(axis=1), weighted.sum(axis=1), np.einsum("ij,ij->i", weighted, blocks)]
        self.before = np.zeros((3, len(blocks) + 1))
        np.cumsum(sums, axis=1, out=self.before[:, 1:])
        self.total = self.before[:, -1] + self._tail(full)

    def _tail(self, full: int) -> Floats:
        x = self.x[full:]
        w = np.ones(len(x)) if self.w is None else self.w[full:].astype(np.float64)
        return np.array([w.sum(), np.dot(w, x), np.dot(w * x, x)])

    def upto(self, index: np.ndarray) -> Floats:
        """Return the three sums over points 0 … index, inclusive; ``index`` ascending."""
        result = np.empty((3, len(index)))
        block = index // _BLOCK
        edges = np.flatnonzero(np.append(True, block[1:] != block[:-1]))
        for start, stop in zip(edges, np.append(edges[1:], len(index)), strict=True):
            base = int(block[start]) * _BLOCK
            inside = slice(base, int(index[stop - 1]) + 1)
            x = self.x[inside]
            w = np.ones(len(x)) if self.w is None else self.w[inside].astype(np.float64)
            wx = w * x
            running = np.cumsum([w, wx, wx * x], axis=1)
            result[:, start:stop] = self.before[:, block[start], None] + running[:, index[start:stop] - base]
        return result

    def weight(self, index: np.ndarray) -> Floats:
        """Return the weight of points 0 … index."""
        return self.upto(index)[0]

    def left(self, index: np.ndarray, power: Power, theta: Floats | None = None) -> Floats:
        """Return the deviation of points 0 … index from θ (default: the point at index)."""
        sums = self.upto(index)
        return self._deviation(sums, self.x[index] if theta is None else theta, power, -1)

    def right(self, index: np.ndarray, power: Power, theta: Floats | None = None) -> Floats:
        """Return the deviation of the points after index from θ (default: the point at index)."""
        sums = self.total[:, None] - self.upto(index)
        result = self._deviation(sums, self.x[index] if theta is None else theta, power, 1)
        result[index == len(self.x) - 1] = 0.0
        return result

    @staticmethod
    def _deviation(sums: Floats, theta: Floats, power: Power, sign: int) -> Floats:
        w, wx, wxx = sums
        value = sign * (wx - w * theta) if power == 1 else wxx - 2 * wx * theta + w * theta * theta
        return np.maximum(value, 0.0)
