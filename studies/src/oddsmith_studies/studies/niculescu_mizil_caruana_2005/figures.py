"""Pictures of the study: the document's Figures 1 to 6."""

from collections.abc import Sequence
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from oddsmith.plots import LearningCurve, LearningCurveDisplay
from oddsmith.plots.display import Display
from oddsmith.plots.theme import THEMES, Theme, series_of
from oddsmith_studies.studies._figures import Drawing, Panels, StudyFigure
from oddsmith_studies.studies._study import Json, Results
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.grids import TREES, last_round
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.measured import (
    BOOSTED,
    TEN,
    last_picture,
    learned,
    learning_curve,
    log_loss_boosted,
    shown_part,
)
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.methods import CROSS_ENTROPY, ISO, MEASURES, PLATT, RAW
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.reliability import CURVE_POINTS, HISTOGRAM_BINS
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.tasks import PROBLEMS, STAND_INS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROUNDS_PROBLEM = "COV_TYPE"
_SMALL = (2.2, 1.9)


def all_figures(results: Results) -> list[StudyFigure]:
    """Return the pictures in the document's order."""
    rounds = {problem: last_round(results.setting, TREES, problem) for problem in PROBLEMS}
    most = max(rounds.values())
    fewer = [f"{problem} after {number}" for problem, number in rounds.items() if number < most]
    after = f"{most} rounds" + (f" ({', '.join(fewer)})" if fewer else "")
    standing = ", ".join(f"{public} stands in for {private}" for public, private in STAND_INS.items())
    return [
        *(_effect_of_rounds(results, way) for way in ("discrete", "real")),
        StudyFigure(
            "figure-2",
            f"Figure 2: predicted values of boosted trees on test rows after {after}, above their reliability diagrams "
            f"with the functions that Platt scaling and isotonic regression fitted to scores of three folds. "
            f"{standing}.",
            _eight(results, RAW, functions=True),
        ),
        StudyFigure("figure-3", f"Figure 3: the same after Platt scaling. {standing}.", _eight(results, PLATT)),
        StudyFigure("figure-4", f"Figure 4: the same after isotonic regression. {standing}.", _eight(results, ISO)),
        StudyFigure(
            "figure-5",
            "Figure 5: squared error of boosted trees against the number of calibration cases, mean over the "
            "document's own problems with enough test rows, with 95 % intervals over trials. Sizes marked * lack "
            "further problems, which the table names, and are not joined to the others.",
            _curves(results),
        ),
        *(
            StudyFigure(
                f"figure-6-{measure.replace(' ', '-')}",
                f"Figure 6 in {measure}: ten learners before and after calibration on the validation rows, and "
                f"boosting with log-loss; mean over the document's own five problems with 95 % intervals.",
                Drawing(partial(_draw_learners, results=results, measure=measure), height=3.0),
            )
            for measure in MEASURES
        ),
    ]


def _effect_of_rounds(results: Results, way: str) -> StudyFigure:
    pictures = shown_part(results, ROUNDS_PROBLEM)["pictures"][way]
    order = sorted(pictures, key=int)
    binned = [pictures[number]["methods"][RAW] for number in order]
    titles = [f"{number} round{'' if number == '1' else 's'}" for number in order]
    said = {"discrete": "votes of 0 and 1", "real": "votes by the probability of the leaf"}[way]
    return StudyFigure(
        "figure-1" if way == "discrete" else f"figure-1-{way}",
        f"Figure 1, {said}: predicted values on {ROUNDS_PROBLEM}'s test rows, above reliability diagrams, as boosting "
        f"of trees with Bayesian leaves goes on.",
        _histograms_above(titles, binned, [_diagram(each) for each in binned], columns=3),
    )


def _eight(results: Results, method: str, *, functions: bool = False) -> Panels:
    pictures = [last_picture(results, problem) for problem in PROBLEMS]
    binned = [each["methods"][method] for each in pictures]
    diagrams = [
        _diagram(mine, each["functions"] if functions else None, named=place == 0)
        for place, (mine, each) in enumerate(zip(binned, pictures, strict=True))
    ]
    titles = [f"{name} (for {STAND_INS[name]})" if name in STAND_INS else name for name in PROBLEMS]
    return _histograms_above(titles, binned, diagrams, columns=4)


