"""The law of Hosmer and Lemeshow's statistic under calibration, where groups are too small for χ².

The number of positives of a group is a sum of independent cases: its law is the product of their generating functions,
read off at roots of unity. Squared and added over groups, laws are convolved on a grid.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc

from oddsmith._types import Floats, Ints

#: Groups whose number of positives varies less are not normal enough for χ².
SMALL_VARIANCE = 25.0

#: Numbers of positives that are told apart: ±25 standard deviations of such a group.
_COUNTS = 256

#: Distinct forecasts of a group beyond which neighbors are pooled.
_CELLS = 2048

#: Cells of the grid up to the statistic that was seen.
_STEPS = 4096


class Group(NamedTuple):
    """A group: P(+), P(−) and the number of cases at each distinct forecast; expected positives; the statistic's scale.

    ``seen`` is what the group adds to the statistic.
    """

    prob: Floats
    rest: Floats
    cases: Ints
    expected: float
    variance: float
    seen: float

    @property
    def is_small(self) -> bool:
        """Whether the exact law is needed."""
        return float(self.cases @ (self.prob * self.rest)) < SMALL_VARIANCE


def tail(groups: Sequence[Group]) -> float:
    """Return P(statistic ≥ the one that was seen): small groups by their own laws, the others together by χ²."""
    small = [group for group in groups if group.is_small]
    df, of_large = len(groups) - len(small), sum((group.seen for group in groups if not group.is_small), 0.0)
    total = of_large + sum(group.seen for group in small)
    if not small or total == 0:
        return _chi_square_tail(df, np.array([total])).item()
    step = total / _STEPS
    seen = sum(_round(np.array([group.seen]), step).item() for group in small)
    law = np.zeros(seen + int(of_large / step) + 1)  # the last entry holds all that is more
    law[0] = 1.0
    for group in small:
        added, chance = _law(group)
        law = _plus(law, _round(added, step), chance)
    missing = np.asarray(of_large + (seen - np.arange(len(law))) * step, dtype=np.float64)
    missing[-1] = 0.0
    return min(float(law @ _chi_square_tail(df, missing)), 1.0)


def _law(group: Group) -> tuple[Floats, Floats]:
    """Return what a group may add to the statistic, and how probable each is."""
    prob, rest, cases = group.prob, group.rest, group.cases
    if len(cases) > _CELLS:
        starts = np.arange(_CELLS) * len(cases) // _CELLS
        cases = np.add.reduceat(group.cases, starts)
        prob, rest = (np.add.reduceat(group.cases * part, starts) / cases for part in (prob, rest))
    roots = np.exp(-2j * np.pi * np.arange(_COUNTS // 2 + 1) / _COUNTS)
    product = np.prod((rest[:, None] + prob[:, None] * roots) ** cases[:, None], axis=0)
    chance: Floats = np.maximum(np.fft.irfft(product, _COUNTS), 0.0)
    # Residues of counts: each stands for the one that is nearest to the mean.
    lowest = round(group.expected) - _COUNTS // 2
    counts = lowest + (np.arange(_COUNTS) - lowest) % _COUNTS
    held = chance > 1e-18
    return np.asarray((counts[held] - group.expected) ** 2 / group.variance), chance[held]


def _plus(law: Floats, added: Ints, chance: Floats) -> Floats:
    """Return the law of a sum on the grid; the last place of the grid takes what lies beyond."""
    result, last = np.zeros(len(law)), len(law) - 1
    by_place = np.bincount(np.minimum(added, last), chance)
    for place in np.flatnonzero(by_place):
        result[place:] += by_place[place] * law[: len(law) - place]
        result[last] += by_place[place] * law[len(law) - place :].sum()
    return result


def _round(values: Floats, step: float) -> Ints:
    return np.rint(np.minimum(values / step, 2.0 * _STEPS)).astype(np.int64)


def _chi_square_tail(df: int, x: Floats) -> Floats:
    if df == 0:
        return np.where(x <= 0, 1.0, 0.0)
    return np.asarray(chdtrc(df, np.maximum(x, 0.0)))
