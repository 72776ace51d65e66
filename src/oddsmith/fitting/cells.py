"""Long data in a few thousand points, without a sort: equal cells about the center, ever wider ones in heavy tails.

A cell is found by the leading bits of 1 + |x|/unit as a double: cells are equal up to ``unit``, and beyond it they are
twice as wide after each doubling.
"""

from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import NamedTuple

import numpy as np

from oddsmith import _kernels
from oddsmith._types import Floats
from oddsmith.data import Sample, ScoreTable

#: Leading bits, of cells with moments and of cells with counts only: there are 2ᵏ equal ones on each side.
_MOMENT_BITS = 10
_COUNT_BITS = 12

#: Most doublings of the unit.
_DOUBLINGS = 32

#: An error of the curvature, as a share of it, that changes no digit of interest.
FINE = 1e-8

#: LineRows handled at a time; their places in the cells stay in the second-level cache.
_CHUNK = 4 * _kernels.CHUNK


def core(x: Floats) -> float:
    """Return how far from 0 cells of some scores are to be equal: twice the distance that nine tenths keep."""
    return 2 * float(np.quantile(np.abs(x), 0.9))


def pooling_error(weight: Floats, z: Floats, reach: Floats, columns: Floats) -> float:
    """Bound the error of curvature, as a share of it, of a logistic fit to points that keep three moments of cells.

    Points have log-odds z, which change by ``reach`` within half a cell, and features, shape (points, k). The error is
    of the fourth order of the reach, and the fourth derivative of log(1 + eᶻ) is below e^−|z|.
    """
    z, squares = np.abs(z), columns * columns
    error = np.einsum("i,ij->j", weight * reach**4 * np.exp(np.minimum(2 * reach - z, 700.0)), squares)
    curvature = np.einsum("i,ij->j", weight * np.exp(-z), squares)
    share = np.divide(error, curvature, out=np.full_like(error, np.inf), where=curvature > 0)
    return float(np.max(np.where(error == 0, 0.0, share)))


@dataclass(frozen=True)
class Cells:
    """Cells of x = s/scale − shift up to ``reach`` on both sides of 0."""

    scale: float
    shift: float
    unit: float
    reach: float
    bits: int

    @classmethod
    def over(cls, data: Sample, scale: float, shift: float, unit: float, bits: int = _MOMENT_BITS) -> "Cells":
        """Return cells that hold all scores, equal up to ``unit``, or all of them if none is much farther out."""
        reach = max(abs(end / scale - shift) for end in data.span())
        return cls(scale, shift, max(unit, reach / 2**_DOUBLINGS) if 2 * unit < reach else reach, reach, bits)

    @cached_property
    def half(self) -> int:
        """Number of cells on each side, one more than rounding could reach."""
        return int((np.float64(1 + self.reach / self.unit).view(np.int64) >> (52 - self.bits)) - self._one + 2)

    @property
    def are_equal(self) -> bool:
        """Whether all cells have one width, none being farther out than the equal ones reach."""
        return self.unit == self.reach

    @property
    def _one(self) -> int:
        return 1023 << self.bits

    @cached_property
    def edges(self) -> Floats:
        """Edges of all cells."""
        side = ((np.arange(self.half + 1) + self._one) << (52 - self.bits)).view(np.float64) - 1
        return np.asarray(self.unit * np.concatenate([-side[:0:-1], side]))

    @property
    def centers(self) -> Floats:
        """Centers of all cells."""
        return (self.edges[1:] + self.edges[:-1]) / 2

    @property
    def widths(self) -> Floats:
        """Widths of all cells."""
        return np.diff(self.edges)

    def moments(self, loops: ModuleType, scores: Floats) -> Floats:
        """Return Σ1, Σu, Σu², Σu³ by cell, all of one width, u = (x − center)/width, by the compiled loops."""
        scores = np.ascontiguousarray(scores)
        per_width = 2**self.bits / self.unit
        return np.asarray(loops.equal_cell_moments(scores, 1 / self.scale, self.shift, per_width, self.half))

    def points(self, sums: Floats) -> tuple[Floats, Floats]:
        """Return two points with weights for each cell that contains anything, from its moments."""
        held = sums[0] > 0
        return _kernels.gauss_points(self.centers[held], self.widths[held], sums[:, held])

    def places(self, x: Floats) -> np.ndarray:
        """Return the cell of each x."""
        if self.are_equal:  # in half of the steps, by the bits of 3/2 + x/(2 unit)
            place = (x * (0.5 / self.unit) + 1.5).view(np.int64)
            place >>= 51 - self.bits
            place -= 2 * self._one + (1 << self.bits) - self.half
            return place
        place = (np.abs(x) * (1 / self.unit) + 1).view(np.int64)
        place >>= 52 - self.bits
        place -= self._one
        place ^= x.view(np.int64) >> 63  # k cells below 0 is −1 − k
        place += self.half
        return place


class Histogram(NamedTuple):
    """Long data in few points, on the standardized scale: the centers of cells, and how much weight each has."""

    points: Floats
    share: Floats
    #: Of the cells of the points.
    widths: Floats
    #: Sum of all scores of the positive, and of the negative class.
    class_sums: tuple[float, float]

    @classmethod
    def of(cls, data: Sample, scale: float, shift: float, unit: float) -> "Histogram":
        """Pool the scores of both classes; parameters as for `Cells`."""
        cells = Cells.over(data, scale, shift, unit, _COUNT_BITS)
        scores, weight = data.marginal()
        loops = _kernels.load_compiled(len(scores)) if weight is None else None
        if loops is None:
            counts, class_sums = _counts(data, cells)
        else:
            grid = 1 / cells.unit, cells.bits, cells.half, cells.are_equal
            counts = loops.cell_counts(np.ascontiguousarray(scores), 1 / scale, shift, *grid)
            class_sums = data.class_sums(scale, shift)
        held = counts > 0
        if isinstance(data, ScoreTable) and data.resolution is not None:
            class_sums = data.class_sums(scale, shift)  # cells know them exactly
        return cls(cells.centers[held], counts[held].astype(np.float64), cells.widths[held], class_sums)


def _counts(data: Sample, cells: Cells) -> tuple[Floats, tuple[float, float]]:
    """Return the weight in each cell, and the sum of the scores of each class."""
    scores, weight = data.marginal()
    counts = np.zeros(2 * cells.half)
    sum_pos = sum_all = 0.0
    for start in range(0, len(scores), _CHUNK):
        part = slice(start, start + _CHUNK)
        x = scores[part] * (1 / cells.scale)
        x -= cells.shift
        share = None if weight is None else weight[part]
        # Not by BLAS, which may start threads at this length.
        sum_pos += float(np.einsum("i,i", data.positive_weight(part), x))
        sum_all += float(x.sum() if share is None else np.einsum("i,i", share, x))
        counts += np.bincount(cells.places(x), share, len(counts))
    return counts, (sum_pos, sum_all - sum_pos)
