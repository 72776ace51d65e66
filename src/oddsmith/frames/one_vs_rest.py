"""Score tables of several classes, each against the rest, by one look at the rows."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np

from oddsmith import _check
from oddsmith.data import Grid, ScoreTable
from oddsmith.frames import scored_frame as _limits
from oddsmith.frames.bad_rows import BadRows
from oddsmith.frames.building import tables_of
from oddsmith.frames.engines.base import Extent, numbers
from oddsmith.frames.groups import Groups, read_groups
from oddsmith.frames.resolution import settle
from oddsmith.frames.scored_frame import ScoredFrame

__all__ = ["class_tables"]


def class_tables(
    frame: Any,
    scores: Sequence[str],
    label: str,
    labels: Sequence[Any],
    weight: str | None = None,
    resolution: float | Literal["auto"] | None = "auto",
) -> list[ScoreTable]:
    """Build the score table of each class against the rest, inside the engine of a frame, by one aggregate query.

    Every row is a row of every table: of the score of that class, positive where its label is the class. With cells
    ("auto", see `ScoreTable.from_frame`) the range of the scores is queried first, and all tables have the same cells.

    Parameters
    ----------
    frame : data frame or table of an engine
        pandas, Polars (eager or lazy), PyArrow, DuckDB relation, Dask, PySpark or Ibis, as narwhals reads them.
    scores : sequence of str
        Columns, one per class.
    label : str
        Column of true labels.
    labels : sequence
        The label of each class, in the order of the columns.
    weight : str, optional
        Column of counts (integers) or weights.
    resolution : float, "auto" or None, default "auto"
        Width of cells; None keeps all distinct scores.

    Returns
    -------
    list of ScoreTable
        In the order of the classes.

    See Also
    --------
    tables_from_frame : For two classes.

    Examples
    --------
    >>> import duckdb
    >>> from oddsmith.frames import class_tables
    >>> rows = duckdb.sql("SELECT * FROM (VALUES (0.9, 0.1, 'a'), (0.2, 0.8, 'b'), (0.7, 0.3, 'b')) t(a, b, y)")
    >>> [table.pos.tolist() for table in class_tables(rows, ["a", "b"], "y", ["a", "b"])]
    [[0, 0, 1], [0, 1, 1]]
    """
    scores, labels = list(scores), list(labels)
    if len(labels) != len(scores) or len(scores) < 2:
        got = f"{len(scores)} columns and {len(labels)} labels"
        _check.fail("scores and labels must be two or more, one for each class", got, "name a column for each label")
    if len({str(one) for one in labels}) < len(labels):
        _check.fail("labels must differ when they are written as text", f"{labels}", "name each class once")
    given = ScoredFrame.of(frame, scores[0], label, weight, (), scores)
    with given.engine.translate_errors(given.frame, "put the scores of all classes in one column"):
        long, names = given.engine.unpivot(given, labels)
    rows = ScoredFrame.of(long, names.score, names.hit, names.weight, (names.place,))
    grid, groups = settle(resolution, partial(_extent, given, rows), partial(_read, rows, given, len(labels)))
    return tables_of(groups, grid)


def _extent(given: ScoredFrame, rows: ScoredFrame) -> Extent:
    """Return the range of all scores, with the rows of one class where exact tables of all are not too large."""
    doubles = [given.as_double(name) for name in given.scores]
    wanted = {f"low{place}": one.min() for place, one in enumerate(doubles)}
    wanted |= {f"high{place}": one.max() for place, one in enumerate(doubles)}
    n, *ends = numbers(given.answer(lambda frame: frame.select(rows=nw.len(), **wanted)))
    # What is missing or infinite is looked for in the one column of all scores.
    span = (min(ends), max(ends)) if np.isfinite(ends).all() else rows.extent().span
    everything = int(n) * len(doubles)
    return Extent(int(n) if everything <= _limits.MAX_GROUPS // 2 else everything, span)


def _read(rows: ScoredFrame, given: ScoredFrame, k: int, grid: Grid | None, *, squares: bool = False) -> Groups:
    """Return groups of all classes; rows that cannot be used are refused, and so are labels of no class."""
    groups = read_groups(rows, None, partial(_refuse_bad_rows, k), grid, squares=squares)
    lacking = int(groups.rows.sum()) // k - int(groups.rows[groups.positive].sum())
    if lacking:
        must = f"column {given.original_name(given.label)} must contain labels of the classes"
        _check.fail(must, f"{lacking:,} rows with other labels", "name all classes, or drop those rows")
    return groups


def _refuse_bad_rows(k: int, found: BadRows) -> None:
    """Refuse bad values; a weight was met with the score of every class, a missing label with the first alone."""
    if found.count:
        times = {why: n // k if why.startswith("weight") else n for why, n in found.reasons.items()}
        got = ", ".join(f"{why}: {n:,}" for why, n in times.items())
        _check.fail("all rows of the frame must be usable", got, "repair them, or drop them in the frame first")
