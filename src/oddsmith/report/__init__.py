"""Reports: one dictionary, written as a page, as Markdown or as JSON."""

from oddsmith.report.advice import BASE_RATE, UNCALIBRATED, Advice, NextSteps
from oddsmith.report.methods import Meaning, MethodComparison, compare_methods
from oddsmith.report.render import to_html, to_json, to_markdown
from oddsmith.report.summary import summarize

__all__ = [
    "BASE_RATE",
    "UNCALIBRATED",
    "Advice",
    "Meaning",
    "MethodComparison",
    "NextSteps",
    "compare_methods",
    "summarize",
    "to_html",
    "to_json",
    "to_markdown",
]
