"""What commands of other packages need to print as the library's own do."""

from oddsmith.cli._exit import CHECK_FAILED
from oddsmith.cli._options import AsJson, Quiet
from oddsmith.cli._output import CommandOutput, print_text

__all__ = ["CHECK_FAILED", "AsJson", "CommandOutput", "Quiet", "print_text"]
