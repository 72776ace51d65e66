"""The command line: ``oddsmith --help``."""

from oddsmith.cli._app import main

__all__ = ["main"]
