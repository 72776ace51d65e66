"""Cells: where scores are pooled when there are too many to keep apart.

Widths are powers of two and cells are anchored at 0, so grids nest: a cell is a union of cells of any finer grid, and
tables of different widths merge by coarsening. Probabilities crowd towards 0 and 1, where a cell of the score, however
narrow, spans log-odds without end; their cells may have one width in log-odds instead.
"""

import math
from typing import NamedTuple

import numpy as np

from oddsmith import _check
from oddsmith._check import Floats

__all__ = ["EDGE", "Grid", "power_of_two"]

#: Added to p and to 1 − p, so that the log-odds of 0 and 1 are finite: half the distance from 1 to the next double.
EDGE = 2.0**-53


class Grid(NamedTuple):
    """Cells of one width, in the score or in the log-odds of a score that is a probability."""

    width: float
    log_odds: bool = False

    def place(self, scores: Floats) -> Floats:
        """Return where scores lie on the axis whose cells have one width."""
        return np.log((scores + EDGE) / (1 - scores + EDGE)) if self.log_odds else scores

    def cells(self, scores: Floats) -> Floats:
        """Return the number of the cell of each score; cell k is [k·width, (k + 1)·width)."""
        return np.floor(self.place(scores) / self.width)

    def spans(self, scores: Floats) -> Floats:
        """Return how wide the cells at some scores are, measured in the score."""
        if not self.log_odds:
            return np.full(len(scores), self.width)
        return self.width / (1 / (scores + EDGE) + 1 / (1 - scores + EDGE))

    def inside(self, means: Floats, members: Floats) -> Floats:
        """Return the means of cells, moved back where rounding has put one outside the cell of its members."""
        cells = self.cells(members)
        if not self.log_odds:
            means = np.clip(means, cells * self.width, np.nextafter((cells + 1) * self.width, -np.inf))
        return np.where(self.cells(means) == cells, means, members)


def power_of_two(width: object, name: str) -> float:
    """Return a cell width that is a power of two, or say which one to take."""
    value = _check.number(width, name, low=0, strict=True)
    if math.frexp(value)[0] != 0.5:
        near = 2.0 ** round(math.log2(value))
        _check.fail(f"{name} must be a power of two", f"{name}={value!r}", f"use {near!r}")
    return value
