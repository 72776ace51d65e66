"""Sums of scores that do not depend on the order of rows.

An engine adds in parallel, and sums of doubles then differ in their last digits from run to run; so would every number
fitted to them. As whole numbers of 128 bits, multiples of one small power of two, they add up exactly.
"""

import dataclasses
import itertools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith.frames.source import _cell
from oddsmith.table import ScoreTable

if TYPE_CHECKING:
    import duckdb

#: Bits of a sum; some are left for rounding.
_BITS = 120
#: Powers of two beyond are no doubles.
_LARGEST_POWER = 1000


def with_exact_sums(
    relation: "duckdb.DuckDBPyRelation", tables: Mapping[str, ScoreTable], weight: str | None, by: str | None
) -> dict[str, ScoreTable]:
    """Return quantized tables of counts with sums that the same rows in any order would give; others as they are.

    Parameters
    ----------
    relation : DuckDBPyRelation
        The rows of the tables, with columns ``score`` and ``label``.
    tables : mapping of str to ScoreTable
        Tables on one grid, by segment.
    weight, by : str or None
        Columns of counts and of segments.
    """
    import narwhals as nw

    any_table = next(iter(tables.values()))
    grid = any_table.grid
    if grid is None or any_table.kind == "weight":
        return dict(tables)
    rows = sum(table.rows for table in tables.values())
    largest = max(abs(end) for table in tables.values() for end in table.span()) + grid.width
    power = min(_BITS - math.ceil(math.log2(rows + 1)) - math.frexp(largest)[1], _LARGEST_POWER)
    columns: dict[str, Any] = {"score": "score", "label": "label", "cell": _cell(nw.col("score"), grid)}
    columns |= {"segment": nw.lit("") if by is None else by, "weight": nw.lit(1) if weight is None else weight}
    found = (
        nw.from_native(relation)
        .select(**columns)
        .to_native()
        .filter("weight > 0")
        .aggregate(
            "segment, cell, min(score) AS least, max(score) AS most, "
            "coalesce(sum(weight) FILTER (label), 0)::DOUBLE AS pos, sum(weight)::DOUBLE AS n, "
            + ", ".join(
                f"coalesce(sum(CAST(score * {2.0**power!r} AS HUGEINT) * weight) FILTER ({side}), 0)::DOUBLE AS {name}"
                for name, side in (("pos_sum", "label"), ("neg_sum", "NOT label"))
            ),
            "segment, cell",
        )
        .order("segment, cell")
        .fetchnumpy()
    )
    arrays = {name: np.ma.getdata(column) for name, column in found.items()}
    names = arrays.pop("segment")
    starts = [0, *(np.flatnonzero(names[1:] != names[:-1]) + 1).tolist(), len(names)]
    exact = {
        names[a]: _replaced(tables[names[a]], {key: column[a:b] for key, column in arrays.items()}, 2.0**-power)
        for a, b in itertools.pairwise(starts)
    }
    return {name: exact[name] for name in tables}


def _replaced(table: ScoreTable, exact: dict[str, NDArray[Any]], unit: float) -> ScoreTable:
    """Return a table with other sums, and means by them."""
    grid = table.grid
    if grid is None or not np.array_equal(exact["cell"], grid.cells(table.scores)) or np.any(exact["pos"] != table.pos):
        _check.fail("rows must not change while they are read", "other cells than before", "try again")
    pos_sum, neg_sum = exact["pos_sum"] * unit, exact["neg_sum"] * unit
    means = np.where(exact["least"] == exact["most"], exact["least"], (pos_sum + neg_sum) / exact["n"])
    return dataclasses.replace(table, scores=grid.hold(means, exact["cell"]), pos_sum=pos_sum, neg_sum=neg_sum)
