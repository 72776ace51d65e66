"""All commands in one program."""

import contextlib
import io
import itertools
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperOption

from oddsmith.cli._exit import EXIT_CODES, INTERRUPTED, fail_cleanly
from oddsmith.cli._options import flatten_options
from oddsmith.cli._plugins import ExtensibleGroup

#: Each is a function in the module of its name, beside an ``EXAMPLE``. These modules import what is slow to load only
#: inside functions, so that help and shell completion are quick.
COMMANDS = (
    "demo",
    "fit",
    "apply",
    "show",
    "export",
    "evaluate",
    "check",
    "compare",
    "report",
    "audit",
    "table",
    "threshold",
    "shift",
    "decide",
    "combine",
    "expect",
    "plan",
    "watch",
)

app = typer.Typer(
    name="oddsmith",
    cls=ExtensibleGroup,
    help="Turn the scores of any classifier into probabilities that mean what they say.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",
    epilog=f"Exit codes: {', '.join(f'{code} {meaning}' for code, meaning in EXIT_CODES.items())}. With --json an "
    'error is the last line of standard error, {"error": …, "hint": …}; infinite numbers are the texts "inf" and '
    '"-inf".',
)


class _Command(TyperCommand):
    """A command whose help lists all methods or languages, which are loaded only for that."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        for option in self.params:
            if isinstance(option, TyperOption) and option.name == "method":
                from oddsmith.calibrators import METHODS, ONE_VS_REST, SCALINGS

                several = ", ".join([*SCALINGS, f"{ONE_VS_REST}:METHOD"])
                option.help = str(option.help).format(methods=", ".join(METHODS), class_methods=several)
            if isinstance(option, TyperOption) and option.name == "to":
                from oddsmith.export import LANGUAGES

                option.help = str(option.help).format(languages=", ".join(LANGUAGES))
        super().format_help(ctx, formatter)


for _name in COMMANDS:
    _module = import_module(f"oddsmith.cli.{_name}")
    app.command(cls=_Command, epilog=f"Example: {_module.EXAMPLE}")(flatten_options(getattr(_module, _name)))


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
        # Closed by whoever started the program: what is written there is lost, and nothing else.
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115, for the whole run
    for stream in (sys.stdout, sys.stderr):
        # Characters that the terminal's encoding lacks become question marks, not an error.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    given = list(sys.argv[1:] if args is None else args)
    code = 0
    # The parser exits by itself only when the reader of its output has gone.
    as_json = "--json" in itertools.takewhile(lambda word: word != "--", given)
    with fail_cleanly(as_json=as_json), contextlib.suppress(SystemExit):
        code = app(given or ["--help"], prog_name="oddsmith", standalone_mode=False) or 0
        if code == INTERRUPTED:
            raise KeyboardInterrupt  # which the parser has made a code of
    sys.exit(code)
