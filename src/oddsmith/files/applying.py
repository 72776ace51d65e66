"""Add the probability of each row to a file, however large.

The scores alone go through the map, a batch at a time, and wait in the engine's own tables, which may lie on the disk;
then the file is read once more and written with the probability beside it, row by row in the same order. Only NumPy
computes, so that a file gets the same probabilities, to the last bit, as an array.
"""

import dataclasses
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oddsmith import _check
from oddsmith.atomic import File, replacing
from oddsmith.files._engine import Engine, Progress, explained
from oddsmith.files._jsonl import JSONLines
from oddsmith.files._lines import forget_rejects
from oddsmith.files._writers import copy_statement, output_format
from oddsmith.files.bad_rows import problem_code, problems_of, refuse_bad_rows
from oddsmith.files.columns import Roles
from oddsmith.files.source import ScoreFile
from oddsmith.frames.bad_rows import BadRowPolicy, BadRows
from oddsmith.frames.segments import Maps
from oddsmith.frames.sql_text import text_literal
from oddsmith.maps import CalibrationMap

__all__ = ["Applied", "apply_map"]

_BATCH = 2**20

#: How much is done when scores are staged, and when probabilities are computed.
_STAGED, _COMPUTED = 0.3, 0.4

_SHOWN = 5


@dataclass(frozen=True)
class Applied:
    """What was written.

    Parameters
    ----------
    rows : int
        Number of rows.
    dropped : BadRows or None
        What was left out.
    unknown : dict of str to int
        Rows of segments without a map of their own: some of those segments, and how many rows each has.
    """

    rows: int
    dropped: BadRows | None
    unknown: dict[str, int]


def apply_map(
    map_: CalibrationMap,
    file: ScoreFile,
    roles: Roles,
    output: str | os.PathLike[str],
    *,
    segments: Mapping[str, CalibrationMap] | None = None,
    name: str = "probability",
    bad_rows: BadRowPolicy = "refuse",
    force: bool = False,
    sources: Iterable[File] = (),
    progress: Progress | None = None,
) -> Applied:
    r"""Write a copy of a file with the probability of each row as one more column.

    Rows keep their order and all other columns their content; from CSV to CSV and from JSON lines to JSON lines even
    their text. The output appears when it is complete, or not at all.

    Parameters
    ----------
    map_ : CalibrationMap
        From score to probability.
    file : ScoreFile
    roles : Roles
        Columns, from `choose_columns`; of them only the score, and the segment if there are ``segments``.
    output : path-like
        Its name says in which format to write: .csv, .tsv, .jsonl (and .gz or .zst) or .parquet.
    segments : mapping of str to CalibrationMap, optional
        Maps for some segments; rows of all others, or of none, go through ``map_``, and are counted.
    name : str, default "probability"
        Name of the new column.
    bad_rows : {"refuse", "skip"}, default "refuse"
        What to do when a score is missing or no finite number.
    force : bool, default False
        Replace a file that exists, unless it is the one that is read.
    sources : iterable of path-like, optional
        Other files that must not be replaced, such as that of the map.
    progress : callable, optional
        Told how much is done, from 0 to 1.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from oddsmith.maps import constant_map
    >>> from oddsmith.files import choose_columns, open_scores
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "new.csv").write_text("id,score\n1,0.30\n2,0.9\n")
    >>> with open_scores(folder / "new.csv") as file:
    ...     _ = apply_map(constant_map(0.0), file, choose_columns(file, needs_label=False), folder / "out.csv")
    >>> (folder / "out.csv").read_text()
    'id,score,probability\n1,0.30,0.5\n2,0.9,0.5\n'
    """
    target = output_format(Path(output))
    if name.casefold() in (column.casefold() for column in file.columns):
        _check.fail(f"{file.name} must not have the new column yet", repr(name), "choose another name")
    if segments and roles.by is None:
        _check.fail("the column of the segments must be known", "none", "pass by= to choose_columns (--by)")
    only_score = dataclasses.replace(roles, label=None, weight=None, by=None)
    with replacing(output, force=force, sources=[*file.sources, *sources]) as unfinished, explained(file.name):
        maps = Maps(map_, roles.by if segments else None, segments or {})
        dropped, rows = _stage(file, only_score, maps.by, name, bad_rows, progress)
        unknown = _compute(file.engine, maps, progress)
        query = copy_statement(
            file.engine,
            file.layout,
            (name, _probability(file, roles.score)),
            _joined(file, dropped),
            unfinished,
            target,
        )
        file.engine.watch(lambda: file.engine.rows(query), progress, _COMPUTED, 1.0)
    return Applied(rows, dropped, unknown)


