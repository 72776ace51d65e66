"""``oddsmith apply``: from scores to probabilities, by a model file."""

from pathlib import Path
from typing import Annotated

import typer

from oddsmith.cli import _options as option

EXAMPLE = "oddsmith apply model.json new.csv -o out.csv"


def apply(
    model: option.ModelFile,
    file: option.ScoresFile,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="File to write: .csv, .tsv, .jsonl or .parquet; '-': CSV, or JSON lines."),
    ],
    score: option.ScoreColumn = None,
    by: Annotated[str | None, typer.Option("--by", help="Column of segments. [default: as fitted]")] = None,
    name: Annotated[str, typer.Option("--name", help="Name of the new column.")] = "probability",
    bad_rows: option.BadRows = "refuse",
    force: option.Force = False,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Write a copy of a file with the calibrated probability of each row."""
    from oddsmith import _check
    from oddsmith.cli._output import CommandOutput, print_text, writable_file
    from oddsmith.files import apply_map, choose_columns, open_scores
    from oddsmith.modelfile import CalibrationModel

    out = CommandOutput(quiet=quiet, as_json=as_json, output=output)
    fitted = CalibrationModel.load(model)
    with open_scores(file) as scores, writable_file(output, scores.suffix) as target:
        if by is not None and fitted.by is None:
            _check.fail("the model must have segments to take --by", "one without", "leave --by out, or fit with --by")
        roles = choose_columns(scores, score, None, None, by if by is not None else fitted.by, needs_label=False)
        out.remark(roles.message)
        with out.progress(f"Writing {output}") as progress:
            done = apply_map(
                fitted.map,
                scores,
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
