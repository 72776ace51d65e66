"""All commands in one program, and what its exit codes mean: 0 done, 1 a check failed, 2 bad usage or bad input."""

import sys
from typing import Annotated

import typer

from oddsmith.cli import comparing, data, demonstrating, fitting, judging, reporting, studying, using
from oddsmith.cli._output import fail_cleanly

app = typer.Typer(
    name="oddsmith",
    help="Turn the scores of any classifier into probabilities that mean what they say.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",
    epilog="Exit codes: 0 done, 1 a check failed, 2 bad usage or bad input.",
)

for module in (demonstrating, fitting, using, judging, comparing, reporting, studying):
    module.add_to(app)
app.add_typer(data.app, name="data")


def _version(wanted: bool) -> None:
    if wanted:
        from oddsmith import __version__

        typer.echo(f"oddsmith {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    del version


def main() -> None:
    """Run the command line."""
    with fail_cleanly():
        app()
    sys.exit(0)
