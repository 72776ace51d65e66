"""The range of a column from the footers of Parquet files. Of a single file DuckDB looks there by itself."""

import re
from typing import TYPE_CHECKING

import numpy as np

from oddsmith.frames.engines.base import Extent
from oddsmith.frames.sql_text import text_literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

#: All rows of files and nothing else, as DuckDB writes it; paths with brackets are left to it.
_FILES = re.compile(r'SELECT \* FROM parquet_scan\((\[[^][]*\]), [^()]*union_by_name := false\) AS "[^"]*"')


def range_in_footers(relation: "DuckDBPyRelation", column: str) -> Extent | None:
    """Return the range of a column of doubles, None where footers do not tell it or rows are not plain files.

    Examples
    --------
    >>> import duckdb, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = duckdb.execute(f"COPY (SELECT i / 4 AS s FROM range(9) t(i)) TO '{folder}/0.parquet'")
    ...     range_in_footers(duckdb.read_parquet(f"{folder}/*.parquet"), "s")
    Extent(rows=9, span=(0.0, 2.0))
    """
    import duckdb

    files = _FILES.fullmatch(relation.sql_query().strip())
    if files is None:
        return None
    told = "bool_and(coalesce(type = 'DOUBLE' AND stats_min_value <> '' AND stats_max_value <> '', false))"
    limits = "min(stats_min_value::DOUBLE), max(stats_max_value::DOUBLE)"
    query = (
        f"SELECT {told}, sum(row_group_num_rows), {limits} "
        f"FROM parquet_metadata({files[1]}) WHERE path_in_schema = {text_literal(column)}"
    )
    try:
        answer = relation.query("rows_of_files", query)
        known, rows, low, high = answer.fetchall()[0] if answer is not None else (False, 0, 0.0, 0.0)
    except duckdb.Error:
        return None
    if not known or not np.isfinite([low, high]).all():
        return None
    return Extent(int(rows), (low, high))
