"""Add the probabilities of several classes, and the decision, to a file."""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith.atomic import File, replacing
from oddsmith.export import new_columns
from oddsmith.files._engine import Progress, explained
from oddsmith.files._layout import TypedColumns
from oddsmith.files._writers import copy_statement, output_format
from oddsmith.files.adding import InputColumns, NewColumn, add_columns
from oddsmith.files.applying import Applied
from oddsmith.files.bad_rows import RowProblem, problem_code, problems_of, refuse_bad_rows
from oddsmith.files.class_columns import ClassColumns, choose_class_columns
from oddsmith.files.class_reading import EXACT, ROUNDED, distribution_problems, score_expression
from oddsmith.files.columns import Roles, listed
from oddsmith.files.source import ScoreFile
from oddsmith.frames import BadRowPolicy, apply, identifier, spare_name, sum_of
from oddsmith.model import Model

__all__ = [
    "apply_joint_model",
    "choose_model_columns",
    "class_inputs",
    "class_probability_inputs",
    "probability_inputs",
    "scores_of",
    "share_of_probabilities",
]

#: How much is done when all rows were looked at.
_SURVEYED = 0.2

#: More classes take the engine longer to plan than to compute.
_PLANNED = 100

#: Rows that tell whether they are probabilities.
_LOOKED_AT = 1000

#: What the matrix of probabilities is called where arrays are written.
_MATRIX = "probabilities"


def choose_model_columns(file: ScoreFile, model: Model, scores: Sequence[str] = ()) -> ClassColumns:
    """Return the columns that a model reads, in its order.

    By default those of its fit. Columns that are given are taken by the classes in their names where these are the
    labels of the model, else in their order; the message then says so.
    """
    k = model.map.columns
    if not scores and not file.matrix():
        names = model.column_names
        if names is None or not set(names) <= set(file.columns):
            got = f"columns {listed(file.columns)}"
            wanted = f"the columns of the fit, {listed(names)}" if names else "the columns of the model"
            _check.fail(f"{file.name} must have {wanted}", got, "pass scores= (--scores), one column per class")
        return ClassColumns(names, model.labels[-k:], None, None, "")
    found = choose_class_columns(file, scores, needs_label=False)
    if len(found.scores) != k:
        hint = "pass scores= (--scores), one column per class"
        _check.fail(f"the model reads {k} columns", f"{len(found.scores)}: {listed(found.scores)}", hint)
    if {str(each) for each in found.classes} == {str(each) for each in model.labels}:
        place = {str(each): column for each, column in zip(found.classes, found.scores, strict=True)}
        ordered = tuple(place[str(label)] for label in model.labels)
        return replace(found, scores=ordered, classes=model.labels)
    taken = f"Columns are taken in this order for the labels of the model: {listed(found.scores)}."
    return replace(found, classes=model.labels, message=f"{found.message} {taken}".strip())


def share_of_probabilities(file: ScoreFile, columns: ClassColumns) -> float:
    """Return how many of the first rows are ≥ 0 and sum to 1: no logits do, and NaN where nothing can be told."""
    fields = [f"TRY_CAST(f{i} AS DOUBLE)" for i in range(len(columns.scores))]
    first = f"SELECT * FROM ({file.layout.select(columns.scores)}) LIMIT {_LOOKED_AT}"
    test = f"least({', '.join(fields)}) >= 0 AND abs({sum_of(fields)} - 1) <= {ROUNDED}"
    with explained(file.name):
        share = file.engine.rows(f"SELECT avg(({test})::INTEGER) FROM ({first})")[0][0]
    return math.nan if share is None or len(fields) == 1 else float(share)


def class_inputs(file: ScoreFile, columns: Roles | ClassColumns, input_: str) -> InputColumns:
    """Return what is computed from: the scores of all classes as s0 and so on."""
    k, problems = len(columns.names), problems_of(file, columns)
    if input_ == "probabilities" and k > 1:
        problems += distribution_problems(k)
    return InputColumns(columns, problems)


def probability_inputs(file: ScoreFile, columns: Sequence[str]) -> InputColumns:
    """Return columns of P(positive class) as s0 and so on; each must lie in [0, 1]."""
    inputs = _unrelated_inputs(file, columns)
    for i, name in enumerate(columns):
        number, value = f"TRY_CAST(f{i} AS DOUBLE)", f"': ' || CAST(f{i} AS VARCHAR)"
        inputs.problems.append(RowProblem(f"{number} < 0 OR {number} > 1", f"{name!r} is not in [0, 1]", value))
    return inputs


def class_probability_inputs(file: ScoreFile, groups: Sequence[Sequence[str]]) -> InputColumns:
    """Return columns of several classifiers, each with one probability per class, as s0 and so on."""
    k = len(groups[0])
    inputs = _unrelated_inputs(file, [name for group in groups for name in group])
    for number in range(len(groups)):
        inputs.problems.extend(distribution_problems(k, number * k))
    return inputs


def _unrelated_inputs(file: ScoreFile, columns: Sequence[str]) -> InputColumns:
    if len(set(columns)) < len(columns):
        _check.fail("columns must differ", listed(columns), "name each once")
    return class_inputs(file, ClassColumns(tuple(columns), tuple(range(len(columns))), None, None, ""), "logits")


