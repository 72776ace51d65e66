"""``oddsmith expect``: expected measures of rows without labels, and the observed ones once labels have arrived."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oddsmith.cli import _options as option
from oddsmith.cli._exit import CHECK_FAILED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from oddsmith._types import Floats
    from oddsmith.cli._output import CommandOutput
    from oddsmith.expected import Promise
    from oddsmith.frames import BadRowPolicy
    from oddsmith.model import Model

EXAMPLE = "oddsmith expect model.json new.parquet"


def expect(
    model: option.ModelFile,
    file: option.ScoresFile,
    scores: option.ScoreNames = None,
    threshold: Annotated[
        list[float] | None,
        typer.Option(
            "--threshold", "-t", help="Rows with at least this P are selected; may be repeated. [default: 0.5]"
        ),
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", help="Column whose values each get an estimate. [default: as fitted]")
    ] = None,
    costs: Annotated[
        Path | None, typer.Option("--costs", help="CSV of costs, as for oddsmith decide; adds the expected cost.")
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option("--calibration", help="File of the rows of the fit, which determine how exact the model is."),
    ] = None,
    labels: Annotated[
        bool,
        typer.Option(
            "--labels",
            help="The file has labels: compare them with the estimates; exit code 1 if a measure is outside its "
            "interval.",
        ),
    ] = False,
    label: option.LabelColumn = None,
    positive: option.Positive = None,
    bad_rows: option.BadRowsOption = "refuse",
    seed: option.Seed = 0,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Estimate accuracy, precision, recall, F1, AUC, log-loss and Brier score of rows whose labels have not arrived.

    With several classes the decision is the most probable class; precision, recall and F1 are means over classes.

    While the probabilities are right, they determine the expected number of positives in any selection of rows. Without
    labels, a changed share of positives at a given score cannot be seen; `oddsmith watch` shows it once labels arrive.
    """
    from oddsmith import _check
    from oddsmith.cli._input import class_rows, model_table, segments_in
    from oddsmith.cli._output import CommandOutput, print_text, table_of
    from oddsmith.expected import expected_performance, promises
    from oddsmith.files import read_costs, read_two_class_costs
    from oddsmith.model import load

    out = CommandOutput(quiet=quiet, as_json=as_json)
    fitted = load(model)
    options: dict[str, Any] = {"random_state": seed} | ({"thresholds": threshold} if threshold else {})
    segments = segments_in(by, fitted)
    if labels and segments is not None:
        _check.fail("--labels compares all rows at once", "segments", "leave --by out, or split the file")
    if not fitted.has_one_score and segments is not None:
        _check.fail("files of several classes are one chunk", f"--by {segments}", "leave --by out, or split the file")

    def rows(path: str, labeled: bool = True, bad_rows: "BadRowPolicy" = "refuse") -> Any:
        if not fitted.has_one_score and not labeled:
            return _class_values(out, path, fitted, scores or (), bad_rows)
        if not fitted.has_one_score:
            return class_rows(out, path, fitted, scores or (), label, bad_rows=bad_rows)
        sign = {"label": label, "positive": positive} if labeled else {"by": segments, "labeled": False}
        data = model_table(out, path, fitted, scores=scores, **sign, bad_rows=bad_rows)
        return data.segments or data.table

    if costs is not None:
        two = fitted.has_one_score
        read = read_two_class_costs(costs, positive) if two else read_costs(costs, fitted.labels)
        options["costs"] = read.matrix
    if calibration is not None:
        options["calibration"] = rows(str(calibration))
    if labels:
        _show_promises(out, promises(fitted, rows(file, bad_rows=bad_rows), **options))
        return
    found = expected_performance(fitted, rows(file, labeled=False, bad_rows=bad_rows), **options)

    def show(console: "Console") -> None:
        each_of = {"": found, **found.chunks}
        shown = [
            ((name,) if len(each_of) == 1 else (chunk, name)) + (f"{one.value:.4f}", f"{one.low:.4f} to {one.high:.4f}")
            for chunk, each in each_of.items()
            for name, one in each.measures.items()
        ]
        by_names = segments if isinstance(segments, str) else ", ".join(segments or ())
        names = ["measure"] if len(each_of) == 1 else [by_names, "measure"]
        console.print(table_of(names, ["expected", "interval"], shown, title=found.headline))
        for note in found.notes:
            print_text(console, note)

    out.result(found.to_dict(), show)


def _class_values(
    out: "CommandOutput", path: str, model: "Model", scores: "Sequence[str]", bad_rows: "BadRowPolicy"
) -> "Floats":
    """Read rows without labels for a model of several classes."""
    from oddsmith.cli._input import omission_note
    from oddsmith.files import open_scores, read_unlabeled

    with open_scores(path) as file, out.progress(f"Reading {file.name}") as progress:
        values, dropped, message = read_unlabeled(file, model, scores, bad_rows=bad_rows, progress=progress)
    out.remark(message)
    out.remark(omission_note(dropped))
    return values


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
