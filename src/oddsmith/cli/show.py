"""``oddsmith show``: what a model file holds."""

from typing import TYPE_CHECKING, Any

from oddsmith.cli import _options as option

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table

    from oddsmith.cli._output import CommandOutput
    from oddsmith.maps.joint import JointMap
    from oddsmith.modelfile import CalibrationModel, JointModel

EXAMPLE = "oddsmith show model.json"

#: Classes that are listed.
_SHOWN = 50


def show(model: option.ModelFile, as_json: option.AsJson = False, quiet: option.Quiet = False) -> None:
    """Tell what a model is and where it came from, and draw its curve; of several classes, list them."""
    import numpy as np
    from rich.table import Table

    from oddsmith._check import visible
    from oddsmith.cli._curve import curve
    from oddsmith.cli._output import CommandOutput, print_text
    from oddsmith.modelfile import JointModel, load

    out = CommandOutput(quiet=quiet, as_json=as_json)
    fitted = load(model)
    if isinstance(fitted, JointModel):
        _show_classes(out, model, fitted)
        return
    data = fitted.data
    share = np.linspace(0, 1, 41)
    at = np.unique(data.low * (1 - share) + data.high * share)  # never beyond the largest double
    content: dict[str, Any] = {
        "model": str(model),
        "method": fitted.method,
        "parameters": dict(fitted.parameters),
        "labels": list(fitted.labels),
        "data": data.to_dict(),
        "warnings": list(fitted.warnings),
        "version": fitted.version,
        "by": fitted.by,
        "segments": {name: part.data.to_dict() for name, part in fitted.segments.items()},
        "curve": {"score": at.tolist(), "probability": fitted.map.probability(at).tolist()},
    }

    def draw(console: "Console") -> None:
        facts = Table.grid(padding=(0, 2))
        cells = "every distinct score" if data.resolution is None else f"cells of {data.resolution:g}"
        scores = cells if data.distinct is None else f"{data.distinct:,} scores, {cells}"
        for name, value in (
            ("method", fitted.method),
            ("labels", f"{fitted.labels[0]} / {fitted.labels[1]} (positive)"),
            ("rows", f"{data.rows:,} ({scores})"),
            ("positive", f"{data.prevalence:.2%}"),
            ("scores", f"{data.low:.6g} to {data.high:.6g}"),
            ("data hash", data.sha256[:16] if data.sha256 else "not kept"),
            ("version", fitted.version),
            *(("warning", text) for text in fitted.warnings),
        ):
            facts.add_row(name, visible(value))
        console.print(facts)
        if fitted.by is not None:
            console.print(_segments(fitted))
        print_text(console, "\nProbability by score:")
        console.print(curve(at, fitted.map.probability(at), width=min(60, console.width - 6)))

    out.result(content, draw)


def _segments(model: "CalibrationModel") -> "Table":
    """Return what each segment was fitted to."""
    from rich.table import Table

    from oddsmith._check import visible

    table = Table()
    table.add_column(visible(f"segment ({model.by})"), overflow="fold")
    for title in ("rows", "positive"):
        table.add_column(title, justify="right")
    for name, part in model.segments.items():
        table.add_row(visible(name), f"{part.data.rows:,}", f"{part.data.prevalence:.2%}")
    return table


def _show_classes(out: "CommandOutput", path: "Path", model: "JointModel") -> None:
    """Tell what a model of several classes is, and what it was fitted to."""
    from rich.table import Table

    from oddsmith._check import visible
    from oddsmith.cli._output import print_text

    data, weights = model.data, None if model.data is None else model.data.weights
    parts = _parts(model.map)
    content: dict[str, Any] = {
        "model": str(path),
        "method": model.method,
        "parameters": dict(model.parameters),
        "labels": list(model.labels),
        "column_names": None if model.column_names is None else list(model.column_names),
        "input": model.map.input,
        "map": {"shape": model.map.shape, "columns": model.map.columns, "parts": parts},
        "data": None if data is None else data.to_dict(),
        "warnings": list(model.warnings),
        "verdict": model.verdict,
        "version": model.version,
    }

    def draw(console: "Console") -> None:
        facts = Table.grid(padding=(0, 2))
        counted = "not kept" if data is None else f"{data.rows:,}{' with weights' if data.weighted else ''}"
        for name, value in (
            ("method", model.method),
            ("map", "; ".join(parts)),
            ("classes", f"{len(model.labels):,}"),
            ("reads", f"{model.map.columns:,} columns of {model.map.input}"),
            ("rows", counted),
            *([("verdict", model.verdict)] if model.verdict else []),
            ("version", model.version),
            *(("warning", text) for text in model.warnings),
        ):
            facts.add_row(name, visible(value))
        console.print(facts)
        table = Table()
        table.add_column("class", overflow="fold")
        table.add_column("column", overflow="fold")
        for title in ("cases", "share"):
            table.add_column(title, justify="right")
        names = model.column_names or ("",) * len(model.labels)
        if len(names) < len(model.labels):
            names = ("",) * (len(model.labels) - len(names)) + names
        for i, label in enumerate(model.labels[:_SHOWN]):
            figures = ("", "") if weights is None else (f"{weights[i]:,.6g}", f"{weights[i] / sum(weights):.2%}")
            table.add_row(visible(str(label)), visible(names[i]), *figures)
        console.print(table)
        if len(model.labels) > _SHOWN:
            print_text(console, f"and {len(model.labels) - _SHOWN:,} more classes (--json lists all)")

    out.result(content, draw)


def _parts(map_: "JointMap") -> list[str]:
    """Return what a map is made of, in words: the parts of a blend with their weights, or one map per class."""
    from collections import Counter

    from oddsmith.maps.joint import OneVsRestMap, ScalingMap

    if isinstance(map_, OneVsRestMap):
        kinds = Counter(each.shape for each in map_.maps)
        of = "log-odds against the rest" if map_.against_rest else "its own column"
        counted = ", ".join(f"{times} × {shape}" for shape, times in sorted(kinds.items()))
        return [f"one map per class, of {of} ({counted}), divided by their sum"]
    assert isinstance(map_, ScalingMap)
    shapes = {0: "one slope", 1: "a slope per class", 2: "a matrix"}
    if len(map_.parts) == 1:
        return [f"{map_.parts[0].name} ({shapes[map_.parts[0].coef.ndim]})"]
    pairs = sorted(zip(map_.weights.tolist(), map_.parts, strict=True), key=lambda pair: -pair[0])
    return [f"{weight:.1%} {part.name} ({shapes[part.coef.ndim]})" for weight, part in pairs]
