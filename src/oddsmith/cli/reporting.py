"""``oddsmith report``: one page about a file of scores."""

from pathlib import Path
from typing import Annotated

import typer

from oddsmith import _check
from oddsmith.cli import _input as read
from oddsmith.cli._methods import METHODS, calibrator_called
from oddsmith.cli._output import AsJson, Force, Quiet, Voice
from oddsmith.files import write_atomically

_FORMATS = {".html": "to_html", ".htm": "to_html", ".md": "to_markdown", ".json": "to_json"}


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
    seed: Annotated[int, typer.Option("--seed", help="Of folds and intervals.")] = 0,
    bad_rows: read.BadRows = "refuse",
    resolution: read.Resolution = "auto",
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write a report: verdict, pictures, methods, measures and a cost slider, in one file that needs nothing else."""
    from oddsmith import report as reports

    voice = Voice(quiet=quiet, as_json=as_json)
    _check.one_of(output.suffix.lower(), "the end of the output's name", tuple(_FORMATS))
    chosen = {name: calibrator_called(name) for name in (method or METHODS)}
    data, _ = read.read_scores(
        voice,
        file,
        score=score,
        label=label,
        weight=weight,
        positive=positive,
        bad_rows=bad_rows,
        resolution=read.resolution_of(resolution),
    )
    with voice.progress("Comparing methods") as progress:
        summary = reports.summarize(
            data.table,
            chosen,
            name="standard input" if file == "-" else Path(file).name,
            labels=data.labels,
            random_state=seed,
            progress=progress,
        )
    text = getattr(reports, _FORMATS[output.suffix.lower()])(summary)
    write_atomically(output, text, force=force)
    content = {"output": str(output), "verdict": summary["verdict"], "best": summary["best"]}
    voice.result(
        content, lambda console: console.print(f"{summary['verdict']}\nReport written to {output}", markup=False)
    )
