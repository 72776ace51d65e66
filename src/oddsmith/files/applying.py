"""Add the probabilities of each row to a file, however large.

Only NumPy computes, so that a file gets the same probabilities, to the last bit, as an array.
"""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.atomic import File
from oddsmith.export import new_columns
from oddsmith.files._engine import Engine, Progress, translate_errors
from oddsmith.files.adding import NewColumn, add_columns
from oddsmith.files.bad_rows import RowProblem
from oddsmith.files.columns import Columns, choose_columns, known_column, list_columns
from oddsmith.files.inputs import score_inputs, scores_of
from oddsmith.files.rows import ROUNDED
from oddsmith.files.source import ScoreFile
from oddsmith.frames import BadRows, CopyRowPolicy, sum_of, text_literal
from oddsmith.maps import CalibrationMap, Effects, Segment, rows_by_segment
from oddsmith.model import Model, map_of, model_of

__all__ = ["Applied", "apply_model", "choose_model_columns", "share_of_probabilities"]

#: Segments without a map that are named.
_SHOWN = 5

#: Rows that are looked at to see whether they are probabilities.
_LOOKED_AT = 1000

#: What the matrix of probabilities is called where arrays are written.
_MATRIX = "probabilities"


@dataclass(frozen=True)
class Applied:
    """The result of `apply_model`: what was written.

    Parameters
    ----------
    rows : int
        Number of rows.
    bad : BadRows or None
        What was left out, or got no probability.
    unknown : dict of str to int
        Rows of segments without a map of their own: some of those segments, and how many rows each has.

    See Also
    --------
    apply_model : Returns it.
    """

    rows: int
    bad: BadRows | None
    unknown: dict[str, int]


def choose_model_columns(
    file: ScoreFile, model: Any, scores: str | Sequence[str] = (), by: str | Sequence[str] = ()
) -> Columns:
    """Return the columns that a model reads, in its order.

    By default those of its fit; of a model of one score without its name, the one that is named like
    a score. Columns that are given are taken by the classes in their names where these are the labels of the model,
    else in their order; with a message. Columns of segments are those of the fit unless others are given.

    Parameters
    ----------
    file : ScoreFile
        The file.
    model : Model
        The model that is applied.
    scores : str, optional
        Columns of scores; by default those of the fit, or found by their names.
    by : str, optional
        Columns of segments; by default those of the model.

    Returns
    -------
    Columns

    See Also
    --------
    choose_columns : For files to fit to.
    apply_model : Takes the columns.
    """
    model = model_of(model)
    k, names, several = model.map.columns, model.column_names, not model.has_one_score
    segments = _segment_columns(file, model, by)
    if not scores and names is not None and set(names) <= set(file.columns):
        return Columns(tuple(names), model.labels[-k:] if several else (), by=segments)
    if not scores and several and not file.matrix():
        got = f"columns {list_columns(file.columns)}"
        wanted = f"the columns of the fit, {list_columns(names)}" if names else "the columns of the model"
        _check.fail(f"{file.name} must have {wanted}", got, "pass scores= (--scores), one column per class")
    found = choose_columns(file, scores, by=segments, one=not several, needs_label=False)
    if len(found.scores) != k:
        must = f"the model reads {k} column{'s' * (k > 1)}"
        hint = "pass scores= (--scores), one column per class" if k > 1 else "name one column"
        _check.fail(must, f"{len(found.scores)}: {list_columns(found.scores)}", hint)
    if not several:
        return found
    if {str(each) for each in found.classes} == {str(each) for each in model.labels}:
        place = {str(each): column for each, column in zip(found.classes, found.scores, strict=True)}
        ordered = tuple(place[str(label)] for label in model.labels)
        return replace(found, scores=ordered, classes=model.labels)
    taken = f"Columns are taken in this order for the labels of the model: {list_columns(found.scores)}."
    return replace(found, classes=model.labels, message=f"{found.message} {taken}".strip())


def _segment_columns(file: ScoreFile, model: Model, by: str | Sequence[str]) -> tuple[str, ...]:
    """Return the columns of segments: those given, or of the fit."""
    given, own = (by,) if isinstance(by, str) else tuple(by), model.segment_columns
    if given and not own:
        _check.fail("the model must have segments to take --by", "one without", "leave --by out, or fit with --by")
    if given and len(given) != len(own):
        _check.fail(
            f"--by must name {len(own)} columns, as in the fit", list_columns(given), f"the fit had {list_columns(own)}"
        )
    return tuple(known_column(file, "by", name) for name in given or own)


