"""Bins of a score table: of equal weight, with edges between scores, and maps over them."""

import numpy as np
from scipy.special import logit

from oddsmith._kernels import Ints
from oddsmith._types import Floats, Weights
from oddsmith.calibrators._within_cells import divided
from oddsmith.maps import CalibrationMap, LinearMap, StepMap, constant_map
from oddsmith.table import ScoreTable


def equal_mass(table: ScoreTable, n_bins: int) -> tuple[ScoreTable, Ints]:
    """Return where each of at most ``n_bins`` bins starts; a score is in the bin of the middle of its weight.

    The starts are those of the table that is returned with them, in which cells at the edges of bins are divided.
    """
    if table.grid is not None:
        table = divided(table, table.scores[_starts(table, n_bins)])
    return table, _starts(table, n_bins)


def _starts(table: ScoreTable, n_bins: int) -> Ints:
    weight = table.total
    return mass_starts(weight, cumulative(weight), n_bins)


def cumulative(weight: Weights) -> Floats:
    """Return the weight up to each score."""
    return np.cumsum(weight).astype(np.float64)  # added up as they are: whole numbers add faster


def mass_starts(weight: Weights, upto: Floats, n_bins: int) -> Ints:
    """Return where bins start, from the weight at each score and up to it."""
    # The slack puts a middle that meets a share but for rounding on the same side for counts and for weights.
    shares = (np.arange(1, n_bins) / n_bins - 1e-12) * float(upto[-1])
    place = np.searchsorted(upto, shares)
    place += upto[place] - weight[place] / 2 < shares
    starts = np.unique(np.append(0, place))
    return starts[starts < len(weight)]


def bin_sums(column: Weights, starts: Ints) -> Floats:
    """Return the sum over each bin."""
    return np.add.reduceat(column, starts).astype(np.float64)


def edges(scores: Floats, starts: Ints) -> Floats:
    """Return scores half way between bins, that belong to the bin above."""
    below, above = scores[starts[1:] - 1], scores[starts[1:]]
    half_way = below / 2 + above / 2
    return np.where(half_way > below, half_way, above)


def step_map(knots: Floats, values: Floats) -> CalibrationMap:
    """Return the map with one value a bin; knots belong to the bin above."""
    if len(knots) == 0:
        return constant_map(float(logit(values[0])))
    return StepMap(knots, values[1:], values)


def block_map(scores: Floats, starts: Ints, values: Floats) -> LinearMap:
    """Return the map that is constant over each block of scores and joins neighbouring blocks by lines."""
    first, last = scores[starts], scores[np.append(starts[1:], len(scores)) - 1]
    knots = np.column_stack([first, last]).ravel()
    needed = np.ones(len(knots), bool)
    needed[1::2] = first < last
    return LinearMap(knots[needed], np.repeat(values, 2)[needed])
