"""The pictures of a report that do not move, drawn from its dictionary in light and in dark."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from oddsmith.data import ScoreTable
from oddsmith.plots import CorpDisplay, DensityDisplay, Display, PredictionHistogramDisplay

__all__ = ["drawn", "histogram_pictures", "reliability_pictures", "table_of"]


def reliability_pictures(summary: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Draw the reliability of the uncalibrated scores, where they have one, and of the recommended method."""
    for place, (name, part) in enumerate(summary["forecasts"].items()):
        yield drawn(
            CorpDisplay.from_table(table_of(part["cells"]), name=name),
            f"Reliability, {name}",
            f"Observed share of positives against the predicted probability on held-out cases, {name}. A perfectly "
            "calibrated forecast stays in the band at 95 % of the places. Below: how many cases have each prediction.",
            f"reliability-{place}",
        )


def histogram_pictures(summary: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Draw where the scores of both classes lie, and where the recommended method puts them."""
    recommended = summary["recommended"]
    yield drawn(
        DensityDisplay.from_table(table_of(summary["scores"])),
        "Scores by class",
        "Where the scores of each class lie; each class has area 1. The central 99 % of the scores are shown.",
        "scores",
    )
    yield drawn(
        PredictionHistogramDisplay.from_table(table_of(summary["forecasts"][recommended]["cells"]), name=recommended),
        f"Predictions, {recommended}",
        f"How many held-out cases get which probability from {recommended}, positives on top of negatives.",
        "predictions",
    )


def drawn(display: Display, title: str, caption: str, key: str) -> dict[str, str]:
    """Draw a display in light and in dark; the key makes its identifiers unique on a page."""
    themes = {theme: _inlined(display.to_svg(theme=theme), f"{key}-{theme}") for theme in ("light", "dark")}
    return {"title": title, "caption": caption, **themes}


def _inlined(svg: str, key: str) -> str:
    """Return what of an SVG file belongs into a page, its identifiers made unique by a key."""
    body = re.sub(r"\s*<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{key}-", body)


def table_of(cells: Mapping[str, list[float]]) -> ScoreTable:
    """Return the table of cells that a dictionary holds."""
    scores, pos, neg = (np.array(cells[side], dtype=np.float64) for side in ("score", "pos", "neg"))
    if "pos_sq" in cells:
        return ScoreTable(scores, pos, neg, np.array(cells["pos_sq"]), np.array(cells["neg_sq"]))
    return ScoreTable(scores, pos.astype(np.int64), neg.astype(np.int64))
