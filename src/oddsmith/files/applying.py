"""Add the probability of each row to a file, however large.

Only NumPy computes, so that a file gets the same probabilities, to the last bit, as an array.
"""

import dataclasses
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from oddsmith import _check
from oddsmith.atomic import File
from oddsmith.files._engine import Engine, Progress
from oddsmith.files.adding import InputColumns, NewColumn, add_columns
from oddsmith.files.bad_rows import problems_of
from oddsmith.files.columns import Roles
from oddsmith.files.source import ScoreFile
from oddsmith.frames import BadRowPolicy, BadRows, Maps
from oddsmith.maps import CalibrationMap

__all__ = ["Applied", "apply_map"]

#: Segments without a map that are named.
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
    if segments and roles.by is None:
        _check.fail("the column of the segments must be known", "none", "pass by= to choose_columns (--by)")
    maps = Maps(map_, roles.by if segments else None, segments or {})
    only_score = dataclasses.replace(roles, label=None, weight=None, by=None)
    rows, dropped = add_columns(
        file,
        InputColumns(only_score, problems_of(file, only_score), maps.by),
        [NewColumn(name)],
        lambda batch: [maps.probability(batch["s0"], batch.get("segment"), refuse=True)],
        output,
        bad_rows=bad_rows,
        force=force,
        sources=sources,
        progress=progress,
    )
    return Applied(rows, dropped, {} if maps.by is None else _unknown(file.engine, maps))


def _unknown(engine: Engine, maps: Maps) -> dict[str, int]:
    """Return some of the segments that have no map of their own, and how many rows each has."""
    is_known = "segment IN (SELECT unnest(?::VARCHAR[]))"
    unknown = f"SELECT coalesce(segment, '') AS name FROM staged WHERE problem IS NULL AND ({is_known}) IS NOT TRUE"
    counted = f"SELECT name, count(*) AS n FROM ({unknown}) GROUP BY name ORDER BY n DESC, name LIMIT {_SHOWN}"
    return dict(engine.connection.execute(counted, [list(maps.segments)]).fetchall())
