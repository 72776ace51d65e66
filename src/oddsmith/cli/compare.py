"""``oddsmith compare``: every method on the same file, each evaluated out of sample."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from oddsmith.cli import _options as option

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from oddsmith.cli._classes import ClassOptions
    from oddsmith.cli._output import CommandOutput
    from oddsmith.report import ClassMethodComparison, MethodComparison

EXAMPLE = "oddsmith compare scores.csv --method platt --method isotonic"


def compare(
    file: option.ScoresFile,
    score: option.ScoreColumn = None,
    label: option.LabelColumn = None,
    weight: option.WeightColumn = None,
    positive: option.Positive = None,
    scores: option.ClassColumnNames = None,
    classes: option.Classes = None,
    labels: option.LabelsFile = None,
    sample: option.RowLimit = None,
    method: option.Methods = None,
    n_folds: Annotated[int, typer.Option("--n-folds", help="Folds of the cross-validation.")] = 5,
    seed: option.Seed = 0,
    scores_are: option.ScoresAre = "auto",
    pairs: Annotated[bool, typer.Option("--pairs", help="Also print the tests of every pair.")] = False,
    bad_rows: option.BadRowsOption = "refuse",
    resolution: option.Resolution = "auto",
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Compare calibration methods by honest cross-validation and paired tests, and recommend one.

    Several classes: `oddsmith compare classes.csv --scores 'p_*' --label label -m auto -m one-vs-rest:isotonic`.
    """
    from oddsmith.cli._classes import ClassOptions, are_several, refuse_class_options, refuse_two_class_options
    from oddsmith.cli._output import CommandOutput, print_text

    out = CommandOutput(quiet=quiet, as_json=as_json)
    folds = {"n_folds": n_folds, "random_state": seed}
    found: MethodComparison | ClassMethodComparison
    if are_several(file, scores, score):
        refuse_two_class_options(score=score, positive=positive)
        told = ClassOptions(tuple(scores or ()), classes, label, labels, weight, scores_are, bad_rows, sample, seed)
        found = _compared_classes(out, file, told, method, folds)
    else:
        refuse_class_options(classes=classes, labels=labels, sample=sample)
        options = {"score": score, "label": label, "weight": weight, "positive": positive}
        found = _compared(out, file, method, scores_are, folds, **options, bad_rows=bad_rows, resolution=resolution)
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


def _compared(
    out: "CommandOutput", file: str, method: list[str] | None, scores_are: str, folds: dict[str, int], **options: Any
) -> "MethodComparison":
    """Compare methods for two classes."""
    from oddsmith.calibrators.registry import METHODS, calibrator_named
    from oddsmith.cli._input import meaning_of, next_steps, read_scores
    from oddsmith.report import compare_methods

    methods = {name: calibrator_named(name, "--method") for name in (method or METHODS)}
    data, roles = read_scores(out, file, **options)
    steps = next_steps(file, roles, data.labels, *(options[name] for name in ("positive", "bad_rows", "resolution")))
    with out.progress("Comparing") as progress:
        return compare_methods(
            data.table, methods, **folds, scores_are=meaning_of(scores_are), next_steps=steps, progress=progress
        )


def _compared_classes(
    out: "CommandOutput", file: str, told: "ClassOptions", method: list[str] | None, folds: dict[str, int]
) -> "ClassMethodComparison":
    """Compare methods for several classes."""
    from oddsmith.cli._classes import class_methods, class_next_steps, read_classes
    from oddsmith.report import compare_class_methods

    methods = class_methods(method)
    data = read_classes(out, file, told)
    with out.progress("Comparing") as progress:
        return compare_class_methods(
            data.rows, methods, **folds, next_steps=class_next_steps(file, told), progress=progress
        )


def _standings(found: "MethodComparison | ClassMethodComparison") -> "Table":
    """Return the methods by log-loss, with marks."""
    from rich.table import Table
    from rich.text import Text

    from oddsmith.report.wording import figure, marks_explained, rows_of_methods

    rows = list(rows_of_methods(found.to_dict()))
    marks = [cell["marks"] for row in rows for cell in row["cells"].values()]
    table = Table(
        title=f"{found.comparison.decisions:,.0f} cases in {found.n_folds} folds, means per case",
        caption=marks_explained(marks, found.baseline) or None,
    )
    table.add_column("method", overflow="fold")
    for title in ("log-loss", "Brier", "errors"):
        table.add_column(title, justify="right")
    for row in rows:
        cells = [
            Text(f"{figure(cell['mean'], 5)} {cell['marks']}".rstrip(), style="bold" if cell["best"] else "")
            for cell in row["cells"].values()
        ]
        table.add_row(row["name"], *cells)
    return table
