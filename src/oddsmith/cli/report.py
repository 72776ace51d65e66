"""``oddsmith report``: one page about a file of scores."""

from pathlib import Path
from typing import Annotated

import typer

from oddsmith.cli import _options as option

EXAMPLE = "oddsmith report scores.csv -o report.html"


def report(
    file: option.ScoresFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write: .html, .md or .json.")] = Path(
        "report.html"
    ),
    score: option.ScoreColumn = None,
    label: option.LabelColumn = None,
    weight: option.WeightColumn = None,
    positive: option.Positive = None,
    method: option.Methods = None,
    seed: option.Seed = 0,
    scores_are: option.ScoresAre = "score",
    bad_rows: option.BadRows = "refuse",
    resolution: option.Resolution = "auto",
    force: option.Force = False,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Write a report: verdict, pictures, methods, measures and a cost slider, in one file that needs nothing else."""
    from oddsmith import _check
    from oddsmith.calibrators.registry import METHODS, calibrator_named
    from oddsmith.cli._input import meaning_of, next_steps, read_scores
    from oddsmith.cli._output import CommandOutput, print_text
    from oddsmith.files import input_files, replacing
    from oddsmith.report import summarize, to_html, to_json, to_markdown

    out = CommandOutput(quiet=quiet, as_json=as_json)
    formats = {".html": to_html, ".htm": to_html, ".md": to_markdown, ".json": to_json}
    if output.suffix.lower() not in formats:
        _check.fail("output must end in .html, .md or .json", output.name, "change the name after -o")
    methods = {name: calibrator_named(name, "--method") for name in (method or METHODS)}
    with replacing(output, force=force, sources=input_files(file)) as page:
        data, roles = read_scores(
            out,
            file,
            score=score,
            label=label,
            weight=weight,
            positive=positive,
            bad_rows=bad_rows,
            resolution=resolution,
        )
        name = "standard input" if file == "-" else Path(file).name
        columns = {"score": roles.score, "label": roles.label, "weight": roles.weight}
        used = ", ".join(f"{role} {column!r}" for role, column in columns.items() if column is not None)
        left_out = {} if data.dropped is None else {"Left out": data.dropped.message}
        with out.progress("Comparing methods") as progress:
            summary = summarize(
                data.table,
                methods,
                name=name,
                labels=data.labels,
                source={"File": name, "Columns": used, **left_out},
                random_state=seed,
                scores_are=meaning_of(scores_are),
                next_steps=next_steps(file, roles, data.labels, positive, bad_rows, resolution),
                progress=progress,
            )
        for method_name, why in summary["methods"]["failed"].items():
            out.remark(f"Left out {method_name}: {why}")
        with out.waiting("Drawing"):
            page.write_text(formats[output.suffix.lower()](summary), encoding="utf-8")
    content = {"output": str(output), "verdict": summary["verdict"], "recommended": summary["recommended"]}
    out.result(content, lambda console: print_text(console, f"{summary['verdict']}\nReport written to {output}"))
