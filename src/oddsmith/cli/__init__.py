"""The command line: ``oddsmith --help``; and what commands of other packages need to speak as its own do."""

from oddsmith.cli._app import main
from oddsmith.cli._failing import CHECK_FAILED
from oddsmith.cli._output import AsJson, Quiet, Voice, say

__all__ = ["CHECK_FAILED", "AsJson", "Quiet", "Voice", "main", "say"]
