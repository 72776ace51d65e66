"""``oddsmith threshold``: the cut-off with a guarantee, or of least cost."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oddsmith.cli import _options as option

if TYPE_CHECKING:
    from oddsmith.data import ScoreTable

EXAMPLE = "oddsmith threshold scores.csv --recall 0.9"


def threshold(
    *,
    columns: option.ScoreColumns,
    precision: Annotated[
        float | None, typer.Option("--precision", help="Least share of positives among selected rows.")
    ] = None,
    recall: Annotated[
        float | None, typer.Option("--recall", help="Least share of the positives that is selected.")
    ] = None,
    fpr: Annotated[float | None, typer.Option("--fpr", help="Largest share of the negatives that is selected.")] = None,
    share: Annotated[
        float | None, typer.Option("--share", help="Largest share of all rows that is selected: a capacity.")
    ] = None,
    costs: Annotated[
        Path | None, typer.Option("--costs", help="Instead of a guarantee: CSV of costs, as for oddsmith decide.")
    ] = None,
    level: Annotated[float, typer.Option("--level", help="Probability that the guarantee holds.")] = 0.95,
    model: Annotated[
        Path | None, typer.Option("--model", help="Model file, whose P at the cut-off is printed.")
    ] = None,
    rows: option.RowOptions,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Choose the cut-off that selects the most rows with a guaranteed target, from scores with labels.

    Use rows that neither trained the classifier nor fitted a calibrator. `--precision 0.99` guarantees that 99 % of the
    selected rows are positive, `--recall`, `--fpr` and `--share` accordingly. The file must have scores of two classes.
    """
    from oddsmith import _check
    from oddsmith.cli._input import CommandInput
    from oddsmith.cli._output import CommandOutput
    from oddsmith.cutoffs import CostThreshold, least_cost
    from oddsmith.cutoffs import threshold as guaranteed
    from oddsmith.files import read_two_class_costs

    out = CommandOutput(quiet=quiet, as_json=as_json)
    targets = {"precision": precision, "recall": recall, "fpr": fpr, "share": share}
    given = [f"--{name}" for name, value in {**targets, "costs": costs}.items() if value is not None]
    if len(given) != 1:
        must = "exactly one of --precision, --recall, --fpr, --share and --costs must be given"
        _check.fail(must, " and ".join(given) or "none", "pass one, such as --precision 0.99")
    source = CommandInput(columns, rows, "auto", None, 0)
    if source.several:
        got, hint = "one column per class", "name the column of one class by --score, and its label by --positive"
        _check.fail("a cut-off is for the scores of two classes", got, hint)
    data, _ = source.read_scores(out)
    found: Any
    with out.show_warnings():
        if costs is None:
            found = guaranteed(data.table, level=level, **targets)
        else:
            found = least_cost(data.table, read_two_class_costs(costs, columns.positive).matrix, level)
    at_cut = None if found.cut is None else _probability(data.table, found.cut, level, model)
    content = {**found.to_dict(), "probability": at_cut, "sentence": str(found)}
    lines = [str(found)]
    if at_cut is not None:
        said = f"P at the cut-off is {at_cut['low']:.4g} to {at_cut['high']:.4g} by these rows"
        by_model = "" if at_cut["model"] is None else f", and {at_cut['model']:.6g} by the model"
        lines = [f"score >= {found.cut!r}", f"{said}{by_model}.", *_selection_lines(found), *lines]
    if isinstance(found, CostThreshold):
        lines.append(f"Cost per row of the file: {found.mean_cost:.4g}.")
    out.result(content, "\n".join(lines))


def _selection_lines(found: Any) -> list[str]:
    """Return what a guaranteed cut-off selects from the file."""
    share = f"It selects {found.selected:,} of {found.rows:,} rows ({found.selected / found.rows:.2%})"
    figures = {name: getattr(found, name, math.nan) for name in ("precision", "recall", "fpr")}
    reached = ", ".join(f"{name} {value:.4g}" for name, value in figures.items() if not math.isnan(value))
    return [f"{share}: {reached}." if reached else f"{share}."]


def _probability(table: "ScoreTable", cut: float, level: float, model: Path | None) -> dict[str, float | None]:
    """Return the limits of P at a cut-off by the table, and P by a model."""
    from oddsmith.bands import pointwise_band
    from oddsmith.model import load

    low, high = pointwise_band(table, level).limits([cut])[0].tolist()
    return {"low": low, "high": high, "model": None if model is None else float(load(model).probability([cut])[0])}
