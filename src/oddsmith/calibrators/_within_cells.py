"""Approximate the scores inside a cell from its sums.

Medians, modes and edges of bins fall somewhere inside a cell of a quantized table, and half a cell can be a good part
of their standard error. A cell that is evenly filled can be divided: its width, its counts and the class means within
it say where the rows lie, to the second order of the width.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from oddsmith._types import Bools, Floats, Ints, Weights
from oddsmith.data import ScoreTable

_PARTS = 32

#: A cell with so many times the weight of a neighbor holds a single score that many rows share; and where weights
#: differ by such a factor no straight line tells what is between them.
_PEAKED = 3.0

#: Class means that differ by less than this share of the width are those of a single score.
_SINGLE = 1e-9


def divide(table: ScoreTable, places: Floats) -> ScoreTable:
    """Return a table in which the cells at some scores, and their neighbors, are divided evenly.

    Cells that hold a single score, or may do so, stay whole; so does all of an exact table.
    """
    grid = table.grid
    if grid is None:
        return table
    cells = grid.cells(table.scores)
    near = np.searchsorted(cells, grid.cells(np.atleast_1d(places)))
    chosen = np.unique(np.clip(near[:, None] + np.arange(-1, 2), 0, len(cells) - 1))
    chosen = chosen[_find_even(table, cells, chosen)]
    shares = (np.arange(_PARTS) + 0.5) / _PARTS
    added = grid.score((cells[chosen, None] + shares) * grid.width).ravel()
    rest = np.delete(np.arange(len(table)), chosen)
    scores = np.concatenate([table.scores[rest], added])
    order = np.argsort(scores, kind="stable")
    columns: dict[str, Weights] = {}
    for side in ("pos", "neg"):
        weight: Weights = getattr(table, side)
        sums: Floats = getattr(table, f"{side}_sum")
        parts = _parts(weight[chosen], grid.place(_means(sums[chosen], weight[chosen])) / grid.width - cells[chosen])
        columns[side] = np.concatenate([weight[rest], parts])
        columns[f"{side}_sum"] = np.concatenate([sums[rest], parts * added])
        if (squares := getattr(table, f"{side}_sq")) is not None:
            mean_weight = np.repeat(_means(squares[chosen], weight[chosen]), _PARTS)
            columns[f"{side}_sq"] = np.concatenate([squares[rest], parts * mean_weight])
    held = (columns["pos"] + columns["neg"])[order] > 0
    kept: dict[str, Any] = {name: column[order][held] for name, column in columns.items()}
    return replace(table, scores=scores[order][held], **kept)


def _find_even(table: ScoreTable, cells: Floats, chosen: Ints) -> Bools:
    """Return which of some cells, all with a cell on both sides, look as if rows lay anywhere in them."""
    weight = table.total
    before, after = np.maximum(chosen - 1, 0), np.minimum(chosen + 1, len(cells) - 1)
    adjoining = (cells[chosen] - cells[before] == 1) & (cells[after] - cells[chosen] == 1)
    around = np.stack([weight[before], weight[after]])
    level = (weight[chosen] <= _PEAKED * around.min(axis=0)) & (around.max(axis=0) <= _PEAKED * weight[chosen])
    both = (table.pos[chosen] > 0) & (table.neg[chosen] > 0)
    assert table.pos_sum is not None
    assert table.neg_sum is not None
    gap = _means(table.pos_sum[chosen], table.pos[chosen]) - _means(table.neg_sum[chosen], table.neg[chosen])
    assert table.grid is not None
    several = np.abs(gap) > _SINGLE * table.grid.spans(table.scores[chosen])
    return np.asarray(adjoining & level & both & several)


def _means(sums: Floats, weight: Weights) -> Floats:
    return sums / np.where(weight > 0, weight, 1)


def _parts(weight: Weights, means: Floats) -> Weights:
    """Divide weights by densities that are straight within a cell and have these means, in widths of the cell."""
    edges = np.arange(_PARTS + 1) / _PARTS
    tilt = np.clip(12 * (means - 0.5), -2.0, 2.0)
    upto = weight[:, None] * (edges + tilt[:, None] / 2 * (edges**2 - edges))
    if weight.dtype.kind == "i":
        upto = np.rint(upto).astype(np.int64)
    return np.asarray(np.diff(upto, axis=1).ravel())
