"""Cells: where scores are pooled when there are too many to keep apart.

Widths are powers of two and cells are anchored at 0, so grids nest: a cell is a union of cells of any finer grid, and
tables of different widths merge by coarsening. Probabilities crowd towards 0 and 1, where a cell of the score, however
narrow, spans log-odds without end; their cells may have one width in log-odds instead.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from oddsmith import _check
from oddsmith._types import Floats

__all__ = ["EDGE", "Grid", "finest_width", "power_of_two"]

#: Added to p and to 1 − p, so that the log-odds of 0 and 1 are finite: half the distance from 1 to the next double.
EDGE = 2.0**-53

#: Exponents of widths that can be used at all, and how far below that of the largest score they may lie: there, cells
#: are still numbered by finite doubles.
_LEAST, _MOST, _REACH = -1020, 1024, 1020


class Grid(NamedTuple):
    """Cells of one width, in the score or in the log-odds of a score that is a probability.

    Parameters
    ----------
    width : float
        Width of the cells, a power of two.
    log_odds : bool, default False
        Whether it is a width in log-odds.

    See Also
    --------
    ScoreTable.from_frame : Counts rows in cells.
    """

    width: float
    log_odds: bool = False

    def place(self, scores: Any, log: Callable[[Any], Any] = np.log) -> Any:
        """Return where scores, an array or an engine's expression, lie on the axis whose cells have one width.

        Parameters
        ----------
        scores : ndarray or expression
        log : callable, default numpy.log
            The logarithm of the engine.

        Returns
        -------
        ndarray or expression
        """
        return log((scores + EDGE) / (1 - scores + EDGE)) if self.log_odds else scores

    def score(self, places: Floats) -> Floats:
        """Return the scores at some places of that axis.

        Parameters
        ----------
        places : ndarray

        Returns
        -------
        ndarray
        """
        if not self.log_odds:
            return places
        odds = np.exp(-np.abs(places))
        small = np.maximum((odds * (1 + EDGE) - EDGE) / (1 + odds), 0.0)
        return np.asarray(np.where(places < 0, small, 1 - small))

    def cells(self, scores: Floats) -> Floats:
        """Return the number of the cell of each score; cell k is [k·width, (k + 1)·width).

        Parameters
        ----------
        scores : ndarray

        Returns
        -------
        ndarray
        """
        return np.asarray(np.floor(self.place(scores) / self.width))

    def spans(self, scores: Floats) -> Floats:
        """Return how wide the cells at some scores are, measured in the score.

        Parameters
        ----------
        scores : ndarray

        Returns
        -------
        ndarray
        """
        if not self.log_odds:
            return np.full(len(scores), self.width)
        return self.width / (1 / (scores + EDGE) + 1 / (1 - scores + EDGE))

    def inside(self, means: Floats, members: Floats) -> Floats:
        """Return the means of cells, moved back where rounding has put one outside the cell of its members.

        Parameters
        ----------
        means : ndarray
        members : ndarray
            A score of each cell.

        Returns
        -------
        ndarray
        """
        cells = self.cells(members)
        if not self.log_odds:
            means = np.clip(means, cells * self.width, np.nextafter((cells + 1) * self.width, -np.inf))
        return np.where(self.cells(means) == cells, means, members)


def finest_width(places: Floats, limit: int, own: float | None) -> float:
    """Return the least width of cells of which at most ``limit`` are occupied.

    More rows never make it smaller, so that it does not matter in which order they come.

    Parameters
    ----------
    places : ndarray
        Ascending, more than ``limit`` apart from each other.
    limit : int
        At least 4: cells that reach beyond all places are at most two on each side of 0.
    own : float or None
        Width of the cells that the places are in.

    Examples
    --------
    >>> finest_width(np.arange(16.0), 4, None)
    4.0
    """
    largest = math.frexp(max(abs(places[0]), abs(places[-1])))[1]
    finest = max(largest - _REACH, _LEAST) if own is None else math.frexp(own)[1]
    widest = max(min(largest + 1, _MOST), finest + 1)
    reach = finest
    while widest - finest > 1:
        middle = (finest + widest) // 2
        finest, widest = (finest, middle) if _count_cells(places, middle) <= limit else (middle, widest)
    if own is None and finest == reach > _LEAST and _count_cells(places, reach) <= limit:
        smallest = float(np.abs(places[places != 0]).min())
        _check.fail(
            "scores must span a smaller range to share one cell width",
            f"sizes from {smallest:g} to {max(abs(places[0]), abs(places[-1])):g}",
            "set the smallest to 0, or fit the largest separately",
        )
    return math.ldexp(0.5, widest)


def _count_cells(places: Floats, exponent: int) -> int:
    return int(np.count_nonzero(np.diff(np.floor(places / math.ldexp(0.5, exponent))))) + 1


def power_of_two(width: object, name: str) -> float:
    """Return a cell width that is a power of two, or say which one to take."""
    value = _check.number(width, name, low=0, strict=True)
    if math.frexp(value)[0] != 0.5:
        near = 2.0 ** round(math.log2(value))
        _check.fail(f"{name} must be a power of two", f"{name}={value!r}", f"use {near!r}")
    return value
