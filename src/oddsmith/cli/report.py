"""``oddsmith report``: one page about a file of scores."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oddsmith.cli import _options as option

if TYPE_CHECKING:
    from oddsmith.cli._classes import ClassOptions
    from oddsmith.cli._output import CommandOutput

EXAMPLE = "oddsmith report scores.csv -o report.html"


def report(
    file: option.ScoresFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write: .html, .md or .json.")] = Path(
        "report.html"
    ),
    score: option.ScoreColumn = None,
    label: option.LabelColumn = None,
    weight: option.WeightColumn = None,
    positive: option.Positive = None,
    scores: option.ClassColumnNames = None,
    classes: option.Classes = None,
    labels: option.LabelsFile = None,
    sample: option.RowLimit = None,
    costs: Annotated[
        Path | None, typer.Option("--costs", help="Several classes: CSV of costs, one row per decision.")
    ] = None,
    method: option.Methods = None,
    seed: option.Seed = 0,
    scores_are: option.ScoresAre = "auto",
    bad_rows: option.BadRowsOption = "refuse",
    resolution: option.Resolution = "auto",
    force: option.Force = False,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Write a report: verdict, pictures, methods, measures and a cost slider, in one file that needs nothing else.

    Several classes: `oddsmith report classes.csv -o report.html --scores 'p_*' --label label`.
    """
    from oddsmith import _check
    from oddsmith.cli._classes import ClassOptions, are_several, refuse_class_options, refuse_two_class_options
    from oddsmith.cli._output import CommandOutput, print_text
    from oddsmith.files import input_files, replacing
    from oddsmith.report import to_html, to_json, to_markdown

    out = CommandOutput(quiet=quiet, as_json=as_json)
    formats = {".html": to_html, ".htm": to_html, ".md": to_markdown, ".json": to_json}
    if output.suffix.lower() not in formats:
        _check.fail("output must end in .html, .md or .json", output.name, "change the name after -o")
    others = [path for path in (labels, costs) if path is not None]
    with replacing(output, force=force, sources=[*input_files(file), *others]) as page:
        if are_several(file, scores, score):
            refuse_two_class_options(score=score, positive=positive)
            told = ClassOptions(tuple(scores or ()), classes, label, labels, weight, scores_are, bad_rows, sample, seed)
            summary = _class_summary(out, file, told, method, costs)
        else:
            refuse_class_options(classes=classes, labels=labels, sample=sample, costs=costs)
            options = {"score": score, "label": label, "weight": weight, "positive": positive}
            reading = {"bad_rows": bad_rows, "resolution": resolution}
            summary = _summary(out, file, method, seed, scores_are, **options, **reading)
        for method_name, why in summary["methods"]["failed"].items():
            out.remark(f"Left out {method_name}: {why}")
        with out.waiting("Drawing"):
            page.write_text(formats[output.suffix.lower()](summary), encoding="utf-8")
    content = {"output": str(output), "verdict": summary["verdict"], "recommended": summary["recommended"]}
    out.result(content, lambda console: print_text(console, f"{summary['verdict']}\nReport written to {output}"))


def _summary(
    out: "CommandOutput", file: str, method: list[str] | None, seed: int, scores_are: str, **options: Any
) -> dict[str, Any]:
    """Return what the report of two classes says."""
    from oddsmith.calibrators.registry import METHODS, calibrator_named
    from oddsmith.cli._input import meaning_of, next_steps, read_scores
    from oddsmith.report import summarize

    methods = {name: calibrator_named(name, "--method") for name in (method or METHODS)}
    data, roles = read_scores(out, file, **options)
    name = _name(file)
    columns = {"score": roles.score, "label": roles.label, "weight": roles.weight}
    used = ", ".join(f"{role} {column!r}" for role, column in columns.items() if column is not None)
    left_out = {} if data.dropped is None else {"Left out": data.dropped.message}
    steps = next_steps(file, roles, data.labels, *(options[name] for name in ("positive", "bad_rows", "resolution")))
    with out.progress("Comparing methods") as progress:
        return summarize(
            data.table,
            methods,
            name=name,
            labels=data.labels,
            source={"File": name, "Columns": used, **left_out},
            random_state=seed,
            scores_are=meaning_of(scores_are),
            next_steps=steps,
            progress=progress,
        )


def _class_summary(
    out: "CommandOutput", file: str, told: "ClassOptions", method: list[str] | None, costs: Path | None
) -> dict[str, Any]:
    """Return what the report of several classes says."""
    from oddsmith.cli._classes import class_methods, class_next_steps, read_classes
    from oddsmith.files import read_costs
    from oddsmith.report import summarize_classes

    methods = class_methods(method)
    data = read_classes(out, file, told)
    name, columns = _name(file), data.rows.column_names
    facts = {"File": name, "Columns": f"{len(columns)}, {columns[0]!r} to {columns[-1]!r}"}
    if data.dropped is not None:
        facts["Left out"] = data.dropped.message
    if data.sampled:
        facts["Sample"] = f"{data.rows.n_rows:,} of {data.total:,} rows, seed {told.seed}"
    matrix = None if costs is None else read_costs(costs, data.rows.labels).matrix
    with out.progress("Comparing methods") as progress:
        return summarize_classes(
            data.rows,
            methods,
            name=name,
            source=facts,
            costs=matrix,
            random_state=told.seed,
            next_steps=class_next_steps(file, told),
            progress=progress,
        )


def _name(file: str) -> str:
    return "standard input" if file == "-" else Path(file).name
