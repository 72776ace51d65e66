"""How fine cells have to be, so that a fit to them is the fit to the scores.

Two promises: smooth fits (logistic, Platt, Gaussian, beta, piecewise at given knots) move every parameter by less than
0.01 of its standard error, and all others move the mean held-out log-loss by less than 0.02 of its own. What they ask
of cells comes down to one number, the chance that two rows drawn at random fall in the same cell although their scores
differ; its inverse is the number m of cells over which the weight is spread in effect.

* Smooth fits: class-wise sums leave an error of second order, the variance w²/12 within cells of width w against that
  of what is fitted, (w m)²/12 or so: a share of m⁻². Standard errors shrink by √N, so m must grow as N^¼. For a
  shift of 0.01 a logistic slope was seen to need 10 N^¼ (N rows times their p(1 − p)), a Gaussian's variance 8.4 N^¼.
* Steps and order (isotonic, Venn–Abers): a step moves by a cell at most. The rows in those cells change sides, a share
  of about 1/m of all for each step, and the log-loss by the root of that share times the height of a step: for 0.02,
  m of two thousand or more from half a million rows on. A few high steps (bins) take three times as many for the
  same; like knots and modes they are a selection among cells.
* Probabilities of step functions move by more than the loss. Each of J steps moves by a cell at most, which puts J/m of
  the rows on its other side: by about √(J/m) of a standard error, 0.1 or so, and no number of cells far below that of
  the rows brings this to 0.02.
* What holds for all rows must hold for each class (densities are fitted to classes) and where labels are uncertain
  (there a logistic fit has its information, n₊n₋/n for each cell).
* A peak that is far narrower than a cell looks like a single score. If labels depend on the place within it, the class
  means of the cell differ by more than chance: that is asked as well.

A look at the range gives about ten thousand cells, enough for scores without heavy tails or peaks. The answer itself
tells whether they were enough; where they were not, finer cells are asked for. Width and answer depend on the rows
alone, not on their order or on how they are split.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.data import Grid, power_of_two
from oddsmith.frames import scored_frame as _limits
from oddsmith.frames.engines.base import Extent
from oddsmith.frames.groups import Groups

#: Up to so many rows an exact table is small; and only with more do order-based fits reach their promise, for the steps
#: of an isotonic fit become lower as there are more of them.
_FEW_ROWS = 2**19

#: Cells over the range of the scores to begin with: from this many to twice as many, for widths are powers of two. An
#: engine's hash table of so many groups stays in the cache.
_FIRST_CELLS = 8000

#: Cells over which the weight must be spread in effect: at least, and per fourth root of the number of rows.
_SPREAD = 1800.0
_SPREAD_SMOOTH = 12.0

#: Standard deviations by which chance may crowd a table.
_CHANCE = 3.0

#: Cells with less information say nothing about a difference of their class means.
_INFORMATIVE = 100.0

#: Squared deviates below this may be chance, even where rows are not independent.
_SURPRISE = 25.0

#: Log-likelihood that a table may hide, per root of the number of rows: 0.02 of a standard deviation of about ½.
_HIDDEN = 0.01

#: Cells that have to be finer are made finer than they have to be: a second look at the rows should be the last.
_AMPLY = 2.0

#: Cells are never made finer than by this factor at a time: estimates that far away are poor.
_FINER_AT_ONCE = 2.0**10


def settle(
    resolution: float | str | None, ask_extent: Callable[[], Extent], read: Callable[..., Groups]
) -> tuple[Grid | None, Groups]:
    """Return cells of a width, or for "auto" cells that are fine enough (None: exact scores), and the groups by them.

    ``read(grid)``, or ``read(grid, squares=True)``, asks for groups.
    """
    if not isinstance(resolution, str):
        given = None if resolution is None else Grid(power_of_two(resolution, "resolution"))
        return given, read(given)
    _check.one_of(resolution, "resolution", ("auto",))
    extent = ask_extent()
    if extent.span is None or extent.rows <= _FEW_ROWS or extent.span[0] == extent.span[1]:
        return None, read(None)
    grid = _first_grid(*extent.span)
    while True:
        groups = read(grid, squares=True)
        cells = _CellChoice.of(groups, grid)
        if not cells.spread.any():
            return None, read(None)  # every cell holds one score: few distinct ones
        excess = cells.crowding()
        if excess <= 1:
            return grid, groups
        grid = _finer(grid, groups, _AMPLY * excess)


def _first_grid(low: float, high: float) -> Grid:
    log_odds = 0 <= low and high <= 1
    low, high = Grid(1.0, log_odds).place(np.array([low, high]))
    return Grid(_power_below(high / _FIRST_CELLS - low / _FIRST_CELLS), log_odds)


def _finer(grid: Grid, groups: Groups, excess: float) -> Grid:
    """Return cells that are finer by the excess, or the finest of which there cannot be too many."""
    width = _power_below(grid.width / min(excess, _FINER_AT_ONCE))
    most = math.ldexp(grid.width, 1)
    while np.minimum(groups.rows, grid.width / width).sum() > _limits.MAX_GROUPS and width < most:
        width *= 2
    if width >= grid.width:
        axis = "log-odds" if grid.log_odds else "score"
        _check.fail(
            f"scores must not be too peaked for cells of one width with at most {_limits.MAX_GROUPS:,} groups",
            f"rows concentrated in cells of {axis} of width {grid.width:g}, {excess:.3g} times more than fits allow",
            "pass that resolution to accept it, or spread the score by a transformation that keeps its order",
        )
    return Grid(width, grid.log_odds)


def _power_below(width: float) -> float:
    return math.ldexp(0.5, min(max(math.frexp(width)[1], -1000), 1000))


class _CellChoice(NamedTuple):
    """The occupied cells of all segments: weights of both classes, and where scores lie within, in widths of a cell."""

    segment: NDArray[np.intp]
    pos: Floats  # rows, or as many as their weights are worth
    neg: Floats
    gap: Floats  # distance of the class means; 0 where there is one class
    within: Floats  # variance within the classes

    @staticmethod
    def of(groups: Groups, grid: Grid) -> "_CellChoice":
        """Put the two classes of each cell together."""
        order = np.lexsort((groups.cells, groups.segment))
        segment, cells, positive = groups.segment[order], groups.cells[order], groups.positive[order]
        starts = np.flatnonzero(np.diff(segment, prepend=-1) | (np.diff(cells, prepend=np.nan) != 0))
        weight = groups.weight[order].astype(np.float64)
        if groups.weight_sq is not None:
            worth = np.bincount(segment, weight) / np.bincount(segment, groups.weight_sq[order])
            weight *= worth[segment]
        means = groups.means[order]
        place = grid.place(means) / grid.width - cells
        assert groups.variance is not None
        # Where rounding hides it, the variance is taken for that of an evenly filled cell.
        spread = np.nan_to_num(groups.variance[order] / grid.spans(means) ** 2, nan=1 / 12)

        def add(values: Floats) -> Floats:
            return np.add.reduceat(values, starts)

        pos, neg = add(weight * positive), add(weight * ~positive)
        gap = np.where(np.minimum(pos, neg) > 0, add(np.where(positive, place, -place)), 0.0)
        within = add(weight * np.minimum(spread, 0.25)) / (pos + neg)
        return _CellChoice(segment[starts], pos, neg, gap, within)

    @property
    def information(self) -> Floats:
        """n₊n₋/n."""
        return self.pos * self.neg / (self.pos + self.neg)

    @property
    def spread(self) -> Floats:
        """Variance of scores within cells."""
        return self.within + self.information / (self.pos + self.neg) * self.gap**2

    def crowding(self) -> float:
        """Return how much more crowded the cells are than fits allow, in the worst segment; 1 is just fine."""
        # A cell of one score, or nearly so, is no more crowded than the scores are; one evenly filled has 1/12.
        loose = np.minimum(12 * self.spread, 1.0)
        crowds = [self._crowd(weight, loose) for weight in (self.pos, self.neg, self.information)]
        return float(max(crowd.max() for crowd in [*crowds, self._gain_within_cells()]))

    def _crowd(self, weight: Floats, loose: Floats) -> Floats:
        """Return the pairs of rows that share a cell, as a multiple of those that may, for each segment."""
        total = np.maximum(np.bincount(self.segment, weight), 1.0)
        pairs = np.bincount(self.segment, weight * np.maximum(weight - 1, 0) * loose)
        cells = np.maximum(_SPREAD, _SPREAD_SMOOTH * total**0.25)
        excess: Floats = (pairs - _CHANCE * np.sqrt(pairs)) * cells / total**2
        return excess

    def _gain_within_cells(self) -> Floats:
        """Return the log-likelihood that places within cells would explain beyond chance, over what may be."""
        told = (self.information > _INFORMATIVE) & (self.within > 0)
        square = np.where(told, self.information * self.gap**2 / np.where(told, self.within, 1.0), 0.0)
        likelihood = np.bincount(self.segment, np.maximum(square - _SURPRISE, 0.0) / 2)
        allowed: Floats = _HIDDEN * np.sqrt(np.bincount(self.segment, self.pos + self.neg))
        return likelihood / allowed
