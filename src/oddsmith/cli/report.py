"""``oddsmith report``: one page about a file of scores."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from oddsmith.cli import _options as option

if TYPE_CHECKING:
    from oddsmith.audit import Audit
    from oddsmith.cli._input import CommandInput
    from oddsmith.cli._output import CommandOutput
    from oddsmith.data import ScoreTable

EXAMPLE = "oddsmith report scores.csv -o report.html"


def report(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write: .html, .md or .json.")] = Path(
        "report.html"
    ),
    columns: option.ScoreColumns,
    sample: option.RowLimit = None,
    costs: Annotated[
        Path | None, typer.Option("--costs", help="Several classes: CSV of costs, one row per decision.")
    ] = None,
    method: option.Methods = None,
    seed: option.Seed = 0,
    scores_are: option.ScoresAre = "auto",
    groups: option.GroupColumn = None,
    by: option.ResultSegments = None,
    sheet: Annotated[
        Literal["clinical"] | None,
        typer.Option("--for", help="Add the sheet of a field: 'clinical', for prediction models in medicine."),
    ] = None,
    rows: option.RowOptions,
    force: option.Force = False,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Write a report: verdict, pictures, methods, measures and a cost slider, in one self-contained file.

    Several classes: `oddsmith report classes.csv -o report.html --scores 'p_*' --label label`.
    """
    from oddsmith import _check
    from oddsmith.cli._input import CommandInput, refuse_options
    from oddsmith.cli._output import CommandOutput
    from oddsmith.cli._segments import refuse_groups
    from oddsmith.files import replacing
    from oddsmith.report import WRITERS, with_audit

    out = CommandOutput(quiet=quiet, as_json=as_json)
    if output.suffix.lower() not in WRITERS:
        _check.fail("output must end in .html, .md or .json", output.name, "change the name after -o")
    source = CommandInput(columns, rows, scores_are, sample, seed, groups, by)
    refuse_groups(source)
    if source.several:
        refuse_options("the scores of two classes", **{"for": sheet})
    with replacing(output, force=force, sources=[*source.files, *([] if costs is None else [costs])]) as page:
        summarized = _summarizer(out, source, method, costs)
        extra = {} if sheet is None else {"sheet": sheet}
        with out.progress("Comparing methods") as progress:
            summary = summarized(random_state=seed, progress=progress, **extra)
        if by is not None and not source.several:
            table, methods = summarized.args
            found = _audit(out, source, by, summary["recommended"], table, methods)
            summary = summary if found is None else with_audit(summary, found, summary["recommended"])
        for method_name, why in summary["methods"]["failed"].items():
            out.remark(f"Left out {method_name}: {why}")
        for segment, why in summary["segments"]["failed"].items() if by is not None else ():
            out.remark(f"Segment {segment} is not compared: {why}")
        with out.waiting("Drawing"):
            page.write_text(WRITERS[output.suffix.lower()](summary), encoding="utf-8")
    content = {"output": str(output), "verdict": summary["verdict"], "recommended": summary["recommended"]}
    out.result(content, f"{summary['verdict']}\nReport written to {output}")


def _summarizer(
    out: "CommandOutput", source: "CommandInput", method: list[str] | None, costs: Path | None
) -> partial[dict[str, Any]]:
    """Read a file, and return what makes a summary of it."""
    from oddsmith.cli._input import class_methods, refuse_options, table_methods
    from oddsmith.cli._segments import segments_of
    from oddsmith.files import read_costs
    from oddsmith.report import summarize

    file = source.columns.file
    name = "standard input" if file == "-" else Path(file).name
    facts = {"File": name}
    if source.several:
        joint = class_methods(method)
        read = source.read_classes(out)
        names = read.rows.column_names
        facts["Columns"] = f"{len(names)}, {names[0]!r} to {names[-1]!r}"
        if source.by is not None:
            facts["Segments"] = f"by {', '.join(map(repr, source.roles.by))}"
        if read.dropped is not None:
            facts["Left out"] = read.dropped.message
        if read.sampled:
            facts["Sample"] = f"{read.rows.n_rows:,} of {read.total:,} rows, seed {source.seed}"
        matrix = None if costs is None else read_costs(costs, read.rows.labels).matrix
        steps = source.class_next_steps()
        if source.groups is not None:
            facts["Groups"] = f"column {source.groups!r}"
        return partial(
            summarize,
            read.rows,
            joint,
            name=name,
            source=facts,
            costs=matrix,
            groups=read.groups,
            segments=segments_of(source, read.segments, out) if source.by is not None else None,
            next_steps=steps,
        )
    refuse_options("several classes, one column for each (--scores 'p_*')", costs=costs)
    calibrators = table_methods(method)
    data, roles = source.read_scores(out)
    columns = {"score": roles.score, "label": roles.label, "weight": roles.weight, "groups": roles.groups}
    named = [f"{role} {column!r}" for role, column in columns.items() if column is not None]
    facts["Columns"] = ", ".join([*named, *(f"segments by {column!r}" for column in roles.by)])
    if data.dropped is not None:
        facts["Left out"] = data.dropped.message
    return partial(
        summarize,
        data.table,
        calibrators,
        name=name,
        labels=data.labels,
        source=facts,
        input=source.meaning,
        groups=data.segments if source.groups is not None else None,
        segments=segments_of(source, data.segments, out) if source.by is not None else None,
        next_steps=source.next_steps(roles, data.labels),
    )


def _audit(
    out: "CommandOutput",
    source: "CommandInput",
    by: str,
    recommended: str,
    table: "ScoreTable",
    methods: dict[str, Any],
) -> "Audit | None":
    """Audit the segments of the recommended probabilities; None, and a remark, where that cannot be done."""
    import warnings

    from oddsmith.audit import audit
    from oddsmith.calibrators import fit_method
    from oddsmith.cli._input import names_in
    from oddsmith.errors import InvalidInputError, OddsmithWarning
    from oddsmith.files import known_column, open_scores, read_segments
    from oddsmith.frames import apply
    from oddsmith.report import BASE_RATE

    told = source.columns
    if told.file == "-" or recommended == BASE_RATE:
        why = "standard input can be read once only" if told.file == "-" else "the base rate is the best forecast"
        out.remark(f"Segments are not audited: {why}.")
        return None
    with open_scores(told.file, told.labels) as file:
        named = [known_column(file, "by", name) for name in ([by] if by in file.columns else names_in(by) or [])]
        with out.progress(f"Reading {file.name} by segment") as progress:
            rows = read_segments(
                file,
                replace(source.roles, by=(), groups=None),
                named,
                positive=told.positive,
                bad_rows=source.rows.bad_rows,
                progress=progress,
            )
        relation, probability = rows.relation, rows.score
        with out.waiting("Comparing segments"), warnings.catch_warnings():
            warnings.simplefilter("ignore", OddsmithWarning)
            if recommended in methods:
                probability = f"{rows.score}_p"
                relation = apply(relation, fit_method(table, methods[recommended]), rows.score, probability)
            try:
                return audit(relation, named, probability=probability, label=rows.label, weight=rows.weight)
            except InvalidInputError as reason:
                out.remark(f"Segments are not audited: {reason}")
                return None