def _histograms_above(
    titles: Sequence[str], binned: Sequence[Json], diagrams: Sequence[Display], columns: int
) -> Panels:
    """Return panels, rows of histograms above rows of the diagrams that belong to them."""
    panels: dict[str, Display] = {}
    for start in range(0, len(titles), columns):
        some = range(start, min(start + columns, len(titles)))
        panels |= {titles[place]: Drawing(partial(_draw_histogram, binned=binned[place])) for place in some}
        # A title says it once; panels are told apart by spaces that nobody sees.
        panels |= {" " * (place + 1): diagrams[place] for place in some}
    return Panels(panels, columns=columns, size=_SMALL)


def _diagram(binned: Json, functions: Json | None = None, *, named: bool = False) -> Display:
    return Drawing(partial(_draw_reliability, binned=binned, functions=functions, named=named))


def _draw_histogram(ax: "Axes", look: Theme, binned: Json) -> None:
    shares = np.array(binned["histogram"]) / sum(binned["histogram"])
    ax.stairs(100 * shares, np.linspace(0, 1, HISTOGRAM_BINS + 1), fill=True, color=look.ink(0).color)
    ax.set(xlim=(0, 1), ylim=(0, None))
    ax.set_ylabel("% of rows")


def _draw_reliability(ax: "Axes", look: Theme, binned: Json, functions: Json | None, named: bool) -> None:
    ax.plot([0, 1], [0, 1], color=look.muted, linewidth=0.8)
    grid = np.linspace(0, 1, CURVE_POINTS)
    for series, (name, values) in enumerate((functions or {}).items(), 1):
        ax.plot(grid, values, label=name if named else None, **look.ink(series).line(1.1))
    ax.plot(binned["mean"], binned["positive"], zorder=4, label="observed" if named else None, **look.ink(0).dots())
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="predicted value", ylabel="share of positives")


def _curves(results: Results) -> Display:
    points = learning_curve(results)
    sizes = np.array([point.size for point in points], float)
    curves = {
        name: LearningCurve(sizes, tuple(point.by_method[method] for point in points))
        for name, method in (("uncalibrated", RAW), ("Platt", PLATT), ("isotonic", ISO))
    }
    short = [place for place, point in enumerate(points) if point.problems != points[0].problems]
    return Drawing(partial(_draw_curves, display=LearningCurveDisplay(curves, "squared error"), short=short))


def _draw_curves(ax: "Axes", look: Theme, display: LearningCurveDisplay, short: Sequence[int]) -> None:
    options: dict[str, Any] = {"theme": next(name for name, each in THEMES.items() if each is look)}
    copy(display).plot(ax, **options)
    labels = [label.get_text() for label in ax.get_xticklabels()]
    ax.set_xticks(ax.get_xticks(), [f"{label}*" if place in short else label for place, label in enumerate(labels)])
    for line in series_of(ax):
        # A mean over other problems is no continuation of the curve.
        x, y = (np.insert(np.asarray(values, float), short, np.nan) for values in line.get_data())
        line.set_data(x, y)
    # The drawing makes a legend of its own of what has a label.
    if (made := ax.get_legend()) is not None:
        made.remove()


def _draw_learners(ax: "Axes", look: Theme, results: Results, measure: str) -> None:
    found = [learned(results, learner, measure) for learner in TEN]
    places = np.arange(len(TEN))
    for series, (name, intervals) in enumerate(
        (
            ("uncalibrated", [each.before for each in found]),
            ("Platt", [each.platt for each in found]),
            ("isotonic", [each.isotonic for each in found]),
        )
    ):
        _draw_intervals(ax, look, places + 0.18 * (series - 1), intervals, series, name)
    boosted = [TEN.index(learner) for learner in BOOSTED]
    log_loss = [log_loss_boosted(results, learner, measure) for learner in BOOSTED]
    _draw_intervals(ax, look, np.array(boosted) + 0.36, log_loss, 3, "boosted with log-loss")
    ax.set_xticks(places, TEN, rotation=45)
    ax.set_ylabel("cross-entropy, bits" if measure == CROSS_ENTROPY else measure)


def _draw_intervals(
    ax: "Axes", look: Theme, places: np.ndarray, intervals: Sequence[Json], series: int, name: str
) -> None:
    ink = look.ink(series)
    values, low, high = (np.array([getattr(each, end) for each in intervals]) for end in ("value", "low", "high"))
    ax.errorbar(places, values, [values - low, high - values], **ink.bars())
    ax.plot(places, values, label=name, **ink.dots())
