"""The content of a report as a plain dictionary, from which everything is drawn and written."""

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from oddsmith.calibrators import Calibrator
from oddsmith.data import Meaning, ScoreTable, pooled
from oddsmith.errors import OddsmithWarning
from oddsmith.maps import unit_log_odds
from oddsmith.metrics import plain, reliability_curve, summary
from oddsmith.model import DataSummary
from oddsmith.report.advice import UNCALIBRATED, NextSteps
from oddsmith.report.decisions import decision_cells
from oddsmith.report.methods import MethodComparison, compare_methods

__all__ = ["BIN_COUNTS", "summarize"]

SCHEMA = 3

#: Numbers of bins that a page lets choose from.
BIN_COUNTS = (2, 5, 10, 15, 20, 30, 50, 100)

#: Cells of a table that pictures are drawn from.
_CELLS = 2000

#: Bootstrap samples of each interval.
_SAMPLES = 400

#: Points of a curve in the picture of every method.
_POINTS = 401

#: Log-odds beyond are as good as infinite in a picture.
_FAR = 40.0

#: Probabilities are drawn by their log-odds, held this far from 0 and 1.
_CERTAIN = 1e-6


def summarize(
    table: ScoreTable,
    methods: Mapping[str, Calibrator],
    *,
    name: str = "scores",
    labels: tuple[Any, Any] = (0, 1),
    source: Mapping[str, str] | None = None,
    random_state: int = 0,
    scores_are: Meaning = "score",
    groups: Mapping[Any, ScoreTable] | None = None,
    next_steps: NextSteps | None = None,
    progress: Callable[[float], None] | None = None,
) -> dict[str, Any]:
    """Compare methods on a table, evaluate the recommended one, and return all that a report shows.

    Parameters
    ----------
    table : ScoreTable
        Of scores that the classifier was not trained on; float weights as in `compare_methods`.
    methods : mapping of str to Calibrator
        Unfitted.
    name : str, default "scores"
        What to call the data.
    labels : tuple, default (0, 1)
        The negative and the positive label.
    source : mapping of str to str, optional
        Where the data came from, in words: such as the columns of a file.
    random_state : int, default 0
        Of folds and intervals.
    scores_are, groups, next_steps, progress
        As in `compare_methods`.

    Returns
    -------
    dict
        Plain JSON: the same table gives the same dictionary.

    Examples
    --------
    >>> from oddsmith import PlattCalibrator, ScoreTable
    >>> table = ScoreTable.from_arrays([-1.0, 0.5, 2.0, -2.0], [0, 1, 1, 0], [40, 30, 30, 50])
    >>> summarize(table, {"platt": PlattCalibrator()})["recommended"]
    'platt'
    """
    from oddsmith._version import __version__

    report = progress or (lambda _: None)
    compared = compare_methods(
        table,
        methods,
        random_state=random_state,
        scores_are=scores_are,
        groups=groups,
        next_steps=next_steps,
        progress=lambda share: report(0.5 * share),
    )
    recommended = compared.advice.method
    shown = [UNCALIBRATED, recommended] if compared.baseline == UNCALIBRATED else [recommended]
    forecasts = {method: _forecast(compared, method, table.rows) for method in dict.fromkeys(shown)}
    evaluation = {}
    for done, (method, forecast) in enumerate(forecasts.items()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OddsmithWarning)
            parts = _forecasts_of_groups(compared, method)
            evaluation[method] = summary(forecast, n_resamples=_SAMPLES, random_state=random_state, groups=parts)
        report(0.5 + 0.4 * (done + 1) / len(forecasts))
    content = {
        "schema": SCHEMA,
        "version": __version__,
        "name": name,
        "labels": list(labels),
        "verdict": compared.verdict,
        "recommended": recommended,
        "baseline": compared.baseline,
        "data": DataSummary.of(table).to_dict(),
        "source": dict(source or {}),
        "seed": random_state,
        "methods": compared.to_dict(),
        "evaluation": evaluation,
        "forecasts": {method: _forecast_parts(forecast) for method, forecast in forecasts.items()},
        "scores": _cells(pooled(table, _CELLS)),
        "score_space": _score_space(table, methods, compared, scores_are),
    }
    report(1.0)
    return dict(plain(content))


