"""How a command ends: with an exit code, and if it failed with one line on standard error, never a traceback."""

import errno
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from oddsmith.errors import OddsmithError

DONE, CHECK_FAILED, BAD_INPUT, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143

#: All exit codes, and what they mean.
EXIT_CODES = {
    DONE: "done",
    CHECK_FAILED: "a check failed",
    BAD_INPUT: "bad usage or bad input",
    INTERRUPTED: "stopped from the keyboard",
    TERMINATED: "stopped by SIGTERM",
}

#: What DuckDB says when it notices an interrupt before Python does.
_INTERRUPTED_QUERY = "Query interrupted"

#: A parameter of the library, followed by the option that stands for it.
_PYTHON_WORDS = re.compile(r"""\b\w+=(?:'[^']*'|"[^"]*"|\S*)(?: to choose_columns)? \((--(?:'[^']*'|[^()'])+)\)""")

#: Where this variable is set, unforeseen errors show their traceback.
_TRACEBACK = "ODDSMITH_TRACEBACK"


@contextmanager
def fail_cleanly(*, as_json: bool = False) -> Iterator[None]:
    """Turn whatever goes wrong into one line, of text or of JSON, and an exit code."""
    with _stop_by_sigterm() as terminated:
        try:
            yield
        except (KeyboardInterrupt, typer.Abort):
            _exit("Stopped.", TERMINATED if terminated else INTERRUPTED, as_json)
        except OddsmithError as error:
            _exit(f"Error: {in_options(str(error))}", BAD_INPUT, as_json)
        except Exception as error:
            if str(error) == _INTERRUPTED_QUERY:
                _exit("Stopped.", TERMINATED if terminated else INTERRUPTED, as_json)
            if os.environ.get(_TRACEBACK) and not hasattr(error, "format_message"):
                raise
            _exit(f"Error: {_message(error)}", BAD_INPUT, as_json)


@contextmanager
def _stop_by_sigterm() -> Iterator[list[int]]:
    """Let SIGTERM end the block as an interrupt from the keyboard does; yield a list that then holds the signal."""
    received: list[int] = []

    def stop(number: int, frame: object) -> None:
        del frame
        received.append(number)
        if len(received) == 1:  # once, for the second would end the removal of what is unfinished
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # where no signal arrives
        yield received
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield received
    finally:
        signal.signal(signal.SIGTERM, before)


def in_options(message: str) -> str:
    """Return a message of the library in terms of the command line, where ``force=True (--force)`` is ``--force``.

    Examples
    --------
    >>> in_options('Hint: repair them, or pass bad_rows="skip" (--bad-rows skip) to leave them out.')
    'Hint: repair them, or pass --bad-rows skip to leave them out.'
    """
    return _PYTHON_WORDS.sub(r"\1", message)


def _message(error: Exception) -> str:
    """Return the message of an error that is not the library's."""
    if hasattr(error, "format_message"):  # wrong usage, found by the parser of the command line
        context = getattr(error, "ctx", None)
        command = "oddsmith" if context is None else context.command_path
        return f"{error.format_message().rstrip('.')}. Hint: see {command} --help."
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "the disk is full. Hint: free some space, or write elsewhere."
    if isinstance(error, OSError):
        place = f": {error.filename}" if error.filename is not None else ""
        return f"{error.strerror or error}{place}. Hint: check the path, the rights and the space on the disk."
    if isinstance(error, MemoryError):
        return "there is not enough memory. Hint: try a coarser --resolution."
    return f"{type(error).__name__}: {error}. Hint: this should not happen; {_TRACEBACK}=1 shows where it did."


def _exit(line: str, code: int, as_json: bool) -> NoReturn:
    text = " ".join(line.splitlines())
    try:
        from oddsmith.cli._terminal import Terminal

        if as_json:
            error, _, hint = text.removeprefix("Error: ").partition(". Hint: ")
            text = json.dumps({"error": error, "hint": hint.removesuffix(".")})
        Terminal(stderr=True).print(text, soft_wrap=True)
    finally:
        sys.exit(code)
