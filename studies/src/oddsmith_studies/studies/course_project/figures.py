"""Pictures of the course project."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from oddsmith.checks import Floats
from oddsmith.metrics import reliability_curve
from oddsmith.plots import ComparisonDisplay, LearningCurve, LearningCurveDisplay, ReliabilityDisplay, ScoreSpaceDisplay
from oddsmith.plots.display import Display
from oddsmith.plots.theme import Theme
from oddsmith_studies.studies._figures import ONE_CLASS, Adjusted, Drawing, Panels, StudyFigure
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies.course_project.measured import by_size, mean, mean_of, score_kinds, site_methods
from oddsmith_studies.studies.course_project.parts import METHODS, SIZES, TEST, costs, fit_methods, from_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The diagrams that the hand-out asks for.
_FOUR = ("squashing", "Platt, b = 0", "Platt", "isotonic")

#: Half the width of the window of the hand-out's definition, where it is centered, and the fewest sentences in it.
_DELTA, _CENTERS, _FEWEST = 0.05, np.linspace(0.02, 0.98, 49), 5


def all_figures(results: Results) -> list[StudyFigure]:
    """Return the plot of C, reliability diagrams, maps, losses, calibration sizes, and three classes."""
    first, n = results["split-000"], len(results.starting("split-"))
    new, fitted = from_rows(first["test"]), fit_methods(from_rows(first["calibration"]))
    diagrams = {name: ReliabilityDisplay.from_table(new.map(fitted[name].log_odds)) for name in _FOUR}
    shares = _shares(results)
    spread = {name: Drawing(partial(_draw_shares, shares=shares[name])) for name in _FOUR}
    losses = {name: mean_of(results, "split-", name, "log_loss") for name in METHODS}
    classes = {name: mean_of(results, "sites-", name, "log_loss") for name in site_methods(results)}
    return [
        StudyFigure(
            "cost",
            f"Cross-validated error against C: the first split with its choice, and the mean and spread of {n} splits.",
            Drawing(partial(_draw_costs, results=results)),
        ),
        StudyFigure(
            "reliability",
            f"Reliability diagrams of the first split, drawn as the hand-out describes, with 95 % intervals; "
            f"below, how many of the {TEST} test sentences lie in each interval.",
            Panels(diagrams, size=(3.4, 4.0), options={"style": "lines"}),
        ),
        StudyFigure(
            "reliability-splits",
            f"The same over {n} splits: the median share of positives in each interval (thick), and where it lay in "
            f"95 % of the splits (thin).",
            Panels(spread, size=(3.4, 3.4)),
        ),
        window_figure(results),
        StudyFigure(
            "maps",
            "What each method makes of a margin, in the first split, and the shares of positives among the test "
            "sentences.",
            Adjusted(
                ScoreSpaceDisplay.from_table(new, maps={name: fitted[name] for name in _FOUR}, n_bins=12),
                {"xlabel": "margin"},
                {"data": "test sentences"},
                ONE_CLASS,
            ),
            {"scale": "probability"},
        ),
        StudyFigure(
            "losses",
            "Mean log-loss over the splits with 95 % intervals; the table above has the paired differences.",
            ComparisonDisplay.from_intervals(losses, measure="log-loss, nats"),
        ),
        StudyFigure(
            "sizes",
            "What calibration changes in squared error, against the number of calibration sentences: mean paired "
            "difference to the uncalibrated score with 95 % intervals, for four kinds of score, all in the same range.",
            Panels(_by_kind_of_score(results), alike=True),
        ),
        StudyFigure(
            "sites",
            "Three classes, the sites: mean log-loss over the splits with 95 % intervals.",
            ComparisonDisplay.from_intervals(classes, measure="log-loss of three classes, nats"),
        ),
    ]


def window_figure(results: Results) -> StudyFigure:
    """Return the share of positives among sentences whose prediction lies in a window, by the window's center."""
    splits = len(results.starting("split-"))
    return StudyFigure(
        "window",
        f"The hand-out's definition: of the test sentences with a prediction in [P − δ, P + δ], δ = {_DELTA}, the "
        f"share that is positive, against P. Mean over {splits} splits, with 95 % of the splits in the band; windows "
        f"with fewer than {_FEWEST} sentences of a split are left out of it.",
        Panels(
            {name: Drawing(partial(_draw_window, windows=found)) for name, found in _windows(results).items()},
            size=(3.4, 2.8),
        ),
    )


