"""The content of a report on several classes as a plain dictionary, from which everything is drawn and written."""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.calibrators import Method
from oddsmith.data import ScoreRows
from oddsmith.decide import decide
from oddsmith.metrics import ClassForecast, Decisions, evaluate_classes, forecast_of_rows, mean_with_interval, plain
from oddsmith.report.advice import UNCALIBRATED, NextSteps
from oddsmith.report.class_methods import ClassMethodComparison, compare_class_methods
from oddsmith.report.summary import picture_cells

__all__ = ["WORST", "summarize_classes"]

SCHEMA = 1

#: Classes whose reliability is drawn, the worst first.
WORST = 12

#: Draws of labels for each interval.
_SAMPLES = 400

#: Cells of a class that pictures are drawn from.
_CELLS = 300


def summarize_classes(
    rows: ScoreRows,
    methods: Mapping[str, Method],
    *,
    name: str = "scores",
    source: Mapping[str, str] | None = None,
    costs: ArrayLike | None = None,
    random_state: int = 0,
    groups: ArrayLike | None = None,
    next_steps: NextSteps | None = None,
    progress: Callable[[float], None] | None = None,
) -> dict[str, Any]:
    """Compare methods on rows of several classes, evaluate the recommended one, and return all that a report shows.

    Parameters
    ----------
    rows : ScoreRows
        Of a classifier that was not trained on them.
    methods : mapping of str to joint scaling or Calibrator
        As in `compare_class_methods`.
    costs : array-like of shape (k, k), optional
        Cost of deciding for the class of a row when the class of a column is true, as in `oddsmith.decide`. Decisions
        are then those of least expected cost instead of the most probable classes.
    groups : array-like of shape (n,), optional
        As in `compare_class_methods`.
    name, source, random_state, next_steps, progress
        As in `summarize`.

    Returns
    -------
    dict
        Plain JSON: the same rows give the same dictionary, in whatever order they come.

    Examples
    --------
    >>> from oddsmith import TemperatureScaling
    >>> values = np.random.default_rng(0).normal(size=(60, 3))
    >>> rows = ScoreRows(4 * values, values.argmax(axis=1), ("a", "b", "c"), None, ("a", "b", "c"), "log_odds")
    >>> summarize_classes(rows, {"temperature": TemperatureScaling()})["kind"]
    'classes'
    """
    from oddsmith._version import __version__

    report = progress or (lambda _: None)
    matrix = None if costs is None else _checked(costs, len(rows.labels))
    compared = compare_class_methods(
        rows,
        methods,
        random_state=random_state,
        groups=groups,
        next_steps=next_steps,
        progress=lambda share: report(0.7 * share),
    )
    recommended = compared.advice.method
    evaluation, forecasts = {}, {}
    shown = list(dict.fromkeys([UNCALIBRATED, recommended]))
    for done, method in enumerate(shown):
        held_out = compared.held_out(method)
        evaluation[method] = evaluate_classes(
            held_out, n_resamples=_SAMPLES, random_state=random_state, groups=compared.group
        )
        forecasts[method] = forecast_of_rows(held_out)
        report(0.7 + 0.25 * (done + 1) / len(shown))
    worst = _worst_first(evaluation[recommended]["classes"])
    content = {
        "kind": "classes",
        "schema": SCHEMA,
        "version": __version__,
        "name": name,
        "labels": [str(label) for label in rows.labels],
        "verdict": compared.verdict,
        "recommended": recommended,
        "baseline": compared.baseline,
        "data": _data(compared),
        "source": dict(source or {}),
        "seed": random_state,
        "methods": compared.to_dict(),
        "evaluation": evaluation,
        "worst_first": worst,
        "forecasts": {method: _parts(forecast, worst[:WORST], matrix) for method, forecast in forecasts.items()},
        "costs": None if matrix is None else _costs(forecasts, matrix),
    }
    report(1.0)
    return dict(plain(content))


def _checked(costs: ArrayLike, k: int) -> Floats:
    matrix = _check.as_array(costs, "costs", (2,))
    if matrix.shape != (k, k):
        hint = "give a row and a column per class; decisions that are no class are for decide"
        _check.fail(f"costs must have a row and a column for each of {k} classes", f"shape {matrix.shape}", hint)
    return matrix


def _worst_first(classes: Mapping[str, Any]) -> list[int]:
    """Return the numbers of the classes, those with the largest calibration error beyond chance first."""

    def badness(part: Mapping[str, Any]) -> tuple[float, float]:
        error = part["calibration_error"]
        return error["low"] or 0.0, error["value"]

    parts = list(classes.values())
    return sorted(range(len(parts)), key=lambda k: badness(parts[k]), reverse=True)


def _data(compared: ClassMethodComparison) -> dict[str, Any]:
    """Return what the rows are; the same, whatever their order was."""
    rows = compared.rows
    assert rows.weight is not None
    order = np.lexsort((rows.weight, *rows.values.T, rows.truth))
    seal = hashlib.sha256()
    for column in (rows.values, rows.truth, rows.weight):
        seal.update(np.ascontiguousarray(column[order]).tobytes())
    return {
        "rows": rows.n_rows,
        "weight": rows.weight.sum(),
        "kind": "count" if rows.weight.dtype.kind == "i" else "weight",
        "input": rows.input,
        "cases": rows.class_weights.astype(np.int64) if rows.weight.dtype.kind == "i" else rows.class_weights,
        "sha256": seal.hexdigest(),
    }


def _parts(forecast: ClassForecast, classes: list[int], costs: Floats | None) -> dict[str, Any]:
    """Return a forecast as pictures need it: the top label, some classes against the rest, and decisions."""
    return {
        "top_label": picture_cells(forecast.of_top_label()),
        "classes": {str(k): picture_cells(forecast.of_class(k), _CELLS) for k in classes},
        "confusion": _confusion(forecast, _decided(forecast, costs)),
    }


def _decided(forecast: ClassForecast, costs: Floats | None) -> NDArray[np.intp]:
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
            "least_expected_cost": costs[_decided(forecast, costs), forecast.truth],
            "most_probable_class": costs[_decided(forecast, None), forecast.truth],
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
