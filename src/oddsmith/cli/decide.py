"""``oddsmith decide``: the decision of least expected cost."""

from pathlib import Path
from typing import Annotated, Any

import typer

from oddsmith.cli import _options as option

EXAMPLE = "oddsmith decide predictions.csv --probability p --costs costs.csv -o decisions.csv"

#: What not deciding is called.
ABSTAIN = "abstain"


def decide(
    *,
    file: option.ScoresFile,
    costs: Annotated[
        Path,
        typer.Option(
            "--costs",
            help="CSV: the header names the classes; each line contains the costs of a decision, in their order.",
        ),
    ],
    output: option.CopyOutput,
    positive: option.Positive = None,
    scores: option.ProbabilityNames = None,
    classes: option.Classes = None,
    abstain_cost: Annotated[
        float | None,
        typer.Option("--abstain-cost", help="Cost of abstaining; the decision is then 'abstain' for some rows."),
    ] = None,
    name: Annotated[str, typer.Option("--name", help="Name of the new column.")] = "least_cost_decision",
    bad_rows: option.BadRowsOption = "refuse",
    text: option.TextOptions,
    force: option.Force = False,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Write a copy of a file with the decision of least expected cost for each row, and that cost.

    Several classes: `oddsmith decide classes.csv --scores 'p_*' --costs costs.csv -o decisions.csv`.
    """
    import numpy as np

    from oddsmith import _check
    from oddsmith.cli._input import names_in, omission_note, refuse_options
    from oddsmith.cli._output import CommandOutput, writable_file
    from oddsmith.decide import decide as least_cost
    from oddsmith.decide import expected_cost
    from oddsmith.files import (
        NewColumn,
        add_columns,
        choose_columns,
        open_scores,
        probability_inputs,
        read_costs,
        read_two_class_costs,
        score_inputs,
        scores_of,
    )

    out = CommandOutput(quiet=quiet, as_json=as_json, output=output)
    price = None if abstain_cost is None else _check.number(abstain_cost, "--abstain-cost", low=-np.inf)
    with open_scores(file, text=text.text) as opened, writable_file(output, opened.suffix) as target:
        columns = choose_columns(opened, scores or (), classes=names_in(classes), kind="probability", needs_label=False)
        out.remark(columns.message)
        if len(columns.scores) > 1:
            refuse_options("the scores of two classes", positive=positive)
            found, inputs = read_costs(costs, columns.classes), score_inputs(opened, columns, "probabilities")
        else:
            found, inputs = read_two_class_costs(costs, positive), probability_inputs(opened, [columns.scores])
        k = len(inputs.expressions)
        decisions: tuple[Any, ...] = found.decisions
        if price is not None:
            low, high = float(found.matrix.min()), float(found.matrix.max())
            if price < min(low, 0.0):
                got = f"{price:g} with costs from {low:g} to {high:g}"
                _check.fail("--abstain-cost must not be below every cost", got, "pass a price between them")
            if ABSTAIN in map(str, decisions):
                _check.fail(f"no decision may be called {ABSTAIN}", f"one in {costs}", "call it otherwise")
            decisions = (*map(str, decisions), ABSTAIN)
        times, paid = np.zeros(len(decisions), np.int64), 0.0

        def compute(batch: Any) -> list[Any]:
            nonlocal times, paid
            values = scores_of(batch, k, "probabilities")
            p = values[:, 0] if k == 1 else values
            chosen = least_cost(p, found.matrix, abstain=price)
            expected = expected_cost(p, found.matrix)
            if price is not None:
                expected = np.column_stack([expected, np.full(len(expected), price)])
            at = np.where(chosen < 0, len(decisions) - 1, chosen)
            cost = np.take_along_axis(expected, at[:, None], axis=1)[:, 0]
            times, paid = times + np.bincount(at, minlength=len(decisions)), paid + float(cost.sum())
            return [at, cost]

        with out.progress(f"Writing {output}") as progress:
            rows, dropped = add_columns(
                opened,
                inputs,
                [NewColumn(name, choices=decisions), NewColumn("expected_cost")],
                compute,
                target,
                bad_rows=bad_rows,
                force=force,
                sources=[costs],
                progress=progress,
            )
    out.remark(omission_note(dropped))
    taken = {str(each): int(n) for each, n in zip(decisions, times, strict=True)}
    mean = paid / max(rows, 1)
    told = ", ".join(f"{n:,} × {each}" for each, n in taken.items())
    content = {"output": str(output), "rows": rows, "decisions": taken, "mean_expected_cost": mean}
    out.result(content, f"{rows:,} rows written to {output}: {told}; expected cost per row {mean:.4g}")
