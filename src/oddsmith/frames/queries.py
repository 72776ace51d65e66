"""Score tables from a query: the GROUP BY as text, for a warehouse to run, and what is made of its rows.

The statement names its columns, so that whoever runs it can pass its rows on; a statement of one's own needs the
columns ``score``, ``label`` and ``rows`` only.
"""

import warnings
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith._types import Bools, Floats, Weights
from oddsmith.data import Grid, ScoreTable, power_of_two
from oddsmith.errors import DroppedRowsWarning
from oddsmith.frames.bad_rows import BadRowPolicy, BadRows
from oddsmith.frames.building import tables_of
from oddsmith.frames.groups import Groups, positive_labels, refuse_many_groups
from oddsmith.frames.keys import refuse_equal_keys

__all__ = ["table_from_query", "table_query"]

#: Columns that a query may have; all others are keys.
_OWN = (
    *("score", "cell", "resolution", "score_sum", "label"),
    *("rows", "weight", "weight_sq", "least_weight", "missing_weights"),
)


def table_query(
    source: str | Sequence[str],
    score: str,
    label: str,
    weight: str | None = None,
    by: str | Sequence[str] = (),
    resolution: float | None = None,
    dialect: str = "duckdb",
) -> str:
    """Return the query that makes a score table of the rows of a warehouse.

    Parameters
    ----------
    source : str or sequence of str
        The table, or the names of catalog, schema and table.
    score, label : str
        Its columns.
    weight : str, optional
        Column of weights.
    by : str or sequence of str, optional
        Columns whose values each get a table of their own.
    resolution : float, optional
        Width of the cells in which scores are pooled, a power of two; by default every distinct score is kept.
    dialect : str, default "duckdb"
        Dialect of SQL, as sqlglot names it.

    Returns
    -------
    str

    See Also
    --------
    oddsmith.ScoreTable.from_query : Runs it.

    Examples
    --------
    >>> print(table_query("scores", "s", "y", resolution=0.25))
    SELECT
      FLOOR(CAST("s" AS DOUBLE) / 0.25) AS "cell",
      0.25 AS "resolution",
      SUM(CAST("s" AS DOUBLE)) AS "score_sum",
      "y" AS "label",
      COUNT(*) AS "rows"
    FROM "scores"
    GROUP BY FLOOR(CAST("s" AS DOUBLE) / 0.25), "y"
    """
    from oddsmith.formula import as_double, quote  # needs the extra sql, which from_query does not

    keys = [by] if isinstance(by, str) else list(by)
    if taken := next((key for key in keys if key.lower() in _OWN), None):
        _check.fail("a column of keys must have another name", repr(taken), "rename it in a view")

    def name(text: str) -> str:
        return quote(text, dialect)

    value, given = as_double(name(score), dialect), None if weight is None else name(weight)
    columns = [(name(key), key) for key in keys]
    groups = [name(key) for key in keys]
    if resolution is None:
        columns.append((value, "score"))
        groups.append(value)
    else:
        width = repr(power_of_two(resolution, "resolution"))
        cell = f"FLOOR({value} / {width})"
        total = value if given is None else f"{value} * {given}"
        columns += [(cell, "cell"), (width, "resolution"), (f"SUM({total})", "score_sum")]
        groups.append(cell)
    columns += [(name(label), "label"), ("COUNT(*)", "rows")]
    if given is not None:
        columns += [(f"SUM({given})", "weight"), (f"SUM({given} * {given})", "weight_sq")]
        columns += [(f"MIN({given})", "least_weight"), (f"COUNT(*) - COUNT({given})", "missing_weights")]
    listed = ",\n  ".join(f"{expression} AS {name(title)}" for expression, title in columns)
    table = ".".join(map(name, [source] if isinstance(source, str) else source))
    return f"SELECT\n  {listed}\nFROM {table}\nGROUP BY {', '.join([*groups, name(label)])}"


