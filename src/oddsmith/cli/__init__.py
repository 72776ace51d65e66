"""The command line: ``oddsmith --help``."""

import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line, by default with the arguments of this process."""
    try:
        from oddsmith.cli._app import main as run  # long enough to be interrupted

        run(args)
    except KeyboardInterrupt:
        sys.exit(130)  # INTERRUPTED, whose module may not have been loaded yet
