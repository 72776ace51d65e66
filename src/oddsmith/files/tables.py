"""Read a score table from a file, however large, by two queries: what the rows are, and how many fall in each cell.

An engine adds in parallel, and sums of doubles then differ in their last digits from run to run; so would every number
fitted to them. As whole numbers of 128 bits, multiples of one small power of two, scores add up exactly.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith._types import Label
from oddsmith.data import Grid, ScoreTable
from oddsmith.files._engine import Progress, translate_errors
from oddsmith.files._labels import are_plain, label_census, read_labels
from oddsmith.files._staging import Survey, stage, survey
from oddsmith.files.bad_rows import problems_of, refuse_bad_rows
from oddsmith.files.columns import Columns
from oddsmith.files.source import ScoreFile
from oddsmith.frames import (
    BadRowPolicy,
    BadRows,
    Extent,
    Groups,
    cell_expression,
    cell_variance,
    identifier,
    refuse_many_groups,
    refuse_overflow,
    settle,
    spare_name,
    tables_of,
    text_literal,
)

if TYPE_CHECKING:
    import duckdb

__all__ = ["ScoreData", "SegmentRows", "read_segments", "read_table"]

#: How much is done when text is taken apart, and when all rows were looked at.
_STAGED, _SURVEYED = 0.6, 0.8

#: So many labels are refused.
_MAX_LABELS = 100
_MANY = "label must be a column of few values", f"{_MAX_LABELS} or more", "check which column is the label"

#: Bits of a sum; some are left for rounding.
_BITS = 120
#: Powers of two beyond are no doubles.
_LARGEST_POWER = 1000


@dataclass(frozen=True)
class ScoreData:
    """What was read.

    Parameters
    ----------
    table : ScoreTable
        All rows.
    labels : tuple
        The negative and the positive label.
    segments : dict
        The table of each segment, if there are any, by its name, or of several columns by a tuple of names.
    dropped : BadRows or None
        What was left out.
    distinct : int or None
        How many distinct scores there are; None where a table of cells does not show it and they were not counted.
    census : str
        How many rows have each label, and which are positive; empty where labels are written as 0 and 1.

    See Also
    --------
    read_table : Returns it.
    """

    table: ScoreTable
    labels: tuple[Label, Label]
    segments: dict[Any, ScoreTable] = field(default_factory=dict)
    dropped: BadRows | None = None
    distinct: int | None = None
    census: str = ""


def read_table(
    file: ScoreFile,
    columns: Columns,
    *,
    positive: str | None = None,
    bad_rows: BadRowPolicy = "refuse",
    resolution: float | Literal["auto"] | None = "auto",
    count_distinct: bool = False,
    progress: Progress | None = None,
    needs_label: bool = True,
) -> ScoreData:
    r"""Read a score table, one for each segment as well if there are segments.

    One query finds which rows can be used, the labels and the range of the scores; a second one counts rows by cell and
    label. Where cells turn out to be too wide, it is repeated with finer ones. Rows are never in memory. Weights that
    are all written as whole numbers are counts.

    Parameters
    ----------
    file : ScoreFile
    columns : Columns
        From `choose_columns`.
    positive : str, optional
        The positive label, or several joined by commas; needed unless labels are {0, 1}, {−1, +1} or {false, true}.
    bad_rows : {"refuse", "skip"}, default "refuse"
        What to do when a score, label, weight or segment is missing, or a score or weight is not a finite number.
    resolution : float, None or "auto", default "auto"
        Width of cells, a power of two; None keeps every distinct score; "auto" chooses (see `ScoreTable.from_frame`).
    count_distinct : bool, default False
        Whether to count distinct scores also where there are cells, by one more query.
    progress : callable, optional
        Called with the share that is done, from 0 to 1.
    needs_label : bool, default True
        With False, all rows of a file without labels count as negative.

    Returns
    -------
    ScoreData

    See Also
    --------
    read_rows : For several classes.
    read_unlabeled : Without labels.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from oddsmith.files import choose_columns, open_scores
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = path.write_text("score,label\n0.3,no\n0.9,yes\n")
    >>> with open_scores(path) as file:
    ...     read_table(file, choose_columns(file), positive="yes").table
    ScoreTable(rows=2, distinct=2, kind=count, weight=2, prevalence=0.5, resolution=exact)
    """
    if columns.label is None and needs_label:
        _check.fail("there must be a label", "no column", "pass label= (--label)")
    if len(columns.scores) > 1:
        _check.fail("a table must be of one column of scores", f"{len(columns.scores)} columns", "use read_rows")
    engine, problems = file.engine, problems_of(file, columns)
    kept = ["TRY_CAST(f0 AS DOUBLE) AS score", "false AS label" if columns.label is None else "f1 AS label"]
    kept += [f"{columns.key(name)} AS k{i}" for i, name in enumerate(columns.by)]
    more = ["min(score)", "max(score)"]
    if columns.weight is not None:
        more += ["min(weight) FILTER (weight > 0)", "max(weight)", "sum(weight)"]
    with translate_errors(file.name):
        rows = engine.watch(lambda: stage(file, columns, problems, kept), progress, 0.0, _STAGED)
        found = engine.watch(lambda: survey(engine, rows, _MAX_LABELS, _MANY, more), progress, _STAGED, _SURVEYED)
        dropped = refuse_bad_rows(file, columns, problems, found.counts, bad_rows)
        if not found.good:
            _check.fail(f"{file.name} must contain rows", "none", "check how it was written")
        meant, labels = read_labels(found.labels, positive)
        usable = engine.connection.sql(_usable(file, columns, rows, meant, found.whole_weights))
        extent, total = _extent(found, columns.weight)
        exact = columns.weight is None or found.whole_weights
        read = partial(_read_groups, usable, columns, extent, total, labels, exact)
        grid, groups = engine.watch(lambda: settle(resolution, lambda: extent, read), progress, _SURVEYED, 1.0)
    tables = dict(zip(groups.keys, tables_of(groups, grid), strict=True))
    first, *others = tables.values()
    table = first.merge(*others) if others else first
    if columns.weight is None and table.rows != found.good:
        must = f"{file.name} must not change while it is read"
        _check.fail(must, f"{found.good}, then {table.rows} rows", "try again")
    distinct = len(table) if grid is None else None
    if distinct is None and count_distinct:
        with translate_errors(file.name):
            distinct = usable.aggregate("count(DISTINCT score)").fetchall()[0][0]
    census = "" if are_plain(found.labels) else label_census(found.labels, meant)
    return ScoreData(table, labels, tables if columns.by else {}, dropped, distinct, census)


@dataclass(frozen=True)
class SegmentRows:
    """Rows of a file with columns that define segments.

    Parameters
    ----------
    relation : DuckDB relation
        The rows that can be used. Columns of text of which all values are numbers are numbers.
    score, label : str
        Names of the score and of the label, true for positives.
    weight : str or None
    dropped : BadRows or None
        What was left out.
    census : str
        How many rows have each label, and which are positive; empty where labels are written as 0 and 1.

    See Also
    --------
    read_segments : Returns them.
    """

    relation: "duckdb.DuckDBPyRelation"
    score: str
    label: str
    weight: str | None
    dropped: BadRows | None
    census: str


def read_segments(
    file: ScoreFile,
    columns: Columns,
    by: Sequence[str],
    *,
    positive: str | None = None,
    bad_rows: BadRowPolicy = "refuse",
    progress: Progress | None = None,
) -> SegmentRows:
    """Read rows with further columns, in which values may be missing; empty text is missing, too.

    Parameters
    ----------
    file : ScoreFile
    columns : Columns
        From `choose_columns`.
    by : sequence of str
        The further columns.
    positive : str, optional
        The positive label, or several joined by commas; needed unless labels are {0, 1}, {−1, +1} or {false, true}.
    bad_rows : {"refuse", "skip"}, default "refuse"
        What to do when a score, label or weight is missing, or a score or weight is not a finite number.
    progress : callable, optional
        Called with the share that is done, from 0 to 1.

    Returns
    -------
    SegmentRows

    See Also
    --------
    oddsmith.audit.audit : Audits them.
    """
    engine, problems = file.engine, problems_of(file, columns)
    further = [name for name in by if name not in columns.names]
    names = [*columns.names, *further]
    kept = ["TRY_CAST(f0 AS DOUBLE) AS score", "f1 AS label"]
    texts = [file.layout.type_of(name) == "VARCHAR" for name in by]
    for i, (name, text) in enumerate(zip(by, texts, strict=True)):
        value = f"f{names.index(name)}"
        kept.append(f"nullif({value}, '') AS k{i}" if text else f"{value} AS k{i}")
    numeric = [f"count(k{i}) = count(TRY_CAST(CAST(k{i} AS VARCHAR) AS DOUBLE))" for i in range(len(by))]
    with translate_errors(file.name):
        rows = engine.watch(lambda: stage(file, columns, problems, kept, further), progress, 0.0, _STAGED)
        found = engine.watch(lambda: survey(engine, rows, _MAX_LABELS, _MANY, numeric), progress, _STAGED, 1.0)
        dropped = refuse_bad_rows(file, columns, problems, found.counts, bad_rows)
        if not found.good:
            _check.fail(f"{file.name} must contain rows", "none", "check how it was written")
        meant, _ = read_labels(found.labels, positive)
        spare = spare_name(by)
        own = {role: f"{spare}_{role}" for role in ("score", "label", "weight")}
        used = ["score", "label", *(["weight"] if columns.weight is not None else [])]
        wanted = [f"{role} AS {own[role]}" for role in used]
        for i, (name, text) in enumerate(zip(by, texts, strict=True)):
            numbers = text and all(row[i] for row in found.more)
            value = f"CAST(k{i} AS DOUBLE)" if numbers else f"k{i}"
            wanted.append(f"{value} AS {identifier(name)}")
        usable = _usable(file, columns, rows, meant, found.whole_weights, [f"k{i}" for i in range(len(by))])
        relation = engine.connection.sql(f"SELECT {', '.join(wanted)} FROM ({usable})")
    census = "" if are_plain(found.labels) else label_census(found.labels, meant)
    weight = None if columns.weight is None else own["weight"]
    return SegmentRows(relation, own["score"], own["label"], weight, dropped, census)


def _usable(
    file: ScoreFile,
    columns: Columns,
    rows: str,
    positive: tuple[str, ...],
    whole_weights: bool,
    further: Sequence[str] = (),
) -> str:
    """Return a query for score, label, weight, keys and further columns of the rows without a problem."""
    kind = "BOOLEAN" if columns.label is None else file.layout.type_of(columns.label)
    meant = ", ".join(f"CAST({text_literal(text)} AS {kind})" for text in positive)
    kept = ["score", f"label IN ({meant}) AS label" if meant else "false AS label"]
    kept += [*(f"k{i}" for i in range(len(columns.by))), *further]
    query = f"FROM {rows} WHERE problem IS NULL"
    if columns.weight is not None:
        kept.append(f"CAST(weight AS {'HUGEINT' if whole_weights else 'DOUBLE'}) AS weight")
        query += " AND weight > 0"  # a row of weight 0 is absent
    return f"SELECT {', '.join(kept)} {query}"


def _extent(found: Survey, weight: str | None) -> tuple[Extent, float]:
    """Return the range of the scores, and the sum of the weights, of which none is too small or too large."""
    low, high, *weights = zip(*found.more, strict=True)
    extent = Extent(found.good, (min(low), max(high)))
    if weight is None:
        return extent, float(found.good)
    least, most, total = ([value for value in column if value is not None] for column in weights)
    if not least:
        _check.fail("frame must contain rows that can be used", "none: all weights are 0", "check the weights")
    _check.refuse_large_sum(max(most), f"column {weight!r}")
    if min(least) < _check.LEAST_WEIGHT:
        _check.refuse_tiny_weight(min(least), weight)
    _check.refuse_large_sum(sum(total), f"column {weight!r}")
    return extent, float(sum(total))


def _read_groups(
    usable: "duckdb.DuckDBPyRelation",
    columns: Columns,
    extent: Extent,
    total: float,
    labels: tuple[Label, Label],
    exact: bool,
    grid: Grid | None,
    *,
    squares: bool = False,
) -> Groups:
    """Ask for rows and sums by segment, cell (or distinct score) and label, in order; sums of counts are exact."""
    import duckdb

    keys = [f"k{i}" for i in range(len(columns.by))]
    groups = ", ".join([*keys, "cell", "label"])
    mass = "" if columns.weight is None else " * weight"
    wanted = [groups, "count(*) AS n"]
    if columns.weight is not None:
        wanted.append("CAST(sum(weight) AS BIGINT) AS weight" if exact else "sum(weight) AS weight")
    if not exact:
        wanted.append("sum(weight * weight) AS weight_sq")
    scale, cell = 1.0, duckdb.ColumnExpression("score")
    if grid is not None:
        cell = cell_expression(grid, cell)
        low, high = extent.span or (0.0, 0.0)
        power = _BITS - math.ceil(math.log2(total + 1)) - math.frexp(max(abs(low), abs(high)) + grid.width)[1]
        scale = 2.0 ** min(power, _LARGEST_POWER) if exact else 1.0
        term = f"CAST(score * {scale!r} AS HUGEINT)" if exact else "score"
        wanted += ["min(score) AS least", "max(score) AS most", f"CAST(sum({term}{mass}) AS DOUBLE) AS sum"]
        if squares:
            wanted.append(f"sum(score * score{mass}) AS square")
    relation = usable.select(duckdb.StarExpression(), cell.alias("cell")).aggregate(", ".join(wanted), groups)
    sent = {name: np.ma.getdata(column) for name, column in relation.order(groups).fetchnumpy().items()}
    refuse_many_groups(len(sent["n"]), grid)
    rows = sent["n"].astype(np.int64)
    weight = rows if columns.weight is None else sent["weight"]
    cells, means, variance = sent["cell"].astype(np.float64), sent["cell"], None
    if grid is not None:
        refuse_overflow(cells, sent["least"], grid)
        sums = sent["sum"] / scale
        # Between its ends: a cell of equal scores stands exactly at them.
        means = np.clip(sums / weight, sent["least"], sent["most"])
        if squares:
            equal = sent["least"] == sent["most"]
            variance = cell_variance(sent["square"] / weight, sums / weight, equal)
    names, segment = _segments([sent[key] for key in keys], len(rows))
    positive = sent["label"].astype(bool)
    squared = None if exact else sent["weight_sq"]
    counted = weight if exact else rows
    return Groups(names, segment, cells, positive, counted, weight, means, squared, variance, labels)


def _segments(keys: list[NDArray[Any]], n: int) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the names of segments, and which one each of the groups is of, which are in the order of their keys."""
    if not keys or not n:
        return [None], np.zeros(n, dtype=np.intp)
    new = np.zeros(n, dtype=bool)
    for key in keys:
        new[1:] |= key[1:] != key[:-1]
    segment = np.cumsum(new)
    starts = np.flatnonzero(np.diff(segment, prepend=-1))
    names = [key[starts].tolist() for key in keys]
    return names[0] if len(keys) == 1 else list(zip(*names, strict=True)), segment
