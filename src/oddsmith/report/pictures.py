"""The pictures of a report, drawn from its dictionary in the page's own colors, or in light and in dark.

Those of several classes are made for three and for a hundred.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np

from oddsmith._types import Floats
from oddsmith.audit import AuditedSegment
from oddsmith.data import ScoreTable
from oddsmith.maps import Band, CalibrationMap
from oddsmith.metrics import CalibrationBelt, DecisionCurve, NetBenefitDifference, Result
from oddsmith.plots import (
    THEMES,
    AuditDisplay,
    CalibrationBeltDisplay,
    ConfidenceDisplay,
    CorpDisplay,
    DecisionCurveDisplay,
    DensityDisplay,
    Display,
    NetBenefitDifferenceDisplay,
    PredictionHistogramDisplay,
)
from oddsmith.report.wording import NUMBERED, figure, is_of_several

__all__ = ["pictures"]

#: Of the square of one class, in its own units: its sides, and what the axes need.
_SIDE, _LEFT, _BELOW, _EDGE = 200, 34, 22, 8

#: Where axes may end: forecasts of a rare class fill a corner of the unit square.
_LIMITS = (0.01, 0.02, 0.04, 0.1, 0.2, 0.4, 1.0)

#: Of the strip of all classes.
_WIDTH, _HEIGHT, _AXIS = 860, 190, 46

#: Number of classes above which cells of a heat map are smaller than a dot.
_MAPPED = 300

#: Shades of a heat map.
_SHADES = 8

#: Samples of each band.
_SAMPLES = 200

#: Segments of the forest plot.
_SEGMENTS = 12

#: Of the drawing of all methods over the scores, in its own units, and what its sides need.
_SPACE = {"width": 860, "height": 430, "left": 52, "below": 46, "edge": 10}

#: How many of the best methods stand out at first, in addition to the recommended one.
_EMPHASIZED = 5

#: Dashes that distinguish curves of one colour.
_DASHES = ("", "9 3", "2 2.5", "9 2.5 2 2.5", "14 4", "5 2 2 2 2 2")


def pictures(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return all that the template draws."""
    if is_of_several(summary["evaluation"]):
        return _row_pictures(summary)
    return {
        "reliability": list(_reliability(summary)),
        "histograms": list(_histograms(summary)),
        "space": draw_score_space(summary, len(THEMES["light"].palette)),
        "size": _SPACE,
        "forest": list(_forest(summary)),
        "clinical": list(_clinical(summary)),
    }


