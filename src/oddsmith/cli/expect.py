"""``oddsmith expect``: what a model promises for rows without labels, and whether it kept its promises."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oddsmith.cli import _options as option
from oddsmith.cli._exit import CHECK_FAILED

if TYPE_CHECKING:
    from rich.console import Console

    from oddsmith.cli._output import CommandOutput
    from oddsmith.expected import Promise

EXAMPLE = "oddsmith expect model.json new.parquet"


def expect(
    model: option.ModelFile,
    file: option.ScoresFile,
    scores: option.ScoreNames = None,
    threshold: Annotated[
        list[float] | None,
        typer.Option("--threshold", "-t", help="Rows are selected from this P on; may be repeated. [default: 0.5]"),
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", help="Column whose values each get an estimate. [default: as fitted]")
    ] = None,
    costs: Annotated[
        Path | None, typer.Option("--costs", help="CSV of costs, as for oddsmith decide; adds the expected cost.")
    ] = None,
    calibration: Annotated[
        Path | None, typer.Option("--calibration", help="File of the rows of the fit: how exact the model is.")
    ] = None,
    labels: Annotated[
        bool, typer.Option("--labels", help="The file has labels: have the promises been kept? Exit code 1 if not.")
    ] = False,
    label: option.LabelColumn = None,
    positive: option.Positive = None,
    bad_rows: option.BadRowsOption = "refuse",
    seed: option.Seed = 0,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Estimate accuracy, precision, recall, F1, AUC, log-loss and Brier score of rows whose labels have not arrived.

    While the probabilities hold, they say how many of any selection of rows are positive. What no row without a label
    shows: that the share of positives at a given score has moved. `oddsmith watch` shows it once labels arrive.
    """
    from oddsmith import _check
    from oddsmith.cli._input import model_table
    from oddsmith.cli._output import CommandOutput, print_text, table_of
    from oddsmith.expected import expected_performance, promises
    from oddsmith.files import read_two_class_costs
    from oddsmith.model import load

    out = CommandOutput(quiet=quiet, as_json=as_json)
    fitted = load(model)
    options: dict[str, Any] = {"thresholds": threshold or [0.5], "random_state": seed}
    if costs is not None:
        options["costs"] = read_two_class_costs(costs, positive).matrix
    columns: dict[str, Any] = {"scores": scores, "label": label, "positive": positive}
    if calibration is not None:
        options["calibration"] = model_table(out, str(calibration), fitted, **columns).table
    if labels:
        if by is not None or fitted.by is not None:
            _check.fail("--labels compares all rows at once", "segments", "leave --by out, or split the file")
        labeled = model_table(out, file, fitted, **columns, bad_rows=bad_rows)
        _show_promises(out, promises(fitted, labeled.table, **options))
        return
    segments = by if by is not None else fitted.by
    data = model_table(out, file, fitted, scores=scores, by=segments, bad_rows=bad_rows, labeled=False)
    found = expected_performance(fitted, data.segments or data.table, **options)

    def show(console: "Console") -> None:
        each_of = {"": found, **found.chunks}
        rows = [
            ((name,) if len(each_of) == 1 else (chunk, name)) + (f"{one.value:.4f}", f"{one.low:.4f} to {one.high:.4f}")
            for chunk, each in each_of.items()
            for name, one in each.measures.items()
        ]
        names = ["measure"] if len(each_of) == 1 else [str(segments), "measure"]
        title = f"{found.rows:,} rows, {found.prevalence:.1%} expected positive"
        console.print(table_of(names, ["expected", "interval"], rows, title=title))
        for note in found.notes:
            print_text(console, note)

    out.result(found.to_dict(), show)


def _show_promises(out: "CommandOutput", found: "dict[str, Promise]") -> None:
    """Print which promises were kept; exit code 1 if any was not."""
    from oddsmith.cli._output import table_of

    kept = all(one.kept is not False for one in found.values())
    rows = [
        (
            name,
            f"{one.expected:.4f}",
            f"{one.low:.4f} to {one.high:.4f}",
            f"{one.observed:.4f}",
            {True: "kept", False: "BROKEN", None: ""}[one.kept],
        )
        for name, one in found.items()
    ]
    content = {"kept": kept, "promises": {name: one.to_dict() for name, one in found.items()}}
    figures = ["expected", "interval", "observed", ""]
    out.result(content, lambda console: console.print(table_of(["measure"], figures, rows)))
    if not kept:
        raise typer.Exit(CHECK_FAILED)
