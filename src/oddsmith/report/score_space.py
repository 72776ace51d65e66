"""The picture of every method over the scores: drawn once, in the page's own colours, for the page to pick from."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from oddsmith._types import Floats

__all__ = ["SIZE", "path_of", "scale_to", "score_space", "ticks_of"]


#: Of the drawing, in its own units, and what its sides need.
SIZE = {"width": 860, "height": 430, "left": 52, "below": 46, "edge": 10}

#: How many of the best methods stand out at first, in addition to the recommended one.
_CHOSEN = 5

#: Dashes that distinguish curves of one colour.
_DASHES = ("", "9 3", "2 2.5", "9 2.5 2 2.5", "14 4", "5 2 2 2 2 2")


def score_space(summary: Mapping[str, Any], n_colours: int) -> dict[str, Any]:
    """Put data and curves of a report's dictionary into the units of the drawing."""
    part = summary["score_space"]
    at, points = np.array(part["at"]), {name: np.array(values) for name, values in part["points"].items()}
    margin = 0.05 * float(points["high"].max() - points["low"].min())
    bottom, top = float(points["low"].min()) - margin, float(points["high"].max()) + margin
    x = scale_to(float(at[0]), float(at[-1]), SIZE["left"], SIZE["width"] - SIZE["edge"])
    y = scale_to(bottom, top, SIZE["height"] - SIZE["below"], SIZE["edge"])
    curves = []
    for rank, name in enumerate(part["curves"]):
        # What lies far outside is drawn to the edge, not left out.
        values = np.clip(part["curves"][name], 2 * bottom - top, 2 * top - bottom)
        turn, colour = divmod(rank, n_colours)
        dashes = _DASHES[(colour + turn) % len(_DASHES)]
        chosen = rank < _CHOSEN or name == summary["recommended"]
        path = path_of(x(at), y(values))
        curves.append({"name": name, "path": path, "colour": colour, "dashes": dashes, "chosen": chosen})
    band = None
    if part["band"] is not None:
        low, high = np.clip(part["band"], 2 * bottom - top, 2 * top - bottom)
        band = path_of(x(np.concatenate([at, at[::-1]])), y(np.concatenate([low, high[::-1]]))) + "Z"
    return {
        "band": band,
        "x_ticks": ticks_of(float(at[0]), float(at[-1]), x),
        "y_ticks": ticks_of(bottom, top, y),
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


def scale_to(low: float, high: float, start: float, stop: float) -> Callable[[Any], Any]:
    """Return what takes values from low to high to places from start to stop."""
    return lambda value: start + (np.asarray(value) - low) / (high - low) * (stop - start)


def path_of(x: Floats, y: Floats) -> str:
    """Return places, joined by lines, as SVG writes them."""
    return "M" + "L".join(f"{across:.1f},{up:.1f}" for across, up in zip(x, y, strict=True))


def ticks_of(low: float, high: float, place: Callable[[Any], Any], most: int = 7) -> list[dict[str, Any]]:
    """Return round numbers between low and high, and where they are."""
    from matplotlib.ticker import MaxNLocator

    marks = np.array(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high))
    inside = marks[(marks >= low) & (marks <= high)]
    nothing = 1e-9 * (high - low)
    labels = [f"{mark if abs(mark) > nothing else 0:g}".replace("-", "−") for mark in inside]
    return [{"at": round(float(place(mark)), 1), "label": label} for mark, label in zip(inside, labels, strict=True)]
