"""Pictures of the study: margins by rounds, what easy and hard cases get, and slopes."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from oddsmith.plots.display import Display
from oddsmith.plots.theme import Theme
from oddsmith_studies.studies._figures import Drawing, Panels, StudyFigure
from oddsmith_studies.studies._study import Json, Results
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.grids import STUMPS, TREES
from oddsmith_studies.studies.why_boosting.parts import FOLLOWED
from oddsmith_studies.studies.why_boosting.results import followed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHOWN = (4, 32, 1024)
_QUARTERS = ("easiest quarter", "second", "third", "hardest quarter")


def all_figures(results: Results) -> list[StudyFigure]:
    """Return all pictures."""
    margins: dict[str, Display] = {
        f"{problem}, {base}": Drawing(partial(_draw_margins, part=followed(results, problem, base)))
        for base in (TREES, STUMPS)
        for problem in FOLLOWED
    }
    groups: dict[str, Display] = {
        f"{problem}, {name}": Drawing(partial(_draw_groups, part=followed(results, problem, TREES), name=name))
        for name in ("boosted", "bagged")
        for problem in FOLLOWED
    }
    slopes: dict[str, Display] = {
        f"{problem}, {base}": Drawing(partial(_draw_slopes, part=followed(results, problem, base)))
        for base in (TREES, STUMPS)
        for problem in FOLLOWED
    }
    return [
        StudyFigure(
            "margins",
            "Share of test rows with at most some margin, by the number of rounds. Rows right of 0 are classified "
            "correctly; with more rounds margins crowd to the right of 0 and leave 1.",
            Panels(margins, columns=3, size=(2.6, 2.2), alike=True),
        ),
        StudyFigure(
            "groups",
            "Mean margin of four groups of test rows, from easy to hard, by rounds: boosted trees, and bagged trees "
            "for comparison.",
            Panels(groups, columns=3, size=(2.6, 2.2), alike=True),
        ),
        StudyFigure(
            "slopes",
            "Slope of what happened over predicted log-odds, by rounds (1: right, dashed). Below 1 log-odds are too "
            "large, above it too small.",
            Panels(slopes, columns=3, size=(2.6, 2.2), alike=True),
        ),
    ]


def _draw_margins(ax: "Axes", look: Theme, part: Json) -> None:
    there = [each for each in part["rounds"] if each["rounds"] in _SHOWN] or part["rounds"][-1:]
    for series, each in enumerate(there):
        share = np.linspace(0, 1, len(each["margins"]))
        ax.plot(each["margins"], share, label=f"{each['rounds']} rounds", **look.ink(series).line())
    ax.set(xlabel="margin", ylabel="share of rows", xlim=(-1, 1), ylim=(0, 1))


def _draw_groups(ax: "Axes", look: Theme, part: Json, name: str) -> None:
    rounds = [each["rounds"] for each in part["rounds"]]
    for series, title in enumerate(_QUARTERS):
        ink = look.ink(series)
        values = [each["groups"][name][series] for each in part["rounds"]]
        ax.plot(rounds, values, label=title, **(ink.dots(3) | ink.line()))
    ax.set(xscale="log", xlabel="rounds", ylabel="mean margin", ylim=(-1, 1.05))


def _draw_slopes(ax: "Axes", look: Theme, part: Json) -> None:
    rounds = [each["rounds"] for each in part["rounds"]]
    for series, (name, title) in enumerate((("slope of 2F", "z"), ("slope of the vote", "share of votes"))):
        ink = look.ink(series)
        values = [np.nan if each[name] is None else each[name] for each in part["rounds"]]
        ax.plot(rounds, values, label=title, **(ink.dots(3) | ink.line()))
    ax.axhline(1, color=look.text, linewidth=0.8, linestyle="--")
    ax.set(xscale="log", yscale="log", xlabel="rounds", ylabel="slope")
