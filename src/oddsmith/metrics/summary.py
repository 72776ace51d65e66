"""The usual measures of a forecast in one dictionary, from which reports, gates and commands are made."""

from collections.abc import Mapping
from typing import Any

from oddsmith.data import RandomState, ScoreTable
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import intervals as _intervals
from oddsmith.metrics._confidence_limits import Asked
from oddsmith.metrics.calibration_tests import CalibrationTest
from oddsmith.metrics.measure import MEASURES, Figure, ForecastFunction, Measure, as_forecast
from oddsmith.metrics.provenance import is_in_sample
from oddsmith.metrics.result import plain
from oddsmith.metrics.verdict import TESTS, ForecastCases, verdict_of


def summary(
    forecast: ScoreTable,
    *,
    intervals: bool = True,
    level: float = 0.95,
    n_resamples: int = 1000,
    random_state: RandomState = None,
    distinct: int | None = None,
    groups: Mapping[Any, ScoreTable] | None = None,
) -> dict[str, Any]:
    """Return the registered measures of a forecast with definitions, intervals and tests, as plain JSON.

    Parameters
    ----------
    forecast : ScoreTable
        Scores are log-odds; one made by `forecast_of` says whether it was fitted on these rows.
    intervals : bool, default True
        Whether to resample. All measures share the same samples, and a table of more than 2048 cells is resampled in
        so many groups of neighbors, so the cost does not grow with the rows.
    level : float, default 0.95
    n_resamples : int, default 1000
    random_state : int, Generator or None
    distinct : int, optional
        How many distinct forecasts there are, where the table holds cells of several.
    groups : mapping of any key to ScoreTable, optional
        The forecast of each group of dependent rows, as in `verdict_of`; intervals then resample whole groups.

    Returns
    -------
    dict
        "data", "in_sample", "level", and by name "measures" (value, definition, interval) and "tests" (value, p_value,
        df, definition); and "judged", from `verdict_of`. What is undefined or refused has a "reason" instead. Infinite
        numbers are strings.

    Examples
    --------
    >>> from oddsmith.metrics import forecast_from_arrays
    >>> found = summary(forecast_from_arrays([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9]), intervals=False)
    >>> found["measures"]["squared_error"]["value"], found["data"]["rows"]
    (0.1925, 4)
    """
    table = as_forecast(forecast)
    measures = {name: _measured(table, one) for name, one in MEASURES.items()}
    if distinct is not None:
        measures["distinct_outputs"]["value"] = distinct
    if intervals:
        asked = {
            name: Asked(measure, null=measure.null)
            for name, measure in MEASURES.items()
            if measure.resampled and "value" in measures[name]
        }
        drawn = table if groups is None else ForecastCases.of(table, groups).grouped()
        found = _intervals.intervals(asked, drawn, level=level, n_resamples=n_resamples, random_state=random_state)
        for name, one in found.items():
            measures[name]["interval"] = {"reason": str(one)} if isinstance(one, InvalidInputError) else one.to_dict()
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
        "tests": {name: _tested(table, test) for name, test in TESTS.items()},
        "judged": verdict_of(table, groups=groups).to_dict(),
    }


def _measured(table: ScoreTable, measure: Measure[..., Any]) -> dict[str, Any]:
    try:
        found = measure.of(table)
    except InvalidInputError as reason:
        return {"definition": measure.definition or measure.__name__, "reason": str(reason)}
    if isinstance(found, Figure):
        return {"value": plain(found.value), "definition": found.definition}
    return {"value": plain(found), "definition": measure.definition}


def _tested(table: ScoreTable, test: ForecastFunction[..., CalibrationTest]) -> dict[str, Any]:
    try:
        return test.of(table).to_dict()
    except InvalidInputError as reason:
        return {"reason": str(reason)}
