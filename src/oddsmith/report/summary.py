"""The content of a report as a plain dictionary, from which everything is drawn and written."""

import hashlib
import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.bands import Band, band, pointwise_band
from oddsmith.data import Meaning, ScoreRows, ScoreTable, limit_cells
from oddsmith.decide import decide
from oddsmith.errors import OddsmithWarning
from oddsmith.maps import logit, unit_log_odds
from oddsmith.metrics import (
    ClassForecast,
    Decisions,
    Groups,
    evaluate,
    forecast_of,
    mean_with_interval,
    plain,
    probability,
    reliability_curve,
)
from oddsmith.model import DataSummary
from oddsmith.report.advice import UNCALIBRATED, NextSteps
from oddsmith.report.decisions import decision_cells, operating_points
from oddsmith.report.held_out import fit_log_odds
from oddsmith.report.methods import MethodComparison, compare_methods, compare_segments
from oddsmith.report.sheets import clinical_part

__all__ = ["BIN_COUNTS", "summarize"]

SCHEMA = 4

#: Numbers of bins that a page lets choose from.
BIN_COUNTS = (2, 5, 10, 15, 20, 30, 50, 100)

#: Classes whose reliability is drawn, the worst first.
_WORST = 12

#: Cells of a table that pictures are drawn from, and of one of several classes.
_CELLS, _CLASS_CELLS = 2000, 300

#: Samples of each interval.
_SAMPLES = 400

#: Points of a curve in the picture of every method.
_POINTS = 401

#: Log-odds beyond are as good as infinite in a picture.
_FAR = 40.0

#: Probabilities are drawn by their log-odds, at least this far from 0 and 1.
_CERTAIN = 1e-6


def summarize(
    data: ScoreTable | ScoreRows,
    methods: Mapping[str, Any],
    *,
    name: str = "scores",
    labels: tuple[Any, Any] | None = None,
    source: Mapping[str, str] | None = None,
    costs: ArrayLike | None = None,
    random_state: int = 0,
    input: Meaning = "score",
    groups: Groups | None = None,
    segments: Mapping[str, ScoreTable | ScoreRows] | None = None,
    next_steps: NextSteps | None = None,
    sheet: Literal["clinical"] | None = None,
    progress: Callable[[float], None] | None = None,
) -> dict[str, Any]:
    """Compare methods, evaluate the recommended one, and return all that a report shows.

    Parameters
    ----------
    data : ScoreTable or ScoreRows
        Scores of a classifier that was not trained on these rows. `compare_methods` documents the use of float weights.
    methods : mapping of str to Calibrator or joint scaling
        Unfitted methods by name.
    name : str, default "scores"
        What to call the data.
    labels : tuple, optional
        For a table the negative and the positive label; by default its own, else 0 and 1.
    source : mapping of str to str, optional
        Where the data came from, in words: such as the columns of a file.
    costs : array-like of shape (k, k), optional
        For rows of several classes, the cost of deciding for the class of a row when the class of a column is true, as
        in `oddsmith.decide`. Decisions are then those of least expected cost instead of the most probable classes.
    random_state : int, default 0
        Of folds and intervals.
    segments : mapping of str to ScoreTable or ScoreRows, optional
        Parts of the data: methods are compared on each of them alone, too.
    input : {"score", "probability", "log_odds"}, default "score"
        What the scores of a table mean uncalibrated. "score": probabilities where all lie in [0, 1].
    groups : mapping of any key to ScoreTable, or array-like of shape (n,), optional
        The table, or for rows the group, of each set of dependent rows.
    next_steps : NextSteps, optional
        How the verdict names the next step; by default in Python.
    progress : callable, optional
        Called with the share that is done, from 0 to 1.
    sheet : {"clinical"}, optional
        For two classes also the `oddsmith.metrics.clinical_sheet` of the methods that are shown.

    Returns
    -------
    dict
        Plain JSON: the same data give the same dictionary, rows in any order.

    See Also
    --------
    compare_methods : The comparison alone.
    oddsmith.write_report : Writes the page in one call.

    Examples
    --------
    >>> from oddsmith import PlattCalibrator
    >>> table = ScoreTable.from_arrays([-1.0, 0.5, 2.0, -2.0], [0, 1, 1, 0], [40, 30, 30, 50])
    >>> summarize(table, {"platt": PlattCalibrator()})["recommended"]
    'platt'
    """
    from oddsmith._version import __version__

    report = progress or (lambda _: None)
    matrix = None
    _check.one_of(sheet, "sheet", (None, "clinical"))
    if sheet is not None and not isinstance(data, ScoreTable):
        hint = "leave it out, or report one class against the rest"
        _check.fail("a clinical sheet is for the scores of two classes", "several classes", hint)
    if costs is not None:
        if isinstance(data, ScoreTable):
            hint = "leave costs out; the page of two classes has sliders"
            _check.fail("costs must go with several classes", "costs for a table of two classes", hint)
        matrix = _check_costs(costs, len(data.labels))
    compared = compare_methods(
        data,
        methods,
        random_state=random_state,
        input=input,
        groups=groups,
        next_steps=next_steps,
        progress=lambda share: report(0.5 * share),
    )
    recommended = compared.advice.method
    shown = [UNCALIBRATED, recommended] if compared.baseline == UNCALIBRATED else [recommended]
    evaluation: dict[str, Any] = {}
    forecasts: dict[str, Any] = {}
    for done, method in enumerate(unique := list(dict.fromkeys(shown))):
        forecast = forecasts[method] = compared.held_out_forecast(method)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OddsmithWarning)
            parts = compared.groups(method)
            evaluation[method] = evaluate(forecast, n_resamples=_SAMPLES, random_state=random_state, groups=parts)
        report(0.5 + 0.4 * (done + 1) / len(unique))
    content = {
        "schema": SCHEMA,
        "version": __version__,
        "name": name,
        "labels": _labels(data, labels),
        "verdict": compared.verdict,
        "recommended": recommended,
        "baseline": compared.baseline,
        "data": DataSummary.of(data).to_dict() if isinstance(data, ScoreTable) else _data_of_rows(data),
        "source": dict(source or {}),
        "seed": random_state,
        "methods": compared.to_dict(),
        "evaluation": evaluation,
    }
    # Limits of P and guarantees are for independent rows.
    counted = data.kind == "count" and groups is None
    if isinstance(data, ScoreTable):
        content |= {
            "forecasts": {
                method: _table_parts(forecast) | {"band": _band(forecast) if counted else None}
                for method, forecast in forecasts.items()
            },
            "scores": _cells(limit_cells(data, _CELLS)),
            "score_space": _score_space(data, methods, compared, input, counted=counted),
            "operating_points": _operating_points(data) if counted else None,
        }
        if sheet is not None:
            content["clinical"] = clinical_part(compared, unique, random_state)
    else:
        worst = _worst_first(evaluation[recommended]["classes"])
        drawn = worst[:_WORST]
        content |= {
            "worst_first": worst,
            "forecasts": {
                method: _row_parts(forecast, drawn, matrix)
                | {"areas": {str(k): _areas(forecast.of_class(k))[1] for k in drawn} if counted else None}
                for method, forecast in forecasts.items()
            },
            "operating_points": _points_of_classes(data, drawn) if counted else None,
            "costs": None if matrix is None else _costs(forecasts, matrix),
        }
    if segments is not None:
        options = {"random_state": random_state, "input": input, "next_steps": next_steps}
        content["segments"] = _segments(segments, methods, options)
    report(1.0)
    return dict(plain(content))


