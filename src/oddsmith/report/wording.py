"""The tables of a report, row by row, for whatever it is written in."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from oddsmith.metrics import FIRST
from oddsmith.report.titles import title_of

__all__ = [
    "NUMBERED",
    "content",
    "explain_bias",
    "explain_marks",
    "figure",
    "interval_lines",
    "is_of_several",
    "p_value",
    "rows_of_measures",
    "rows_of_methods",
    "rows_of_tests",
]

#: What each mark means; the table explains those that it has.
_MARKS = {
    "*": "significantly better than all others",
    "†": "significantly better than all but {raw}",
    "‡": "significantly better than all but one or two",
}
#: Classes that are named where there are many.
_NAMED = 20

#: Classes up to which a table of decisions has room for numbers.
NUMBERED = 12

#: Confusions that are listed.
_LISTED = 12

#: Targets of operating points that are shown of each of several classes.
_SHOWN_TARGETS = (0.95, 0.05)

_POINTS_NOTE = (
    "Each line alone is kept with 95 % confidence on rows drawn like these; precision, if P never falls with the "
    "score. Selected, precision, recall and false-positive rate are those of these rows; P there has 95 % limits."
)

_BIAS = "Noise inflates these errors; ≈ is bias-corrected, “by chance” is the range for a perfect forecast."


def explain_marks(shown: Collection[str], raw: str) -> str:
    """Explain the marks that a table has.

    Parameters
    ----------
    shown : collection of str
        Marks of all cells.
    raw : str
        What the methods are compared with.

    Examples
    --------
    >>> explain_marks(["", "*"], "uncalibrated")[:60]
    "* significantly better than all others, after Holm's correct"
    >>> explain_marks([""], "uncalibrated")
    ''
    """
    text = "".join(shown)
    found = [f"{mark} {words.format(raw=raw)}" for mark, words in _MARKS.items() if mark in text]
    return f"{', '.join(found)}, after Holm's correction for the number of pairs." if found else ""


def explain_bias(cells: Iterable[list[str]]) -> str:
    """Explain ≈ and “by chance” where the lines of some cell have them."""
    return _BIAS if any(line.startswith("≈") for lines in cells for line in lines) else ""


def content(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of a report, and the sentences around them, for a template."""
    parts = summary["methods"]["comparison"]["measures"]
    standings = list(rows_of_methods(summary["methods"]))
    marks = [cell["marks"] for row in standings for cell in row["cells"].values()]
    measures = list(rows_of_measures(summary["evaluation"]))
    others = [name for name in summary["forecasts"] if name != summary["recommended"]]
    several = is_of_several(summary["evaluation"])
    titles = {name: title_of(name, several=several) for name in parts}
    notes = dict.fromkeys(note for one in summary["evaluation"].values() for note in one["notes"])
    return {
        "judged": "" if summary["methods"]["advice"]["kind"] in FIRST else summary["methods"]["judged"]["words"],
        "standings": standings,
        "marks": explain_marks(marks, summary["baseline"]),
        "dashed": others[0] if others else None,
        "error_title": titles["zero_one_error"],
        "tests_used": [f"{titles[name]}: {part['test']}, level {part['alpha']:g}" for name, part in parts.items()],
        "measures": measures,
        "bias": explain_bias(cell["lines"] for row in measures for cell in row["cells"]),
        "in_sample": any(part.get("in_sample") for part in summary["evaluation"].values()),
        "tests": list(rows_of_tests(summary["evaluation"])),
        "facts": list(_facts(summary)),
        "classes": list(_rows_of_classes(summary)),
        "notes": list(notes),
        "segments": list(_rows_of_segments(summary)),
        "left_out": summary["segments"]["failed"] if "segments" in summary else {},
        **(_decisions(summary) | _of_classes(summary) if several else _of_scores(summary)),
    }


def _rows_of_segments(summary: Mapping[str, Any]) -> Iterator[list[str]]:
    """Return a row for each segment: its name, method, cases, log-loss before and after, gain, and interval."""
    for one in summary["segments"]["compared"] if "segments" in summary else ():
        gain = one["gain"]
        figures = map(figure, (one["before"], one["after"], gain["mean"]))
        ends = f"[{figure(gain['low'])}, {figure(gain['high'])}]"
        yield [one["segment"], one["method"], f"{one['cases']:,.0f}", *figures, ends]


def is_of_several(evaluation: Mapping[str, Any]) -> bool:
    """Whether evaluations are of several classes, or of the positive one of two."""
    return next(iter(evaluation.values()))["top_label"] is not None


