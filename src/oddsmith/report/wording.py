"""What the tables of a report say, row by row, whatever it is written in."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from oddsmith.metrics import FIRST
from oddsmith.report.titles import title_of

__all__ = [
    "bias_explained",
    "content",
    "figure",
    "interval_lines",
    "marks_explained",
    "p_value",
    "rows_of_measures",
    "rows_of_methods",
    "rows_of_tests",
]

#: What each mark says; the table names those that it has.
_MARKS = {
    "*": "significantly better than all others",
    "†": "significantly better than all but {raw}",
    "‡": "significantly better than all but one or two",
}
#: Classes that are named where there are many.
_NAMED = 20

_BIAS = "Noise inflates these errors; ≈ is bias-corrected, “by chance” is the range for a perfect forecast."


def marks_explained(shown: Collection[str], raw: str) -> str:
    """Explain the marks that a table has.

    Parameters
    ----------
    shown : collection of str
        Marks of all cells.
    raw : str
        What the methods are compared with.

    Examples
    --------
    >>> marks_explained(["", "*"], "uncalibrated")[:60]
    "* significantly better than all others, after Holm's correct"
    >>> marks_explained([""], "uncalibrated")
    ''
    """
    text = "".join(shown)
    found = [f"{mark} {words.format(raw=raw)}" for mark, words in _MARKS.items() if mark in text]
    return f"{', '.join(found)}, after Holm's correction for the number of pairs." if found else ""


def bias_explained(cells: Iterable[list[str]]) -> str:
    """Say what ≈ and “by chance” mean, where the lines of some cell have them."""
    return _BIAS if any(line.startswith("≈") for lines in cells for line in lines) else ""


def content(summary: Mapping[str, Any], *, classes: bool) -> dict[str, Any]:
    """Return the tables of a report, of two classes or of several, and the sentences around them, for a template."""
    parts = summary["methods"]["comparison"]["measures"]
    standings = list(rows_of_methods(summary["methods"]))
    marks = [cell["marks"] for row in standings for cell in row["cells"].values()]
    measures = list(rows_of_measures(summary["evaluation"], classes=classes))
    others = [name for name in summary["forecasts"] if name != summary["recommended"]]
    titles = {name: title_of(name, classes=classes) for name in parts}
    return {
        "judged": "" if summary["methods"]["advice"]["kind"] in FIRST else summary["methods"]["judged"]["words"],
        "standings": standings,
        "marks": marks_explained(marks, summary["baseline"]),
        "dashed": others[0] if others else None,
        "error_title": titles["zero_one_error"],
        "tests_used": [f"{titles[name]}: {part['test']}, level {part['level']:g}" for name, part in parts.items()],
        "measures": measures,
        "bias": bias_explained(cell["lines"] for row in measures for cell in row["cells"]),
        "in_sample": any(part.get("in_sample") for part in summary["evaluation"].values()),
        "tests": list(rows_of_tests(summary["evaluation"])),
        "facts": list(_facts(summary, classes=classes)),
    }


def figure(value: float | str | None, digits: int = 4) -> str:
    """Write a number; infinite ones are strings in JSON.

    Examples
    --------
    >>> figure(0.12345), figure(1998), figure(-4451565.5), figure("inf"), figure(None)
    ('0.1235', '1,998', '−4.45e+06', '∞', '–')
    """
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    layout = f".{digits}f" if not 1e5 <= abs(float(value)) < float("inf") else ".3g"
    return f"{float(value):{layout}}".replace("inf", "∞").replace("-", "−")


def p_value(test: Mapping[str, Any]) -> str:
    """Write the p-value of a test, or why there is none."""
    if "reason" in test:
        return "–"
    value = float(test["p_value"])
    return "< 0.0001" if value < 1e-4 else f"{value:.4f}"


def interval_lines(measure: Mapping[str, Any]) -> list[str]:
    """Write the interval of a measure, and what belongs to it, a line each."""
    found = measure.get("interval")
    if found is None or "reason" in found:
        return []
    lines = []
    if found["low"] is not None:
        about = "" if found["corrected"] is None else f"≈ {figure(found['corrected'])} "
        lines.append(f"{about}[{figure(found['low'])}, {figure(found['high'])}]")
    if found["consistency"] is not None:
        low, high = found["consistency"]
        lines.append(f"by chance [{figure(low)}, {figure(high)}]")
    return lines


def rows_of_methods(compared: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the methods of a comparison's dictionary by log-loss, with means and marks."""
    for name in compared["ranking"]:
        cells = {}
        for measure, part in compared["comparison"]["measures"].items():
            method = part["methods"][name]
            mean = compared["mean"][measure][name]
            best = mean == compared["mean"][measure][part["best"]]
            cells[measure] = {"mean": mean, "marks": _marks_of(compared, method), "best": best}
        yield {"name": name, "cells": cells}