def _stage(
    file: ScoreFile, roles: Roles, by: str | None, name: str, bad_rows: BadRowPolicy, progress: Progress | None
) -> tuple[BadRows | None, int]:
    """Put scores and segments into a table of the engine; return what cannot be used, and how many rows can."""
    engine, layout = file.engine, file.layout
    problems = problems_of(file, roles)
    names = [roles.score, *([] if by is None else [by])]
    kept = ["TRY_CAST(f0 AS DOUBLE) AS score", f"{problem_code(problems)} AS problem"]
    kept += [] if by is None else ["CAST(f1 AS VARCHAR) AS segment"]
    if isinstance(layout, JSONLines):
        # A line far down may have a member that the first ones have not.
        kept.append(f"f{len(names)} IS NOT NULL AS taken")
        names.append(name)
    forget_rejects(engine)
    query = f"SELECT {', '.join(kept)} FROM ({layout.select(names, note_rejects=True)}{layout.reading_all()})"
    engine.watch(lambda: engine.rows(f"CREATE OR REPLACE TEMP TABLE staged AS {query}"), progress, 0.0, _STAGED)
    if isinstance(layout, JSONLines) and engine.rows("SELECT bool_or(taken) FROM staged")[0][0]:
        _check.fail(f"{file.name} must not have the new column yet", repr(name), "choose another name")
    counts = dict(engine.rows("SELECT problem, count(*) FROM staged GROUP BY problem"))
    good = counts.pop(None, 0)
    return refuse_bad_rows(file, roles, problems, counts, good, bad_rows), good


def _compute(engine: Engine, maps: Maps, progress: Progress | None) -> dict[str, int]:
    """Put the probability of each staged row into another table, NaN where there is none; return unknown segments."""
    engine.rows("CREATE OR REPLACE TEMP TABLE calibrated (p DOUBLE)")
    total = engine.rows("SELECT count(*) FROM staged")[0][0]
    for start in range(0, total, _BATCH):
        size = min(_BATCH, total - start)
        batch = engine.connection.execute(
            f"SELECT rowid - {start} AS row, * FROM staged "
            f"WHERE rowid >= {start} AND rowid < {start + size} AND problem IS NULL"
        ).fetchnumpy()
        p = np.full(size, np.nan)
        p[batch["row"]] = maps.probability(batch["score"], batch.get("segment"), refuse=True)
        engine.connection.register("batch", {"p": p})
        engine.rows("INSERT INTO calibrated SELECT p FROM batch")
        if progress is not None:
            progress(_STAGED + (_COMPUTED - _STAGED) * (start + size) / total)
    if maps.by is None:
        return {}
    is_known = "segment IN (SELECT unnest(?::VARCHAR[]))"
    unknown = f"SELECT coalesce(segment, '') AS name FROM staged WHERE problem IS NULL AND ({is_known}) IS NOT TRUE"
    counted = f"SELECT name, count(*) AS n FROM ({unknown}) GROUP BY name ORDER BY n DESC, name LIMIT {_SHOWN}"
    return dict(engine.connection.execute(counted, [list(maps.segments)]).fetchall())


def _joined(file: ScoreFile, dropped: BadRows | None) -> str:
    """Return the file beside its probabilities, row by row."""
    good = "" if dropped is None else " WHERE staged.problem IS NULL"
    return f"{file.layout.relation()} AS source POSITIONAL JOIN staged POSITIONAL JOIN calibrated{good}"


def _probability(file: ScoreFile, score: str) -> str:
    """Return an expression for the probability, which fails where the row is not the one that was staged."""
    again = f"TRY_CAST({file.layout.field(score)} AS DOUBLE)"
    changed = text_literal("the file changed while it was read")
    return f"CASE WHEN {again} IS NOT DISTINCT FROM staged.score THEN calibrated.p ELSE error({changed}) END"
