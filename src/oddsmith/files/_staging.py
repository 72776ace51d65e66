"""Rows of a file on their way into tables: text is taken apart once, and all rows are looked at once."""

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from oddsmith import _check
from oddsmith.files._engine import Engine
from oddsmith.files._layout import TypedColumns
from oddsmith.files._lines import forget_rejects
from oddsmith.files.bad_rows import RowProblem, problem_code
from oddsmith.files.columns import Columns
from oddsmith.files.source import ScoreFile
from oddsmith.frames import text_literal

_WHOLE = frozenset(
    {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT", "UHUGEINT"}
)


class Survey(NamedTuple):
    """What a first look at all rows shows."""

    counts: dict[int | None, int]  # rows by what is wrong with them, None for nothing
    labels: dict[str, int]  # good rows by label
    whole_weights: bool
    more: list[tuple[Any, ...]]  # what else was aggregated, of the good rows with each label

    @property
    def good(self) -> int:
        """How many rows can be used."""
        return self.counts.get(None, 0)


def stage(
    file: ScoreFile, columns: Columns, problems: list[RowProblem], kept: Sequence[str], further: Sequence[str] = ()
) -> str:
    """Return what to read rows from: what is kept, problem, weight, and whether that is whole.

    ``further`` columns follow those in use. Text is taken apart once, into a temporary Parquet file; the queries to
    come then cost little.
    """
    layout, engine, names = file.layout, file.engine, [*columns.names, *further]
    wanted = [*kept, f"{problem_code(problems)} AS problem"]
    if columns.weight is None:
        wanted.append("true AS whole")
    else:
        weight, kind = f"f{names.index(columns.weight)}", layout.type_of(columns.weight)
        whole = f"regexp_full_match(trim({weight}), '[0-9]{{1,15}}')" if kind == "VARCHAR" else str(kind in _WHOLE)
        wanted += [f"TRY_CAST({weight} AS DOUBLE) AS weight", f"{whole} AS whole"]
    forget_rejects(engine)
    query = f"SELECT {', '.join(wanted)} FROM ({layout.select(names, note_rejects=True)})"
    if isinstance(layout, TypedColumns):
        return f"({query})"
    path = text_literal(os.path.join(engine.folder, "rows.parquet"))
    engine.rows(f"COPY ({query}) TO {path} (FORMAT parquet)")
    return f"read_parquet({path})"


def survey(engine: Engine, rows: str, most: int, refusal: tuple[str, str, str], more: Sequence[str] = ()) -> Survey:
    """Look at all rows once; ``most`` labels are refused in the words given."""
    label = "CASE WHEN problem IS NULL THEN label END"
    wanted = ", ".join(["problem", f"{label} AS label", "count(*)", "bool_and(whole)", *more])
    grouped = f"SELECT {wanted} FROM {rows} GROUP BY problem, {label}"
    found = engine.rows(
        f"SELECT * REPLACE (CAST(label AS VARCHAR) AS label) FROM ({grouped}) ORDER BY problem, label LIMIT {most}"
    )
    if len(found) == most:
        _check.fail(*refusal)
    counts: dict[int | None, int] = {}
    for problem, _, times, *_ in found:
        counts[problem] = counts.get(problem, 0) + times
    good = [row for row in found if row[0] is None]
    labels = {row[1]: row[2] for row in good}
    return Survey(counts, labels, all(row[3] for row in good), [row[4:] for row in good])