def table_from_query(
    connection: Any, sql: str, pos_label: Any = None, bad_rows: BadRowPolicy = "refuse"
) -> ScoreTable | dict[Any, ScoreTable]:
    """Run a query and make a score table of its rows, or one for each key; see `ScoreTable.from_query`."""
    columns = _run(connection, sql)
    if missing := [each for each in ("label", "rows") if each not in columns]:
        _check.fail("the query must have the columns label and rows", f"none called {missing[0]!r}", "name them by AS")
    if ("score" in columns) == ("cell" in columns):
        got = "both" if "score" in columns else f"columns {', '.join(columns)}"
        _check.fail("the query must have a column score, or else a column cell", got, "name it by AS")
    rows = np.array([_whole(each, "rows") for each in columns["rows"]], dtype=np.int64)
    grid, cells, means = _scores(columns, rows)
    refuse_many_groups(len(rows), grid)
    keys = {title: column for title, column in columns.items() if title not in _OWN}
    bad, dropped = _bad_rows(columns, keys, cells, rows, bad_rows)
    weight, weight_sq = _weights(columns, rows, bad)
    kept = ~bad & (weight != 0)
    if not kept.any():
        _check.fail("the query must return rows that can be used", "none", "check its conditions")
    labels = np.array([_plain(each) for each in columns["label"]], dtype=object)[kept]
    positive, names = positive_labels(labels, "label", pos_label)
    found, segment = _segments([np.array(column, dtype=object)[kept] for column in keys.values()], int(kept.sum()))
    squared = None if weight_sq is None else weight_sq[kept]
    groups = Groups(
        found, segment, cells[kept], positive, rows[kept], weight[kept], means[kept], squared, None, names, dropped
    )
    if dropped is not None:
        warnings.warn(f"left out: {dropped.message}", DroppedRowsWarning, stacklevel=3)  # the line of from_query
    tables = tables_of(groups, grid)
    if not keys:
        return tables[0]
    refuse_equal_keys(found)
    return dict(zip(found, tables, strict=True))


def _run(connection: Any, sql: str) -> dict[str, list[Any]]:
    """Run a query on a connection of DB-API, DuckDB or SQLAlchemy; return its columns by their names in lower case."""
    run = getattr(connection, "exec_driver_sql", None) or getattr(connection, "execute", None)
    if run is not None:
        answer = run(sql)
        result = connection if answer is None else answer  # a cursor answers nothing
    elif hasattr(connection, "cursor"):
        result = connection.cursor()
        result.execute(sql)
    else:
        must = "connection must be one of DB-API, DuckDB or SQLAlchemy"
        _check.fail(must, type(connection).__name__, "pass what connect() returns")
    described = getattr(result, "description", None) or getattr(getattr(result, "cursor", None), "description", None)
    if not described:
        _check.fail("the query must return rows", "none", "pass a SELECT")
    names = [str(column[0]).lower() for column in described]
    if len(set(names)) < len(names):
        _check.fail("columns of the query must differ", ", ".join(names), "name them by AS")
    rows = result.fetchall()
    if not rows:
        _check.fail("the query must return at least one row", "0 rows", "check its conditions")
    return dict(zip(names, map(list, zip(*map(tuple, rows), strict=True)), strict=True))


