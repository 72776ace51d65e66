"""A score table in a few hundred weighted points, for fits that are repeated many times.

Neighboring scores are pooled in blocks, small ones at both ends and divided wherever a knot may lie, and each block
stands for its scores by the two points of its Gauss rule. A function that is smooth within blocks has the same sum over
the sketch as over the table, to the fourth order of the block width.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from oddsmith import _kernels
from oddsmith._types import Floats, Ints
from oddsmith.data import ScoreTable, binary_scale
from oddsmith.fitting.cells import Cells, core
from oddsmith.maps import FAR

#: Tables with at most this many distinct scores are their own sketch.
SHORT = 600

#: So many for a single fit, which then takes no longer than to make a sketch.
SINGLE = 2048
_BLOCKS = 128


class ScoreScale(NamedTuple):
    """The standardized scale of a table: x = s/scale − shift."""

    scale: float
    shift: float

    @classmethod
    def of(cls, table: ScoreTable) -> "ScoreScale":
        """Return a scale, a power of two, that brings all scores within [−1, 1] of one in their middle."""
        low, high = table.span()
        scale = binary_scale(low, high)
        return cls(scale, float(table.scores[len(table) // 2]) / scale)

    def x(self, scores: Floats) -> Floats:
        """Return scores on the standardized scale, at most so far out that their cubes are finite."""
        return np.clip(scores / self.scale - self.shift, -FAR, FAR)


@dataclass(frozen=True)
class Sketch:
    """Blocks of a table on the standardized scale: what a logistic fit needs to know of each."""

    #: Points of both classes together, one or two per block: shape (points, blocks).
    x: Floats
    weight: Floats
    #: Mean score of the positive weight of each block.
    pos_x: Floats
    pos: Floats
    neg: Floats

    @property
    def cases(self) -> float:
        """Weight of the rarer class."""
        return float(min(self.pos.sum(), self.neg.sum()))

    @property
    def variance(self) -> float:
        """Variance of the scores; the points keep it exactly. 1 if they cannot tell it."""
        x, w = self.x.ravel(), self.weight.ravel()
        mean = np.dot(w, x) / w.sum()
        return float(np.dot(w, (x - mean) ** 2) / w.sum()) or 1.0

    def share(self, amount: Floats) -> Floats:
        """Return what each point has of an amount per block, the points of a block sharing by their weight."""
        both = self.pos + self.neg
        share = np.divide(amount, both, out=np.zeros_like(both), where=both > 0)
        return np.asarray((self.weight * share).ravel())

    def hold_out(self) -> tuple["Sketch", "Sketch"]:
        """Divide in the part to fit and the part held out, 7 to 3, by a rule that does not depend on row order.

        In each class, by score, units of weight number k = 0, 1, 2, … are held out if k mod 10 is 2, 5 or 8; a block is
        divided where the rule divides it.
        """
        both = self.pos + self.neg
        out_pos, out_neg = _held_out_weight(self.pos), _held_out_weight(self.neg)
        fitted, out = (
            replace(self, weight=self.weight * ((pos + neg) / both), pos=pos, neg=neg)
            for pos, neg in ((self.pos - out_pos, self.neg - out_neg), (out_pos, out_neg))
        )
        return fitted, out


def sketch(table: ScoreTable, frame: ScoreScale, breaks: Floats, fine: bool = False, longest: int = SHORT) -> Sketch:
    """Return the sketch of a table on a standardized scale, with blocks divided at ``breaks`` (scores).

    A fine one also has edges evenly over the scores, as `Cells` are, and mostly needs no pass over the table to follow.
    A table of up to ``longest`` distinct scores is its own.
    """
    scale, shift = frame
    if len(table) <= longest:
        x = table.scores / scale - shift
        pos, neg = table.pos.astype(np.float64), table.neg.astype(np.float64)
        pos_x = x
        if table.pos_sum is not None:
            pos_x = np.divide(table.pos_sum / scale, pos, out=x + shift, where=pos > 0) - shift
        return Sketch(x[None], (pos + neg)[None], pos_x, pos, neg)
    if fine:
        cells = Cells.over(table, scale, shift, core(table.scores[:: len(table) // SHORT] / scale - shift))
        breaks = np.concatenate([breaks, (cells.edges + shift) * scale])
    edges = _edges(len(table), np.searchsorted(table.scores, breaks, side="right"))
    center, width, pos, neg, pos_x, *moments = _block_moments(table, edges, scale, shift)
    if table.pos_sum is not None:
        pos_x = np.divide(np.add.reduceat(table.pos_sum, edges[:-1]) / scale, pos, out=center + shift, where=pos > 0)
        pos_x -= shift
    points, weight = (each.reshape(2, -1) for each in _kernels.gauss_points(center, width, np.array(moments)))
    return Sketch(points, weight, pos_x, pos, neg)


def _block_moments(table: ScoreTable, edges: Ints, scale: float, shift: float) -> Floats:
    """Return center, width, weights, positive mean, and four moments of the scores in units of the width, by block."""
    loops = _kernels.load_compiled(len(table))
    if loops is not None:
        found: Floats = loops.block_moments(table.scores, table.pos, table.neg, edges, 1 / scale, shift)
        return found
    # Blocks are handled together as long as they fit the cache.
    stops = np.unique(np.append(np.searchsorted(edges, np.arange(0, len(table), 2 * _kernels.CHUNK)), len(edges) - 1))
    groups = [_some_moments(table, edges[i : j + 1], scale, shift) for i, j in pairwise(stops)]
    return np.concatenate(groups, axis=1)


def _some_moments(table: ScoreTable, edges: Ints, scale: float, shift: float) -> Floats:
    starts, sizes, part = edges[:-1] - edges[0], np.diff(edges), slice(edges[0], edges[-1])
    x = table.scores[part] * (1 / scale)
    x -= shift
    first, last = x[starts], x[starts + sizes - 1]
    center, width = (first + last) / 2, np.maximum(last - first, 1e-300)
    x -= np.repeat(center, sizes)
    x /= np.repeat(width, sizes)
    pos = table.pos[part].astype(np.float64)
    powers = [np.ones_like(x), x, x * x]
    if not table.all_ones:
        weight = pos + table.neg[part]
        powers = [weight * power for power in powers]
    powers.append(powers[-1] * x)
    n_pos, of_pos, *moments = (np.add.reduceat(column, starts) for column in (pos, pos * x, *powers))
    pos_x = center + width * np.divide(of_pos, n_pos, out=np.zeros_like(n_pos), where=n_pos > 0)
    return np.array([center, width, n_pos, moments[0] - n_pos, pos_x, *moments])


def in_blocks(table: ScoreTable, n_blocks: int) -> ScoreTable:
    """Return a table of about so many scores: blocks of neighbors, small ones at both ends, each held at its mean."""
    n = len(table)
    if n <= n_blocks:
        return table
    edges = _edges(n, np.empty(0, np.intp), n_blocks)
    if not table.all_ones:
        # Blocks of equal weight, so that pooled scores give nearly the blocks of their rows; and of equal numbers of
        # scores, so that a few heavy rows leave the others apart.
        total = table.total.astype(np.float64)
        share = (np.cumsum(total) / total.sum() + np.arange(1, n + 1) / n) / 2
        heavy = np.flatnonzero(np.diff(share, prepend=0.0) > 1 / n_blocks)  # a block of its own
        edges = np.unique(np.concatenate([np.searchsorted(share, edges / n), heavy, heavy + 1]))
    return table.in_runs(edges[edges < n])


def _edges(n: int, breaks: np.ndarray, n_blocks: int = _BLOCKS) -> Ints:
    """Return ascending block edges from 0 to n: doubling sizes from both ends, then equal ones, and all breaks."""
    largest = max(n // n_blocks, 1)
    ramp = np.cumsum(2 ** np.arange(int(np.log2(largest)) + 1))
    ramp = ramp[ramp < n // 2]
    middle = np.arange(ramp[-1], n - ramp[-1], largest)
    edges = np.unique(np.concatenate([[0], ramp, middle, n - ramp, breaks, [n]]))
    return np.asarray(edges[(edges >= 0) & (edges <= n)])


def _held_out_weight(weight: Floats) -> Floats:
    """Return how much of each block falls on held-out units when the weight is laid end to end."""
    whole, rest = np.divmod(np.cumsum(weight), 10)
    upto = 3 * whole + sum(np.clip(rest - start, 0, 1) for start in (2, 5, 8))
    return np.asarray(np.minimum(np.diff(upto, prepend=0.0), weight))
