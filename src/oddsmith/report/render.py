"""From the dictionary of a report to a page, Markdown or JSON."""

import json
import re
from collections.abc import Mapping
from typing import Any

from oddsmith import _extras
from oddsmith._check import visible
from oddsmith.report.decisions import HIGHEST_COST
from oddsmith.report.sheets import rows_of_audit, rows_of_clinical
from oddsmith.report.summary import BIN_COUNTS
from oddsmith.report.wording import content, figure, is_of_several, p_value

__all__ = ["to_html", "to_json", "to_markdown"]


def to_json(summary: Mapping[str, Any]) -> str:
    """Return the report as JSON.

    Parameters
    ----------
    summary : mapping
        From `summarize`.

    Returns
    -------
    str

    See Also
    --------
    to_html : A page.
    """
    return json_text(summary) + "\n"


def json_text(content: Any) -> str:
    """Return JSON with letters as they are, and invisible characters by their number."""
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    if visible(text, keep="\n") == text:
        return text
    return "".join(c if visible(c, keep="\n") == c else json.dumps(c)[1:-1] for c in text)


def to_markdown(summary: Mapping[str, Any]) -> str:
    """Return the report as Markdown, without pictures.

    Parameters
    ----------
    summary : mapping
        From `summarize`.

    Returns
    -------
    str

    See Also
    --------
    to_html : With pictures.
    """
    return re.sub(r"\n{3,}", "\n\n", _render(summary, "md"))


def to_html(summary: Mapping[str, Any]) -> str:
    """Return the report as one self-contained HTML page, which loads nothing.

    Parameters
    ----------
    summary : mapping
        From `summarize`, also after a round trip through JSON.

    Returns
    -------
    str

    See Also
    --------
    to_markdown : Without pictures.

    Examples
    --------
    >>> from oddsmith import PlattCalibrator, ScoreTable
    >>> from oddsmith.report import summarize
    >>> table = ScoreTable.from_arrays([-1.0, 0.5, 2.0, -2.0], [0, 1, 1, 0], [40, 30, 30, 50])
    >>> to_html(summarize(table, {"platt": PlattCalibrator()}))[:15]
    '<!DOCTYPE html>'
    """
    from oddsmith.plots import THEMES
    from oddsmith.report.pictures import pictures

    several = is_of_several(summary["evaluation"])
    script = {} if several else {"embedded": _embed(summary), "highest_cost": HIGHEST_COST, "bin_counts": BIN_COUNTS}
    return _render(summary, "html", themes=THEMES, **pictures(summary), **script)


def _render(summary: Mapping[str, Any], language: str, **more: Any) -> str:
    _extras.require("jinja2")
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("oddsmith.report"),
        autoescape=language == "html",
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: visible(value, keep="\n") if type(value) is str else value,
    )
    environment.filters |= {"figure": figure, "md": _as_markdown, "p_value": p_value}
    tables: dict[str, Any] = {}
    if "audit" in summary:
        tables["audited"] = rows_of_audit(summary["audit"])
    if "clinical" in summary:
        tables["clinical_rows"] = list(rows_of_clinical(summary["clinical"]))
    several = is_of_several(summary["evaluation"])
    page = environment.get_template(f"{'rows' if several else 'table'}.{language}.j2")
    return page.render(summary=summary, **content(summary), **tables, **more)


def _as_markdown(text: object) -> str:
    """Return text that Markdown shows as it is, on one line."""
    return re.sub(r"([\\`*<|\[])", r"\\\1", " ".join(str(text).split()))


def _embed(summary: Mapping[str, Any]) -> str:
    """Return what the page computes with, safe inside a script element."""
    forecasts = {
        name: {"decisions": part["decisions"], "bins": part["bins"]} for name, part in summary["forecasts"].items()
    }
    data = {
        "forecasts": forecasts,
        "recommended": summary["recommended"],
        "baseline": summary["baseline"],
        "bin_counts": BIN_COUNTS,
    }
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
