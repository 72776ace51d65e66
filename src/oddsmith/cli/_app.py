"""All commands in one program."""

import contextlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from oddsmith.cli import comparing, demonstrating, fitting, gating, judging, reporting, using
from oddsmith.cli._failing import EXIT_CODES, fail_cleanly
from oddsmith.cli._plugins import ExtensibleGroup

app = typer.Typer(
    name="oddsmith",
    cls=ExtensibleGroup,
    help="Turn the scores of any classifier into probabilities that mean what they say.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",
    epilog=f"Exit codes: {', '.join(f'{code} {words}' for code, words in EXIT_CODES.items())}.",
)

for module in (demonstrating, fitting, using, judging, gating, comparing, reporting):
    module.add_to(app)


def _version(wanted: bool) -> None:
    if wanted:
        from oddsmith._version import __version__

        typer.echo(f"oddsmith {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    del version


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line, by default with the arguments of this process."""
    for name in ("stdout", "stderr"):
        # Closed by whoever started the program: what is said there is lost, and nothing else.
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        # A terminal that knows no Greek gets question marks, not an error.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    given = list(sys.argv[1:] if args is None else args)
    code = 0
    # The parser leaves by itself only when nobody reads on.
    with fail_cleanly(), contextlib.suppress(SystemExit):
        code = app(given or ["--help"], prog_name="oddsmith", standalone_mode=False) or 0
    sys.exit(code)