def _forest(summary: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Draw the worst segments."""
    part = summary.get("audit")
    if part is not None and part["segments"]:
        fields = AuditedSegment.__dataclass_fields__
        segments = [
            AuditedSegment(**{name: _number(one[name]) for name in fields}) for one in part["segments"][:_SEGMENTS]
        ]
        yield _draw(
            AuditDisplay(tuple(segments), part["level"]),
            "Worst segments",
            f"Observed over expected positives with {100 * part['level']:g} % intervals. Filled: significantly off "
            "after Holm's correction for the number of segments.",
            "segments",
        )


def _number(value: Any) -> Any:
    """Return a number that JSON has by its name."""
    return float(value) if isinstance(value, str) else value


def _clinical(summary: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Draw decision curves, the difference of the methods, and calibration belts."""
    part = summary.get("clinical")
    if part is None:
        return
    for place, (name, sheet) in enumerate(part["sheets"].items()):
        yield _draw(
            DecisionCurveDisplay(_arrays(DecisionCurve, sheet["decisions"]), name),
            f"Decision curve, {name}",
            "Net benefit of treating cases with P above a threshold, next to treating all and none, with pointwise "
            "95 % intervals where enough cases are treated.",
            f"decisions-{place}",
        )
    if part["difference"] is not None:
        last, first = list(part["sheets"])[-1], next(iter(part["sheets"]))
        yield _draw(
            NetBenefitDifferenceDisplay(_arrays(NetBenefitDifference, part["difference"]), f"{last} − {first}"),
            "Difference in net benefit",
            "Paired difference on the same cases, with a 95 % band for all thresholds together.",
            "difference",
        )
    for place, (name, sheet) in enumerate(part["sheets"].items()):
        if not isinstance(sheet["belt"], str):
            cells = PredictionHistogramDisplay.from_table(_table_of(summary["forecasts"][name]["cells"]))
            yield _draw(
                CalibrationBeltDisplay(_arrays(CalibrationBelt, sheet["belt"]), cells, name),
                f"Calibration belt, {name}",
                "Where the true share of positives may lie at each probability, for all together. Where the diagonal "
                "leaves the belt, probabilities are off.",
                f"belt-{place}",
            )


R = TypeVar("R", bound=Result)


def _arrays(kind: type[R], content: Mapping[str, Any]) -> R:
    """Return a result from its dictionary."""
    lists = {name: value for name, value in content.items() if isinstance(value, list) and name != "levels"}
    arrays = {name: np.array(value, dtype=np.float64) for name, value in lists.items()}
    return kind(**{**content, **arrays})


def _reliability(summary: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Draw the reliability of the uncalibrated scores, where they have one, and of the recommended method."""
    for place, (name, part) in enumerate(summary["forecasts"].items()):
        band = None if part["band"] is None else _band_of(part["band"]["limits"])
        lines = "" if band is None else " Any rising true P is between the dashed lines, with 95 % confidence."
        yield _draw(
            CorpDisplay.from_table(_table_of(part["cells"]), name=name),
            f"Reliability, {name}",
            f"Observed share of positives against the predicted probability on held-out cases, {name}. A perfectly "
            f"calibrated forecast stays in the shaded band at 95 % of the places.{lines} Below: how many cases have "
            "each prediction.",
            f"reliability-{place}",
            band=band,
        )


def _histograms(summary: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Draw where the scores of both classes lie, and where the recommended method puts them."""
    recommended = summary["recommended"]
    yield _draw(
        DensityDisplay.from_table(_table_of(summary["scores"])),
        "Scores by class",
        "The distribution of the scores of each class; each has area 1. The central 99 % of the scores are shown.",
        "scores",
    )
    yield _draw(
        PredictionHistogramDisplay.from_table(_table_of(summary["forecasts"][recommended]["cells"]), name=recommended),
        f"Predictions, {recommended}",
        f"How many held-out cases get which probability from {recommended}, positives on top of negatives.",
        "predictions",
    )


def draw_score_space(summary: Mapping[str, Any], n_colours: int) -> dict[str, Any]:
    """Put data and curves of every method into the units of the drawing: the page chooses which are shown."""
    part = summary["score_space"]
    at, points = np.array(part["at"]), {name: np.array(values) for name, values in part["points"].items()}
    margin = 0.05 * float(points["high"].max() - points["low"].min())
    bottom, top = float(points["low"].min()) - margin, float(points["high"].max()) + margin
    x = _scale_to(float(at[0]), float(at[-1]), _SPACE["left"], _SPACE["width"] - _SPACE["edge"])
    y = _scale_to(bottom, top, _SPACE["height"] - _SPACE["below"], _SPACE["edge"])
    curves = []
    for rank, name in enumerate(part["curves"]):
        # What lies far outside is drawn to the edge, not left out.
        values = np.clip(part["curves"][name], 2 * bottom - top, 2 * top - bottom)
        turn, colour = divmod(rank, n_colours)
        dashes = _DASHES[(colour + turn) % len(_DASHES)]
        chosen = rank < _EMPHASIZED or name == summary["recommended"]
        path = _path_of(x(at), y(values))
        curves.append({"name": name, "path": path, "colour": colour, "dashes": dashes, "chosen": chosen})
    band = None
    if part["band"] is not None:
        low, high = np.clip(part["band"], 2 * bottom - top, 2 * top - bottom)
        band = _path_of(x(np.concatenate([at, at[::-1]])), y(np.concatenate([low, high[::-1]]))) + "Z"
    return {
        "band": band,
        "x_ticks": _ticks_of(float(at[0]), float(at[-1]), x),
        "y_ticks": _ticks_of(bottom, top, y),
        "points": list(_points(points, x, y)),
        "curves": curves,
    }


def _points(
    points: Mapping[str, Floats], x: Callable[[Floats], Floats], y: Callable[[Floats], Floats]
) -> Iterator[dict[str, Any]]:
    """Return the empirical log-odds of some cases: where, with intervals, and the counts behind them."""
    places = (x(points["score"]), *(y(points[name]) for name in ("log_odds", "low", "high")))
    for i, place in enumerate(np.round(places, 1).T.tolist()):
        pos, neg = points["pos"][i], points["neg"][i]
        # A bin of one class has infinite log-odds.
        sides = "both" if pos and neg else "positive" if pos else "negative"
        words = f"score {points['score'][i]:.4g}: {pos:g} of {pos + neg:g} cases positive"
        yield dict(zip(("x", "y", "low", "high"), place, strict=True)) | {"sides": sides, "words": words}


def _scale_to(low: float, high: float, start: float, stop: float) -> Callable[[Any], Any]:
    """Return what takes values from low to high to places from start to stop."""
    return lambda value: start + (np.asarray(value) - low) / (high - low) * (stop - start)


def _path_of(x: Floats, y: Floats) -> str:
    """Return places, joined by lines, as SVG writes them."""
    return "M" + "L".join(f"{across:.1f},{up:.1f}" for across, up in zip(x, y, strict=True))


def _ticks_of(low: float, high: float, place: Callable[[Any], Any], most: int = 7) -> list[dict[str, Any]]:
    """Return round numbers between low and high, and where they are."""
    from matplotlib.ticker import MaxNLocator

    marks = np.array(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high))
    inside = marks[(marks >= low) & (marks <= high)]
    nothing = 1e-9 * (high - low)
    labels = [f"{mark if abs(mark) > nothing else 0:g}".replace("-", "−") for mark in inside]
    return [{"at": round(float(place(mark)), 1), "label": label} for mark, label in zip(inside, labels, strict=True)]


def _row_pictures(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the pictures of several classes.

    They are the confidence of decisions; a panel for each of the worst classes, with paths of curves and of the band of
    a calibrated forecast; and, of many classes, a strip with the errors of all, and a map of decisions.
    """
    many = len(summary["labels"]) > NUMBERED
    return {
        "confidence": list(_confidence(summary)),
        "panels": list(_panels(summary)),
        "strip": _strip(summary) if many else None,
        "heat_map": _heat_map(summary) if many and len(summary["labels"]) <= _MAPPED else None,
        "side": {"side": _SIDE, "left": _LEFT, "below": _BELOW, "edge": _EDGE},
    }


def _confidence(summary: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for place, (name, part) in enumerate(summary["forecasts"].items()):
        yield _draw(
            ConfidenceDisplay.from_table(_table_of(part["cells"]), name=name),
            f"Confidence, {name}",
            f"How often the most probable class is the true one, against its probability, on held-out cases, {name}. A "
            "perfectly calibrated forecast stays in the band at 95 % of the places. Below: how many cases have each "
            "confidence.",
            f"confidence-{place}",
        )


def _panels(summary: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    forecasts, recommended, baseline = summary["forecasts"], summary["recommended"], summary["baseline"]
    for key, cells in forecasts[recommended]["classes"].items():
        after = CorpDisplay.from_table(_table_of(cells), n_resamples=_SAMPLES)
        curves = [after]
        if baseline != recommended:
            curves.append(CorpDisplay.from_table(_table_of(forecasts[baseline]["classes"][key]), level=None))
        largest = max(float(max(curve.prob[-1], curve.rate[-1])) for curve in curves)
        limit = next((limit for limit in _LIMITS if largest <= limit), 1.0)
        across = _scale_to(0.0, limit, _LEFT, _SIDE - _EDGE)
        up = _scale_to(0.0, limit, _SIDE - _BELOW, _EDGE)
        assert after.band is not None
        at, low, high = after.band.at, after.band.low, np.minimum(after.band.high, limit)
        ring = np.concatenate([at, at[::-1]]), np.concatenate([low, high[::-1]])
        lines = [_path_of(across(curve.prob), up(curve.rate)) for curve in curves]
        yield {
            "label": summary["labels"][int(key)],
            "words": _words(summary, int(key)),
            "limit": limit,
            "band": _path_of(across(ring[0]), up(ring[1])) + "Z",
            "before": lines[1] if len(lines) > 1 else "",
            "after": lines[0],
        }


def _words(summary: Mapping[str, Any], k: int) -> str:
    """Return in words how large the calibration errors of a class are."""
    parts = [one["classes"][k] for one in summary["evaluation"].values()]
    errors = " → ".join(figure(part["calibration_error"]["value"]) for part in parts)
    band = parts[-1]["calibration_error"]["interval"].get("consistency")
    by_chance = "" if band is None else f", by chance ≤ {figure(band[1])}"
    return f"{figure(parts[-1]['cases'], 1)} cases; error {errors}{by_chance}"


def _strip(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Put all classes side by side, the worst first, with errors before and after and their range by chance."""
    by_method = [one["classes"] for one in summary["evaluation"].values()]
    errors = [[part["calibration_error"] for part in classes] for classes in by_method]
    highest = max(error["value"] for classes in errors for error in classes) or 1.0
    step = (_WIDTH - _AXIS - _EDGE) / len(by_method[0])
    up = _scale_to(0.0, 1.05 * highest, _HEIGHT - _EDGE, _EDGE)
    marks = []
    for place, k in enumerate(summary["worst_first"]):
        before, after = errors[0][k], errors[-1][k]
        low, high = after["interval"].get("consistency") or (0.0, 0.0)
        values = np.array([before["value"], after["value"], low, min(high, 1.05 * highest)])
        heights = zip(("before", "after", "low", "high"), np.round(up(values), 1).tolist(), strict=True)
        words = f"{summary['labels'][k]}: {_words(summary, k)}"
        marks.append({"words": words, "x": round(_AXIS + (place + 0.5) * step, 1), **dict(heights)})
    ticks = _ticks_of(0.0, 1.05 * highest, up, 4)
    return {"marks": marks, "ticks": ticks, "width": _WIDTH, "height": _HEIGHT, "axis": _AXIS}


def _heat_map(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Shade every pair by the share of the actual class; wrong decisions are few, so shades follow the root."""
    cases = summary["data"]["cases"]
    shades: dict[tuple[bool, int], list[str]] = {}
    for actual, decided, amount in summary["forecasts"][summary["recommended"]]["confusion"]:
        level = int(np.ceil(_SHADES * np.sqrt(amount / cases[int(actual)])))
        shades.setdefault((actual == decided, level), []).append(f"M{int(decided)},{int(actual)}h1v1h-1z")
    paths = [
        {"right": right, "opacity": level / _SHADES, "path": "".join(cells)}
        for (right, level), cells in sorted(shades.items())
    ]
    return {"classes": len(summary["labels"]), "shades": paths}


def _draw(display: Display, title: str, caption: str, key: str, **options: Any) -> dict[str, str]:
    """Draw a display in light and in dark; the key makes its identifiers unique on a page."""
    themes = {theme: _inline(display.to_svg(theme=theme, **options), f"{key}-{theme}") for theme in ("light", "dark")}
    return {"title": title, "caption": caption, **themes}


def _inline(svg: str, key: str) -> str:
    """Return what of an SVG file belongs into a page, its identifiers made unique by a key."""
    body = re.sub(r"\s*<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{key}-", body)


def _band_of(content: Mapping[str, Any]) -> Band:
    """Return the band that a dictionary holds."""
    sides = {side: CalibrationMap.from_dict(content[side]) for side in ("lower", "upper")}
    return Band(**{**content, **sides})


def _table_of(cells: Mapping[str, list[float]]) -> ScoreTable:
    """Return the table of cells that a dictionary holds."""
    scores, pos, neg = (np.array(cells[side], dtype=np.float64) for side in ("score", "pos", "neg"))
    if "pos_sq" in cells:
        return ScoreTable(scores, pos, neg, np.array(cells["pos_sq"]), np.array(cells["neg_sq"]))
    return ScoreTable(scores, pos.astype(np.int64), neg.astype(np.int64))
