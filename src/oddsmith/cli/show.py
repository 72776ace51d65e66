"""``oddsmith show``: what a model file holds."""

from typing import TYPE_CHECKING, Any

from oddsmith.cli import _options as option

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from oddsmith.modelfile import CalibrationModel

EXAMPLE = "oddsmith show model.json"


def show(model: option.ModelFile, as_json: option.AsJson = False, quiet: option.Quiet = False) -> None:
    """Tell what a model is, where it came from, and draw its curve."""
    import numpy as np
    from rich.table import Table

    from oddsmith._check import visible
    from oddsmith.cli._curve import curve
    from oddsmith.cli._output import CommandOutput, print_text
    from oddsmith.modelfile import CalibrationModel

    out = CommandOutput(quiet=quiet, as_json=as_json)
    fitted = CalibrationModel.load(model)
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
