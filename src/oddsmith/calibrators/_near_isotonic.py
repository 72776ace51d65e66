"""The path of near-isotonic regression: every fit between the data and the isotonic one.

Near-isotonic regression minimizes ½Σw(y − m)² + λΣ(mᵢ − mᵢ₊₁)₊ over neighboring cells. Groups of equal values only
ever merge as λ grows, so the path is a tree. As long as a group of positive weight S and weight W lives, it stands at

    m(λ) = (S + λd)/W,    d = [the group before is higher] − [the group after is lower],

and the order of two neighbors cannot change without their meeting. Meetings come in order from a heap: O(n log n).
"""

import heapq
import math
from typing import NamedTuple

import numpy as np

from oddsmith._types import Floats, Ints

#: Penalties that differ by less than this share are one: neighbors that meet at once do so to rounding.
_AT_ONCE = 1e-9

#: Standing neighbors this close have met.
_EQUAL = 1e-12


class NearIsotonicFit(NamedTuple):
    """One fit of the path: where its groups start, their positive and negative weight, and their values."""

    starts: Ints
    pos: Floats
    neg: Floats
    values: Floats
    complements: Floats


class Path(NamedTuple):
    """All groups that ever live, and the penalties at which some begin and others end."""

    #: Ascending, from 0 to where the fit is isotonic, and the number of groups from each on.
    penalties: Floats
    sizes: Ints
    #: First cell, weights and d of each group.
    first: Ints
    pos: Floats
    neg: Floats
    drift: Floats
    #: A group lives from step ``birth`` until before step ``death``.
    birth: Ints
    death: Ints

    def fit(self, step: int) -> NearIsotonicFit:
        """Return the fit at one step."""
        alive = np.flatnonzero((self.birth <= step) & (step < self.death))
        alive = alive[np.argsort(self.first[alive])]
        pos, neg = self.pos[alive], self.neg[alive]
        pull, weight = self.penalties[step] * self.drift[alive], pos + neg
        # Both shares from their own weight, so that neither loses its digits to the other.
        shares = (np.clip(side / weight, 0.0, 1.0) for side in (pos + pull, neg - pull))
        return NearIsotonicFit(self.first[alive], pos, neg, *shares)


def near_isotonic_path(pos: Floats, neg: Floats) -> Path:
    """Return the path for cells with positive and negative weight, in order of the score."""
    # A power of two changes no digit, and products of weights stay in range.
    scale = math.ldexp(1.0, -math.frexp(float(pos.sum() + neg.sum()))[1])
    groups = _merge((pos * scale).tolist(), (neg * scale).tolist())
    first, plus, minus, drift, birth, death = (np.array(column) for column in groups)
    begins = np.sort(birth)
    steps = begins[np.append(True, begins[1:] > begins[:-1] * (1 + _AT_ONCE))]
    born = np.searchsorted(steps, birth, side="right") - 1
    sizes = len(pos) - np.cumsum(np.bincount(born[len(pos) :], minlength=len(steps)))
    dies = np.where(np.isinf(death), len(steps), np.searchsorted(steps, death, side="right") - 1)
    return Path(steps / scale, sizes, first, plus / scale, minus / scale, drift.astype(np.float64), born, dies)


def _merge(
    pos: list[float], neg: list[float]
) -> tuple[list[int], list[float], list[float], list[int], list[float], list[float]]:
    """Let neighbors meet until none approach; return first cell, weights, drift, birth and death of all groups."""
    cells = len(pos)
    falls = [pos[i] * neg[i + 1] >= pos[i + 1] * neg[i] for i in range(cells - 1)]
    higher_before, lower_after = [False, *falls], [*falls, False]
    drift = [before - after for before, after in zip(higher_before, lower_after, strict=True)]
    first, birth, death = list(range(cells)), [0.0] * cells, [math.inf] * cells
    before, after = list(range(-1, cells - 1)), [*range(1, cells), -1]
    meetings: list[tuple[float, int, int]] = []

    def expect(left: int, right: int, now: float) -> None:
        left_weight, right_weight = pos[left] + neg[left], pos[right] + neg[right]
        gap = pos[right] * neg[left] - pos[left] * neg[right]
        approach = drift[left] * right_weight - drift[right] * left_weight
        if approach != 0:
            heapq.heappush(meetings, (max(gap / approach, now), left, right))
        elif abs(gap) <= _EQUAL * left_weight * right_weight:
            heapq.heappush(meetings, (now, left, right))

    for cell in range(cells - 1):
        expect(cell, cell + 1, 0.0)
    while meetings:
        now, left, right = heapq.heappop(meetings)
        if death[left] < math.inf or death[right] < math.inf:
            continue
        death[left] = death[right] = now
        merged = len(first)
        first.append(first[left])
        pos.append(pos[left] + pos[right])
        neg.append(neg[left] + neg[right])
        higher_before.append(higher_before[left])
        lower_after.append(lower_after[right])
        drift.append(higher_before[left] - lower_after[right])
        birth.append(now)
        death.append(math.inf)
        before.append(before[left])
        after.append(after[right])
        if before[merged] >= 0:
            after[before[merged]] = merged
            expect(before[merged], merged, now)
        if after[merged] >= 0:
            before[after[merged]] = merged
            expect(merged, after[merged], now)
    return first, pos, neg, drift, birth, death