def share_of_probabilities(file: ScoreFile, columns: Columns) -> float:
    """Return how many of the first rows are ≥ 0 and sum to 1: no logits do, and NaN where nothing can be seen."""
    fields = [f"TRY_CAST(f{i} AS DOUBLE)" for i in range(len(columns.scores))]
    first = f"SELECT * FROM ({file.layout.select(columns.scores)}) LIMIT {_LOOKED_AT}"
    test = f"least({', '.join(fields)}) >= 0 AND abs({sum_of(fields)} - 1) <= {ROUNDED}"
    with translate_errors(file.name):
        share = file.engine.rows(f"SELECT avg(({test})::INTEGER) FROM ({first})")[0][0]
    return math.nan if share is None or len(fields) == 1 else float(share)


def apply_model(
    model: Any,
    file: ScoreFile,
    columns: Columns,
    output: str | os.PathLike[str],
    *,
    name: str = "probability",
    limits: bool = False,
    bad_rows: CopyRowPolicy = "refuse",
    force: bool = False,
    sources: Iterable[File] = (),
    progress: Progress | None = None,
) -> Applied:
    r"""Write a copy of a file with the probabilities of each row as new columns.

    A model of one score adds the probability of the positive class; all others add one column per class, and the most
    probable class. Rows keep their order and all other columns their content; from CSV to CSV and from JSON lines to
    JSON lines even their text. The output appears when it is complete, or not at all.

    Parameters
    ----------
    model : Model, fitted calibrator or scaling, or map
        Of a model by segment, rows of segments that the fit did not see get the map of all rows, and are counted.
    file : ScoreFile
    columns : Columns
        From `choose_model_columns`.
    output : path-like
        Its name gives the format: .csv, .tsv, .jsonl (and .gz or .zst), .parquet, .npz or .npy. Arrays of several
        classes are written as "probabilities", of shape (n, k), and "decision", with the arrays of the file where it
        has some; ``.npy`` has the first alone.
    name : str, default "probability"
        Name of the new column, or of several what stands before "_" and the label.
    limits : bool, default False
        Add ``name`` with "_low" and "_high" too, the limits of P of a model that keeps a band.
    bad_rows : {"refuse", "skip", "keep"}, default "refuse"
        What to do with rows whose scores are missing, no numbers, or refused by the model: "skip" leaves them out,
        "keep" writes them without a probability. A score of ±∞ has the limit of the map; in several columns −∞ masks
        a class, and +∞ cannot be used.
    force : bool, default False
        Replace a file that exists, unless it is the one that is read.
    sources : iterable of path-like, optional
        Other files that must not be replaced, such as that of the model.
    progress : callable, optional
        Called with the share that is done, from 0 to 1.

    Returns
    -------
    Applied

    See Also
    --------
    oddsmith.frames.apply : For data frames and engines.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from oddsmith.maps import constant_map
    >>> from oddsmith.files import open_scores
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "new.csv").write_text("id,score\n1,0.30\n2,0.9\n")
    >>> with open_scores(folder / "new.csv") as file:
    ...     columns = choose_model_columns(file, constant_map(0.0))
    ...     _ = apply_model(constant_map(0.0), file, columns, folder / "out.csv")
    >>> (folder / "out.csv").read_text()
    'id,score,probability\n1,0.30,0.5\n2,0.9,0.5\n'
    """
    model = model_of(model)
    if len(columns.by) != len(model.segment_columns):
        got = list_columns(columns.by) or "none"
        _check.fail("the columns of the segments must be known", got, "pass by= to choose_model_columns (--by)")
    models = [model]
    if limits:
        models += [model.limit("lower"), model.limit("upper")]
    if model.has_one_score:
        new = [NewColumn(f"{name}{end}") for end in ("", "_low", "_high")[: len(models)]]
    else:
        *names, decision = new_columns(model, f"{name}_", file.columns)
        new = [*(NewColumn(each, array=_MATRIX) for each in names), NewColumn(decision, choices=model.labels)]

    def compute(batch: Mapping[str, NDArray[Any]]) -> Sequence[NDArray[Any]]:
        scores = scores_of(batch, model.map.columns, model.map.input)
        if not columns.by:
            return [column for each in models for column in _columns_of(each, scores)]
        computed = np.empty((len(new), len(scores)))
        keys = (batch[f"k{i}"] for i in range(len(columns.by)))
        for key, rows in rows_by_segment(*keys, partial=model.effects is not None).items():
            computed[:, rows] = [
                column for each in models for column in _columns_of(each.of_segment(key), scores[rows])
            ]
        return list(computed)

    inputs = score_inputs(file, columns, model.map.input)
    inputs.problems.extend(_find_refused(model))
    rows, bad = add_columns(
        file, inputs, new, compute, output, bad_rows=bad_rows, force=force, sources=sources, progress=progress
    )
    return Applied(rows, bad, _count_unknown(file.engine, model) if columns.by else {})