def _forecast(compared: MethodComparison, method: str, rows: int) -> ScoreTable:
    """Return the held-out forecasts of a method as a table."""
    return _forecast_at(compared, method, np.arange(len(compared.pos)), rows)


def _forecasts_of_groups(compared: MethodComparison, method: str) -> dict[int, ScoreTable] | None:
    """Return the held-out forecasts of a method for each group."""
    if compared.group is None:
        return None
    order = np.argsort(compared.group, kind="stable")
    names, starts = np.unique(compared.group[order], return_index=True)
    places = np.split(order, starts[1:])
    return {int(name): _forecast_at(compared, method, at) for name, at in zip(names, places, strict=True)}


def _forecast_at(compared: MethodComparison, method: str, at: NDArray[np.intp], rows: int = -1) -> ScoreTable:
    """Return the held-out forecasts of some cells as a table."""
    pos, neg = compared.pos[at], compared.neg[at]
    squares = [None if column is None else column[at] for column in (compared.pos_sq, compared.neg_sq)]
    if compared.pos_sq is None:
        pos, neg = pos.astype(np.int64), neg.astype(np.int64)
    cells = ScoreTable(np.arange(len(at), dtype=np.float64), pos, neg, squares[0], squares[1], rows=rows)
    return cells.map(lambda place: compared.log_odds[method][at[place.astype(np.intp)]])


def _forecast_parts(forecast: ScoreTable) -> dict[str, Any]:
    """Return a forecast as pictures need it, as costs need it, and in bins."""
    return {
        "cells": picture_cells(forecast),
        "decisions": decision_cells(forecast),
        "bins": {
            bins: {str(n): reliability_curve.of(forecast, n_bins=n, bins=bins) for n in BIN_COUNTS}
            for bins in ("width", "mass")
        },
    }


def picture_cells(forecast: ScoreTable, n_cells: int = _CELLS) -> dict[str, list[float]]:
    """Return a forecast in so many cells as a picture needs, with finite log-odds."""
    return _cells(pooled(forecast.map(lambda log_odds: np.clip(log_odds, -_FAR, _FAR)), n_cells))


def _cells(table: ScoreTable) -> dict[str, list[float]]:
    cells = {"score": table.scores.tolist(), "pos": table.pos.tolist(), "neg": table.neg.tolist()}
    if table.pos_sq is None or table.neg_sq is None:
        return cells
    return cells | {"pos_sq": table.pos_sq.tolist(), "neg_sq": table.neg_sq.tolist()}


def _score_space(
    table: ScoreTable, methods: Mapping[str, Calibrator], compared: MethodComparison, scores_are: Meaning
) -> dict[str, Any]:
    """Return what the data say about a score, and what every method does once it is fitted to all cases."""
    from oddsmith.plots import ScoreSpaceDisplay

    low, high = table.span()
    unit = 0 <= low and high <= 1 and scores_are != "log_odds"
    drawn = table.map(lambda prob: unit_log_odds(prob, _CERTAIN)) if unit else table
    display = ScoreSpaceDisplay.from_table(drawn)
    points = display.points[""]
    at = np.linspace(display.grid[0], display.grid[-1], _POINTS)
    base = math.log(table.n_pos / table.n_neg)
    curves = {compared.baseline: at if compared.baseline == UNCALIBRATED else np.full(len(at), base)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OddsmithWarning)
        for name, method in methods.items():
            if name in compared.ranking:
                curves[name] = method.fit_table(table).log_odds(expit(at) if unit else at)
    return {
        "axis": "log-odds of the score" if unit else "score",
        "points": {
            "score": points.empirical.mean_score,
            "log_odds": points.empirical.log_odds,
            "low": points.low,
            "high": points.high,
            "pos": points.empirical.pos,
            "neg": points.empirical.neg,
        },
        "level": display.level,
        "at": at,
        "curves": {name: np.clip(curves[name], -_FAR, _FAR) for name in compared.ranking},
        "in_sample": True,
    }
