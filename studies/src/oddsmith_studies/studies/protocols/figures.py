"""Pictures of the protocols."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from oddsmith.plots.theme import Theme
from oddsmith_studies.studies._figures import Drawing, Panels, StudyFigure
from oddsmith_studies.studies._study import Json, Results
from oddsmith_studies.studies.protocols.measured import (
    CLASSIFIERS,
    mean_distance,
    protocols_of,
    relative_change,
    tasks_of,
)
from oddsmith_studies.studies.protocols.parts import IN_SAMPLE, LEAVE_ONE_OUT, METHODS
from oddsmith_studies.studies.protocols.tasks import BAYES, SVM, TREES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHOWN = (("earn", SVM), ("earn", BAYES), ("corn", BAYES), ("LETTER.P2", TREES))


def all_figures(results: Results) -> list[StudyFigure]:
    """Return the score histograms, the changes in log-loss, and the distances to test scores."""
    shown = [part for key in _SHOWN for part in results.values() if (part["source"], part["classifier"]) == key]
    histograms = {
        f"{part['source']}, {part['classifier']}: {label}s": Drawing(partial(_draw_scores, part=part, label=label))
        for part in shown
        for label in ("positive", "negative")
    }
    changes = {
        f"{classifier}, {method}": Drawing(
            partial(_draw_changes, tasks=tasks_of(results, classifier), method=method), height=2.4
        )
        for classifier in CLASSIFIERS
        for method in METHODS
    }
    return [
        StudyFigure(
            "scores",
            "Scores of training rows by protocol, and of test rows (gray). Outermost scores are counted in the outer "
            "bins.",
            Panels(histograms, size=(3.4, 2.1)),
        ),
        StudyFigure(
            "changes",
            "Log-loss on test rows, relative to ten folds: one thin line per task, and a thick one for their mean. "
            "Each row has one range. The axis is linear within ±10 % and logarithmic beyond.",
            Panels(changes, columns=3, size=(2.6, 2.3)),
        ),
        StudyFigure(
            "distances",
            "How far calibration scores are from test scores: largest gap of their distributions, mean over tasks and "
            "classes.",
            Drawing(partial(_draw_distances, results=results)),
        ),
    ]


def _draw_scores(ax: "Axes", look: Theme, part: Json, label: str) -> None:
    edges = np.array(part["edges"])
    test = _density(part["test"][label], edges)
    ax.stairs(test, edges, fill=True, color=look.muted, alpha=0.35, label="test")
    for series, name in enumerate((IN_SAMPLE, "5 folds", LEAVE_ONE_OUT)):
        if name in part["protocols"]:
            ax.stairs(_density(part["protocols"][name][label], edges), edges, label=name, **look.ink(series).line(1.1))
    ax.set(xlabel="score", ylabel="density")


def _density(counts: list[int], edges: np.ndarray) -> np.ndarray:
    return np.array(counts) / max(sum(counts), 1) / np.diff(edges)


def _draw_changes(ax: "Axes", look: Theme, tasks: list[Json], method: str) -> None:
    names = protocols_of(tasks)
    by_method = {
        each: 100 * np.array([[relative_change(task, name, each) for name in names] for task in tasks])
        for each in METHODS
    }
    values, everything = by_method[method], np.concatenate(list(by_method.values()))
    places = np.arange(len(names))
    for row in values:
        ax.plot(places, row, color=look.muted, linewidth=0.6)
    ink = look.ink(0)
    ax.plot(places, values.mean(axis=0), **(ink.dots() | ink.line(1.6)))
    ax.axhline(0, color=look.text, linewidth=0.6)
    ax.set_xticks(places, [_short(name) for name in names], rotation=45)
    ax.set_yscale("symlog", linthresh=10)
    marks = [-50, -10, -5, 0, 5, 10, 50, 200, 1000]
    ax.set_yticks(marks, [f"{mark:+}" if mark else "0" for mark in marks])
    ax.minorticks_off()
    # The same for all methods of a classifier, which stand side by side.
    ax.set_ylim(min(-12.0, 1.1 * everything.min()), max(12.0, 1.3 * everything.max()))
    ax.set_ylabel("change, %")


def _draw_distances(ax: "Axes", look: Theme, results: Results) -> None:
    names = protocols_of(tasks_of(results, BAYES))
    for series, classifier in enumerate(CLASSIFIERS):
        tasks, ink = tasks_of(results, classifier), look.ink(series)
        mine = protocols_of(tasks)
        distances = [mean_distance(tasks, name) for name in mine]
        ax.plot([names.index(name) for name in mine], distances, label=classifier, **(ink.dots() | ink.line(1.2)))
    ax.set_xticks(range(len(names)), [_short(name) for name in names], rotation=45)
    ax.set_ylim(bottom=0)
    ax.set_ylabel("distance to test scores")


def _short(protocol: str) -> str:
    return {"30 % held out": "30 %", LEAVE_ONE_OUT: "one out"}.get(protocol, protocol)