def _find_refused(model: Model) -> list[RowProblem]:
    """Return what is wrong with a row whose score the map of its segment refuses; maps of one kind refuse the same."""
    whole = model.of_segment(None).map
    if not isinstance(whole, CalibrationMap):
        return []
    others: dict[tuple[float, float], list[Segment]] = {}
    for name, part in model.segments.items():
        if (taken := map_of(part).domain) != whole.domain:
            others.setdefault(taken, []).append(name)
    number, keys = "TRY_CAST(f0 AS DOUBLE)", [f"CAST(f{i + 1} AS VARCHAR)" for i in range(len(model.segment_columns))]

    def beyond(taken: tuple[float, float]) -> str:
        low, high = (f"'{end!r}'::DOUBLE" for end in taken)
        return f"{number} < {low} OR {number} > {high}"

    condition = beyond(whole.domain)
    if others:
        own = " ".join(f"WHEN {_is_among(keys, names)} THEN {beyond(taken)}" for taken, names in others.items())
        condition = f"CASE {own} ELSE {condition} END"
    words = "score is not a probability that the model takes"
    return [RowProblem(condition, words, "': ' || CAST(f0 AS VARCHAR)")]


def _is_among(keys: Sequence[str], names: Sequence[Segment]) -> str:
    """Return an SQL test whether the keys of a row are one of some segments."""
    texts = (", ".join(map(text_literal, (name,) if isinstance(name, str) else name)) for name in names)
    return f"({', '.join(keys)}) IN ({', '.join(f'({text})' for text in texts)})"


def _columns_of(model: Model, scores: Floats) -> list[Floats]:
    """Return the new columns of one segment."""
    if isinstance(model.map, CalibrationMap):
        return [model.map.probability(scores[:, 0])]
    prob = model.map.class_probability(scores)
    return [*prob.T, prob.argmax(axis=1)]


def _count_unknown(engine: Engine, model: Model) -> dict[str, int]:
    """Return some of the segments that have no map of their own, and how many rows each has."""
    keys = [f"k{i}" for i in range(len(model.segment_columns))]
    if model.effects is not None:
        return _count_unknown_values(engine, model.effects, model.segment_columns)
    known = [name if isinstance(name, tuple) else (name,) for name in model.segments]
    columns = zip(*known, strict=True)
    engine.connection.register(
        "known", {key: np.array(column, dtype=object) for key, column in zip(keys, columns, strict=True)}
    )
    names = ", ".join(f"coalesce({key}, '') AS {key}" for key in keys)
    unknown = f"SELECT {names} FROM staged ANTI JOIN known USING ({', '.join(keys)}) WHERE problem IS NULL"
    listed_keys = ", ".join(keys)
    counted = f"SELECT {listed_keys}, count(*) AS n FROM ({unknown}) GROUP BY ALL"
    found = engine.rows(f"{counted} ORDER BY n DESC, {listed_keys} LIMIT {_SHOWN}")
    return {", ".join(name): n for *name, n in found}


def _count_unknown_values(engine: Engine, effects: Effects, columns: Sequence[str]) -> dict[str, int]:
    """Return some of the values of columns that have no effect, and how many rows each has."""
    found: dict[str, int] = {}
    for place, column in enumerate(columns):
        engine.connection.register("known", {"k": np.array(effects.values(place), dtype=object)})
        query = f"SELECT coalesce(k{place}, ''), count(*) AS n FROM staged WHERE problem IS NULL "
        unknown = f"AND (k{place} IS NULL OR k{place} NOT IN (SELECT k FROM known)) GROUP BY ALL"
        rows = engine.rows(f"{query}{unknown} ORDER BY n DESC, 1 LIMIT {_SHOWN}")
        found |= {f"{column} {value}".strip(): n for value, n in rows}
    return found