def scores_of(batch: Mapping[str, NDArray[Any]], k: int, input_: str) -> NDArray[np.float64]:
    """Return the scores of a batch as a matrix; rounded probabilities are divided by their sum."""
    values = np.column_stack([np.ma.getdata(batch[f"s{i}"]) for i in range(k)])
    if input_ == "probabilities" and k > 1:
        total = values.sum(axis=1, keepdims=True)
        values = np.where(np.abs(total - 1) > EXACT, values / total, values)
    return values


def apply_joint_model(
    model: Model,
    file: ScoreFile,
    columns: ClassColumns,
    output: str | os.PathLike[str],
    *,
    prefix: str = "probability_",
    bad_rows: BadRowPolicy = "refuse",
    force: bool = False,
    sources: Iterable[File] = (),
    progress: Progress | None = None,
) -> Applied:
    r"""Write a copy of a file with one probability per class, and the most probable class, as new columns.

    Parameters
    ----------
    model : Model
    file : ScoreFile
    columns : ClassColumns
        From `choose_model_columns`.
    output : path-like
        Its name says in which format to write, as in `apply_map`. Arrays are written as "probabilities", of shape
        (n, k), and "decision", beside the arrays of the file where it holds some; ``.npy`` has the first alone.
    prefix : str, default "probability_"
        Of the new columns, before the label.
    bad_rows, force, sources, progress
        As in `apply_map`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from oddsmith import TemperatureScaling
    >>> from oddsmith.files import open_scores
    >>> scaling = TemperatureScaling().fit([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [2.0, 0.0, 1.0]], ["a", "b", "c"])
    >>> model = Model.from_fitted(scaling, column_names=["za", "zb", "zc"])
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "new.csv").write_text("id,za,zb,zc\n1,0,0,0\n")
    >>> with open_scores(folder / "new.csv") as file:
    ...     _ = apply_joint_model(model, file, choose_model_columns(file, model), folder / "out.csv")
    >>> (folder / "out.csv").read_text().splitlines()[0]
    'id,za,zb,zc,probability_a,probability_b,probability_c,decision'
    """
    *probs, decision = new_columns(model, prefix, file.columns)
    new = [*(NewColumn(name, array=_MATRIX) for name in probs), NewColumn(decision, choices=model.labels)]
    inputs, map_ = class_inputs(file, columns, model.map.input), model.map

    def compute(batch: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
        prob = map_.class_probability(scores_of(batch, map_.columns, map_.input))
        return [*prob.T, prob.argmax(axis=1)]

    def by_batches(path: str | os.PathLike[str]) -> Applied:
        rows, dropped = add_columns(
            file, inputs, new, compute, path, bad_rows=bad_rows, force=force, sources=sources, progress=progress
        )
        return Applied(rows, dropped, {})

    kind = output_format(Path(output))[0]
    if not isinstance(file.layout, TypedColumns) or kind == "numpy" or len(model.labels) > _PLANNED:
        return by_batches(output)
    # Columns that need no parsing go through the engine from end to end, unless rows are left out.
    with replacing(output, force=force, sources=[*file.sources, *sources]) as unfinished, explained(file.name):
        rows = f"SELECT {problem_code(inputs.problems)} AS problem FROM ({file.layout.select(columns.scores)})"
        survey = f"SELECT problem, count(*) FROM ({rows}) GROUP BY problem"
        counts = dict(file.engine.watch(lambda: file.engine.rows(survey), progress, 0.0, _SURVEYED))
        good = counts.get(None, 0)
        if refuse_bad_rows(file, columns, inputs.problems, counts, bad_rows) is not None:
            return by_batches(unfinished)
        query, given = _scored(file, columns.scores, map_.input)
        applied = apply(file.engine.connection.sql(query), model, given, prefix.removesuffix("_"))
        written = _stream(file, applied.sql_query(), [*probs, decision], unfinished, progress)
        if written != good:
            _check.fail(f"{file.name} must not change while it is read", f"{good}, then {written} rows", "try again")
    return Applied(good, None, {})


def _stream(file: ScoreFile, query: str, new: Sequence[str], output: Path, progress: Progress | None) -> int:
    """Let the engine read, compute and write in one query; return how many rows it wrote."""
    engine, target = file.engine, output_format(output)
    added = [(name, f"source.{identifier(name)}") for name in new]
    copy = copy_statement(engine, file.layout, added, f"({query}) AS source", output, target)
    written = engine.watch(lambda: engine.rows(copy), progress, _SURVEYED, 1.0)[0][0]
    return int(written) - (target[0] in ("csv", "tsv"))  # whose header is a row


def _scored(file: ScoreFile, names: Sequence[str], input_: str) -> tuple[str, list[str]]:
    """Return a query for all columns of a file and the scores that a model reads, and the names of those."""
    spare = spare_name(file.columns)
    total = f"{spare}_total"
    raw, scores = ([f"{spare}_{what}_{i}" for i in range(len(names))] for what in ("raw", "score"))
    fields = zip(map(file.layout.field, names), raw, strict=True)
    read = ", ".join(f"TRY_CAST({field} AS DOUBLE) AS {one}" for field, one in fields)
    rows = f"SELECT source.*, {read} FROM {file.layout.relation()} AS source"
    rows = f"SELECT *, {sum_of(raw)} AS {total} FROM ({rows})"
    meant = "logits" if len(raw) == 1 else input_  # nothing to divide by
    values = ", ".join(f"{score_expression(a, total, meant)} AS {b}" for a, b in zip(raw, scores, strict=True))
    return f"SELECT * EXCLUDE ({', '.join([*raw, total])}), {values} FROM ({rows})", scores
