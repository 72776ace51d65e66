"""Programs that run apart: in a process and a folder of their own, without our environment, and not for ever."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from oddsmith._types import Floats

__all__ = ["DidNotRunError", "RejectedError", "as_lists", "program", "run_apart", "run_files", "run_in_python"]

#: Seconds until a program is ended.
LIMIT = 120.0

#: Without these some programs do not even start.
_NEEDED = ("PATH", "SYSTEMROOT")


class DidNotRunError(Exception):
    """A program is not here, ended early, or took too long."""


class RejectedError(DidNotRunError):
    """A program ran and refused what it was given."""


#: How a program ends that lacks what it needs to run anything.
_LACKING = 3


def program(name: str) -> str:
    """Return the path of a program."""
    found = shutil.which(name)
    if found is None:
        raise DidNotRunError
    return found


def run_files(files: Mapping[str, str], *commands: list[str], given: bytes = b"") -> list[bytes]:
    """Write files to a folder that is gone afterwards, run programs there, and return what each of them wrote."""
    with tempfile.TemporaryDirectory(prefix="oddsmith-") as name:
        folder = Path(name)
        for file, content in files.items():
            (folder / file).write_text(content, encoding="utf-8")
        return [run_apart(command, folder, given) for command in commands]


def run_apart(command: list[str], folder: Path, given: bytes = b"") -> bytes:
    """Run a program in a folder, with nothing but what it is given, and return what it wrote.

    Raises
    ------
    DidNotRunError
        If it fails or takes too long; nothing that it started is left.
    """
    environment = {name: os.environ[name] for name in _NEEDED if name in os.environ}
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**environment, "TMPDIR": str(folder)},
        start_new_session=True,
    ) as process:
        try:
            out, errors = process.communicate(given, LIMIT)
        except BaseException as why:
            _end(process)
            if not isinstance(why, subprocess.TimeoutExpired):
                raise
            msg = f"did not end within {LIMIT:g} seconds"
            raise DidNotRunError(msg) from None
    if process.returncode:
        lines = errors.decode("utf-8", "replace").split("\n")
        msg = f"failed, {next((line for line in reversed(lines) if line.strip()), '')[:200]}"
        ended = process.returncode < 0 or process.returncode == _LACKING
        raise (DidNotRunError if ended else RejectedError)(msg)
    return out


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a program and whatever it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:  # pragma: no cover - Windows
            process.kill()


def as_lists(scores: Floats) -> list[Any]:
    """Return scores, or rows of them, as lists: every other missing value is None, the others are NaN."""
    known = scores.astype(object)
    missing = np.flatnonzero(np.isnan(scores))
    known.ravel()[missing[::2]] = None
    listed: list[Any] = known.tolist()
    return listed


def run_in_python(engine: str, content: str, name: str, scores: Floats) -> tuple[str, Any]:
    """Ask another Python, which has nothing but its standard library where it is to run an exported function."""
    if not sys.executable:
        raise DidNotRunError
    alone = engine == "python"
    # NaN and Infinity are not JSON, but Python writes and reads them.
    given = {"engine": engine, "content": content, "name": name, "scores": as_lists(scores)}
    command = [
        sys.executable,
        "-I",
        *(["-S"] if alone else []),
        str(Path(__file__).with_name("subprocess_program.py")),
    ]
    (answer,) = run_files({}, command, given=json.dumps({**given, "path": [] if alone else sys.path}).encode())
    found, values = json.loads(answer)
    return found, values
