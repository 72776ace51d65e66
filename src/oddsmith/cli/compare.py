"""``oddsmith compare``: every method on the same file, each evaluated out of sample."""

from typing import TYPE_CHECKING, Annotated

import typer

from oddsmith.cli._options import (
    AsJson,
    BadRows,
    LabelColumn,
    Methods,
    Positive,
    Quiet,
    Resolution,
    ScoreColumn,
    ScoresAre,
    ScoresFile,
    Seed,
    WeightColumn,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from oddsmith.report import MethodComparison

EXAMPLE = "oddsmith compare scores.csv --method platt --method isotonic"


def compare(
    file: ScoresFile,
    score: ScoreColumn = None,
    label: LabelColumn = None,
    weight: WeightColumn = None,
    positive: Positive = None,
    method: Methods = None,
    n_folds: Annotated[int, typer.Option("--n-folds", help="Folds of the cross-validation.")] = 5,
    seed: Seed = 0,
    scores_are: ScoresAre = "score",
    pairs: Annotated[bool, typer.Option("--pairs", help="Also print the tests of every pair.")] = False,
    bad_rows: BadRows = "refuse",
    resolution: Resolution = "auto",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare calibration methods by honest cross-validation and paired tests, and recommend one."""
    from oddsmith.cli._input import meaning_of, next_steps, read_scores
    from oddsmith.cli._methods import METHODS, calibrator_named
    from oddsmith.cli._output import CommandOutput, print_text
    from oddsmith.report import compare_methods

    out = CommandOutput(quiet=quiet, as_json=as_json)
    methods = {name: calibrator_named(name) for name in (method or METHODS)}
    data, roles = read_scores(
        out, file, score=score, label=label, weight=weight, positive=positive, bad_rows=bad_rows, resolution=resolution
    )
    with out.progress("Comparing") as progress:
        found = compare_methods(
            data.table,
            methods,
            n_folds=n_folds,
            random_state=seed,
            scores_are=meaning_of(scores_are),
            next_steps=next_steps(file, roles, data.labels, positive, bad_rows, resolution),
            progress=progress,
        )
    for name, why in found.failed.items():
        out.remark(f"Left out {name}: {why}")

    def show(console: "Console") -> None:
        if found.advice.comes_first:
            print_text(console, f"{found.verdict}\n")
        console.print(_standings(found))
        print_text(console, found.standing)
        if not found.advice.comes_first:
            print_text(console, found.verdict)
        if pairs:
            console.print(found.comparison.to_markdown(), soft_wrap=True)

    out.result(found.to_dict(), show)


def _standings(found: "MethodComparison") -> "Table":
    """Return the methods by log-loss, with marks."""
    from rich.table import Table
    from rich.text import Text

    from oddsmith.report.wording import figure, marks_explained, marks_of

    columns = {"log_loss": "log-loss", "squared_error": "Brier", "zero_one_error": "errors"}
    content = found.to_dict()
    parts = content["comparison"]["measures"]
    marks = {
        (name, measure): marks_of(content, parts[measure]["methods"][name])
        for name in found.ranking
        for measure in columns
    }
    table = Table(
        title=f"{found.comparison.decisions:,.0f} cases in {found.n_folds} folds, means per case",
        caption=marks_explained(marks.values(), found.baseline) or None,
    )
    table.add_column("method", overflow="fold")
    for title in columns.values():
        table.add_column(title, justify="right")
    for name in found.ranking:
        cells = []
        for measure in columns:
            text = f"{figure(found.mean(measure)[name], 5)} {marks[name, measure]}".rstrip()
            cells.append(Text(text, style="bold" if name == found.comparison[measure].best else ""))
        table.add_row(name, *cells)
    return table
