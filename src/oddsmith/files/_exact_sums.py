"""Cells whose sums of scores do not depend on the order of rows.

An engine adds in parallel, and sums of doubles then differ in their last digits from run to run; so would every number
fitted to them. As whole numbers of 128 bits, multiples of one small power of two, they add up exactly.
"""

import itertools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oddsmith.table import ScoreTable
from oddsmith.table.grid import EDGE, Grid
from oddsmith.table.table import pool

if TYPE_CHECKING:
    import duckdb

#: Bits of a sum; some are left for rounding.
_BITS = 120
#: Powers of two beyond are no doubles.
_LARGEST_POWER = 1000


def with_exact_sums(
    relation: "duckdb.DuckDBPyRelation", tables: Mapping[str, ScoreTable], weight: str | None, by: str | None
) -> dict[str, ScoreTable]:
    """Return quantized tables of counts as the same rows in any order would give them; others as they are.

    Parameters
    ----------
    relation : DuckDBPyRelation
        The rows of the tables, with columns ``score`` and ``label``.
    tables : mapping of str to ScoreTable
        Tables on one grid, by segment.
    weight, by : str or None
        Columns of counts and of segments.
    """
    any_table = next(iter(tables.values()))
    grid = any_table.grid
    if grid is None or any_table.kind == "weight":
        return dict(tables)
    rows = sum(table.rows for table in tables.values())
    largest = max(abs(end) for table in tables.values() for end in table.span()) + grid.width
    power = min(_BITS - math.ceil(math.log2(rows + 1)) - math.frexp(largest)[1], _LARGEST_POWER)
    groups = _groups(relation, grid, 2.0**power, weight, by)
    names = groups.pop("segment")
    starts = [0, *(np.flatnonzero(names[1:] != names[:-1]) + 1).tolist(), len(names)]
    return {
        names[a]: _table({key: column[a:b] for key, column in groups.items()}, grid, 2.0**-power)
        for a, b in itertools.pairwise(starts)
    }


def _groups(
    relation: "duckdb.DuckDBPyRelation", grid: Grid, unit: float, weight: str | None, by: str | None
) -> dict[str, NDArray[Any]]:
    """Ask for counts and sums by segment, cell and label, in order."""
    segment = "''" if by is None else by
    columns = f"score, label, {_cell(grid)} AS cell, {segment} AS segment, {weight or 1} AS weight"
    found = (
        relation.select(columns)
        .filter("weight > 0")
        .aggregate(
            "segment, cell, label, min(score) AS least, max(score) AS most, CAST(sum(weight) AS BIGINT) AS weight, "
            f"CAST(sum(CAST(score * {unit!r} AS HUGEINT) * weight) AS DOUBLE) AS sum",
            "segment, cell, label",
        )
        .order("segment, cell, label")
        .fetchnumpy()
    )
    return {name: np.ma.getdata(column) for name, column in found.items()}


def _table(groups: dict[str, NDArray[Any]], grid: Grid, unit: float) -> ScoreTable:
    """Return the table of one segment."""
    positive, weight, least, most = groups["label"].astype(bool), groups["weight"], groups["least"], groups["most"]
    sums = groups["sum"] * unit
    # Between its ends: a cell of equal scores stands exactly at them.
    means = np.clip(sums / weight, least, most)
    both = {
        "pos": weight * positive,
        "neg": weight * ~positive,
        "pos_sum": sums * positive,
        "neg_sum": sums * ~positive,
    }
    return pool(means, both, int(weight.sum()), grid)


def _cell(grid: Grid) -> str:
    """Return an SQL expression for the number of a score's cell."""
    place = f"ln((score + {EDGE!r}) / (1.0 - score + {EDGE!r}))" if grid.log_odds else "score"
    return f"floor({place} * {1 / grid.width!r})"
