"""Reports: one dictionary, written as a page, as Markdown or as JSON."""

from oddsmith.report.advice import BASE_RATE, UNCALIBRATED, Advice, NextSteps
from oddsmith.report.class_methods import ClassMethodComparison, compare_class_methods
from oddsmith.report.class_summary import summarize_classes
from oddsmith.report.methods import MethodComparison, ScoreMeaning, compare_methods, verdict_before
from oddsmith.report.render import to_html, to_json, to_markdown
from oddsmith.report.summary import summarize

__all__ = [
    "BASE_RATE",
    "UNCALIBRATED",
    "Advice",
    "ClassMethodComparison",
    "MethodComparison",
    "NextSteps",
    "ScoreMeaning",
    "compare_class_methods",
    "compare_methods",
    "summarize",
    "summarize_classes",
    "to_html",
    "to_json",
    "to_markdown",
    "verdict_before",
]
