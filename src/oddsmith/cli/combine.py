"""``oddsmith combine``: one answer from several classifiers."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from oddsmith.cli import _options as option

if TYPE_CHECKING:
    from oddsmith._types import Label
    from oddsmith.files import Columns

EXAMPLE = "oddsmith combine several.csv --probability p_forest --probability p_net -o combined.csv"

Rule = Literal["mean-probability", "mean-log-odds", "independent-evidence"]


def combine(
    *,
    file: option.ScoresFile,
    output: option.CopyOutput,
    probability: Annotated[
        list[str] | None,
        typer.Option("--probability", "-p", help="Two classes: column of the probability, once per classifier."),
    ] = None,
    scores: Annotated[
        list[str] | None,
        typer.Option(
            "--scores", metavar="COLUMNS", help="Several classes: columns such as 'a_*', once per classifier."
        ),
    ] = None,
    rule: Annotated[
        Rule,
        typer.Option(
            "--rule",
            help="mean-probability: one classifier is right; mean-log-odds: all use the same evidence; "
            "independent-evidence: each uses different evidence.",
        ),
    ] = "mean-log-odds",
    prior: Annotated[
        str | None,
        typer.Option(
            "--prior",
            metavar="P",
            help="For independent-evidence: share of the positive class, or of each class joined by commas.",
        ),
    ] = None,
    name: Annotated[
        str, typer.Option("--name", help="Name of the new column; several classes: NAME_LABEL each.")
    ] = "combined",
    bad_rows: option.BadRowsOption = "refuse",
    text: option.TextOptions,
    force: option.Force = False,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Write a copy of a file with the combined probability of several calibrated classifiers.

    Several classes: `oddsmith combine several.csv --scores 'forest_*' --scores 'net_*' -o combined.csv`.
    """
    import numpy as np

    from oddsmith import _check
    from oddsmith import combine as rules
    from oddsmith.cli._input import omission_note
    from oddsmith.cli._output import CommandOutput, writable_file
    from oddsmith.files import (
        NewColumn,
        add_columns,
        choose_columns,
        known_column,
        open_scores,
        probability_inputs,
    )

    out = CommandOutput(quiet=quiet, as_json=as_json, output=output)
    given = probability or scores or []
    if bool(probability) == bool(scores) or len(given) < 2:
        got = f"{len(probability or [])} of --probability and {len(scores or [])} of --scores"
        hint = "pass --probability (two classes) or --scores (several) once per classifier"
        _check.fail("two classifiers or more must be combined, of the same kind", got, hint)
    shares = _shares(prior, rule)
    chosen = getattr(rules, rule.replace("-", "_"))
    with open_scores(file, text=text.text) as opened, writable_file(output, opened.suffix) as target:
        if probability:
            names = [known_column(opened, "--probability", each) for each in probability]
            inputs, new = probability_inputs(opened, [[each] for each in names]), [NewColumn(name)]
            if shares is not None and len(shares) != 1:
                _check.fail("--prior must be one number for two classes", str(prior), "pass the share of the positive")
            options: dict[str, Any] = {} if shares is None else {"prior": float(shares[0])}
        else:
            parts = [choose_columns(opened, [each], needs_label=False) for each in scores or []]
            classes = parts[0].classes
            inputs = probability_inputs(opened, [_in_order(part, classes) for part in parts])
            new = [NewColumn(f"{name}_{label}", array="combined_probabilities") for label in classes]

        def compute(batch: Any) -> list[Any]:
            columns = np.column_stack([np.ma.getdata(batch[each]) for each in inputs.expressions])
            if probability:
                return [rules.combine_probabilities(columns, chosen, **options)]
            p = columns.reshape(len(columns), len(parts), -1)
            return list(rules.combine_class_probabilities(p / p.sum(axis=2, keepdims=True), chosen, shares).T)

        with out.progress(f"Writing {output}") as progress:
            rows, dropped = add_columns(
                opened, inputs, new, compute, target, bad_rows=bad_rows, force=force, progress=progress
            )
    out.remark(omission_note(dropped))
    content = {"output": str(output), "rows": rows, "rule": rule, "classifiers": len(given)}
    out.result(content, f"{rows:,} rows written to {output}: {len(given)} classifiers, {rule}")


def _shares(prior: str | None, rule: str) -> Any:
    """Return the numbers of ``--prior``, which one rule needs and others do not take."""
    import numpy as np

    from oddsmith import _check

    needed = rule == "independent-evidence"
    if needed != (prior is not None):
        must = f"--rule {rule} {'needs' if needed else 'takes no'} --prior"
        _check.fail(must, "none" if prior is None else prior, "pass --prior with --rule independent-evidence alone")
    if prior is None:
        return None
    try:
        return np.array([float(part) for part in prior.split(",")])
    except ValueError:
        _check.fail("--prior must be numbers joined by commas", prior, "write --prior 0.3 or --prior 0.5,0.3,0.2")


def _in_order(part: "Columns", classes: "tuple[Label, ...]") -> tuple[str, ...]:
    """Return the columns of a classifier in the order of the classes of the first."""
    from oddsmith import _check

    if set(part.classes) != set(classes):
        got = f"{', '.join(map(str, part.classes))} and {', '.join(map(str, classes))}"
        _check.fail("all classifiers must have the same classes", got, "check the patterns after --scores")
    place = dict(zip(part.classes, part.scores, strict=True))
    return tuple(place[each] for each in classes)