def _plain(value: Any) -> Any:
    """Return a number of SQL as one of Python: decimals without a fraction are integers."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value


def _whole(value: Any, column: str) -> int:
    number = _plain(value)
    if type(number) is float and number.is_integer():
        number = int(number)
    if type(number) is not int or number < 0:
        _check.fail(f"column {column} must contain whole numbers", repr(value), f"select COUNT(*) AS {column}")
    return number


def _doubles(values: Sequence[Any], column: str) -> Floats:
    """Return numbers, NaN for NULL."""
    try:
        return np.array([np.nan if each is None else float(each) for each in values])
    except (TypeError, ValueError):
        odd = next(each for each in values if not isinstance(each, int | float | Decimal | None))
        return _check.fail(f"column {column} must contain numbers", repr(odd), "cast it in the query")


def _scores(columns: dict[str, list[Any]], rows: NDArray[np.int64]) -> tuple[Grid | None, Floats, Floats]:
    """Return the grid, the cell of each group, and the mean of its scores; without a grid, scores twice."""
    if "score" in columns:
        scores = _doubles(columns["score"], "score") + 0.0
        return None, scores, scores
    if missing := [each for each in ("resolution", "score_sum") if each not in columns]:
        must = "a query with cells must have the columns resolution and score_sum"
        _check.fail(must, f"none called {missing[0]!r}", "name them by AS")
    widths = {float(each) for each in columns["resolution"] if each is not None}
    if len(widths) != 1:
        _check.fail("resolution must be one number", f"{len(widths)} different ones", "use one width for all rows")
    grid = Grid(power_of_two(widths.pop(), "resolution"))
    cells, total = _doubles(columns["cell"], "cell"), _doubles(columns["score_sum"], "score_sum")
    mass = _doubles(columns["weight"], "weight") if "weight" in columns else rows.astype(np.float64)
    with np.errstate(all="ignore"):
        low, high = cells * grid.width, np.nextafter((cells + 1) * grid.width, -np.inf)
        return grid, cells, np.clip(total / mass, low, high) + 0.0


def _bad_rows(
    columns: dict[str, list[Any]],
    keys: dict[str, list[Any]],
    cells: Floats,
    rows: NDArray[np.int64],
    policy: BadRowPolicy,
) -> tuple[Bools, BadRows | None]:
    """Return which groups cannot be used, and what is left out."""
    reasons: dict[str, Bools] = {
        "score is missing": np.isnan(cells),
        "score is not finite": np.isinf(cells),
        "label is missing": np.array([each is None or each != each for each in columns["label"]]),
    }
    for column in keys.values():
        absent = np.array([each is None or each != each for each in column])
        reasons["segment is missing"] = reasons.get("segment is missing", np.zeros(len(rows), bool)) | absent
    bad = np.logical_or.reduce(list(reasons.values()))
    counts = {why: int(rows[at].sum()) for why, at in reasons.items() if at.any()}
    if "missing_weights" in columns:
        lacking = np.array([_whole(each, "missing_weights") for each in columns["missing_weights"]])
        if lacking.any():  # the sums have left such rows out already
            counts["weight is missing"] = int(lacking.sum())
    left_out = int(rows[bad].sum()) + counts.get("weight is missing", 0)
    return bad, BadRows(left_out, int(rows.sum()), counts).allow(policy, "the result of the query")


def _weights(columns: dict[str, list[Any]], rows: NDArray[np.int64], bad: Bools) -> tuple[Weights, Floats | None]:
    """Return the weight of each group, and sums of squares where weights are not counts."""
    if "weight" not in columns:
        return rows, None
    if "least_weight" in columns:
        least = _doubles(columns["least_weight"], "least_weight")
        if np.any(least < 0):
            _check.fail("weights must be ≥ 0", f"{np.nanmin(least):g}", "drop the row or use weight 0")
    values = [0 if each is None else _plain(each) for each in columns["weight"]]
    if all(type(each) is int for each in values):
        _check.refuse_large_sum(sum(values), "column weight")
        return np.array(values, dtype=np.int64), None
    if "weight_sq" not in columns:
        must = "a query with float weights must have a column weight_sq"
        _check.fail(must, "none", "select SUM(w * w) AS weight_sq, or cast weights to integers if they are counts")
    weight = np.array([float(each) for each in values])
    if not np.isfinite(weight[~bad]).all() or np.any(weight < 0):
        _check.fail("weights must be finite and ≥ 0", "others", "check the column of weights")
    _check.refuse_large_sum(_check.weight_sum(weight), "column weight")
    return weight, np.nan_to_num(_doubles(columns["weight_sq"], "weight_sq"))


def _segments(keys: list[NDArray[np.object_]], n: int) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the keys in order of appearance, of several columns as tuples, and which one each group has."""
    if not keys:
        return [None], np.zeros(n, dtype=np.intp)
    columns = [[_plain(each) for each in column] for column in keys]
    names = columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
    place: dict[Any, int] = {}
    segment = np.array([place.setdefault(name, len(place)) for name in names], dtype=np.intp)
    return list(place), segment
