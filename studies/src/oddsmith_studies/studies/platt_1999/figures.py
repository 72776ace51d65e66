"""Pictures of the study: outputs by class, posteriors with their fits, and losses by cost."""

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from oddsmith import ScoreTable
from oddsmith.checks import Floats
from oddsmith.plots import DensityDisplay, ScoreSpaceDisplay
from oddsmith.plots.display import Display
from oddsmith.plots.theme import Theme
from oddsmith_studies.studies._figures import ONE_CLASS, Adjusted, Drawing, Panels, StudyFigure
from oddsmith_studies.studies._published import Published
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies._text_figures import refit
from oddsmith_studies.studies._text_methods import GAUSS, GUARDED
from oddsmith_studies.studies._text_results import known
from oddsmith_studies.studies.platt_1999.machines import LIKELIHOOD, SVM
from oddsmith_studies.studies.platt_1999.measured import chosen_cost, chosen_part, looks, tried
from oddsmith_studies.studies.platt_1999.parts import GAUSSIANS, IN_SAMPLE, REGULARIZED, SIGMOID
from oddsmith_studies.studies.platt_1999.tasks import DRAWN, TASKS, Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS, _LEAST = 24, 20


class Curve(NamedTuple):
    """Log-odds that are a polynomial in the score."""

    coefficients: list[float]

    def log_odds(self, scores: Floats) -> Floats:
        """Return the log-odds at scores."""
        return np.asarray(np.polyval(self.coefficients, scores))


def all_figures(results: Results) -> list[StudyFigure]:
    """Return all pictures."""
    published = results.published
    outputs: dict[str, Display] = {}
    posteriors: dict[str, Display] = {}
    for task in DRAWN:
        title = f"{task.published}, {task.shown}" if task.source == "reuters" else task.name
        table = shown_table(results, task)
        fits = refit(table, (GAUSS, GUARDED))
        named = {"Gaussian": fits[GAUSS], "asymmetric Laplace": fits[GUARDED]}
        rename = {f"{name} (in-sample)": f"{name}, fitted to the drawn scores" for name in named}
        drawn = DensityDisplay.from_table(table, calibrators=named)
        outputs[title] = Adjusted(drawn, {"xlabel": "output of the machine"}, rename)
        posteriors[title] = _posterior(results, task, table)
    losses = {
        task.name: Drawing(partial(_draw_losses, results=results, task=task, published=published)) for task in TASKS
    }
    return [
        StudyFigure(
            "outputs",
            "Outputs of the support vector machine for test rows of each class, with a Gaussian and an asymmetric "
            "Laplace density (at least 5 % of a class on each side of its mode) fitted to the drawn scores.",
            Panels(outputs, size=(3.4, 2.5), alike=True),
        ),
        StudyFigure(
            "posteriors",
            "The share of positives among test rows by the output of the support vector machine (bars: 95 % "
            f"intervals; bins of equal width, joined until each has {_LEAST} rows), the sigmoids fitted to the scores "
            "of three folds and to training scores, and the posterior of two Gaussians.",
            Panels(posteriors, size=(3.4, 2.5), options={"scale": "probability"}, alike=True),
        ),
        StudyFigure(
            "losses",
            "−Σ log P on test rows by cost (C and 1/(2λn) in units of (mean length of a row)⁻²). A ring marks the "
            "cost that held-out rows chose; thin horizontal lines are the published figures, left out of a "
            "quick run.",
            Panels(losses, size=(3.4, 2.5), alike=True),
        ),
    ]


def shown_table(results: Results, task: Task) -> ScoreTable:
    """Return test scores of the drawn problem with the chosen cost."""
    shown = chosen_part(results, task, SVM)["shown"]
    return ScoreTable.from_arrays(shown["scores"], shown["y"])


def filled_edges(table: ScoreTable) -> Floats:
    """Return edges of bins of equal width, those with few rows joined to the next: one row has no share of positives.

    Examples
    --------
    >>> scores = np.r_[np.linspace(0, 1, 50), 10.0]
    >>> len(filled_edges(ScoreTable.from_arrays(scores, scores > 0.5))) - 1
    2
    """
    low, high = table.span()
    edges = np.linspace(low, high, _BINS + 1)
    below = np.array([table.total[table.scores < edge].sum() for edge in edges[1:-1]])
    everything = float(table.total.sum())
    kept, before = [low], 0.0
    for edge, count in zip(edges[1:-1], below, strict=True):
        if count - before >= _LEAST and everything - count >= _LEAST:
            kept.append(float(edge))
            before = count
    return np.array([*kept, high])


def _posterior(results: Results, task: Task, table: ScoreTable) -> Adjusted:
    maps = looks(results, task, SVM)[task.shown]["maps"]
    display = ScoreSpaceDisplay.from_table(
        table,
        maps={name: Curve(maps[name]) for name in (SIGMOID, IN_SAMPLE, GAUSSIANS)},
        edges=filled_edges(table),
    )
    return Adjusted(display, {"xlabel": "output of the machine"}, {"data": "test rows"}, ONE_CLASS)


def _draw_losses(ax: "Axes", look: Theme, results: Results, task: Task, published: Published) -> None:
    for series, (machine, method) in enumerate(((SVM, SIGMOID), (LIKELIHOOD, REGULARIZED))):
        ink, best = look.ink(series), chosen_cost(results, task, machine)
        found = {cost: each["test"]["log_loss"][method] for cost, each in tried(results, task, machine).items()}
        named = task == TASKS[0]
        ax.plot(list(found), list(found.values()), label=method if named else None, **(ink.dots() | ink.line()))
        ax.plot([best], [found[best]], markerfacecolor="none", **ink.dots(9))
        printed = known(published.tables["results"].rows[task.published, method]["−Σ log P"])
        if not results.setting.quick:
            # Sums over fewer rows cannot be near.
            ax.axhline(printed, label=f"{method}, published" if named else None, **ink.line(0.7))
    ax.set_xscale("log")
    ax.set(xlabel="cost", ylabel="−Σ log P")
