"""The command line: ``oddsmith --help``."""

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from oddsmith import _extras
from oddsmith.errors import MissingExtraError

__all__ = ["main"]

#: Matrices here are small: threads of linear algebra would take longer to meet than to compute.
_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line, by default with the arguments of this process."""
    for name in _THREADS:
        os.environ.setdefault(name, "1")
    try:
        for package in ("rich", "typer"):
            _extras.require(package)
        from oddsmith.cli._app import main as run  # long enough to be interrupted

        run(args)
    except MissingExtraError as error:
        os.write(2, f"Error: {error}\n".encode())
        sys.exit(2)
    except KeyboardInterrupt:
        os.write(2, b"Stopped.\n")  # as `_exit` does, whose module may not have been loaded yet
        sys.exit(130)
