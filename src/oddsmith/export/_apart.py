"""Programs that run apart: in a process and a folder of their own, without our environment, and not for ever."""

import contextlib
import os
import signal
import subprocess
from pathlib import Path

__all__ = ["DidNotRunError", "run_apart"]

#: Seconds until a program is ended.
LIMIT = 120.0

#: Without these some programs do not even start.
_NEEDED = ("PATH", "SYSTEMROOT")


class DidNotRunError(Exception):
    """A program is not here, failed, or took too long."""


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
        raise DidNotRunError(msg)
    return out


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a program and whatever it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:  # pragma: no cover - Windows
            process.kill()
