"""``oddsmith compare``: every method on the same file, each evaluated out of sample."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from oddsmith.cli import _options as option
from oddsmith.errors import InvalidInputError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from oddsmith.data import ScoreTable
    from oddsmith.report import MethodComparison

EXAMPLE = "oddsmith compare scores.csv --method platt --method isotonic"


def compare(
    *,
    columns: option.ScoreColumns,
    sample: option.RowLimit = None,
    method: option.Methods = None,
    n_folds: Annotated[int, typer.Option("--n-folds", min=2, max=100, help="Folds of the cross-validation.")] = 5,
    seed: option.Seed = 0,
    scores_are: option.ScoresAre = "auto",
    groups: option.GroupColumn = None,
    by: option.ResultSegments = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Also print the tests of every pair.")] = False,
    rows: option.RowOptions,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Compare calibration methods by cross-validation and paired tests, and recommend one.

    Several classes: `oddsmith compare classes.csv --scores 'p_*' --label label -m auto -m one-vs-rest:isotonic`.
    """
    from oddsmith.cli._input import CommandInput, class_methods, methods
    from oddsmith.cli._output import CommandOutput, print_text
    from oddsmith.cli._segments import refuse_by, segments_of
    from oddsmith.report import compare_methods

    out = CommandOutput(quiet=quiet, as_json=as_json)
    source = CommandInput(columns, rows, scores_are, sample, seed, groups, by)
    refuse_by(source)
    segments: dict[str, ScoreTable] = {}
    compared: partial[MethodComparison]
    if source.several:
        joint = class_methods(method)
        read = source.read_classes(out)
        steps = source.class_next_steps()
        compared = partial(compare_methods, read.rows, joint, groups=read.groups, next_steps=steps)
    else:
        calibrators = methods(method)
        data, roles = source.read_scores(out)
        steps = source.next_steps(roles, data.labels)
        compared = partial(
            compare_methods,
            data.table,
            calibrators,
            input=source.meaning,
            groups=data.segments if groups is not None else None,
            next_steps=steps,
        )
        segments = segments_of(source, data, out)
    with out.progress("Comparing") as progress:
        found = compared(n_folds=n_folds, random_state=seed, progress=progress)
        by_segment = {}
        for name, part in segments.items():
            try:
                by_segment[name] = compare_methods(
                    part,
                    calibrators,
                    n_folds=n_folds,
                    random_state=seed,
                    input=source.meaning,
                    next_steps=steps,
                )
            except InvalidInputError as reason:
                out.remark(f"Segment {name} is not compared: {reason}")
    for name, why in found.failed.items():
        out.remark(f"Left out {name}: {why}")

    def show(console: "Console") -> None:
        if found.advice.comes_first:
            print_text(console, f"{found.verdict}\n")
        console.print(_standings(found))
        print_text(console, found.standing)
        if not found.advice.comes_first:
            print_text(console, found.verdict)
        if by is not None:
            console.print(_by_segment(by_segment))
        if pairs:
            console.print(found.comparison.to_markdown(), soft_wrap=True)

    content = found.to_dict()
    if by is not None:
        content["segments"] = {name: one.to_dict() for name, one in _largest_gain_first(by_segment)}
    out.result(content, show)


def _largest_gain_first(found: "dict[str, MethodComparison]") -> "list[tuple[str, MethodComparison]]":
    """Return the segments whose gain by calibration is surely largest first."""
    return sorted(found.items(), key=lambda item: (item[1].advice.gain.low, item[1].advice.gain.mean), reverse=True)


def _by_segment(found: "dict[str, MethodComparison]") -> "Table":
    """Return what each segment gains."""
    from oddsmith.cli._output import table_of
    from oddsmith.cli._segments import SHOWN, caption_of
    from oddsmith.report import figure

    rows = []
    for name, one in _largest_gain_first(found)[:SHOWN]:
        advice, gain = one.advice, one.advice.gain
        interval = f"[{figure(gain.low)}, {figure(gain.high)}]"
        figures = map(figure, (advice.before, advice.after, gain.mean))
        rows.append([name, advice.method, f"{one.comparison.decisions:,.0f}", *figures, interval])
    titles = ["cases", "log-loss before", "after", "gain", "95 % interval"]
    return table_of(["segment", "method"], titles, rows, caption=caption_of(len(found), "the largest gain first"))


def _standings(found: "MethodComparison") -> "Table":
    """Return the methods by log-loss, with marks."""
    from rich.text import Text

    from oddsmith.cli._output import table_of
    from oddsmith.report import figure, marks_explained, rows_of_methods

    rows = list(rows_of_methods(found.to_dict()))
    marks = [cell["marks"] for row in rows for cell in row["cells"].values()]
    cells = [
        [
            Text(f"{figure(cell['mean'], 5)} {cell['marks']}".rstrip(), style="bold" if cell["best"] else "")
            for cell in row["cells"].values()
        ]
        for row in rows
    ]
    return table_of(
        ["method"],
        ["log-loss", "Brier", "errors"],
        [[row["name"], *figures] for row, figures in zip(rows, cells, strict=True)],
        title=f"{found.comparison.decisions:,.0f} cases in {found.n_folds} folds, means per case",
        caption=marks_explained(marks, found.baseline) or None,
    )
