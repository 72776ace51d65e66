"""All that is usually asked of a forecast, in one dictionary: the ground of reports, gates and command lines."""

from typing import Any

from oddsmith.errors import InvalidInputError
from oddsmith.metrics import calibration_tests, proper, ranking, reliability, slope, smooth
from oddsmith.metrics import intervals as _intervals
from oddsmith.metrics._limits import Asked
from oddsmith.metrics.measure import Figure, Measure, as_forecast
from oddsmith.metrics.provenance import is_in_sample
from oddsmith.metrics.result import plain
from oddsmith.table import ScoreTable
from oddsmith.table.resample import RandomState

__all__ = ["summary", "summary_text"]

#: Name → measure, options, and the definition of those whose result does not carry it.
_MEASURES: dict[str, tuple[Measure[..., Any], dict[str, Any], str]] = {
    "log_loss": (proper.log_loss, {}, "mean of -log P(true class), in nats"),
    "squared_error": (proper.squared_error, {}, "mean of (t - P)², the Brier score"),
    "zero_one_error": (proper.zero_one_error, {}, "share of wrong decisions at P = ½"),
    "miscalibration": (proper.miscalibration, {}, "log-loss that the best monotone recalibration saves (CORP)"),
    "discrimination": (
        proper.discrimination,
        {},
        "log-loss that the best monotone recalibration saves against the base rate (CORP)",
    ),
    "uncertainty": (proper.uncertainty, {}, "log-loss of the base rate (CORP)"),
    "calibration_error": (reliability.calibration_error, {}, ""),
    "smooth_calibration_error": (smooth.smooth_calibration_error, {}, ""),
    "integrated_calibration_index": (smooth.integrated_calibration_index, {}, ""),
    "e90": (smooth.integrated_calibration_index, {"statistic": "e90"}, ""),
    "calibration_slope": (slope.calibration_slope, {}, "slope of the labels on the log-odds; 1 is ideal"),
    "calibration_intercept": (slope.calibration_intercept, {}, "shift of the log-odds at slope 1; 0 is ideal"),
    "auc": (ranking.auc, {}, "area under the ROC curve, ties count ½"),
    "average_precision": (ranking.average_precision, {}, "without interpolation"),
    "lift": (ranking.lift, {"q": 0.1}, "share of positives among the highest 10 %, relative to all"),
    "break_even": (ranking.break_even, {}, "precision where it equals recall"),
    "distinct_outputs": (ranking.distinct_outputs, {}, "number of distinct forecasts"),
}
#: What no sample of rows tells anything about.
_WITHOUT_INTERVAL = ("distinct_outputs",)

_TESTS = {
    test.__name__: test
    for test in (
        calibration_tests.spiegelhalter_test,
        calibration_tests.hosmer_lemeshow_test,
        calibration_tests.cox_test,
        calibration_tests.kolmogorov_smirnov_test,
        calibration_tests.kuiper_test,
    )
}


def summary(
    forecast: ScoreTable,
    *,
    intervals: bool = True,
    level: float = 0.95,
    n_resamples: int = 1000,
    random_state: RandomState = None,
    distinct: int | None = None,
) -> dict[str, Any]:
    """Return the standard measures of a forecast with definitions, intervals and tests, as plain JSON.

    Parameters
    ----------
    forecast : ScoreTable
        Scores are log-odds; one made by `forecast_of` says whether it was fitted on these rows.
    intervals : bool, default True
        Whether to resample. All measures share the same samples, and a table of more than 2048 cells is resampled in
        so many groups of neighbours, so the cost does not grow with the rows.
    level : float, default 0.95
    n_resamples : int, default 1000
    random_state : int, Generator or None
    distinct : int, optional
        How many distinct forecasts there are, where the table holds cells of several.

    Returns
    -------
    dict
        "data", "in_sample", "level", and by name "measures" (value, definition, interval) and "tests" (value, p_value,
        df, definition). What is undefined or refused has a "reason" instead. Infinite numbers are strings.

    Examples
    --------
    >>> from oddsmith.metrics import forecast_from_arrays
    >>> found = summary(forecast_from_arrays([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9]), intervals=False)
    >>> found["measures"]["squared_error"]["value"], found["data"]["rows"]
    (0.1925, 4)
    """
    table = as_forecast(forecast)
    measures = {name: _measured(table, *parts) for name, parts in _MEASURES.items()}
    if distinct is not None:
        measures["distinct_outputs"]["value"] = distinct
    if intervals:
        asked = {
            name: Asked(measure, options, measure.null)
            for name, (measure, options, _) in _MEASURES.items()
            if name not in _WITHOUT_INTERVAL and "value" in measures[name]
        }
        found = _intervals.intervals(asked, table, level=level, n_resamples=n_resamples, random_state=random_state)
        for name, one in found.items():
            measures[name]["interval"] = _reason(one) if isinstance(one, InvalidInputError) else one.to_dict()
    return {
        "data": {
            "rows": table.rows,
            "weight": plain(table.n_pos + table.n_neg),
            "kind": table.kind,
            "prevalence": table.prevalence,
            "distinct": len(table) if distinct is None else distinct,
            "cells": None if distinct in (None, len(table)) else len(table),
            "resolution": table.resolution,
        },
        "in_sample": is_in_sample(table),
        "level": level if intervals else None,
        "measures": measures,
        "tests": {name: _tested(table, test) for name, test in _TESTS.items()},
    }


