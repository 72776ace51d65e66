"""``oddsmith plan``: how many labels a question about calibration needs."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from oddsmith.cli import _options as option

if TYPE_CHECKING:
    from rich.console import Console

EXAMPLE = "oddsmith plan predictions.csv --probability p --slope 0.3 --auc 0.1"

Width = float | None


def plan(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="File of probabilities like those to be labeled.")
    ] = None,
    scores: option.ProbabilityNames = None,
    beta: Annotated[
        tuple[float, float] | None,
        typer.Option("--beta", help="Instead of a file: parameters of a Beta distribution of P."),
    ] = None,
    slope: Annotated[Width, typer.Option("--slope", help="Width of the interval of the slope.")] = None,
    intercept: Annotated[Width, typer.Option("--intercept", help="Width of the interval of the intercept.")] = None,
    oe: Annotated[
        Width, typer.Option("--oe", help="Width of the interval of observed over expected positives.")
    ] = None,
    auc: Annotated[Width, typer.Option("--auc", help="Width of the interval of AUC.")] = None,
    error: Annotated[Width, typer.Option("--error", help="Width of the interval of the mean error of P.")] = None,
    gain: Annotated[
        tuple[float, float] | None,
        typer.Option("--gain", help="Show the gain in log-loss of this true offset and slope."),
    ] = None,
    level: Annotated[float, typer.Option("--level", help="Level of the intervals.")] = 0.95,
    power: Annotated[float, typer.Option("--power", help="Probability to show the gain.")] = 0.8,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Plan how many labels a question about calibration needs, for calibrated probabilities.

    Default widths: slope 0.2, observed over expected 0.2 and AUC 0.1, as in guidance on external validation.
    """
    from oddsmith import _check
    from oddsmith.cli._output import CommandOutput, print_text, table_of
    from oddsmith.files import choose_columns, open_scores, read_table
    from oddsmith.maps import logit
    from oddsmith.planning import labels_needed

    out = CommandOutput(quiet=quiet, as_json=as_json)
    widths = {"slope": slope, "intercept": intercept, "oe": oe, "auc": auc, "error": error}
    given: dict[str, Any] = {name: width for name, width in widths.items() if width is not None}
    law: Any = None
    if file is not None:
        with open_scores(file) as opened:
            roles = choose_columns(opened, scores or (), kind="probability", one=True, needs_label=False)
            out.remark(roles.message)
            table = read_table(opened, roles, needs_label=False).table
        low, high = table.span()
        if low < 0 or high > 1:
            got, hint = f"values from {low:g} to {high:g}", "calibrate scores first (oddsmith fit, oddsmith apply)"
            _check.fail("probabilities must lie in [0, 1]", got, hint)
        law = table.map(logit)
    asked = None if not given and gain is None else given
    found = labels_needed(law, beta=beta, widths=asked, gain=gain, level=level, power=power)

    def show(console: "Console") -> None:
        rows = [
            (name, f"{given.get(name, 0):g}" if name in given else "", f"{n:,}") for name, n in found.needed.items()
        ]
        console.print(table_of(["question"], ["width", "labels"], rows))
        errors = found.standard_errors(found.labels)
        shown = ", ".join(f"{name} {one:.3g}" for name, one in errors.items())
        print_text(console, f"{found.labels:,} labels. Standard errors then: {shown}.")

    out.result(found.to_dict(), show)
