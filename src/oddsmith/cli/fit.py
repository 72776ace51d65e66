"""``oddsmith fit``: from scored rows to a model file."""

import warnings
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oddsmith.cli import _options as option

if TYPE_CHECKING:
    from rich.console import Console

    from oddsmith.calibrators import Calibrator
    from oddsmith.cli._classes import ClassOptions
    from oddsmith.cli._output import CommandOutput
    from oddsmith.files import ClassData
    from oddsmith.modelfile import JointModel
    from oddsmith.table import ScoreTable

EXAMPLE = "oddsmith fit scores.csv -o model.json --score score --label label"

#: Segments that a warning names.
_SHOWN = 3


def fit(
    file: option.ScoresFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="Model file to write; '-' is standard output.")],
    score: option.ScoreColumn = None,
    label: option.LabelColumn = None,
    weight: option.WeightColumn = None,
    positive: option.Positive = None,
    scores: option.ClassColumnNames = None,
    classes: option.Classes = None,
    labels: option.LabelsFile = None,
    scores_are: option.ClassScoresAre = "auto",
    sample: option.RowLimit = None,
    seed: option.Seed = 0,
    method: option.MethodName = "auto",
    by: Annotated[str | None, typer.Option("--by", help="Column of segments: one model for each value.")] = None,
    bad_rows: option.BadRowsOption = "refuse",
    resolution: option.Resolution = "auto",
    force: option.Force = False,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Fit a calibrator to scores and labels, and write it to a model file.

    Several classes: `oddsmith fit classes.csv -o model.json --scores 'p_*' --label label`.
    """
    from oddsmith import _check
    from oddsmith.calibrators.registry import calibrator_named
    from oddsmith.cli._classes import ClassOptions, are_several, refuse_class_options, refuse_two_class_options
    from oddsmith.cli._input import read_scores
    from oddsmith.cli._output import CommandOutput, print_text, writable_file
    from oddsmith.errors import OddsmithWarning
    from oddsmith.files import input_files, replacing
    from oddsmith.modelfile import CalibrationModel

    out = CommandOutput(quiet=quiet, as_json=as_json, output=output)
    if are_several(file, scores, score):
        refuse_two_class_options(score=score, positive=positive, by=by)
        told = ClassOptions(tuple(scores or ()), classes, label, labels, weight, scores_are, bad_rows, sample, seed)
        _fit_classes(out, file, output, told, method, force)
        return
    refuse_class_options(classes=classes, labels=labels, sample=sample)
    calibrator = calibrator_named(method, "--method")

    def fitted_to(table: "ScoreTable") -> CalibrationModel:
        return CalibrationModel.from_calibrator(calibrator.fit_table(table), table, data.labels)

    with (
        writable_file(output, ".json") as target,
        replacing(target, force=force, sources=input_files(file)) as unfinished,
    ):
        data, _ = read_scores(
            out,
            file,
            score=score,
            label=label,
            weight=weight,
            by=by,
            positive=positive,
            bad_rows=bad_rows,
            resolution=resolution,
        )
        if by is not None and len(data.segments) == data.table.rows > 1:
            got = f"{by!r}, with {data.table.rows:,} values in as many rows"
            _check.fail("--by must name a column that groups rows", got, "choose another column, or leave --by out")
        with out.waiting("Fitting"), out.show_warnings():
            model = fitted_to(data.table)
        verdict = getattr(calibrator, "verdict_", None)
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
                out.remark(f"Warning: {_segments(names)}: {text}")
            model = model.with_segments(by, parts)
        model.save(unfinished)
    content: dict[str, Any] = {
        "model": str(output),
        "method": model.method,
        "rows": model.data.rows,
        "prevalence": model.data.prevalence,
        "segments": len(model.segments),
        "warnings": list(model.warnings),
        "verdict": verdict,
    }

    def show(console: "Console") -> None:
        over = f", {len(model.segments)} segments" if by is not None else ""
        print_text(console, f"{model.method} fitted to {model.data.rows:,} rows{over}, written to {output}")
        if verdict is not None:
            print_text(console, verdict)

    out.result(content, show)


def _fit_classes(out: "CommandOutput", file: str, output: Path, told: "ClassOptions", method: str, force: bool) -> None:
    """Fit a method to several classes."""
    from oddsmith.calibrators import Calibrator
    from oddsmith.classify.class_fit import fit_class_rows
    from oddsmith.cli._classes import class_method, read_classes
    from oddsmith.cli._output import print_text, writable_file
    from oddsmith.files import input_files, replacing

    chosen = class_method(method)
    with (
        writable_file(output, ".json") as target,
        replacing(
            target, force=force, sources=[*input_files(file), *([] if told.labels is None else [told.labels])]
        ) as unfinished,
    ):
        data = read_classes(out, file, told, tables=isinstance(chosen, Calibrator))
        with out.waiting("Fitting"), out.show_warnings() as found:
            model = fit_class_rows(data.rows, chosen) if data.tables is None else _fit_tables(data, chosen)
        model = replace(model, warnings=tuple(dict.fromkeys(found)))
        model.save(unfinished)
    assert model.data is not None
    cases = {str(label): n for label, n in zip(model.labels, model.data.weights, strict=True)}
    content: dict[str, Any] = {
        "model": str(output),
        "method": model.method,
        "input": model.map.input,
        "rows": model.data.rows,
        "rows_in_file": data.total,
        "classes": cases,
        "warnings": list(model.warnings),
        "verdict": model.verdict or None,
    }

    def show(console: "Console") -> None:
        used = data.total if data.tables is not None else data.rows.n_rows
        sampled = f" (a sample of {data.total:,})" if used < data.total else ""
        each = " to each class against the rest" if model.map.shape == "one_vs_rest" else ""
        rows = f"{used:,} rows{sampled} of {len(model.labels)} classes"
        print_text(console, f"{model.method} fitted{each} to {rows}, written to {output}")
        if model.verdict:
            print_text(console, model.verdict)

    out.result(content, show)


def _fit_tables(data: "ClassData", calibrator: "Calibrator") -> "JointModel":
    """Fit a calibrator to the table of each class."""
    from sklearn.base import clone

    from oddsmith.modelfile import JointModel

    return JointModel.from_one_vs_rest(
        [clone(calibrator).fit_table(table) for table in data.tables or ()],
        data.rows.labels,
        input=data.rows.input,
        against_rest=True,
        column_names=data.rows.column_names,
    )


def _segments(names: list[str]) -> str:
    """Name segments, of many the first ones."""
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    return (
        f"segment {shown}" if len(names) == 1 else f"{len(names):,} segments ({shown}{', …' * (len(names) > _SHOWN)})"
    )
