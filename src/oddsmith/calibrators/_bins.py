"""Bins of a score table: of equal weight, with edges between scores, and maps over them."""

import numpy as np
from scipy.special import logit

from oddsmith._types import Floats, Ints, Weights
from oddsmith.calibrators._within_cells import divide
from oddsmith.data import ScoreTable, equal_mass_starts
from oddsmith.maps import CalibrationMap, LinearMap, StepMap, constant_map


def equal_mass(table: ScoreTable, n_bins: int) -> tuple[ScoreTable, Ints]:
    """Return where each of at most ``n_bins`` bins starts.

    The starts are those of the table that is returned with them, in which cells at the edges of bins are divided.
    """
    if table.grid is not None:
        table = divide(table, table.scores[equal_mass_starts(table.total, n_bins)])
    return table, equal_mass_starts(table.total, n_bins)


def bin_sums(column: Weights, starts: Ints) -> Floats:
    """Return the sum over each bin."""
    return np.add.reduceat(column, starts).astype(np.float64)


def edges(scores: Floats, starts: Ints) -> Floats:
    """Return scores half way between bins, that belong to the bin above."""
    below, above = scores[starts[1:] - 1], scores[starts[1:]]
    half_way = below / 2 + above / 2
    return np.where(half_way > below, half_way, above)


def step_map(knots: Floats, values: Floats) -> CalibrationMap:
    """Return the map with one value per bin; knots belong to the bin above."""
    if len(knots) == 0:
        return constant_map(float(logit(values[0])))
    return StepMap(knots, values[1:], values)


def block_ends(scores: Floats, starts: Ints) -> tuple[Floats, Floats]:
    """Return the first and the last score of each block."""
    return scores[starts], scores[np.append(starts[1:], len(scores)) - 1]


def block_map(first: Floats, last: Floats, values: Floats) -> LinearMap:
    """Return the map that is constant from the first to the last score of each block, and linear between blocks."""
    knots = np.column_stack([first, last]).ravel()
    needed = np.ones(len(knots), bool)
    needed[1::2] = first < last
    return LinearMap(knots[needed], np.repeat(values, 2)[needed])
