"""``oddsmith fit``: from scored rows to a model file."""

import warnings
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oddsmith.cli import _options as option

if TYPE_CHECKING:
    from oddsmith.cli._input import CommandInput
    from oddsmith.cli._output import CommandOutput
    from oddsmith.data import ScoreTable
    from oddsmith.metrics import Verdict
    from oddsmith.model import CalibrationModel, JointModel
    from oddsmith.report import NextSteps

EXAMPLE = "oddsmith fit scores.csv -o model.json --score score --label label"

#: Segments that a warning names.
_SHOWN = 3

#: Segments with fewer rows are named in a warning.
_FEW_ROWS = 50


def fit(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Model file to write; '-' is standard output.")],
    columns: option.ScoreColumns,
    scores_are: option.ScoresAre = "auto",
    sample: option.RowLimit = None,
    seed: option.Seed = 0,
    method: option.MethodName = "auto",
    by: Annotated[str | None, typer.Option("--by", help="Column of segments: one model for each value.")] = None,
    rows: option.RowOptions,
    force: option.Force = False,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Fit a calibrator to scores and labels, and write it to a model file.

    Several classes: `oddsmith fit classes.csv -o model.json --scores 'p_*' --label label`.
    """
    from oddsmith.cli._input import CommandInput, refuse_two_class_options
    from oddsmith.cli._output import CommandOutput, writable_file
    from oddsmith.files import replacing

    out = CommandOutput(quiet=quiet, as_json=as_json, output=output)
    source = CommandInput(columns, rows, scores_are, sample, seed)
    with writable_file(output, ".json") as target, replacing(target, force=force, sources=source.files) as unfinished:
        model: CalibrationModel | JointModel
        if source.several:
            refuse_two_class_options(by=by)
            model, content, told = _fit_classes(out, source, method)
        else:
            model, content, told = _fit_two_classes(out, source, method, by)
        model.save(unfinished)
    content = {"model": str(output), "method": model.method, **content}
    out.result(content, f"{model.method} fitted {told}, written to {output}\n{content['verdict']}")


def _fit_two_classes(
    out: "CommandOutput", source: "CommandInput", method: str, by: str | None
) -> tuple["CalibrationModel", dict[str, Any], str]:
    """Fit a method to two classes; return the model, its description, and what it was fitted to."""
    from oddsmith import _check
    from oddsmith.calibrators import calibrator_named
    from oddsmith.errors import OddsmithWarning
    from oddsmith.model import CalibrationModel
    from oddsmith.report import verdict_before

    calibrator = calibrator_named(method, "--method").set_params(input=source.meaning)
    data, roles = source.read_scores(out, by)
    if source.meaning == "probability":
        _refuse_certain(data.table)

    def fitted_to(table: "ScoreTable") -> CalibrationModel:
        return CalibrationModel.from_calibrator(calibrator.fit_table(table), table, data.labels)

    if by is not None and len(data.segments) == data.table.rows > 1:
        got = f"{by!r}, with {data.table.rows:,} values in as many rows"
        _check.fail("--by must name a column that groups rows", got, "choose another column, or leave --by out")
    with out.waiting("Fitting"), out.show_warnings():
        model = fitted_to(data.table)
        judged = verdict_before(data.table, source.meaning)
    if by is not None:
        parts, found = {}, defaultdict[str, list[str]](list)
        with out.progress("Fitting segments") as progress:
            for done, (name, table) in enumerate(data.segments.items()):
                progress(done / len(data.segments))
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", OddsmithWarning)  # the model holds them
                    parts[name] = fitted_to(table)
                for text in parts[name].warnings:
                    found[f"{parts[name].method}: {text}"].append(name)
        for text, names in found.items():
            out.warn(f"{_segments(names)}: {text}")
        if few := [name for name, table in data.segments.items() if table.rows < _FEW_ROWS]:
            out.warn(f"{_segments(few)}: fewer than {_FEW_ROWS} rows; the map of all rows may forecast better there")
        model = model.with_segments(by, parts)
    content = {
        "rows": model.data.rows,
        "prevalence": model.data.prevalence,
        "segments": len(model.segments),
        "warnings": list(model.warnings),
        "verdict": _verdict(judged, source.next_steps(roles, data.labels)),
    }
    over = f", {len(model.segments)} segments" if by is not None else ""
    return model, content, f"to {model.data.rows:,} rows{over}"


def _fit_classes(out: "CommandOutput", source: "CommandInput", method: str) -> tuple["JointModel", dict[str, Any], str]:
    """Fit a method to several classes; return what `_fit_two_classes` does."""
    from sklearn.base import clone

    from oddsmith.calibrators import Calibrator
    from oddsmith.classify import fit_class_rows
    from oddsmith.cli._input import class_method
    from oddsmith.metrics import verdict_of_classes
    from oddsmith.model import JointModel

    chosen = class_method(method)
    data = source.read_classes(out, tables=isinstance(chosen, Calibrator))
    with out.waiting("Fitting"), out.show_warnings() as found:
        if data.tables is None or not isinstance(chosen, Calibrator):
            model = fit_class_rows(data.rows, chosen)
        else:
            model = JointModel.from_one_vs_rest(
                [clone(chosen).fit_table(table) for table in data.tables],
                data.rows.labels,
                input=data.rows.input,
                against_rest=True,
                column_names=data.rows.column_names,
            )
        judged = verdict_of_classes(data.rows)
    model = replace(model, warnings=tuple(dict.fromkeys(found)))
    assert model.data is not None
    content = {
        "input": model.map.input,
        "rows": model.data.rows,
        "rows_in_file": data.total,
        "classes": {str(label): n for label, n in zip(model.labels, model.data.weights, strict=True)},
        "warnings": list(model.warnings),
        "verdict": _verdict(judged, source.class_next_steps()),
    }
    used = data.total if data.tables is not None else data.rows.n_rows
    sampled = f" (a sample of {data.total:,})" if used < data.total else ""
    each = "to each class against the rest " if model.map.shape == "one_vs_rest" else ""
    return model, content, f"{each}to {used:,} rows{sampled} of {len(model.labels)} classes"


def _refuse_certain(table: "ScoreTable") -> None:
    """Refuse probabilities whose log-odds are infinite."""
    from oddsmith import _check

    certain = (table.scores == 0) | (table.scores == 1)
    if certain.any():
        rows = (table.pos + table.neg)[certain].sum()
        _check.fail(
            "--scores-are probability is for scores strictly between 0 and 1, whose log-odds are finite",
            f"{rows:,.6g} rows of exactly 0 or 1",
            "leave --scores-are out, or pass the classifier's log-odds",
        )


def _verdict(judged: "Verdict", steps: "NextSteps") -> str:
    """Return the verdict on the scores before they were calibrated, and what to do first."""
    step = f" Next: {steps.if_reversed}" if judged.kind == "reversed" else ""
    return f"Before calibration: {judged.words}{step}"


def _segments(names: list[str]) -> str:
    """Name segments, of many the first ones."""
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    return (
        f"segment {shown}" if len(names) == 1 else f"{len(names):,} segments ({shown}{', …' * (len(names) > _SHOWN)})"
    )
