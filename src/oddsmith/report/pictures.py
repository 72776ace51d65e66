"""The pictures of a report, drawn from its dictionary, in light and in dark."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from oddsmith._check import Floats
from oddsmith.plots import CorpDisplay, PredictionHistogramDisplay, ScoreSpaceDisplay
from oddsmith.plots._display import Display
from oddsmith.report.methods import AS_IS
from oddsmith.table import ScoreTable

#: Curves in the score-space picture; more cannot be told apart.
_CURVES = 5


class Picture(NamedTuple):
    """A picture with what it shows in words."""

    title: str
    caption: str
    light: str
    dark: str


@dataclass(frozen=True)
class _Curve:
    """A map by its values: enough to be drawn."""

    score: Floats
    value: Floats

    def log_odds(self, scores: Floats) -> Floats:
        return np.interp(scores, self.score, self.value)


def pictures(summary: Mapping[str, Any]) -> list[Picture]:
    """Draw everything a report shows."""
    best = summary["best"]
    found = []
    for name in dict.fromkeys([AS_IS, best]):
        forecast = _table(summary["forecasts"][name]["cells"])
        found.append(
            _picture(
                CorpDisplay.from_table(forecast, name=name),
                f"Reliability, {name}",
                f"Observed share of positives against the predicted probability, {name}, on held-out cases. "
                "In the band lie 95 % of perfectly calibrated forecasts; below, how many cases have each prediction.",
            )
        )
    scores = _table(summary["scores"])
    at, axis = np.array(summary["maps"]["at"]), summary["maps"]["axis"]
    curves = {
        name: _Curve(at, np.array(summary["maps"]["log_odds"][name]))
        for name in [name for name in summary["contest"]["ranking"] if name != AS_IS][:_CURVES]
    }
    found.append(
        _picture(
            ScoreSpaceDisplay.from_table(scores, maps=curves),
            "Log-odds by score",
            "What the data say about a score, with 95 % intervals, and the five methods with the least log-loss"
            f"{'' if axis == 'score' else '; the axis is the log-odds of the score'}.",
        )
    )
    found.append(
        _picture(
            PredictionHistogramDisplay.from_table(_table(summary["forecasts"][best]["cells"]), name=best),
            f"Predictions, {best}",
            f"How many cases get which probability from {best}, by class.",
        )
    )
    return found


def _picture(display: Display, title: str, caption: str) -> Picture:
    return Picture(title, caption, display.to_svg(theme="light"), display.to_svg(theme="dark"))


def _table(cells: Mapping[str, list[float]]) -> ScoreTable:
    scores = np.array(cells["score"])
    weight = np.array(cells["pos"] + cells["neg"], dtype=np.int64)
    return ScoreTable.from_arrays(np.tile(scores, 2), np.repeat([1, 0], len(scores)), weight)
