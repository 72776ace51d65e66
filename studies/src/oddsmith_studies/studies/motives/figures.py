"""Pictures of the study: one for each motive."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from oddsmith.plots.display import Display
from oddsmith.plots.theme import Theme
from oddsmith_studies.studies._figures import Drawing, Panels, StudyFigure
from oddsmith_studies.studies._study import Json, Results
from oddsmith_studies.studies.motives.parts import (
    CALIBRATED,
    CALIBRATED_MEAN,
    COMBINED,
    COMBINING,
    COSTED,
    COSTS,
    DECIDING,
    SAMPLED,
    SAMPLING,
)
from oddsmith_studies.studies.motives.results import curves, labels_after

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def all_figures(results: Results) -> list[StudyFigure]:
    """Return one picture for each motive."""
    costs: dict[str, Display] = {
        name: Drawing(partial(_draw_costs, part=results[f"costs-{name.lower()}"])) for name in COSTED
    }
    sampling: dict[str, Display] = {
        name: Drawing(partial(_draw_sampling, results=results, problem=name)) for name in SAMPLED
    }
    return [
        StudyFigure(
            "costs",
            "Mean cost of decisions relative to that of calibrated P, by the cost of a missed positive relative to a "
            "false alarm. Above 1, calibrated P is cheaper.",
            Panels(costs, columns=3, size=(2.6, 2.3), alike=True),
        ),
        StudyFigure(
            "combining",
            "Log-loss of single classifiers and of combinations, relative to that of the mean of calibrated log-odds "
            "(1, dashed). Sums of raw scores that are not calibrated lie beyond the picture where an arrow says so.",
            Panels({"": Drawing(partial(_draw_combining, results=results))}, columns=1, size=(6.8, 2.8), alike=True),
        ),
        StudyFigure(
            "sampling",
            "Test errors of calibrated naive Bayes by the number of labels, means over repeats with bands of 95 % t "
            "intervals.",
            Panels(sampling, columns=3, size=(2.6, 2.4), alike=True),
        ),
    ]


def _draw_costs(ax: "Axes", look: Theme, part: Json) -> None:
    base = np.array(part["costs"][CALIBRATED])
    for series, way in enumerate(DECIDING):
        ink = look.ink(series)
        ax.plot(COSTS, np.array(part["costs"][way]) / base, label=way, **(ink.dots(3) | ink.line()))
    ax.set(xscale="log", yscale="log", xlabel="cost of a miss / false alarm", ylabel="relative cost")
    ax.set_yticks([0.5, 1, 2, 4, 8], ["0.5", "1", "2", "4", "8"])
    ax.minorticks_off()


def _draw_combining(ax: "Axes", look: Theme, results: Results) -> None:
    highest = 2.5
    for series, way in enumerate(each for each in COMBINING if each != CALIBRATED_MEAN):
        found = [results[f"combining-{name.lower()}"]["log_loss"] for name in COMBINED]
        ratio = np.array([each[way] / each[CALIBRATED_MEAN] for each in found])
        ink, place = look.ink(series), np.arange(len(COMBINED)) + 0.12 * (series - 2)
        ax.plot(place, np.minimum(ratio, highest), label=way, **ink.dots(5))
        for x in place[ratio > highest]:
            ax.annotate("↑", (x, highest), ha="center", va="bottom", color=look.text, annotation_clip=False)
    ax.axhline(1, color=look.text, linewidth=0.8, linestyle="--")
    ax.set_xticks(np.arange(len(COMBINED)), COMBINED)
    ax.set(ylabel="relative log-loss")


def _draw_sampling(ax: "Axes", look: Theme, results: Results, problem: str) -> None:
    for series, rule in enumerate(SAMPLING):
        ink, errors = look.ink(series), 100 * curves(results, problem, rule)
        labels, middle = labels_after(errors.shape[1]), errors.mean(axis=0)
        reach = stdtrit(len(errors) - 1, 0.975) * errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
        ax.plot(labels, middle, label=rule, **ink.line())
        ax.fill_between(labels, middle - reach, middle + reach, color=ink.line()["color"], alpha=0.15, linewidth=0)
    ax.set(xlabel="labels", ylabel="test errors, %", ylim=(0, None))
