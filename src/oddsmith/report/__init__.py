"""Reports: one dictionary, written as a page, as Markdown or as JSON."""

from oddsmith.report.methods import AS_IS, MethodContest, compare_methods
from oddsmith.report.render import to_html, to_json, to_markdown
from oddsmith.report.summary import summarize

__all__ = ["AS_IS", "MethodContest", "compare_methods", "summarize", "to_html", "to_json", "to_markdown"]
