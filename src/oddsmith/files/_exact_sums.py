"""Cells whose sums of scores do not depend on the order of rows.

An engine adds in parallel, and sums of doubles then differ in their last digits from run to run; so would every number
fitted to them. As whole numbers of 128 bits, multiples of one small power of two, they add up exactly.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from oddsmith.data import ScoreTable
from oddsmith.frames import Groups, cell_expression, tables_of

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

    ``relation`` has the rows of all tables, with columns ``score`` and ``label``, and those of counts and segments.
    """
    import duckdb

    any_table = next(iter(tables.values()))
    grid = any_table.grid
    if grid is None or any_table.kind == "weight":
        return dict(tables)
    rows = sum(table.rows for table in tables.values())
    largest = max(abs(end) for table in tables.values() for end in table.span()) + grid.width
    power = min(_BITS - math.ceil(math.log2(rows + 1)) - math.frexp(largest)[1], _LARGEST_POWER)
    # Counts and sums by segment, cell and label, in order; sums are multiples of 2⁻ᵖᵒʷᵉʳ.
    cell = cell_expression(grid, duckdb.ColumnExpression("score")).alias("cell")
    segment = "''" if by is None else by
    found = (
        relation.select(duckdb.StarExpression(), cell)
        .project(f"*, {weight or 1} AS n, {segment} AS name")
        .filter("n > 0")
        .aggregate(
            "name, cell, label, min(score) AS least, max(score) AS most, CAST(sum(n) AS BIGINT) AS weight, "
            f"CAST(sum(CAST(score * {2.0**power!r} AS HUGEINT) * n) AS DOUBLE) AS sum",
            "name, cell, label",
        )
        .order("name, cell, label")
        .fetchnumpy()
    )
    sent = {name: np.ma.getdata(column) for name, column in found.items()}
    # Between its ends: a cell of equal scores stands exactly at them.
    means = np.clip(sent["sum"] * 2.0**-power / sent["weight"], sent["least"], sent["most"])
    names, places = np.unique(sent["name"], return_inverse=True)
    counts, positive = sent["weight"], sent["label"].astype(bool)
    groups = Groups(names.tolist(), places, sent["cell"], positive, counts, counts, means)
    return dict(zip(groups.keys, tables_of(groups, grid), strict=True))
