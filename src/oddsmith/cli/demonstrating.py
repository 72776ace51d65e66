"""``oddsmith demo``: the whole story on data that come along."""

from pathlib import Path
from typing import Annotated

import typer

from oddsmith.cli._output import AsJson, Quiet, Voice


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: oddsmith demo")(demo)


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the report goes.")] = Path("oddsmith-demo.html"),
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train a classifier, calibrate its scores by every method, compare them, and write a report."""
    from oddsmith.demo import Story

    voice = Voice(quiet=quiet, as_json=as_json)
    with voice.progress("Calibrating") as progress:
        story = Story.tell(output, progress)
    voice.result(story.to_dict(), lambda console: console.print(story.text, soft_wrap=True))
