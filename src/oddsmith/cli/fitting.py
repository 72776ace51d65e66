"""``oddsmith fit``: from scored rows to a model file."""

import warnings
from collections import defaultdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from oddsmith import _check
from oddsmith.calibrators import AutoCalibrator, Calibrator
from oddsmith.cli import _input as read
from oddsmith.cli._methods import METHODS, calibrator_called
from oddsmith.cli._output import AsJson, Force, Quiet, Voice, say, standing_for
from oddsmith.errors import OddsmithWarning
from oddsmith.files import input_files, replacing
from oddsmith.modelfile import CalibrationModel
from oddsmith.table import ScoreTable

#: Segments that are named where the same is odd about several.
_SHOWN = 3


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: oddsmith fit scores.csv -o model.json --score score --label label")(fit)


def fit(
    file: read.ScoresFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="Model file to write; '-' is standard output.")],
    score: read.ScoreColumn = None,
    label: read.LabelColumn = None,
    weight: read.WeightColumn = None,
    positive: read.Positive = None,
    method: Annotated[str, typer.Option("--method", "-m", help=f"One of {', '.join(METHODS)}.")] = "auto",
    by: Annotated[str | None, typer.Option("--by", help="Column of segments: one model for each value.")] = None,
    bad_rows: read.BadRows = "refuse",
    resolution: read.Resolution = "auto",
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Fit a calibrator to scores and labels, and write it to a model file."""
    voice = Voice(quiet=quiet, as_json=as_json, output=output)
    calibrator = calibrator_called(method)
    with (
        standing_for(output, ".json") as target,
        replacing(target, force=force, sources=input_files(file)) as unfinished,
    ):
        data, _ = read.read_scores(
            voice,
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
        with voice.waiting("Fitting"), voice.odd_things_said():
            model = _model(calibrator, data.table, data.labels)
        if by is not None:
            parts, odd = {}, defaultdict[str, list[str]](list)
            with voice.progress("Fitting segments") as progress:
                for done, (name, table) in enumerate(data.segments.items()):
                    progress(done / len(data.segments))
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", OddsmithWarning)  # the model says them itself
                        parts[name] = _model(calibrator_called(method), table, data.labels)
                    for text in parts[name].warnings:
                        odd[f"{parts[name].method}: {text}"].append(name)
            for text, names in odd.items():
                voice.remark(f"Warning: {_segments(names)}: {text}")
            model = model.with_segments(by, parts)
        model.save(unfinished)
    content: dict[str, Any] = {
        "model": str(output),
        "method": model.method,
        "rows": model.data.rows,
        "prevalence": model.data.prevalence,
        "segments": len(model.segments),
        "warnings": list(model.warnings),
        "verdict": getattr(calibrator, "verdict_", None),
    }

    def show(console: Console) -> None:
        over = f", {len(model.segments)} segments" if by is not None else ""
        say(console, f"{model.method} fitted to {model.data.rows:,} rows{over}, written to {output}")
        if isinstance(calibrator, AutoCalibrator):
            say(console, calibrator.verdict_)

    voice.result(content, show)


def _segments(names: list[str]) -> str:
    """Name segments, of many the first ones."""
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    return (
        f"segment {shown}" if len(names) == 1 else f"{len(names):,} segments ({shown}{', …' * (len(names) > _SHOWN)})"
    )


def _model(calibrator: Calibrator, table: ScoreTable, labels: tuple[Any, Any]) -> CalibrationModel:
    return CalibrationModel.from_calibrator(calibrator.fit_table(table), table, labels)
