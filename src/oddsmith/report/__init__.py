"""Reports: one dictionary, written as a page, as Markdown or as JSON."""

import typing as _typing
from functools import partial as _partial

from oddsmith._foreign_names import refuse as _refuse
from oddsmith.report.advice import BASE_RATE, UNCALIBRATED, Advice, Gain, NextSteps
from oddsmith.report.methods import MethodComparison, compare_methods, compare_segments
from oddsmith.report.render import json_text as json_text
from oddsmith.report.render import to_html, to_json, to_markdown
from oddsmith.report.sheets import with_audit
from oddsmith.report.summary import summarize
from oddsmith.report.titles import title_of as title_of
from oddsmith.report.wording import explain_bias as explain_bias
from oddsmith.report.wording import explain_marks as explain_marks
from oddsmith.report.wording import figure as figure
from oddsmith.report.wording import p_value as p_value
from oddsmith.report.wording import rows_of_measures as rows_of_measures
from oddsmith.report.wording import rows_of_methods as rows_of_methods
from oddsmith.report.wording import rows_of_tests as rows_of_tests
from oddsmith.report.writing import WRITERS as WRITERS
from oddsmith.report.writing import write_report

__all__ = [
    "BASE_RATE",
    "UNCALIBRATED",
    "Advice",
    "Gain",
    "MethodComparison",
    "NextSteps",
    "compare_methods",
    "compare_segments",
    "summarize",
    "to_html",
    "to_json",
    "to_markdown",
    "with_audit",
    "write_report",
]

if not _typing.TYPE_CHECKING:  # for which it would make every name known
    __getattr__ = _partial(_refuse, __name__)