def _draw_costs(ax: "Axes", look: Theme, results: Results) -> None:
    tried, errors = costs(results.setting.quick), np.array([part["cv_error"] for part in results.starting("split-")])
    low, high = np.quantile(errors, (0.025, 0.975), axis=0)
    every, first = look.ink(0), look.ink(1)
    ax.fill_between(tried, low, high, color=every.color, alpha=0.2, linewidth=0, label="95 % of the splits")
    ax.plot(tried, errors.mean(axis=0), label="mean of all splits", **every.line())
    ax.plot(tried, errors[0], label="first split", **(first.dots() | first.line(1.0)))
    ax.axvline(results["split-000"]["cost"], color=look.muted, linewidth=0.8)
    ax.set_xscale("log", base=2)
    ax.set(xlabel="C", ylabel="cross-validated error")


def _draw_shares(ax: "Axes", look: Theme, shares: Floats) -> None:
    """Draw a horizontal line over each interval, and how far it moves from split to split."""
    ink, seen = look.ink(0), ~np.isnan(shares).all(axis=0)
    left = np.arange(10)[seen] / 10
    low, middle, high = np.nanquantile(shares[:, seen], (0.025, 0.5, 0.975), axis=0)
    ax.plot([0, 1], [0, 1], color=look.muted, linewidth=0.8)
    ax.hlines(middle, left, left + 0.1, color=ink.color, linewidth=2)
    ax.vlines(left + 0.05, low, high, color=ink.color, linewidth=0.9)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    ax.set(xlabel="predicted probability", ylabel="observed share of positives")


def _shares(results: Results) -> dict[str, Floats]:
    """Return shares of positives in the ten intervals by method, a row a split; NaN where an interval is empty."""
    parts = results.starting("split-")
    shares = {name: np.full((len(parts), 10), np.nan) for name in _FOUR}
    for row, part in enumerate(parts):
        fitted, new = fit_methods(from_rows(part["calibration"])), from_rows(part["test"])
        for name in _FOUR:
            curve = reliability_curve.of(new.map(fitted[name].log_odds))
            shares[name][row, np.rint(10 * curve.low).astype(int)] = curve.fraction_positive
    return shares


def _windows(results: Results) -> dict[str, Floats]:
    """Return shares of positives in windows by method, a row a split and a column a center; NaN where few lie."""
    parts = results.starting("split-")
    found = {name: np.full((len(parts), len(_CENTERS)), np.nan) for name in _FOUR}
    for row, part in enumerate(parts):
        fitted, scores = fit_methods(from_rows(part["calibration"])), np.array(part["test"]["scores"])
        labels = np.array(part["test"]["labels"], float)
        for name in _FOUR:
            inside = np.abs(fitted[name].predict_proba(scores)[:, 1, None] - _CENTERS) <= _DELTA
            counts = inside.sum(axis=0)
            shares = labels @ inside / np.maximum(counts, 1)
            found[name][row] = np.where(counts >= _FEWEST, shares, np.nan)
    return found


def _draw_window(ax: "Axes", look: Theme, windows: Floats) -> None:
    ink, seen = look.ink(0), (~np.isnan(windows)).mean(axis=0) >= 0.5
    low, high = np.nanquantile(windows[:, seen], (0.025, 0.975), axis=0)
    ax.plot([0, 1], [0, 1], color=look.muted, linewidth=0.8)
    ax.fill_between(_CENTERS[seen], low, high, color=ink.color, alpha=0.2, linewidth=0)
    ax.plot(_CENTERS[seen], np.nanmean(windows[:, seen], axis=0), **ink.line())
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="P", ylabel="share of positives")


def _by_kind_of_score(results: Results) -> dict[str, Display]:
    """Return the learning curves of each kind of score, in one range."""
    found = {kind: _curves(results, kind) for kind in score_kinds(results)}
    points = [point for curves in found.values() for curve in curves.values() for point in curve.losses]
    ends = min(point.low for point in points), max(point.high for point in points)
    room = 0.05 * (ends[1] - ends[0])
    return {
        kind: Adjusted(
            LearningCurveDisplay(curves, "change in squared error"), {"ylim": (ends[0] - room, ends[1] + room)}
        )
        for kind, curves in found.items()
    }


def _curves(results: Results, kind: str) -> dict[str, LearningCurve]:
    before, sizes = by_size(results, kind, "uncalibrated"), np.array(SIZES, float)
    changes = {name: by_size(results, kind, name) - before for name in ("uncalibrated", "Platt", "isotonic")}
    return {name: LearningCurve(sizes, tuple(map(mean, change))) for name, change in changes.items()}
