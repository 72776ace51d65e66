"""What commands of other packages need to speak as the library's own do."""

from oddsmith.cli._failing import CHECK_FAILED
from oddsmith.cli._output import AsJson, Quiet, Voice, say

__all__ = ["CHECK_FAILED", "AsJson", "Quiet", "Voice", "say"]