def _measured(
    table: ScoreTable, measure: Measure[..., Any], options: dict[str, Any], definition: str
) -> dict[str, Any]:
    try:
        found = measure(table, **options)
    except InvalidInputError as reason:
        return {"definition": definition or measure.__name__, **_reason(reason)}
    if isinstance(found, Figure):
        return {"value": plain(found.value), "definition": found.definition}
    return {"value": plain(found), "definition": definition}


def _tested(table: ScoreTable, test: Measure[..., calibration_tests.CalibrationTest]) -> dict[str, Any]:
    try:
        return test(table).to_dict()
    except InvalidInputError as reason:
        return _reason(reason)


def _reason(error: InvalidInputError) -> dict[str, Any]:
    return {"reason": str(error)}


def summary_text(found: dict[str, Any]) -> str:
    """Write a summary as lines of text.

    Examples
    --------
    >>> from oddsmith.metrics import forecast_from_arrays
    >>> found = summary(forecast_from_arrays([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9]), intervals=False)
    >>> summary_text(found).splitlines()[0]
    '4 rows, 50% positive, 4 distinct forecasts'
    """
    data = found["data"]
    weight = "" if data["kind"] == "count" else f" of weight {_number(data['weight'])}"
    pooled = "" if data["resolution"] is None else f", pooled in cells of {data['resolution']:g}"
    cells = "" if data["cells"] is None else f", measured on {data['cells']} cells"
    distinct = f"{data['distinct']} distinct forecasts{pooled}{cells}"
    lines = [f"{data['rows']} rows{weight}, {_percent(data['prevalence'])} positive, {distinct}"]
    if found["in_sample"]:
        lines.append("In-sample: the forecast was fitted on these rows, so every figure flatters it.")
    level = found["level"]
    lines += _columns(
        ["measure", "value", "" if level is None else f"{_percent(level)} interval", "definition"],
        [
            [name, _number(part.get("value")), _interval(part.get("interval")), part.get("reason", part["definition"])]
            for name, part in found["measures"].items()
        ],
    )
    lines += _columns(
        ["test of calibration", "statistic", "p", "definition"],
        [
            [name, _number(part.get("value")), _number(part.get("p_value")), part.get("reason", part.get("definition"))]
            for name, part in found["tests"].items()
        ],
    )
    return "\n".join(lines)


def _columns(head: list[str], rows: list[list[str]]) -> list[str]:
    """Line up columns under a head, after an empty line; the last one is as long as it is."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head) - 1)]
    return ["", *("  ".join([*map(str.ljust, row, widths), row[-1]]) for row in (head, *rows))]


def _number(value: float | str | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, (str, int)) else f"{value:.4g}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"


def _interval(part: dict[str, Any] | None) -> str:
    if part is None or "reason" in part:
        return "" if part is None else "none"
    text = f"[{_number(part['low'])}, {_number(part['high'])}]"
    if part["consistency"] is None:
        return text
    low, high = map(_number, part["consistency"])
    return f"{text} by chance [{low}, {high}]"
