"""``oddsmith compare``: every method on the same file, judged out of sample."""

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from oddsmith.cli import _input as read
from oddsmith.cli._methods import METHODS, calibrator_called
from oddsmith.cli._output import AsJson, Quiet, Voice, say
from oddsmith.report.methods import MethodContest, compare_methods


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: oddsmith compare scores.csv --method platt --method isotonic")(compare)


def compare(
    file: read.ScoresFile,
    score: read.ScoreColumn = None,
    label: read.LabelColumn = None,
    weight: read.WeightColumn = None,
    positive: read.Positive = None,
    method: Annotated[
        list[str] | None, typer.Option("--method", "-m", help=f"Which ones. [default: all of {', '.join(METHODS)}]")
    ] = None,
    n_folds: Annotated[int, typer.Option("--folds", help="Folds of the cross-validation.")] = 5,
    seed: Annotated[int, typer.Option("--seed", help="Of the folds.")] = 0,
    pairs: Annotated[bool, typer.Option("--pairs", help="Also print the tests of every pair.")] = False,
    bad_rows: read.BadRows = "refuse",
    resolution: read.Resolution = "auto",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare calibration methods by honest cross-validation and paired tests, and name the winner."""
    voice = Voice(quiet=quiet, as_json=as_json)
    chosen = {name: calibrator_called(name) for name in (method or METHODS)}
    data, _ = read.read_scores(
        voice,
        file,
        score=score,
        label=label,
        weight=weight,
        positive=positive,
        bad_rows=bad_rows,
        resolution=resolution,
    )
    with voice.progress("Comparing") as progress:
        contest = compare_methods(data.table, chosen, n_folds=n_folds, random_state=seed, progress=progress)
    for name, why in contest.failed.items():
        voice.remark(f"Left out {name}: {why}")

    def show(console: Console) -> None:
        console.print(_standings(contest))
        say(console, contest.verdict)
        if pairs:
            console.print(contest.comparison.to_markdown(), soft_wrap=True)

    voice.result(contest.to_dict(), show)


def _standings(contest: MethodContest) -> Table:
    """Return the methods by log-loss, with marks."""
    columns: dict[str, Any] = {"log_loss": "log-loss", "squared_error": "Brier", "zero_one_error": "errors"}
    table = Table(
        title=f"{contest.comparison.decisions:,.0f} cases in {contest.n_folds} folds, means per case",
        caption="* beats all others, † all but the raw scores, ‡ all but one or two; in parentheses after Holm",
    )
    table.add_column("method", overflow="fold")
    for title in columns.values():
        table.add_column(title, justify="right")
    means = {measure: contest.mean(measure) for measure in columns}
    for name in contest.ranking:
        cells = []
        for measure, values in means.items():
            part = contest.comparison[measure]
            mark, holm = (
                part.mark(name, contest.comparison.raw),
                part.mark(name, contest.comparison.raw, corrected=True),
            )
            marks = f" {mark}({holm})" if mark or holm else ""
            text = f"{values[name]:.5f}{marks}"
            cells.append(Text(text, style="bold" if name == part.best else ""))
        table.add_row(name, *cells)
    return table
