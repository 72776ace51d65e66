"""How a command fails: one line on standard error and an exit code, never a traceback."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from oddsmith.cli._terminal import Terminal
from oddsmith.errors import OddsmithError

#: Exit codes beside 0: a check failed, bad usage or bad input, stopped from the keyboard.
CHECK_FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130

#: Set to anything, errors that nobody foresaw show where they happened.
_TRACEBACK = "ODDSMITH_TRACEBACK"


@contextmanager
def fail_cleanly() -> Iterator[None]:
    """Turn whatever goes wrong into one line and an exit code."""
    try:
        yield
    except (KeyboardInterrupt, typer.Abort):
        _leave("Stopped.", INTERRUPTED)
    except OddsmithError as error:
        _leave(f"Error: {error}", BAD_INPUT)
    except Exception as error:
        if os.environ.get(_TRACEBACK) and not hasattr(error, "format_message"):
            raise
        _leave(f"Error: {_told(error)}", BAD_INPUT)


def _told(error: Exception) -> str:
    """Say what went wrong outside the library."""
    if hasattr(error, "format_message"):  # wrong usage, as the parser of the command line sees it
        context = getattr(error, "ctx", None)
        command = "oddsmith" if context is None else context.command_path
        return f"{error.format_message().rstrip('.')}. Hint: see {command} --help."
    if isinstance(error, OSError):
        place = f": {error.filename}" if error.filename is not None else ""
        return f"{error.strerror or error}{place}. Hint: check the path, the rights and the space on the disk."
    if isinstance(error, MemoryError):
        return "there is not enough memory. Hint: try a coarser --resolution."
    return f"{type(error).__name__}: {error}. Hint: this should not happen; {_TRACEBACK}=1 shows where it did."


def _leave(line: str, code: int) -> None:
    told = " ".join(line.splitlines())
    try:
        Terminal(stderr=True).print(told, soft_wrap=True)
    finally:
        sys.exit(code)