def _marks_of(compared: Mapping[str, Any], method: Mapping[str, Any]) -> str:
    """Return the mark of a method on a measure after Holm's correction, none where the cases allow no ranking."""
    return "" if compared["advice"]["kind"] == "few" else str(method["mark_holm"])


def rows_of_measures(evaluation: Mapping[str, Any], *, classes: bool = False) -> Iterator[dict[str, Any]]:
    """Return the measures of one or more methods, with intervals and definitions."""
    by_method = [one["measures"] for one in evaluation.values()]
    if classes:
        by_method = [{name: _with_interval(found) for name, found in one.items()} for one in by_method]
    for name in by_method[0]:
        found = [measures[name] for measures in by_method]
        cells = [{"value": one.get("value"), "lines": interval_lines(one)} for one in found]
        reasons = [f"not computed: {one['reason']}" for one in found if "reason" in one]
        title = title_of(name, classes=classes)
        yield {"title": title, "cells": cells, "definition": "; ".join([found[-1]["definition"], *reasons])}


def _with_interval(measure: Mapping[str, Any]) -> dict[str, Any]:
    """Return a measure of several classes as those of two are: with an interval of its own."""
    interval = {name: measure.get(name) for name in ("low", "high", "corrected", "consistency")}
    undefined = {"reason": measure["reason"]} if measure["value"] is None else {}
    return {"value": measure["value"], "definition": measure["definition"], "interval": interval} | undefined


def rows_of_tests(evaluation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the tests of calibration of one or more methods."""
    by_method = [one["tests"] for one in evaluation.values()]
    for name in by_method[0]:
        found = [tests[name] for tests in by_method]
        words = dict.fromkeys(one.get("definition", one.get("reason", "")) for one in found)
        yield {"title": title_of(name), "p_values": [p_value(one) for one in found], "definition": "; ".join(words)}


def _facts(summary: Mapping[str, Any], *, classes: bool) -> Iterator[tuple[str, str]]:
    """Return where the data came from, what they are, and how the figures were found."""
    data, labels = summary["data"], summary["labels"]
    yield from summary["source"].items()
    yield "Rows", f"{data['rows']:,}"
    if classes:
        yield "Classes", f"{len(labels)}: {', '.join(labels[:_NAMED])}{' …' if len(labels) > _NAMED else ''}"
        yield "Cases per class", f"{figure(min(data['cases']), 0)} to {figure(max(data['cases']), 0)}"
        yield "Columns hold", data["input"]
    else:
        yield "Labels", f"{labels[0]}, {labels[1]} (positive)"
        yield "Positive", f"{data['prevalence']:.2%}"
        yield "Scores", f"{data['low']:.6g} to {data['high']:.6g}, {data['distinct']:,} distinct"
        cells = "every distinct score is kept" if data["resolution"] is None else f"cells of {data['resolution']:g}"
        yield "Resolution", cells + (" of log-odds" if data["log_odds_cells"] else "")
    yield "Protocol", f"{summary['methods']['folds']}-fold cross-validation, seed {summary['seed']}"
    yield f"SHA-256 of the {'rows' if classes else 'score table'}", data["sha256"]
    yield "Made with", f"oddsmith {summary['version']}"
