"""``oddsmith apply``: from scores to probabilities, by a model file."""

import contextlib
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oddsmith.cli import _options as option

if TYPE_CHECKING:
    from oddsmith.cli._output import CommandOutput
    from oddsmith.files import ClassColumns, Roles, ScoreFile
    from oddsmith.model import CalibrationModel, JointModel

EXAMPLE = "oddsmith apply model.json new.csv -o out.csv"


def apply(
    model: option.ModelFile,
    file: option.ScoresFile,
    output: option.CopyOutput,
    score: option.ScoreColumn = None,
    scores: option.ClassColumnNames = None,
    by: Annotated[str | None, typer.Option("--by", help="Column of segments. [default: as fitted]")] = None,
    name: Annotated[
        str, typer.Option("--name", help="Name of the new column; several classes: NAME_LABEL each.")
    ] = "probability",
    bad_rows: option.BadRowsOption = "refuse",
    force: option.Force = False,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Write a copy of a file with the calibrated probability of each row.

    A model of several classes adds one probability per class and the most probable class, as column decision.
    """
    from oddsmith.cli._input import left_out, refuse_class_options, refuse_two_class_options
    from oddsmith.cli._output import CommandOutput, writable_file
    from oddsmith.errors import ModelFileError
    from oddsmith.files import apply_joint_model, apply_map, choose_model_columns, open_scores
    from oddsmith.model import JointModel, load

    out = CommandOutput(quiet=quiet, as_json=as_json, output=output)
    try:
        fitted = load(model)
    except ModelFileError:
        _refuse_swapped(model, file)
        raise
    with open_scores(file) as opened, writable_file(output, opened.suffix) as target:
        if isinstance(fitted, JointModel):
            refuse_two_class_options(score=score, by=by)
            columns = choose_model_columns(opened, fitted, scores or ())
            out.remark(columns.message)
            _compare_meanings(out, fitted, opened, columns)
            write = partial(apply_joint_model, fitted, opened, columns, target, prefix=f"{name}_")
        else:
            refuse_class_options(scores=scores or None)
            roles = _roles(fitted, opened, score, by)
            out.remark(roles.message)
            maps = {name: part.map for name, part in fitted.segments.items()} or None
            write = partial(apply_map, fitted.map, opened, roles, target, segments=maps, name=name)
        with out.progress(f"Writing {output}") as progress:
            done = write(bad_rows=bad_rows, force=force, sources=[model], progress=progress)
    out.remark(left_out(done.dropped))
    for segment, rows in done.unknown.items():
        out.remark(f"Warning: segment {segment!r} is new to the model: {rows:,} rows got the map of all rows.")
    content: dict[str, Any] = {"output": str(output), "rows": done.rows}
    if isinstance(fitted, JointModel):
        content["classes"] = [str(label) for label in fitted.labels]
    else:
        content["unknown_segments"] = dict(done.unknown)
    out.result(content, f"{done.rows:,} rows written to {output}")


def _refuse_swapped(model: Path, file: str) -> None:
    """Refuse a model in the place of the file of scores."""
    from oddsmith import _check
    from oddsmith.errors import ModelFileError
    from oddsmith.model import load

    with contextlib.suppress(ModelFileError):
        load(file)
        got, hint = f"{model}, then {file}", f"swap them: oddsmith {shlex.join(['apply', file, str(model)])} …"
        _check.fail("the model must come first, then the file of scores", got, hint)


def _roles(model: "CalibrationModel", file: "ScoreFile", score: str | None, by: str | None) -> "Roles":
    """Return the columns that a model of two classes reads."""
    from oddsmith import _check
    from oddsmith.files import choose_columns

    if by is not None and model.by is None:
        _check.fail("the model must have segments to take --by", "one without", "leave --by out, or fit with --by")
    return choose_columns(file, score, None, None, by if by is not None else model.by, needs_label=False)


def _compare_meanings(out: "CommandOutput", model: "JointModel", file: "ScoreFile", columns: "ClassColumns") -> None:
    """Warn of probabilities for a model of logits, and refuse logits for one of probabilities."""
    from oddsmith import _check
    from oddsmith.files import share_of_probabilities

    share = share_of_probabilities(file, columns)
    if model.map.input == "logits" and share == 1:
        out.remark("Warning: rows sum to 1, as probabilities do, but the model was fitted to logits.")
    if model.map.input == "probabilities" and share == 0:
        must = "the model was fitted to probabilities, which are ≥ 0 and sum to 1 in every row"
        _check.fail(must, f"other scores in {file.name}", "pass probabilities, or fit a model to these scores")
