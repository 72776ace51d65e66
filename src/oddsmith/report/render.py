"""From the dictionary of a report to a page, Markdown or JSON."""

import json
from collections.abc import Mapping
from typing import Any

from oddsmith.report.pictures import pictures

__all__ = ["to_html", "to_json", "to_markdown"]


def to_json(summary: Mapping[str, Any]) -> str:
    """Return the report as JSON."""
    return json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def to_html(summary: Mapping[str, Any]) -> str:
    """Return the report as one page that needs nothing else: no network, no other file."""
    return _render("report.html", summary, pictures=pictures(summary), embedded=_embedded(summary))


def to_markdown(summary: Mapping[str, Any]) -> str:
    """Return the report as Markdown, without pictures."""
    return _render("report.md", summary)


def _render(template: str, summary: Mapping[str, Any], **more: Any) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("oddsmith.report"),
        autoescape=template.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["figure"] = _figure
    return environment.get_template(f"{template}.j2").render(summary=summary, standings=_standings(summary), **more)


def _figure(value: float | str | None, digits: int = 4) -> str:
    """Write a number; infinite ones are strings in JSON."""
    return "–" if value is None else f"{float(value):.{digits}f}".replace("inf", "∞")


def _standings(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the methods by log-loss, with means and marks."""
    contest = summary["contest"]
    rows = []
    for name in contest["ranking"]:
        cells = {}
        for measure, part in contest["comparison"]["measures"].items():
            method = part["methods"][name]
            cells[measure] = {
                "mean": contest["mean"][measure][name],
                "mark": method["mark"],
                "mark_holm": method["mark_holm"],
                "best": part["best"] == name,
            }
        rows.append({"name": name, "cells": cells})
    return rows


def _embedded(summary: Mapping[str, Any]) -> str:
    """Return what the page computes with, safe inside a script element."""
    data = {
        name: {"bins": part["bins"], "cells": part["cells"], "exact": part["exact"]}
        for name, part in summary["forecasts"].items()
    }
    text = json.dumps({"forecasts": data, "best": summary["best"]}, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
