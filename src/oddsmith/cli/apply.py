"""``oddsmith apply``: from scores to probabilities, by a model file."""

import contextlib
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from oddsmith.cli import _options as option

if TYPE_CHECKING:
    from oddsmith.cli._output import CommandOutput
    from oddsmith.files import Columns, ScoreFile
    from oddsmith.model import Model

EXAMPLE = "oddsmith apply model.json new.csv -o out.csv"


def apply(
    *,
    model: option.ModelFile,
    file: option.ScoresFile,
    output: option.CopyOutput,
    scores: option.ScoreNames = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="A,B,…", help="Columns of segments. [default: as fitted]")
    ] = None,
    name: Annotated[
        str, typer.Option("--name", help="Name of the new column; several classes: NAME_LABEL each.")
    ] = "probability",
    limits: Annotated[
        bool, typer.Option("--limits", help="Add NAME_low and NAME_high, limits of P that fit --keep-band kept.")
    ] = False,
    bad_rows: Annotated[
        Literal["refuse", "skip", "keep"],
        typer.Option("--bad-rows", help="Rows that cannot be used: 'keep' writes them without a probability."),
    ] = "refuse",
    text: option.TextOptions,
    force: option.Force = False,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Write a copy of a file with the calibrated probability of each row.

    A model of several classes adds one probability per class and the most probable class, as column decision.
    """
    from oddsmith.cli._input import names_in, omission_note
    from oddsmith.cli._output import CommandOutput, writable_file
    from oddsmith.errors import ModelFileError
    from oddsmith.files import apply_model, choose_model_columns, open_scores
    from oddsmith.model import load

    out = CommandOutput(quiet=quiet, as_json=as_json, output=output)
    try:
        fitted = load(model)
    except ModelFileError:
        _refuse_swapped(model, file)
        raise
    with open_scores(file, text=text.text) as opened, writable_file(output, opened.suffix) as target:
        segments = [by] if by in opened.columns else names_in(by)
        columns = choose_model_columns(opened, fitted, scores or (), segments or ())
        out.remark(columns.message)
        if not fitted.has_one_score:
            _compare_meanings(out, fitted, opened, columns)
        with out.progress(f"Writing {output}") as progress:
            done = apply_model(
                fitted,
                opened,
                columns,
                target,
                name=name,
                limits=limits,
                bad_rows=bad_rows,
                force=force,
                sources=[model],
                progress=progress,
            )
    if bad_rows == "keep" and done.bad is not None:
        out.remark(f"Without a probability: {done.bad.message}.")
    else:
        out.remark(omission_note(done.bad))
    for segment, rows in done.unknown.items():
        are = "1 row" if rows == 1 else f"{rows:,} rows"
        out.remark(f"Warning: segment {segment!r} is new to the model: {are} got the map of all rows.")
    content: dict[str, Any] = {"output": str(output), "rows": done.rows}
    if not fitted.has_one_score:
        content["classes"] = [str(label) for label in fitted.labels]
    if fitted.has_one_score or fitted.by is not None:
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


def _compare_meanings(out: "CommandOutput", model: "Model", file: "ScoreFile", columns: "Columns") -> None:
    """Warn of probabilities for a model of logits, and refuse logits for one of probabilities."""
    from oddsmith import _check
    from oddsmith.files import share_of_probabilities

    share = share_of_probabilities(file, columns)
    if model.map.input == "logits" and share == 1:
        out.remark("Warning: rows sum to 1, as probabilities do, but the model was fitted to logits.")
    if model.map.input == "probabilities" and share == 0:
        must = "the model was fitted to probabilities, which are ≥ 0 and sum to 1 in every row"
        _check.fail(must, f"other scores in {file.name}", "pass probabilities, or fit a model to these scores")