def _segments(
    segments: Mapping[str, ScoreTable | ScoreRows], methods: Mapping[str, Any], options: dict[str, Any]
) -> dict[str, Any]:
    """Return what calibration gains in each segment, and which segments cannot be compared."""
    found, refused = compare_segments(segments, methods, **options)
    gains = [
        {"segment": name, "cases": one.comparison.decisions, **one.to_dict()["advice"]} for name, one in found.items()
    ]
    return {"compared": gains, "failed": refused}


def _labels(data: ScoreTable | ScoreRows, labels: tuple[Any, Any] | None) -> list[Any]:
    if isinstance(data, ScoreRows):
        return [str(label) for label in data.labels]
    known = data.labels if labels is None else labels
    return [default if label is None else label for label, default in zip(known, (0, 1), strict=True)]


def _table_parts(forecast: Any) -> dict[str, Any]:
    """Return a forecast of two classes as pictures need it, as costs need it, and in bins."""
    return {
        "cells": _picture_cells(forecast),
        "decisions": decision_cells(forecast),
        "bins": {
            bins: {str(n): reliability_curve.of(forecast, n_bins=n, bins=bins) for n in BIN_COUNTS}
            for bins in ("width", "mass")
        },
    }


def _band(forecast: ScoreTable) -> dict[str, Any]:
    """Return the band of the true P by the log-odds of a forecast, and where the forecast is outside."""
    found, areas = _areas(forecast)
    return {"limits": found.to_dict(), "areas": areas}


def _areas(forecast: ScoreTable) -> tuple[Band, list[dict[str, Any]]]:
    finite = _finite(forecast)
    found = band(finite)
    return found, [area._asdict() for area in found.areas(probability(finite), finite.scores)]


def _operating_points(table: ScoreTable) -> list[dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OddsmithWarning)  # the verdict names reversed scores
        return operating_points(table)


def _points_of_classes(rows: ScoreRows, classes: list[int]) -> dict[str, list[dict[str, Any]]]:
    """Return the operating points of each class against the rest, by the classifier's own probability of the class."""
    raw = forecast_of(rows)
    return {
        str(k): _operating_points(ScoreTable.from_arrays(raw.prob[:, k], raw.truth == k, raw.weight)) for k in classes
    }


def _finite(forecast: ScoreTable) -> ScoreTable:
    """Return a forecast with finite log-odds."""
    return forecast.map(lambda log_odds: np.clip(log_odds, -_FAR, _FAR))


