"""``oddsmith demo``: everything at once, on data that come with scikit-learn."""

from pathlib import Path
from typing import Annotated

import typer

from oddsmith.cli import _options as option

EXAMPLE = "oddsmith demo"


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML file to write.")] = Path("oddsmith-demo.html"),
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Train a classifier, calibrate its scores by every method, compare them, and write a report."""
    from oddsmith.cli._output import CommandOutput
    from oddsmith.demo import run_demo

    out = CommandOutput(quiet=quiet, as_json=as_json)
    with out.progress("Calibrating") as progress:
        result = run_demo(output, progress)
    out.result(result.to_dict(), lambda console: console.print(result.text, soft_wrap=True))
