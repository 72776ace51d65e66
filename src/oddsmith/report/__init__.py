"""Reports: one dictionary, written as a page, as Markdown or as JSON."""

from oddsmith.report.advice import BASE_RATE, UNCALIBRATED, Advice, NextSteps
from oddsmith.report.class_methods import ClassMethodComparison, compare_class_methods
from oddsmith.report.class_summary import summarize_classes
from oddsmith.report.methods import MethodComparison, compare_methods, verdict_before
from oddsmith.report.render import json_text as json_text
from oddsmith.report.render import to_html, to_json, to_markdown
from oddsmith.report.summary import summarize
from oddsmith.report.titles import title_of as title_of
from oddsmith.report.wording import bias_explained as bias_explained
from oddsmith.report.wording import figure as figure
from oddsmith.report.wording import marks_explained as marks_explained
from oddsmith.report.wording import p_value as p_value
from oddsmith.report.wording import rows_of_measures as rows_of_measures
from oddsmith.report.wording import rows_of_methods as rows_of_methods
from oddsmith.report.wording import rows_of_tests as rows_of_tests

__all__ = [
    "BASE_RATE",
    "UNCALIBRATED",
    "Advice",
    "ClassMethodComparison",
    "MethodComparison",
    "NextSteps",
    "compare_class_methods",
    "compare_methods",
    "summarize",
    "summarize_classes",
    "to_html",
    "to_json",
    "to_markdown",
    "verdict_before",
]