def _of_scores(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return where forecasts of two classes are surely wrong, in words, and the guaranteed operating points."""
    areas = [f"{name}: {_areas(part['band']['areas'])}" for name, part in summary["forecasts"].items() if part["band"]]
    return {
        "areas": areas,
        "points": [_point(point) for point in summary["operating_points"] or []],
        "points_note": _POINTS_NOTE,
        "points_score": "score",
    }


def _of_classes(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same of several classes, each against the rest: of every goal the target next to 95 or 5 %."""
    labels, areas = summary["labels"], []
    for name, part in summary["forecasts"].items():
        found = {str(labels[int(k)]): one for k, one in (part["areas"] or {}).items()}
        outside = [f"{name}, {label} against the rest: {_areas(one)}" for label, one in found.items() if one]
        none = [f"{name}: no forecast of {len(found)} classes is outside the band of the true P of its class."]
        areas += outside or (none if found else [])
    points = [
        _point(point, f"{labels[int(k)]}: ")
        for k, own in (summary["operating_points"] or {}).items()
        for point in own
        if point["target"] in _SHOWN_TARGETS
    ]
    note = f"Each class against the rest, by its raw P: the given probability, or the softmax of logits. {_POINTS_NOTE}"
    return {"areas": areas, "points": points, "points_note": note, "points_score": "raw P"}


def _areas(found: Iterable[Mapping[str, Any]]) -> str:
    """Return the areas of miscalibration in words; neighbors on the same side are joined."""
    said = "with 95 % confidence for all of them together"
    parts = []
    for too_low, areas in groupby(found, key=lambda area: area["gap"] > 0):
        joined = list(areas)
        low, high = min(area["low"] for area in joined), max(area["high"] for area in joined)
        gap = max(abs(area["gap"]) for area in joined)
        side = "low" if too_low else "high"
        parts.append(f"too {side} between {low:.3g} and {high:.3g} (somewhere by {gap:.2g} or more)")
    if not parts:
        return f"no forecast is outside the band of the true P, {said}."
    return f"forecasts are {'; '.join(parts)}, {said}."


def _point(point: Mapping[str, Any], start: str = "") -> dict[str, Any]:
    """Return a row of the operating points: its target, and cells, or why there are none."""
    least = point["goal"] in ("precision", "recall")
    goal = "false-positive rate" if point["goal"] == "fpr" else point["goal"]
    cells = []
    if point["cut"] is not None:
        low, high = point["probability"]
        selected = f"{point['selected']:,} ({point['selected'] / point['rows']:.1%})"
        reached = [figure(point[name]) for name in ("precision", "recall", "fpr")]
        cells = [repr(point["cut"]), f"{low:.3g} to {high:.3g}", selected, *reached]
    target = f"{start}{goal} {'≥' if least else '≤'} {point['target']:g}"
    return {"target": target, "cells": cells, "sentence": point["sentence"]}


def _decisions(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is decided, and what it costs."""
    labels, recommended = summary["labels"], summary["recommended"]
    pairs = summary["forecasts"][recommended]["confusion"]
    right = sum(amount for actual, decided, amount in pairs if actual == decided)
    return {
        "confusion": _confusion(labels, pairs) if len(labels) <= NUMBERED else None,
        "largest": list(_largest(labels, pairs, summary["data"]["cases"])),
        "right": f"{right / float(summary['data']['weight']):.1%}",
        "decided_by": "the most probable class" if summary["costs"] is None else "the least expected cost",
        "costs": None if summary["costs"] is None else _costs(summary),
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


def rows_of_measures(evaluation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the measures of one or more methods, with intervals and definitions."""
    by_method = [one["measures"] for one in evaluation.values()]
    several = is_of_several(evaluation)
    for name in by_method[0]:
        found = [measures[name] for measures in by_method]
        cells = [{"value": one.get("value"), "lines": interval_lines(one)} for one in found]
        reasons = [f"not computed: {one['reason']}" for one in found if "reason" in one]
        title = title_of(name, several=several)
        yield {"title": title, "cells": cells, "definition": "; ".join([found[-1]["definition"], *reasons])}


def rows_of_tests(evaluation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the tests of calibration of one or more methods."""
    by_method = [one["tests"] for one in evaluation.values()]
    for name in by_method[0]:
        found = [tests[name] for tests in by_method]
        words = dict.fromkeys(one.get("definition", one.get("reason", "")) for one in found)
        yield {"title": title_of(name), "p_values": [p_value(one) for one in found], "definition": "; ".join(words)}


def _facts(summary: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Return where the data came from, what they are, and how the figures were found."""
    data, labels, several = summary["data"], summary["labels"], is_of_several(summary["evaluation"])
    yield from summary["source"].items()
    yield "Rows", f"{data['rows']:,}"
    if several:
        yield "Classes", f"{len(labels)}: {', '.join(labels[:_NAMED])}{' …' if len(labels) > _NAMED else ''}"
        yield "Cases per class", f"{figure(min(data['cases']), 0)} to {figure(max(data['cases']), 0)}"
        yield "Columns contain", data["input"]
    else:
        yield "Labels", f"{labels[0]}, {labels[1]} (positive)"
        yield "Positive", f"{data['prevalence']:.2%}"
        yield "Scores", f"{data['low']:.6g} to {data['high']:.6g}, {data['distinct']:,} distinct"
        cells = "every distinct score is kept" if data["resolution"] is None else f"cells of {data['resolution']:g}"
        yield "Resolution", cells + (" of log-odds" if data["log_odds_cells"] else "")
    yield "Protocol", f"{summary['methods']['folds']}-fold cross-validation, seed {summary['seed']}"
    yield f"SHA-256 of the {'rows' if several else 'score table'}", data["sha256"]
    yield "Made with", f"oddsmith {summary['version']}"


def _rows_of_classes(summary: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the classes with figures of the uncalibrated scores and of the recommended method, the worst first."""
    by_method = [one["classes"] for one in summary["evaluation"].values()]
    labels = summary["labels"] if len(by_method[0]) > 1 else summary["labels"][1:]
    for k in summary.get("worst_first", [0]):
        parts = [classes[k] for classes in by_method]
        yield {
            "label": labels[k],
            "cases": figure(parts[0]["cases"], 1),
            "share": f"{parts[0]['share']:.2%}",
            "cells": [_cell(part) for part in parts],
        }


def _cell(part: Mapping[str, Any]) -> dict[str, Any]:
    gap, error = part["gap"], part["calibration_error"]
    ends, band = gap["interval"], error["interval"].get("consistency")
    return {
        "mean": f"{part['mean_probability']:.2%}",
        "gap": _points(gap["value"]),
        "interval": f"[{_points(ends['low'])}, {_points(ends['high'])}]" if "low" in ends else "",
        "test": {"reason": part["reason"]} if part["p_holm"] is None else {"p_value": part["p_holm"]},
        "error": figure(error["value"]),
        "by_chance": f"by chance ≤ {figure(band[1])}" if band else "",
    }


def _points(points: float) -> str:
    """Write a difference of shares in percentage points.

    Examples
    --------
    >>> _points(0.0123), _points(-0.5)
    ('+1.23', '−50.00')
    """
    return f"{100 * points:+z.2f}".replace("-", "−")


def _confusion(labels: list[str], pairs: list[list[float]]) -> list[dict[str, Any]]:
    """Return a row for each class with the decisions of its cases."""
    amounts = {(int(actual), int(decided)): amount for actual, decided, amount in pairs}
    found = []
    for actual, label in enumerate(labels):
        row = [amounts.get((actual, decided), 0) for decided in range(len(labels))]
        # Wrong decisions are few: their shades follow the root of their share.
        shares = [
            (amount / sum(row) if amount else 0.0) ** (1.0 if k == actual else 0.5) for k, amount in enumerate(row)
        ]
        cells = [
            {"amount": figure(amount, 1), "shade": round(share, 3), "right": decided == actual}
            for decided, (amount, share) in enumerate(zip(row, shares, strict=True))
        ]
        found.append({"label": label, "cells": cells})
    return found


def _largest(labels: list[str], pairs: list[list[float]], cases: list[float]) -> Iterator[dict[str, str]]:
    """Return the wrong decisions that happen most often."""
    wrong = sorted((pair for pair in pairs if pair[0] != pair[1]), key=lambda pair: -pair[2])
    for actual, decided, amount in wrong[:_LISTED]:
        yield {
            "actual": labels[int(actual)],
            "decided": labels[int(decided)],
            "amount": figure(amount, 1),
            "share": f"{amount / cases[int(actual)]:.1%}",
        }


def _costs(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return what decisions cost per case, and what calibration gains."""
    costs = summary["costs"]

    def amount(part: Mapping[str, Any]) -> str:
        interval = "" if part["low"] is None else f" [{figure(part['low'])}, {figure(part['high'])}]"
        return f"{figure(part['value'])}{interval}"

    rows = []
    for name, by_rule in costs["methods"].items():
        rows.append((f"{name}, least expected cost", amount(by_rule["least_expected_cost"])))
        rows.append((f"{name}, most probable class", amount(by_rule["most_probable_class"])))
    always = summary["labels"][costs["constant"]["decision"]]
    rows.append((f"best constant decision, always {always}", figure(costs["constant"]["cost"])))
    return {"rows": rows, "gain": None if costs["gain"] is None else _gain_words(costs["gain"])}


def _gain_words(gain: Mapping[str, Any]) -> str:
    """Return in words how calibration changes the cost of decisions."""
    value, low, high = (figure(gain[name]) for name in ("value", "low", "high"))
    told = f"{value} per case (95 % interval {low} to {high})"
    if gain["low"] is not None and gain["low"] > 0:
        return f"Calibration lowers the cost of decisions by {told}."
    if gain["high"] is not None and gain["high"] < 0:
        return f"Calibration raises the cost of decisions: it saves {told}."
    return f"Calibration makes no clear difference to the cost of decisions: it saves {told}."