def _row_parts(forecast: Any, classes: list[int], costs: Floats | None) -> dict[str, Any]:
    """Return a forecast as pictures need it: the most probable class, some classes against the rest, and decisions."""
    return {
        "cells": _picture_cells(forecast.of_top_label()),
        "classes": {str(k): _picture_cells(forecast.of_class(k), _CLASS_CELLS) for k in classes},
        "confusion": _confusion(forecast, _decide(forecast, costs)),
    }


def _picture_cells(forecast: ScoreTable, n_cells: int = _CELLS) -> dict[str, list[float]]:
    """Return a forecast in as many cells as a picture needs, with finite log-odds."""
    return _cells(limit_cells(_finite(forecast), n_cells))


def _cells(table: ScoreTable) -> dict[str, list[float]]:
    cells = {"score": table.scores.tolist(), "pos": table.pos.tolist(), "neg": table.neg.tolist()}
    if table.pos_sq is None or table.neg_sq is None:
        return cells
    return cells | {"pos_sq": table.pos_sq.tolist(), "neg_sq": table.neg_sq.tolist()}


def _score_space(
    table: ScoreTable, methods: Mapping[str, Any], compared: MethodComparison, input: Meaning, *, counted: bool
) -> dict[str, Any]:
    """Return empirical log-odds by score, and the curve of every method fitted to all cases."""
    from oddsmith.plots import ScoreSpaceDisplay

    low, high = table.span()
    unit = 0 <= low and high <= 1 and input != "log_odds"
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
                curves[name] = fit_log_odds(method, table, expit(at) if unit else at)
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
        "band": np.clip(logit(pointwise_band(drawn).limits(at)), -_FAR, _FAR).T if counted else None,
        "curves": {name: np.clip(curves[name], -_FAR, _FAR) for name in compared.ranking},
        "in_sample": True,
    }


def _check_costs(costs: ArrayLike, k: int) -> Floats:
    matrix = _check.as_array(costs, "costs", (2,))
    if matrix.shape != (k, k):
        hint = "give a row and a column per class; other decisions than the classes are for decide"
        _check.fail(f"costs must have a row and a column for each of {k} classes", f"shape {matrix.shape}", hint)
    return matrix


def _worst_first(classes: list[dict[str, Any]]) -> list[int]:
    """Return the numbers of the classes, those with the largest calibration error beyond chance first."""

    def badness(part: Mapping[str, Any]) -> tuple[float, float]:
        error = part["calibration_error"]
        return error["interval"].get("low", 0.0), error["value"]

    return sorted(range(len(classes)), key=lambda k: badness(classes[k]), reverse=True)


def _data_of_rows(rows: ScoreRows) -> dict[str, Any]:
    """Return what the rows with weight are; the same in any order."""
    weight = np.ones(rows.n_rows, np.int64) if rows.weight is None else rows.weight
    order = np.lexsort((weight, *rows.values.T, rows.truth))
    order = order[weight[order] > 0]
    seal = hashlib.sha256()
    for column in (rows.values, rows.truth, weight):
        seal.update(np.ascontiguousarray(column[order]).tobytes())
    return {
        "rows": len(order),
        "weight": weight.sum(),
        "kind": "count" if weight.dtype.kind == "i" else "weight",
        "input": rows.input,
        "cases": rows.class_weights.astype(np.int64) if weight.dtype.kind == "i" else rows.class_weights,
        "sha256": seal.hexdigest(),
    }


def _decide(forecast: ClassForecast, costs: Floats | None) -> NDArray[np.intp]:
    if costs is None:
        return np.asarray(np.argmax(forecast.prob, axis=1))
    return decide(forecast.prob, costs).astype(np.intp)


def _confusion(forecast: ClassForecast, decided: NDArray[np.intp]) -> list[list[float]]:
    """Return true class, decided class and weight of every pair that occurs."""
    k = len(forecast.labels)
    cells, index = np.unique(forecast.truth * k + decided, return_inverse=True)
    weight = np.bincount(index, forecast.weight)
    counted = forecast.weight.dtype.kind == "i"
    return [[int(cell // k), int(cell % k), int(w) if counted else w] for cell, w in zip(cells, weight, strict=True)]


def _costs(forecasts: Mapping[str, ClassForecast], costs: Floats) -> dict[str, Any]:
    """Return what decisions cost on held-out cases: of least expected cost, by the top class, and all the same."""
    first = next(iter(forecasts.values()))
    decisions = Decisions(first.weight, first.squared_weight)
    by_method = {
        name: {
            "least_expected_cost": costs[_decide(forecast, costs), forecast.truth],
            "most_probable_class": costs[_decide(forecast, None), forecast.truth],
        }
        for name, forecast in forecasts.items()
    }
    constant = costs @ first.base_rates
    spent = {
        name: {rule: mean_with_interval(losses, decisions) for rule, losses in by_rule.items()}
        for name, by_rule in by_method.items()
    }
    gains = [by_method[name]["least_expected_cost"] for name in forecasts]
    return {
        "matrix": costs,
        "methods": spent,
        "constant": {"decision": int(np.argmin(constant)), "cost": float(constant.min())},
        "gain": mean_with_interval(gains[0] - gains[-1], decisions) if len(gains) > 1 else None,
    }
