"""``oddsmith shift``: a model for another base rate."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from oddsmith.cli import _options as option

EXAMPLE = "oddsmith shift model.json --to-rate 0.02 -o new.json"

#: Heading of options in the help.
_TRAINING = "Undo how the classifier was trained"


def shift(
    *,
    model: Annotated[
        Path | None, typer.Argument(metavar="MODEL", help="Model file; none for a classifier's own probabilities.")
    ] = None,
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
    scale_pos_weight: Annotated[
        float | None,
        typer.Option("--scale-pos-weight", rich_help_panel=_TRAINING, help="Weight of the positive class in training."),
    ] = None,
    class_weight: Annotated[
        str | None,
        typer.Option(
            "--class-weight", metavar="WEIGHTS", rich_help_panel=_TRAINING, help="Weight of each class: 0=1,1=10."
        ),
    ] = None,
    kept: Annotated[
        str | None,
        typer.Option(
            "--kept",
            metavar="SHARE",
            rich_help_panel=_TRAINING,
            help="Share of the negatives that training kept; of each class: 0=0.1,1=1.",
        ),
    ] = None,
    scores_are: Annotated[
        Literal["probability", "log-odds"] | None,
        typer.Option(
            "--scores-are",
            rich_help_panel=_TRAINING,
            help="What the classifier's scores are, without MODEL. [default: probability]",
        ),
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

    Without MODEL, for a classifier that has no calibrator: `oddsmith shift --scale-pos-weight 10 -o undone.json` writes
    a model that undoes weights, or a selection of rows, of its training.
    """
    from oddsmith import _check
    from oddsmith.base_rates import base_rates, estimate_prior, shift_prior, undo_weights
    from oddsmith.cli._input import omission_note, refuse_options
    from oddsmith.cli._output import CommandOutput
    from oddsmith.files import open_scores, read_unlabeled
    from oddsmith.model import load

    out = CommandOutput(quiet=quiet, as_json=as_json)
    training: dict[str, Any] = {
        "scale_pos_weight": scale_pos_weight,
        "class_weight": None if class_weight is None else _per_class(class_weight, "--class-weight"),
        "kept": None if kept is None else _per_class(kept, "--kept"),
    }
    if undone := {name: value for name, value in training.items() if value is not None}:
        words = "shifts to other base rates, not for weights of the training"
        refuse_options(words, to_rate=to_rate, to_data=to_data, from_rate=from_rate)
        if model is not None:
            refuse_options("scores without a model", scores_are=scores_are)
        meaning: Literal["probability", "log_odds"] = "log_odds" if scores_are == "log-odds" else "probability"
        undo_weights(None if model is None else load(model), **undone, input=meaning).save(output, force=force)
        described = ", ".join(f"--{name.replace('_', '-')}" for name in undone)
        of = "a classifier's own scores" if model is None else "a model"
        out.result(
            {"output": str(output), "undone": undone}, f"Model that undoes {described} of {of} written to {output}"
        )
        return
    refuse_options("weights of the training, such as --scale-pos-weight", scores_are=scores_are)
    if (to_rate is None) == (to_data is None):
        got = "none" if to_rate is None else "both"
        hint = "pass --to-rate 0.02, a file of new scores, or what the training used, such as --scale-pos-weight 10"
        _check.fail("one of --to-rate and --to-data must be given", got, hint)
    if model is None:
        must = "a model must be given for --to-rate and --to-data"
        _check.fail(must, "none", "pass a model file: oddsmith shift model.json --to-rate 0.02 -o new.json")
    fitted = load(model)
    estimate = None
    if to_rate is not None:
        rates = _per_class(to_rate, "--to-rate")
    else:
        if from_rate is not None:
            _check.fail("--from-rate goes with --to-rate", "--to-data", "leave one of them out")
        with open_scores(str(to_data)) as opened, out.progress(f"Reading {opened.name}") as progress:
            rows, dropped, message = read_unlabeled(opened, fitted, scores or (), bad_rows=bad_rows, progress=progress)
        out.remark(message)
        out.remark(omission_note(dropped))
        with out.show_warnings():
            estimate = estimate_prior(fitted, rows[:, 0] if fitted.has_one_score else rows)
        out.remark(str(estimate))
        rates = dict(zip(estimate.labels, estimate.rates, strict=True))
        if min(estimate.rates) <= 0:
            got = ", ".join(f"{label}: {rate:g}" for label, rate in rates.items())
            _check.fail("every class must have an estimated share above 0", got, "pass --to-rate with a share you know")
    start = _per_class(from_rate, "--from-rate") if from_rate is not None else None
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


def _per_class(text: str, name: str) -> Any:
    """Return the number, or that of each label, that an option contains."""
    from oddsmith import _check

    try:
        if "=" not in text:
            return float(text)
        pairs = [part.rpartition("=") for part in text.split(",")]
        return {label.strip(): float(rate) for label, _, rate in pairs}
    except ValueError:
        _check.fail(f"{name} must be a number, or label=number with commas", repr(text), f"write {name} 0=0.9,1=0.1")
