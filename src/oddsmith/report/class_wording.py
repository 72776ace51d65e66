"""What the tables of a report on several classes say, row by row, whatever it is written in."""

from collections.abc import Iterator, Mapping
from typing import Any

from oddsmith.report.wording import figure

__all__ = ["NUMBERED", "class_content"]

#: Up to so many classes a table of decisions has room for numbers.
NUMBERED = 12

#: Confusions that are listed.
_LISTED = 12


def class_content(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is said of each class, of decisions and of their costs."""
    labels, recommended = summary["labels"], summary["recommended"]
    weight = float(summary["data"]["weight"])
    pairs = summary["forecasts"][recommended]["confusion"]
    right = sum(amount for actual, decided, amount in pairs if actual == decided)
    notes = dict.fromkeys(note for one in summary["evaluation"].values() for note in one["notes"])
    return {
        "rows": list(_rows_of_classes(summary)),
        "confusion": _confusion(labels, pairs) if len(labels) <= NUMBERED else None,
        "largest": list(_largest(labels, pairs, summary["data"]["cases"])),
        "right": f"{right / weight:.1%}",
        "decided_by": "the most probable class" if summary["costs"] is None else "the least expected cost",
        "costs": None if summary["costs"] is None else _costs(summary),
        "notes": list(notes),
    }


def _rows_of_classes(summary: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return what the uncalibrated rows and the recommended method say of each class, the worst first."""
    by_method = [list(one["classes"].values()) for one in summary["evaluation"].values()]
    for k in summary["worst_first"]:
        parts = [classes[k] for classes in by_method]
        yield {
            "label": summary["labels"][k],
            "cases": figure(parts[0]["cases"], 1),
            "share": f"{parts[0]['share']:.2%}",
            "cells": [_cell(part) for part in parts],
        }


def _cell(part: Mapping[str, Any]) -> dict[str, Any]:
    gap, error = part["gap"], part["calibration_error"]
    known = gap["low"] is not None
    return {
        "mean": f"{part['mean_probability']:.2%}",
        "gap": _signed(gap["value"]),
        "interval": f"[{_signed(gap['low'])}, {_signed(gap['high'])}]" if known else "",
        "test": {"reason": part["reason"]} if part["p_holm"] is None else {"p_value": part["p_holm"]},
        "error": figure(error["value"]),
        "by_chance": f"by chance ≤ {figure(error['consistency'][1])}" if error.get("consistency") else "",
    }


def _signed(points: float) -> str:
    """Write a difference of shares in percentage points.

    Examples
    --------
    >>> _signed(0.0123), _signed(-0.5)
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
    """Say what calibration changes about the cost of decisions."""
    value, low, high = (figure(gain[name]) for name in ("value", "low", "high"))
    told = f"{value} per case (95 % interval {low} to {high})"
    if gain["low"] is not None and gain["low"] > 0:
        return f"Calibration lowers the cost of decisions by {told}."
    if gain["high"] is not None and gain["high"] < 0:
        return f"Calibration raises the cost of decisions: it saves {told}."
    return f"Calibration makes no clear difference to the cost of decisions: it saves {told}."
