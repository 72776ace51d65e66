"""``oddsmith report``: one page about a file of scores."""

from pathlib import Path
from typing import Annotated

import typer

from oddsmith import _check
from oddsmith.cli import _input as read
from oddsmith.cli._methods import METHODS, calibrator_called
from oddsmith.cli._output import AsJson, Force, Quiet, Voice, say
from oddsmith.files import Roles, input_files, replacing
from oddsmith.report import summarize, to_html, to_json, to_markdown

_FORMATS = {".html": to_html, ".htm": to_html, ".md": to_markdown, ".json": to_json}


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: oddsmith report scores.csv -o report.html")(report)


def report(
    file: read.ScoresFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write: .html, .md or .json.")] = Path(
        "report.html"
    ),
    score: read.ScoreColumn = None,
    label: read.LabelColumn = None,
    weight: read.WeightColumn = None,
    positive: read.Positive = None,
    method: Annotated[
        list[str] | None, typer.Option("--method", "-m", help=f"Which ones. [default: all of {', '.join(METHODS)}]")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of folds and intervals.")] = 0,
    scores_are: read.ScoresAre = "score",
    bad_rows: read.BadRows = "refuse",
    resolution: read.Resolution = "auto",
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write a report: verdict, pictures, methods, measures and a cost slider, in one file that needs nothing else."""
    voice = Voice(quiet=quiet, as_json=as_json)
    if output.suffix.lower() not in _FORMATS:
        _check.fail("output must end in .html, .md or .json", output.name, "change the name after -o")
    chosen = {name: calibrator_called(name) for name in (method or METHODS)}
    with replacing(output, force=force, sources=input_files(file)) as page:
        data, roles = read.read_scores(
            voice,
            file,
            score=score,
            label=label,
            weight=weight,
            positive=positive,
            bad_rows=bad_rows,
            resolution=resolution,
        )
        name = "standard input" if file == "-" else Path(file).name
        left_out = {} if data.dropped is None else {"Left out": data.dropped.message}
        with voice.progress("Comparing methods") as progress:
            summary = summarize(
                data.table,
                chosen,
                name=name,
                labels=data.labels,
                source={"File": name, "Columns": _columns(roles), **left_out},
                random_state=seed,
                scores_are=read.meaning_of(scores_are),
                steps=read.next_steps(file, roles, data.labels, positive, bad_rows, resolution),
                progress=progress,
            )
        for method_name, why in summary["contest"]["failed"].items():
            voice.remark(f"Left out {method_name}: {why}")
        with voice.waiting("Drawing"):
            text = _FORMATS[output.suffix.lower()](summary)
        page.write_text(text, encoding="utf-8")
    content = {"output": str(output), "verdict": summary["verdict"], "recommended": summary["recommended"]}
    voice.result(content, lambda console: say(console, f"{summary['verdict']}\nReport written to {output}"))


def _columns(roles: Roles) -> str:
    """Say which column played which role."""
    named = {"score": roles.score, "label": roles.label, "weight": roles.weight}
    return ", ".join(f"{role} {name!r}" for role, name in named.items() if name is not None)
