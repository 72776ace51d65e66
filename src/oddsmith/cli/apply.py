"""``oddsmith apply``: from scores to probabilities, by a model file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oddsmith.cli import _options as option

if TYPE_CHECKING:
    from oddsmith.cli._output import CommandOutput
    from oddsmith.frames.bad_rows import BadRowPolicy
    from oddsmith.modelfile import JointModel

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
    from oddsmith import _check
    from oddsmith.cli._classes import refuse_class_options
    from oddsmith.cli._output import CommandOutput, print_text, writable_file
    from oddsmith.files import apply_map, choose_columns, open_scores
    from oddsmith.modelfile import JointModel, load

    out = CommandOutput(quiet=quiet, as_json=as_json, output=output)
    fitted = load(model)
    if isinstance(fitted, JointModel):
        _apply_classes(out, fitted, file, output, scores, name, bad_rows, force, sources=[model], score=score, by=by)
        return
    refuse_class_options(scores=scores or None)
    with open_scores(file) as opened, writable_file(output, opened.suffix) as target:
        if by is not None and fitted.by is None:
            _check.fail("the model must have segments to take --by", "one without", "leave --by out, or fit with --by")
        roles = choose_columns(opened, score, None, None, by if by is not None else fitted.by, needs_label=False)
        out.remark(roles.message)
        with out.progress(f"Writing {output}") as progress:
            done = apply_map(
                fitted.map,
                opened,
                roles,
                target,
                segments={name: part.map for name, part in fitted.segments.items()} or None,
                name=name,
                bad_rows=bad_rows,
                force=force,
                sources=[model],
                progress=progress,
            )
    if done.dropped is not None:
        out.remark(f"Left out: {done.dropped.message}.")
    for segment, rows in done.unknown.items():
        out.remark(f"Warning: segment {segment!r} is new to the model: {rows:,} rows got the map of all rows.")
    content = {"output": str(output), "rows": done.rows, "unknown_segments": dict(done.unknown)}
    out.result(content, lambda console: print_text(console, f"{done.rows:,} rows written to {output}"))


def _apply_classes(
    out: "CommandOutput",
    model: "JointModel",
    file: str,
    output: Path,
    scores: list[str] | None,
    name: str,
    bad_rows: "BadRowPolicy",
    force: bool,
    *,
    sources: list[Path],
    **two_class_options: str | None,
) -> None:
    """Write the probabilities of several classes, and the decision."""
    from oddsmith import _check
    from oddsmith.cli._classes import refuse_two_class_options
    from oddsmith.cli._output import print_text, writable_file
    from oddsmith.files import apply_joint_model, choose_model_columns, open_scores
    from oddsmith.files.class_applying import share_of_probabilities

    refuse_two_class_options(**two_class_options)
    with open_scores(file) as opened, writable_file(output, opened.suffix) as target:
        columns = choose_model_columns(opened, model, scores or ())
        out.remark(columns.message)
        share = share_of_probabilities(opened, columns)
        if model.map.input == "logits" and share == 1:
            out.remark("Warning: rows sum to 1, as probabilities do, but the model was fitted to logits.")
        if model.map.input == "probabilities" and share == 0:
            must = "the model was fitted to probabilities, which are ≥ 0 and sum to 1 in every row"
            _check.fail(must, f"other scores in {opened.name}", "pass probabilities, or fit a model to these scores")
        with out.progress(f"Writing {output}") as progress:
            done = apply_joint_model(
                model,
                opened,
                columns,
                target,
                prefix=f"{name}_",
                bad_rows=bad_rows,
                force=force,
                sources=sources,
                progress=progress,
            )
    if done.dropped is not None:
        out.remark(f"Left out: {done.dropped.message}.")
    content = {"output": str(output), "rows": done.rows, "classes": [str(label) for label in model.labels]}
    out.result(content, lambda console: print_text(console, f"{done.rows:,} rows written to {output}"))
