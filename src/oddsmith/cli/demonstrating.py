"""``oddsmith demo``: the whole story on data that come along."""

from pathlib import Path
from typing import Annotated

import typer


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: oddsmith demo")(demo)


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the report goes.")] = Path("oddsmith-demo.html"),
) -> None:
    """Train a classifier, calibrate its scores by every method, compare them, and write a report."""
    from oddsmith import demo as story

    story.main(output)
