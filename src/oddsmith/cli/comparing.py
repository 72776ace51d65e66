"""``oddsmith compare``: every method on the same file, judged out of sample."""

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from oddsmith.cli import _input as read
from oddsmith.cli._methods import METHODS, calibrator_called
from oddsmith.cli._output import AsJson, Quiet, Voice, say
from oddsmith.report.methods import MethodContest, compare_methods
from oddsmith.report.wording import marks_explained, marks_of


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
    n_folds: Annotated[int, typer.Option("--n-folds", help="Folds of the cross-validation.")] = 5,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the folds.")] = 0,
    scores_are: read.ScoresAre = "score",
    pairs: Annotated[bool, typer.Option("--pairs", help="Also print the tests of every pair.")] = False,
    bad_rows: read.BadRows = "refuse",
    resolution: read.Resolution = "auto",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare calibration methods by honest cross-validation and paired tests, and recommend one."""
    voice = Voice(quiet=quiet, as_json=as_json)
    chosen = {name: calibrator_called(name) for name in (method or METHODS)}
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
    with voice.progress("Comparing") as progress:
        contest = compare_methods(
            data.table,
            chosen,
            n_folds=n_folds,
            random_state=seed,
            scores_are=read.meaning_of(scores_are),
            steps=read.next_steps(file, roles, data.labels, positive, bad_rows, resolution),
            progress=progress,
        )
    for name, why in contest.failed.items():
        voice.remark(f"Left out {name}: {why}")

    def show(console: Console) -> None:
        if contest.signal.words:
            say(console, f"{contest.verdict}\n")
        console.print(_standings(contest))
        say(console, contest.standing)
        if not contest.signal.words:
            say(console, contest.verdict)
        if pairs:
            console.print(contest.comparison.to_markdown(), soft_wrap=True)

    voice.result(contest.to_dict(), show)


def _standings(contest: MethodContest) -> Table:
    """Return the methods by log-loss, with marks."""
    columns = {"log_loss": "log-loss", "squared_error": "Brier", "zero_one_error": "errors"}
    content = contest.to_dict()
    parts = content["comparison"]["measures"]
    marks = {
        (name, measure): marks_of(content, parts[measure]["methods"][name])
        for name in contest.ranking
        for measure in columns
    }
    table = Table(
        title=f"{contest.comparison.decisions:,.0f} cases in {contest.n_folds} folds, means per case",
        caption=marks_explained(marks.values(), contest.baseline) or None,
    )
    table.add_column("method", overflow="fold")
    for title in columns.values():
        table.add_column(title, justify="right")
    for name in contest.ranking:
        cells = []
        for measure in columns:
            text = f"{contest.mean(measure)[name]:.5f} {marks[name, measure]}".rstrip()
            cells.append(Text(text, style="bold" if name == contest.comparison[measure].best else ""))
        table.add_row(name, *cells)
    return table
