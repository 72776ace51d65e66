"""Read a score table from a file, however large."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from oddsmith import _check
from oddsmith._types import Label
from oddsmith.data import ScoreTable
from oddsmith.files._engine import Progress, explained
from oddsmith.files._exact_sums import with_exact_sums
from oddsmith.files._labels import are_plain, label_census, read_labels
from oddsmith.files._staging import staged, surveyed
from oddsmith.files.bad_rows import problems_of, refuse_bad_rows
from oddsmith.files.columns import Roles
from oddsmith.files.source import ScoreFile
from oddsmith.frames import BadRowPolicy, BadRows, tables_from_frame, text_literal

if TYPE_CHECKING:
    import duckdb

__all__ = ["ScoreData", "read_table"]

#: How much is done when text is taken apart, and when all rows were looked at.
_STAGED, _SURVEYED = 0.6, 0.8

#: So many labels are refused.
_MAX_LABELS = 100
_MANY = "label must be a column of few values", f"{_MAX_LABELS} or more", "check which column is the label"


@dataclass(frozen=True)
class ScoreData:
    """What was read.

    Parameters
    ----------
    table : ScoreTable
        All rows.
    labels : tuple
        The negative and the positive label.
    segments : dict of str to ScoreTable
        The table of each segment, if there are any.
    dropped : BadRows or None
        What was left out.
    distinct : int
        How many distinct scores there are, which a table of cells does not tell.
    census : str
        How many rows have each label, and which are positive; empty where labels are written as 0 and 1.
    """

    table: ScoreTable
    labels: tuple[Label, Label]
    segments: dict[str, ScoreTable] = field(default_factory=dict)
    dropped: BadRows | None = None
    distinct: int = 0
    census: str = ""


def read_table(
    file: ScoreFile,
    roles: Roles,
    *,
    positive: str | None = None,
    bad_rows: BadRowPolicy = "refuse",
    resolution: float | Literal["auto"] | None = "auto",
    progress: Progress | None = None,
    needs_label: bool = True,
) -> ScoreData:
    r"""Read a score table, one for each segment as well if there are segments.

    One look at all rows tells which can be used and which labels there are; then `ScoreTable.from_frame` asks the
    engine for the table. Rows are never in memory. Weights that are all written as whole numbers are counts.

    Parameters
    ----------
    file : ScoreFile
    roles : Roles
        Columns, from `choose_columns`.
    positive : str, optional
        The positive label, or several joined by commas; needed unless labels are {0, 1}, {−1, +1} or {false, true}.
    bad_rows : {"refuse", "skip"}, default "refuse"
        What to do when a score, label, weight or segment is missing, or a score or weight no finite number.
    resolution : float, None or "auto", default "auto"
        Width of cells, a power of two; None keeps every distinct score; "auto" chooses (see `ScoreTable.from_frame`).
    progress : callable, optional
        Told how much is done, from 0 to 1.
    needs_label : bool, default True
        False: where there is no column of labels all rows count as negative.

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
    if roles.label is None and needs_label:
        _check.fail("there must be a label", "no column", "pass label= (--label)")
    engine, problems = file.engine, problems_of(file, roles)
    kept = ["TRY_CAST(f0 AS DOUBLE) AS score", "false AS label" if roles.label is None else "f1 AS label"]
    if roles.by is not None:
        kept.append(f"CAST(f{roles.names.index(roles.by)} AS VARCHAR) AS segment")
    with explained(file.name):
        rows = engine.watch(lambda: staged(file, roles, problems, kept), progress, 0.0, _STAGED)
        survey = engine.watch(lambda: surveyed(engine, rows, _MAX_LABELS, _MANY), progress, _STAGED, _SURVEYED)
        dropped = refuse_bad_rows(file, roles, problems, survey.counts, bad_rows)
        if not survey.good:
            _check.fail(f"{file.name} must hold rows", "none", "check how it was written")
        meant, labels = read_labels(survey.labels, positive)
        usable = _usable(file, roles, rows, meant, survey.whole_weights)
        tables = engine.watch(
            lambda: _tables(engine.connection.sql(usable), roles, resolution), progress, _SURVEYED, 1.0
        )
    first, *others = tables.values()
    table = first.merge(*others) if others else first
    if roles.weight is None and table.rows != survey.good:
        _check.fail(
            f"{file.name} must not change while it is read", f"{survey.good}, then {table.rows} rows", "try again"
        )
    distinct = len(table)
    if table.resolution is not None:
        with explained(file.name):
            distinct = engine.rows(f"SELECT count(DISTINCT score) FROM ({usable})")[0][0]
    census = "" if are_plain(survey.labels) else label_census(survey.labels, meant)
    return ScoreData(table, labels, tables if roles.by is not None else {}, dropped, distinct, census)


def _usable(file: ScoreFile, roles: Roles, rows: str, positive: tuple[str, ...], whole_weights: bool) -> str:
    """Return a query for score, label, weight and segment of the rows without a problem."""
    kind = "BOOLEAN" if roles.label is None else file.layout.type_of(roles.label)
    meant = ", ".join(f"CAST({text_literal(text)} AS {kind})" for text in positive)
    columns = ["score", f"label IN ({meant}) AS label" if meant else "false AS label"]
    if roles.weight is not None:
        columns.append(f"CAST(weight AS {'HUGEINT' if whole_weights else 'DOUBLE'}) AS weight")
    if roles.by is not None:
        columns.append("segment")
    return f"SELECT {', '.join(columns)} FROM {rows} WHERE problem IS NULL"


def _tables(
    relation: "duckdb.DuckDBPyRelation", roles: Roles, resolution: float | Literal["auto"] | None
) -> dict[str, ScoreTable]:
    """Return the table of each segment; without segments one, of all rows."""
    weight, by = None if roles.weight is None else "weight", None if roles.by is None else "segment"
    made = tables_from_frame(relation, "score", "label", weight, by, resolution)
    return with_exact_sums(relation, made if isinstance(made, dict) else {"": made}, weight, by)
