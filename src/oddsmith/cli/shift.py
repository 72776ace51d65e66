"""``oddsmith shift``: a model for another base rate."""

from pathlib import Path
from typing import Annotated, Any

import typer

from oddsmith.cli import _options as option

EXAMPLE = "oddsmith shift model.json --to-rate 0.02 -o new.json"


def shift(
    model: option.ModelFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="Model file to write, .json.")],
    to_rate: Annotated[
        str | None,
        typer.Option(
            "--to-rate", metavar="RATE", help="New share of positives; several classes: a=0.2,b=0.5,c=0.3 by label."
        ),
    ] = None,
    to_data: Annotated[
        str | None,
        typer.Option("--to-data", metavar="FILE", help="Scores without labels, from which the new share is estimated."),
    ] = None,
    from_rate: Annotated[
        str | None,
        typer.Option("--from-rate", metavar="RATE", help="Share that the model is for. [default: that of its fit]"),
    ] = None,
    scores: option.ScoreNames = None,
    bad_rows: option.BadRowsOption = "refuse",
    force: option.Force = False,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Write a model for rows with other base rates than those of its fit.

    With `--to-data`, the share is estimated from scores without labels: `oddsmith shift model.json --to-data
    new.parquet -o new.json`. This assumes that the scores of each class are distributed as before.
    """
    from oddsmith import _check
    from oddsmith.base_rates import base_rates, estimate_prior, shift_prior
    from oddsmith.cli._input import left_out
    from oddsmith.cli._output import CommandOutput
    from oddsmith.files import open_scores, read_unlabeled
    from oddsmith.model import load

    out = CommandOutput(quiet=quiet, as_json=as_json)
    if (to_rate is None) == (to_data is None):
        got = "none" if to_rate is None else "both"
        _check.fail("either --to-rate or --to-data must be given", got, "pass --to-rate 0.02, or a file of new scores")
    fitted = load(model)
    estimate = None
    if to_rate is not None:
        rates: Any = _rates(to_rate, "--to-rate")
    else:
        if from_rate is not None:
            _check.fail("--from-rate goes with --to-rate", "--to-data", "leave one of them out")
        with open_scores(str(to_data)) as opened, out.progress(f"Reading {opened.name}") as progress:
            rows, dropped, message = read_unlabeled(opened, fitted, scores or (), bad_rows=bad_rows, progress=progress)
        out.remark(message)
        out.remark(left_out(dropped))
        estimate = estimate_prior(fitted, rows[:, 0] if fitted.has_one_score else rows)
        out.remark(str(estimate))
        rates = dict(zip(estimate.labels, estimate.rates, strict=True))
        if min(estimate.rates) <= 0:
            got = ", ".join(f"{label}: {rate:g}" for label, rate in rates.items())
            _check.fail("every class must have an estimated share above 0", got, "pass --to-rate with a share you know")
    start = _rates(from_rate, "--from-rate") if from_rate is not None else None
    shifted = shift_prior(fitted, rates, start)
    shifted.save(output, force=force)
    old = base_rates(fitted) if start is None else base_rates(shift_prior(fitted, start, start))
    new = base_rates(shifted)
    labels = [str(label) for label in fitted.labels]
    content: dict[str, Any] = {
        "output": str(output),
        "from_rates": dict(zip(labels, old, strict=True)),
        "to_rates": dict(zip(labels, new, strict=True)),
        "estimate": None if estimate is None else estimate.to_dict(),
    }
    told = ", ".join(
        f"{label} {a:.4g} → {b:.4g}" for label, a, b in list(zip(labels, old, new, strict=True))[len(labels) == 2 :]
    )
    out.result(content, f"Model with another base rate written to {output}: {told}")


def _rates(text: str, name: str) -> float | dict[str, float]:
    """Return the rate, or that of each label, that an option contains."""
    from oddsmith import _check

    try:
        if "=" not in text:
            return float(text)
        pairs = [part.rpartition("=") for part in text.split(",")]
        return {label.strip(): float(rate) for label, _, rate in pairs}
    except ValueError:
        _check.fail(f"{name} must be a share, or label=share with commas", repr(text), f"write {name} 0.02")
