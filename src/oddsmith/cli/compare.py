"""``oddsmith compare``: every method on the same file, each evaluated out of sample."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oddsmith.cli import _options as option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console
    from rich.table import Table

    from oddsmith.calibrators import Method
    from oddsmith.data import ScoreRows, ScoreTable
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
    from oddsmith.cli._input import CommandInput, class_methods, table_methods
    from oddsmith.cli._output import CommandOutput, print_text
    from oddsmith.cli._segments import refuse_groups, segments_of
    from oddsmith.report import compare_methods, compare_segments

    out = CommandOutput(quiet=quiet, as_json=as_json)
    source = CommandInput(columns, rows, scores_are, sample, seed, groups, by)
    refuse_groups(source)
    options: dict[str, Any] = {"n_folds": n_folds, "random_state": seed}
    compared: partial[MethodComparison]
    segments: Mapping[str, ScoreTable | ScoreRows]
    methods: Mapping[str, Method]
    if source.several:
        methods = class_methods(method)
        read = source.read_classes(out)
        options["next_steps"] = source.class_next_steps()
        compared = partial(compare_methods, read.rows, methods, groups=read.groups)
        segments = segments_of(source, read.segments, out)
    else:
        methods = table_methods(method)
        data, roles = source.read_scores(out)
        options |= {"next_steps": source.next_steps(roles, data.labels), "input": source.meaning}
        compared = partial(compare_methods, data.table, methods, groups=data.segments if groups is not None else None)
        segments = segments_of(source, data.segments, out)
    with out.progress("Comparing") as progress:
        found = compared(progress=progress, **options)
        by_segment, refused = compare_segments(segments, methods, **options)
    for name, why in refused.items():
        out.remark(f"Segment {name} is not compared: {why}")
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
        content["segments"] = {name: one.to_dict() for name, one in by_segment.items()}
    out.result(content, show)


def _by_segment(found: "dict[str, MethodComparison]") -> "Table":
    """Return what each segment gains."""
    from oddsmith.cli._output import table_of
    from oddsmith.cli._segments import SHOWN, caption_of
    from oddsmith.report import figure

    rows = []
    for name, one in list(found.items())[:SHOWN]:
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
    from oddsmith.report import explain_marks, figure, rows_of_methods

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
        caption=explain_marks(marks, found.baseline) or None,
    )
