"""Write a copy of a file with new columns, computed from some of its own, however large it is.

The columns in use alone go through NumPy, a batch at a time, and wait in the engine's own tables, which may lie on the
disk; then the file is read once more and written with the new columns beside the old, row by row in the same order.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith.atomic import File, replacing
from oddsmith.files._engine import Engine, Progress, translate_errors
from oddsmith.files._jsonl import JSONLines
from oddsmith.files._lines import forget_rejects
from oddsmith.files._numpy import NumpyArrays, save_arrays
from oddsmith.files._writers import copy_statement, output_format
from oddsmith.files.bad_rows import problem_code, refuse_bad_rows
from oddsmith.files.inputs import InputColumns
from oddsmith.files.source import ScoreFile
from oddsmith.frames import BadRows, CopyRowPolicy, text_literal

#: Numbers that are worked on at a time.
_BATCH = 2**20

#: How much is done when columns are staged, and when new ones are computed.
_STAGED, _COMPUTED = 0.3, 0.4

_CHANGED = text_literal("the file changed while it was read")

#: Columns of a batch by name; each new column comes back in the order in which they were announced.
Compute = Callable[[Mapping[str, NDArray[Any]]], Sequence[NDArray[Any]]]


@dataclass(frozen=True)
class NewColumn:
    """A column to be added."""

    name: str
    #: What the numbers that are computed stand for: 0 for the first, and so on.
    choices: tuple[str | int | float | bool, ...] = ()
    #: The matrix that it is a column of where arrays are written; by default it is an array itself.
    array: str = ""

    def expression(self, place: int) -> str:
        """Return an expression for it over what was computed."""
        if not self.choices:
            return f"calibrated.p{place}"
        listed = ", ".join(text_literal(each) if isinstance(each, str) else str(each) for each in self._choices)
        return f"list_extract([{listed}], CAST(calibrated.p{place} AS INTEGER) + 1)"

    def values(self, computed: NDArray[Any]) -> NDArray[Any]:
        """Return it as an array, from what was computed; of a row without a choice an empty text, or NaN."""
        if not self.choices:
            return computed
        choices, none = np.asarray(self._choices), np.isnan(computed)
        if none.any():
            choices = np.append(choices, "" if choices.dtype.kind == "U" else np.nan)
        return choices[np.where(none, -1, computed).astype(np.int64)]

    @property
    def _choices(self) -> list[str | int | float | bool]:
        """Values of one column: as they are where they are of one kind, else as text."""
        same = len({type(each) for each in self.choices}) == 1
        return list(self.choices) if same else [str(each) for each in self.choices]


def add_columns(
    file: ScoreFile,
    inputs: InputColumns,
    new: Sequence[NewColumn],
    compute: Compute,
    output: str | os.PathLike[str],
    *,
    bad_rows: CopyRowPolicy = "refuse",
    force: bool = False,
    sources: Iterable[File] = (),
    progress: Progress | None = None,
) -> tuple[int, BadRows | None]:
    """Write the copy; return how many rows it has, and which were left out, or kept without new values.

    Rows keep their order and all other columns their content; from CSV to CSV and from JSON lines to JSON lines even
    their text. The output appears when it is complete, or not at all.
    """
    target = output_format(Path(output))
    _refuse_taken(file, [each.name for each in new])
    with (
        replacing(output, force=force, sources=[*file.sources, *sources]) as unfinished,
        translate_errors(file.name, output, str(unfinished.parent)),
    ):
        bad, rows = stage(file, inputs, [each.name for each in new], bad_rows, progress)
        _compute(file.engine, list(inputs.expressions), len(new), compute, progress)
        skips, keeps = (bad is not None and bad_rows == policy for policy in ("skip", "keep"))
        beside = f"staged POSITIONAL JOIN calibrated{' WHERE staged.problem IS NULL' * skips}"
        if target[0] == "numpy":
            save_arrays(unfinished, _arrays(file, new, beside, skips=skips))
        else:
            source = f"{file.layout.relation()} AS source POSITIONAL JOIN {beside}"
            added = _expressions(file, inputs, new, keeps=keeps)
            query = copy_statement(file.engine, file.layout, added, source, unfinished, target)
            file.engine.watch(lambda: file.engine.rows(query), progress, _COMPUTED, 1.0)
    return rows, bad


def _refuse_taken(file: ScoreFile, names: Sequence[str]) -> None:
    """Refuse names of new columns that are empty, that the file has, or that are equal but for their case."""
    taken = f"{file.name} must not have the new column yet"
    must = {column.casefold(): taken for column in file.columns}
    for name in names:
        if not name:
            _check.fail("a new column must have a name", repr(name), "choose one")
        if name.casefold() in must:
            _check.fail(must[name.casefold()], repr(name), "choose another name")
        must[name.casefold()] = "new columns must have different names"


def stage(
    file: ScoreFile, inputs: InputColumns, new: Sequence[str], bad_rows: CopyRowPolicy, progress: Progress | None
) -> tuple[BadRows | None, int]:
    """Put the columns in use into a table of the engine; return what cannot be used, and how many rows are written."""
    engine, layout = file.engine, file.layout
    names = [*inputs.columns.names, *inputs.by]
    kept = [f"{expression} AS {name}" for name, expression in inputs.expressions.items()]
    kept.append(f"{problem_code(inputs.problems)} AS problem")
    if isinstance(layout, JSONLines):
        # A line far down may have a member that the first ones have not.
        taken = " OR ".join(f"f{len(names) + i} IS NOT NULL" for i in range(len(new)))
        kept.append(f"{taken} AS taken")
        names += new
    forget_rejects(engine)
    query = f"SELECT {', '.join(kept)} FROM ({layout.select(names, note_rejects=True)}{layout.read_all_condition()})"
    engine.watch(lambda: engine.rows(f"CREATE OR REPLACE TEMP TABLE staged AS {query}"), progress, 0.0, _STAGED)
    if isinstance(layout, JSONLines) and engine.rows("SELECT bool_or(taken) FROM staged")[0][0]:
        _check.fail(f"{file.name} must not have the new column yet", " or ".join(map(repr, new)), "choose another name")
    counts = dict(engine.rows("SELECT problem, count(*) FROM staged GROUP BY problem"))
    policies = "refuse", "skip", "keep"
    bad = refuse_bad_rows(file, inputs.columns, inputs.problems, counts, bad_rows, policies, inputs.by)
    return bad, sum(counts.values()) if bad_rows == "keep" else counts.get(None, 0)


def _compute(engine: Engine, kept: Sequence[str], n_new: int, compute: Compute, progress: Progress | None) -> None:
    """Put the new columns of each staged row into another table, NaN where there is none."""
    listed = ", ".join(f"p{i} DOUBLE" for i in range(n_new))
    engine.rows(f"CREATE OR REPLACE TEMP TABLE calibrated ({listed})")
    total = engine.rows("SELECT count(*) FROM staged")[0][0]
    batch = max(_BATCH // max(len(kept), n_new), 1024)
    for start in range(0, total, batch):
        size = min(batch, total - start)
        found = engine.connection.execute(
            f"SELECT rowid - {start} AS row, {', '.join(kept)} FROM staged "
            f"WHERE rowid >= {start} AND rowid < {start + size} AND problem IS NULL"
        ).fetchnumpy()
        rows = found.pop("row")
        computed = np.full((n_new, size), np.nan)
        if len(rows):
            computed[:, rows] = compute(found)
        engine.connection.register("batch", {f"p{i}": column for i, column in enumerate(computed)})
        engine.rows("INSERT INTO calibrated FROM batch")
        if progress is not None:
            progress(_STAGED + (_COMPUTED - _STAGED) * (start + size) / total)


def _expressions(
    file: ScoreFile, inputs: InputColumns, new: Sequence[NewColumn], *, keeps: bool
) -> list[tuple[str, str]]:
    """Return an expression for each new column; the first fails where a row is not the one that was staged.

    Where bad rows are kept, theirs are null.
    """
    found = [(each.name, each.expression(i)) for i, each in enumerate(new)]
    if keeps:
        found = [(name, f"CASE WHEN staged.problem IS NULL THEN {expression} END") for name, expression in found]
    again = f"TRY_CAST({file.layout.field(inputs.columns.names[0])} AS DOUBLE)"
    name, expression = found[0]
    same = f"CASE WHEN {again} IS NOT DISTINCT FROM staged.s0 THEN {expression} ELSE error({_CHANGED}) END"
    return [(name, same), *found[1:]]


def _arrays(file: ScoreFile, new: Sequence[NewColumn], beside: str, *, skips: bool) -> dict[str, NDArray[Any]]:
    """Return new columns as arrays, matrices first, and after them the arrays of the file where it has some."""
    found = file.engine.connection.execute(f"SELECT calibrated.* FROM {beside}").fetchnumpy()
    columns = [each.values(np.ma.filled(found[f"p{i}"], np.nan)) for i, each in enumerate(new)]
    arrays = {}
    for name in dict.fromkeys(each.array or each.name for each in new):
        parts = [column for each, column in zip(new, columns, strict=True) if name == (each.array or each.name)]
        arrays[name] = np.column_stack(parts) if len(parts) > 1 else parts[0]
    if not isinstance(file.layout, NumpyArrays):
        return arrays
    old = file.layout.arrays
    if clash := next((name for name in arrays if name in old), None):
        _check.fail(f"{file.name} must not have the new array yet", repr(clash), "write .parquet")
    usable = file.engine.connection.execute("SELECT problem IS NULL AS good FROM staged").fetchnumpy()["good"]
    kept = np.ma.getdata(usable)
    return arrays | {
        name: array[kept] if skips and array.ndim and len(array) == len(kept) else array for name, array in old.items()
    }
