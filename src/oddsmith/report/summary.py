"""What a report says, as a plain dictionary: everything that is drawn or written comes out of it."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.special import expit

from oddsmith._check import Floats
from oddsmith.calibrators import Calibrator
from oddsmith.errors import OddsmithWarning
from oddsmith.input_maps import unit_log_odds
from oddsmith.metrics import (
    auc,
    calibration_error,
    calibration_intercept,
    calibration_slope,
    discrimination,
    interval,
    log_loss,
    miscalibration,
    smooth_calibration_error,
    squared_error,
    uncertainty,
)
from oddsmith.metrics._result import plain
from oddsmith.modelfile import DataSummary
from oddsmith.report.methods import AS_IS, MethodContest, compare_methods
from oddsmith.resample import pooled
from oddsmith.table import ScoreTable

__all__ = ["summarize"]

SCHEMA = 1

#: Cells of a table that a page carries; pictures and sliders need no more.
_CELLS = 2000

#: Bootstrap samples of each interval.
_SAMPLES = 400

#: Probabilities are drawn by their log-odds, held this far from 0 and 1.
_CERTAIN = 1e-6

#: Equal intervals of [0, 1] that the page's bins are made of.
_FINE_BINS = 200

_MEASURES: dict[str, tuple[str, Callable[..., Any], dict[str, Any]]] = {
    "log_loss": ("log-loss, in nats", log_loss, {}),
    "squared_error": ("Brier score", squared_error, {}),
    "calibration_error": ("calibration error (ECE)", calibration_error, {}),
    "smooth_calibration_error": ("smooth calibration error", smooth_calibration_error, {}),
    "miscalibration": ("miscalibration (CORP)", miscalibration, {}),
    "discrimination": ("discrimination (CORP)", discrimination, {}),
    "uncertainty": ("uncertainty (CORP)", uncertainty, {}),
    "calibration_slope": ("calibration slope", calibration_slope, {}),
    "calibration_intercept": ("calibration intercept", calibration_intercept, {}),
    "auc": ("area under the ROC curve", auc, {}),
}


def summarize(
    table: ScoreTable,
    methods: Mapping[str, Calibrator],
    *,
    name: str = "scores",
    labels: tuple[Any, Any] = (0, 1),
    random_state: int = 0,
    progress: Callable[[float], None] | None = None,
) -> dict[str, Any]:
    """Compare methods on a table, judge the best, and return all that a report shows.

    Parameters
    ----------
    table : ScoreTable
        Of counts.
    methods : mapping of str to Calibrator
        Unfitted.
    name : str, default "scores"
        What to call the data.
    labels : tuple, default (0, 1)
        The negative and the positive label.
    random_state : int, default 0
        Of folds and intervals.
    progress : callable, optional
        Told how much is done, from 0 to 1.

    Returns
    -------
    dict
        Plain JSON: the same table gives the same dictionary.
    """
    from oddsmith import __version__

    def report(share: float) -> None:
        if progress is not None:
            progress(share)

    contest = compare_methods(table, methods, random_state=random_state, progress=lambda share: report(0.6 * share))
    best = contest.ranking[0]
    shown = list(dict.fromkeys([AS_IS, best]))
    forecasts = {method: _forecast(contest, method) for method in shown}
    judged = {}
    for done, (method, forecast) in enumerate(forecasts.items()):
        judged[method] = _measures(forecast, random_state)
        report(0.6 + 0.3 * (done + 1) / len(forecasts))
    content = {
        "schema": SCHEMA,
        "version": __version__,
        "name": name,
        "labels": list(labels),
        "verdict": _verdict(contest),
        "best": best,
        "data": DataSummary.of(table).to_dict(),
        "contest": contest.to_dict(),
        "measures": {
            key: {"title": title, **{method: judged[method][key] for method in shown}}
            for key, (title, _, _) in _MEASURES.items()
        },
        "forecasts": {method: _forecast_cells(forecast) for method, forecast in forecasts.items()},
        "scores": _cells(pooled(_by_axis(table), _CELLS)),
        "maps": _maps(table, methods, contest),
    }
    report(1.0)
    return dict(plain(content))


def _verdict(contest: MethodContest) -> str:
    """Return what to do, in one sentence."""
    part, loss, best = contest.comparison["log_loss"], contest.mean("log_loss"), contest.ranking[0]
    if best == AS_IS:
        return "Leave the scores as they are: no method made them better on held-out cases."
    change = f"the log-loss on held-out cases falls from {loss[AS_IS]:.4f} to {loss[best]:.4f}"
    if AS_IS in part.not_beaten(best, corrected=True):
        return f"Calibrating changes little: with {best}, {change}, which may be chance."
    return f"Calibrate with {best}: {change}, a significant gain."


def _forecast(contest: MethodContest, method: str) -> ScoreTable:
    """Return the held-out forecasts of a method as a table."""
    log_odds = np.clip(contest.log_odds[method], -700, 700)
    labels = np.repeat([1, 0], len(log_odds))
    weight = np.concatenate([contest.pos, contest.neg]).astype(np.int64)
    return ScoreTable.from_arrays(np.tile(log_odds, 2), labels, weight)


def _measures(forecast: ScoreTable, random_state: int) -> dict[str, Any]:
    """Return every measure with its interval and its definition, or why there is none."""
    found: dict[str, Any] = {}
    for key, (_, measure, options) in _MEASURES.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", OddsmithWarning)
                # Intervals of long tables are those of pooled ones, which keep all but the last digits.
                short = pooled(forecast, _CELLS)
                made = interval(measure, short, options=options, n_boot=_SAMPLES, random_state=random_state)
                value = measure(forecast, **options)
        except ValueError as error:
            found[key] = {"value": None, "definition": f"Not computed: {error}"}
            continue
        found[key] = {
            "value": float(value),
            "low": made.low,
            "high": made.high,
            "corrected": made.corrected,
            "consistency": None if made.consistency is None else list(made.consistency),
            "definition": str(getattr(value, "definition", "") or ""),
        }
    return found


def _cells(table: ScoreTable) -> dict[str, list[float]]:
    return {"score": table.scores.tolist(), "pos": table.pos.tolist(), "neg": table.neg.tolist()}


def _forecast_cells(forecast: ScoreTable) -> dict[str, Any]:
    """Return pooled cells, and fine equal-width bins of the probabilities, exact counts in both."""
    short = pooled(forecast, _CELLS)
    prob = expit(forecast.scores)
    place = np.minimum((prob * _FINE_BINS).astype(int), _FINE_BINS - 1)

    def summed(weight: Floats) -> list[float]:
        return [float(amount) for amount in np.bincount(place, weight, minlength=_FINE_BINS)]

    return {
        "cells": _cells(short),
        "exact": len(short) == len(forecast),
        "bins": {
            "pos": summed(forecast.pos.astype(float)),
            "neg": summed(forecast.neg.astype(float)),
            "sum": summed(forecast.total * prob),
        },
    }


def _by_axis(table: ScoreTable) -> ScoreTable:
    """Return the table on the axis that it is drawn over: probabilities by their log-odds."""
    low, high = table.span()
    return table.map(lambda prob: unit_log_odds(prob, _CERTAIN)) if 0 <= low and high <= 1 else table


def _maps(table: ScoreTable, methods: Mapping[str, Calibrator], contest: MethodContest) -> dict[str, Any]:
    """Return the map of every method that was ranked, fitted to all cases."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OddsmithWarning)
        for name in contest.ranking:
            if name != AS_IS:
                found[name] = methods[name].fit_table(table).map_
    drawn = _by_axis(table)
    axis = np.linspace(*drawn.span(), 201)
    scores = axis if drawn is table else expit(axis)
    return {
        "axis": "score" if drawn is table else "log-odds of the score",
        "at": axis.tolist(),
        "log_odds": {name: np.clip(map_.log_odds(scores), -40, 40).tolist() for name, map_ in found.items()},
    }
