"""Where the mode of a two-sided density lies: an exact search by branch and bound.

With θ fixed, the likelihood of the two-sided families depends on the data only through a deviation of the points left
of θ and one of the points right of it, Σ|x − θ| or Σ(x − θ)². The left one grows with θ and the right one shrinks, so
the values at the two ends of a block of candidates bound everything inside it: whole blocks are ruled out unseen.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oddsmith import _kernels
from oddsmith._types import Floats, Ints, Weights

Power = Literal[1, 2]
Objective = Callable[[Floats, Floats], Floats]
#: Scores in a block, and blocks summed at a time: their temporaries stay in the second-level cache.
_BLOCK = 128
_AT_ONCE = 64

#: Blocks no farther apart are searched together with those between: that takes less time than to begin anew.
_NEAR = 16

#: So few scores are one block, searched without a bound.
_SHORT = 2048

#: Objectives closer than this are ties, which go to the smallest θ.
_SLACK = 1e-12


class Mode(NamedTuple):
    """A mode θ, as a score, with the deviations of the points left (x ≤ θ) and right of it, in units of the scale."""

    theta: float
    left: float
    right: float


@dataclass(frozen=True)
class ClassScores:
    """One class: ascending scores with its weight at each, which may be 0 (None: all ones), and in all.

    Distances are taken in units of ``scale``, a power of two: squares of raw distances may overflow.
    """

    scores: Floats
    weight: Weights | None
    scale: float
    n: float

    def w(self, part: slice | NDArray[np.intp]) -> Floats:
        """Return weights as floats."""
        return np.ones(len(self.scores[part])) if self.weight is None else self.weight[part].astype(np.float64)

    def ends(self) -> tuple[float, float]:
        """Return the smallest and largest score that has weight."""
        held = np.flatnonzero(self.w(slice(None)))
        return float(self.scores[held[0]]), float(self.scores[held[-1]])

    def mode_at(self, theta: float, powers: tuple[Power, Power]) -> Mode:
        """Return a given θ with Σ|x − θ|ᵖ over the scores ≤ θ and over those > θ, by direct summation."""
        split, sums = int(np.searchsorted(self.scores, theta, side="right")), [0.0, 0.0]
        for side, (begin, end) in enumerate(((0, split), (split, len(self.scores)))):
            for start in range(begin, end, _kernels.CHUNK):
                part = slice(start, min(start + _kernels.CHUNK, end))
                distance = np.abs(self.scores[part] / self.scale - theta / self.scale)
                sums[side] += float(self.w(part).dot(distance if powers[side] == 1 else distance * distance))
        return Mode(theta, *sums)


def find_mode(
    sample: ClassScores, powers: tuple[Power, Power], objective: Objective, subdivisions: int, min_side: float
) -> Mode:
    """Return the θ that minimizes ``objective(left deviation, right deviation)``.

    Candidates are the scores of the class, and ``subdivisions`` − 1 evenly spaced points in each gap between them. With
    ``min_side`` > 0 each side must contain at least that weight (a share of the class if < 1).
    """
    blocks = _Blocks(sample, powers, objective, min_side)
    bounds = blocks.bounds()
    # The most promising block first: its best rules out nearly all others.
    runs = [(at := int(np.argmin(bounds)), at + 1)]
    best, found = np.inf, []
    while runs:
        for start, stop in runs:
            found += blocks.search(start, stop, subdivisions, best)
            best = min((value for _, value in found), default=best)
            bounds[start:stop] = np.inf
        runs = _runs(np.flatnonzero((bounds <= _tie_limit(best)) & (bounds < np.inf)))
    return min(mode for mode, value in found if value <= _tie_limit(best))


def _tie_limit(best: float) -> float:
    """Return the largest value that ties with the best."""
    return best + _SLACK * abs(best) if math.isfinite(best) else best


def _runs(chosen: NDArray[np.intp]) -> list[tuple[int, int]]:
    """Return first block and the one after the last, for each run of near neighbors among the chosen blocks."""
    if not len(chosen):
        return []
    breaks = np.flatnonzero(np.diff(chosen) > _NEAR)
    starts, stops = np.append(0, breaks + 1), np.append(breaks, len(chosen) - 1)
    return [(int(chosen[a]), int(chosen[b]) + 1) for a, b in zip(starts, stops, strict=True)]


def _sums_from(stats: Floats, distance: Floats, power: Power) -> Floats:
    """Return Σd or Σd² of points, given weight, Σd and Σd², once they are seen from a distance further away."""
    near = stats[1] + distance * stats[0]
    return np.asarray(near if power == 1 else stats[2] + distance * (stats[1] + near))


class _Blocks:
    """Deviations at any score: of the points behind (smaller) and ahead (larger), from sums over blocks.

    Moving on by δ turns Σd into Σd + δW and Σd² into Σd² + 2δΣd + δ²W. Only positive terms are ever added, so that
    deviations keep their digits even where nearly all scores lie close together.
    """

    def __init__(self, sample: ClassScores, powers: tuple[Power, Power], objective: Objective, min_side: float) -> None:
        self.sample, self.powers, self.objective = sample, powers, objective
        self.size = _BLOCK if len(sample.scores) > _SHORT else len(sample.scores)
        if self.size < len(sample.scores):
            weight, to_next, from_edge = _block_sums(sample, powers)
            steps = np.diff(np.append(sample.scores[:: self.size], sample.scores[-1]) / sample.scale)
            #: Weight, Σd and Σd² of what lies behind, and ahead of, each block's first score (and the last of all).
            self.behind = _accumulate(weight, steps, np.zeros(3), powers[0], to_next)
            self.ahead = _accumulate(weight[::-1], steps[::-1], np.zeros(3), powers[1], from_edge[:, ::-1])[:, ::-1]
            self.held = np.flatnonzero(weight > 0)
        else:
            self.behind = self.ahead = np.zeros((3, 2))
            self.held = np.zeros(1, np.intp)
        self.first, self.last = self._score_range(min_side)

    def _score_range(self, min_side: float) -> tuple[int, int]:
        """Return the numbers of the first and last score that leave enough weight on each side."""
        if min_side <= 0:
            return 0, len(self.sample.scores) - 1
        n = self.sample.n
        needed = min_side if min_side >= 1 else min_side * n
        index, _, ahead = self.walk(0, self.behind.shape[1] - 1)
        left, right = n - ahead[0], ahead[0]
        fine = index[(left >= needed) & (right >= needed)]
        if len(fine):
            return int(fine[0]), int(fine[-1])
        middle = int(index[np.argmax(np.minimum(left, right))])
        return middle, middle

    def bounds(self) -> Floats:
        """Return for each block a lower bound on the objective anywhere in it, infinite where none is allowed."""
        if self.size == len(self.sample.scores):
            return np.zeros(1)
        bounds = self.objective(self.behind[self.powers[0], :-1], self.ahead[self.powers[1], 1:])
        bounds[: self.first // self.size] = bounds[self.last // self.size + 1 :] = np.inf
        return bounds

    def search(self, start: int, stop: int, subdivisions: int, best: float) -> list[tuple[Mode, float]]:
        """Look at every candidate in blocks ``start`` to ``stop`` and in the gaps that reach into them."""
        index, behind, ahead = self.walk(start, stop)
        inside = slice(*np.searchsorted(index, (self.first, self.last + 1)))
        index, behind, ahead = index[inside], behind[:, inside], ahead[:, inside]
        if not len(index):
            return []
        left, right = behind[self.powers[0]], ahead[self.powers[1]]
        scores, scale = self.sample.scores[index], self.sample.scale
        found = [self._smallest(scores, left, right)]
        if subdivisions == 1:
            return found
        gaps = np.flatnonzero(self.objective(left[:-1], right[1:]) <= _tie_limit(min(best, found[0][1])))
        if not len(gaps):
            return found
        shares = np.arange(1, subdivisions) / subdivisions
        low, high = scores[gaps, None], scores[gaps + 1, None]
        theta = np.clip(low * (1 - shares) + high * shares, low, high)  # rounding may lead out of a gap of a few bits
        left = _sums_from(behind[:, gaps, None], theta / scale - low / scale, self.powers[0])
        # The weight ahead of a gap's lower end is at or beyond its upper end.
        ahead = np.concatenate([ahead[:1, gaps], ahead[1:, gaps + 1]])[:, :, None]
        right = _sums_from(ahead, high / scale - theta / scale, self.powers[1])
        return [*found, self._smallest(theta.ravel(), left.ravel(), right.ravel())]

    def _smallest(self, thetas: Floats, left: Floats, right: Floats) -> tuple[Mode, float]:
        """Return the smallest θ whose value ties with the best, and the best value."""
        values = self.objective(left, right)
        best = float(values.min())
        at = int(np.argmax(values <= _tie_limit(best)))  # θ ascends
        return Mode(float(thetas[at]), float(left[at]), float(right[at])), best

    def walk(self, start: int, stop: int) -> tuple[Ints, Floats, Floats]:
        """Return the numbers of the scores with weight in some blocks, and what lies behind and ahead of each.

        The nearest blocks with weight on both sides are included, so that each gap has both its ends. The weight behind
        includes the score's own, the weight ahead does not.
        """
        before, after = self.held[self.held < start][-1:], self.held[self.held >= stop][:1]
        first = int(before[0]) if len(before) else start
        last = int(after[0]) + 1 if len(after) else stop
        scores = self.sample.scores
        edges = scores[first * self.size], scores[min(last * self.size, len(scores) - 1)]
        index = np.flatnonzero(self.sample.w(slice(first * self.size, last * self.size)) > 0) + first * self.size
        w = self.sample.w(index)
        places = np.empty(len(index) + 2)
        places[0], places[1:-1], places[-1] = edges[0], scores[index], edges[1]
        places /= self.sample.scale
        steps = places[1:] - places[:-1]
        passed = np.zeros(len(index))
        passed[1:] = w[:-1]
        behind = _accumulate(passed, steps[:-1], self.behind[:, first], self.powers[0])[:, 1:]
        behind[0] += w
        passed[1:] = w[:0:-1]
        ahead = _accumulate(passed, steps[:0:-1], self.ahead[:, last], self.powers[1])[:, :0:-1]
        return index, behind, ahead


def _accumulate(weight: Floats, steps: Floats, start: Floats, power: Power = 2, inside: Floats | None = None) -> Floats:
    """Walk along places ``steps`` apart; return weight, Σd and (for power 2) Σd² of all points passed, at each place.

    ``start`` is what was passed before the first place. The weight is that at each place but the last or, with
    ``inside``, that between a place and the next; ``inside`` is its Σd and Σd², seen from the next place.
    """
    passed = np.empty((power + 1, len(steps) + 1))
    passed[:, 0] = start[: power + 1]
    passed[0, 1:] = weight
    np.cumsum(passed[0], out=passed[0])
    # Weight at a place moves away with the next step, weight between places only from then on.
    moving = passed[0, 1:] if inside is None else passed[0, :-1]
    added = moving * steps
    passed[1, 1:] = added if inside is None else added + inside[0]
    np.cumsum(passed[1], out=passed[1])
    if power == 2:
        added += 2 * passed[1, :-1]
        added *= steps
        passed[2, 1:] = added if inside is None else added + inside[1]
        np.cumsum(passed[2], out=passed[2])
    return passed


def _block_sums(sample: ClassScores, powers: tuple[Power, Power]) -> tuple[Floats, Floats, Floats]:
    """Return of each block its weight, and Σd and Σd² as seen from the next block's first score and from its own.

    Σd² only where the power of that side asks for it.
    """
    counts = sample.weight is not None and sample.weight.dtype.kind == "i"
    fast = _kernels.load_compiled(len(sample.scores)) if counts else None
    if fast is not None:
        sums: Floats = fast.block_sums(sample.scores, sample.weight, 1 / sample.scale, _BLOCK, 2 in powers)
        return sums[0], sums[1:3], sums[3:5]
    columns: list[list[Floats]] = [[], [], [], [], []]
    for start in range(0, len(sample.scores), _AT_ONCE * _BLOCK):
        part = slice(start, start + _AT_ONCE * _BLOCK)
        w, x = _in_rows(sample.w(part)), _in_rows(sample.scores[part] / sample.scale)
        edges = np.append(x[:, 0], sample.scores[min(part.stop, len(sample.scores) - 1)] / sample.scale)
        columns[0].append(w.sum(axis=1))
        for column, distance, power in ((1, edges[1:, None] - x, powers[0]), (3, x - edges[:-1, None], powers[1])):
            weighted = w * distance
            columns[column].append(weighted.sum(axis=1))
            if power == 2:
                columns[column + 1].append(np.einsum("ij,ij->i", weighted, distance))
    weight, *rest = (np.concatenate(column) if column else np.empty(0) for column in columns)
    return weight, np.stack(rest[: powers[0]]), np.stack(rest[2 : 2 + powers[1]])


def _in_rows(values: Floats) -> Floats:
    """Return values in rows of one block each, the last filled up with zeros."""
    missing = -len(values) % _BLOCK
    return (np.pad(values, (0, missing)) if missing else values).reshape(-1, _BLOCK)
