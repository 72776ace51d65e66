"""``oddsmith audit``: which segments have probabilities that are too high or too low."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oddsmith.cli import _options as option
from oddsmith.cli._exit import CHECK_FAILED

if TYPE_CHECKING:
    from rich.console import Console

EXAMPLE = "oddsmith audit scored.parquet --by occupation,education"

#: Segments that are printed.
_WORST = 12


def audit(
    *,
    file: option.ScoresFile,
    by: Annotated[
        str, typer.Option("--by", metavar="A,B,…", help="Columns whose values, alone and in pairs, are segments.")
    ],
    probability: Annotated[
        str | None, typer.Option("--probability", "-p", help="Column of the probability. [default: by its name]")
    ] = None,
    label: option.LabelColumn = None,
    weight: option.WeightColumn = None,
    positive: option.Positive = None,
    depth: Annotated[int, typer.Option("--depth", min=1, max=2, help="1: columns alone; 2: pairs of them, too.")] = 2,
    bins: Annotated[int, typer.Option("--bins", min=2, help="Bins of columns of numbers.")] = 4,
    min_rows: Annotated[int, typer.Option("--min-rows", min=1, help="Leave smaller segments out.")] = 50,
    level: Annotated[
        float, typer.Option("--level", help="Level of intervals; ratios are significant at 1 − level.")
    ] = 0.95,
    picture: Annotated[
        Path | None, typer.Option("--plot", help="Write a forest plot of the worst segments: .svg, .png or .pdf.")
    ] = None,
    fail: Annotated[
        bool, typer.Option("--fail", help="Exit with code 1 if any segment is significantly miscalibrated.")
    ] = False,
    bad_rows: option.BadRowsOption = "refuse",
    text: option.TextOptions,
    force: option.Force = False,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Compare observed with expected positives in every segment; p-values are corrected for the number of segments.

    A missing value is a segment of its own. Numbers with more than ten values are cut into bins of equal size.
    """
    from oddsmith.audit import audit as audit_rows
    from oddsmith.cli._input import names_in, omission_note
    from oddsmith.cli._output import CommandOutput, print_text, table_of
    from oddsmith.files import choose_columns, input_files, known_column, open_scores, read_segments, replacing
    from oddsmith.plots import AuditDisplay
    from oddsmith.report import p_value

    out = CommandOutput(quiet=quiet, as_json=as_json)
    with open_scores(file, text=text.text) as source:
        named = [known_column(source, "by", name) for name in ([by] if by in source.columns else names_in(by) or [])]
        given = () if probability is None else (probability,)
        columns = choose_columns(source, given, label, weight, kind="probability", one=True)
        out.remark(columns.message)
        with out.progress(f"Reading {source.name}") as progress:
            rows = read_segments(source, columns, named, positive=positive, bad_rows=bad_rows, progress=progress)
        out.remark(omission_note(rows.dropped))
        out.remark(f"Labels: {rows.census}." if rows.census else "")
        with out.show_warnings(), out.waiting("Comparing segments"):
            found = audit_rows(
                rows.relation,
                named,
                probability=rows.score,
                label=rows.label,
                weight=rows.weight,
                depth=depth,
                bins=bins,
                min_rows=min_rows,
                level=level,
            )
    for name, why in found.skipped.items():
        out.remark(f"Column {name!r} is left out: {why}.")
    if picture is not None:
        with replacing(picture, force=force, sources=input_files(file)) as unfinished:
            AuditDisplay.from_audit(found).save(unfinished)

    def show(console: "Console") -> None:
        print_text(console, found.verdict)
        lines = [
            [
                one.name,
                f"{one.rows:,}",
                f"{one.observed:,.6g}",
                f"{one.expected:,.6g}",
                f"{one.ratio:.3g}",
                f"{one.ratio_low:.2f}–{one.ratio_high:.2f}",
                p_value({"p_value": one.p_holm}),
            ]
            for one in found.segments[:_WORST]
        ]
        titles = ["rows", "observed", "expected", "ratio", f"{100 * level:g} %", "p (Holm)"]
        more = len(found.segments) - _WORST
        caption = f"{more:,} more segments with --json" if more > 0 else None
        console.print(table_of(["segment"], titles, lines, caption=caption))

    out.result({**found.to_dict(), "verdict": found.verdict}, show)
    if fail and found.significant:
        raise typer.Exit(CHECK_FAILED)
