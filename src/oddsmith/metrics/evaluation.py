"""The usual measures of a forecast in one dictionary, from which reports, gates and commands are made."""

import math
from collections.abc import Mapping
from typing import Any

from scipy.special import expit

from oddsmith import _check
from oddsmith.data import RandomState, ScoreRows, ScoreTable
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import intervals as _intervals
from oddsmith.metrics._confidence_limits import Asked
from oddsmith.metrics._row_measures import GAP, MANY_CLASSES, GroupedDecisions, as_measure, row_measures
from oddsmith.metrics.calibration_tests import CalibrationTest, calibration_in_the_large_test, cox_test
from oddsmith.metrics.classes import ClassForecast
from oddsmith.metrics.curves import reliability_curve
from oddsmith.metrics.evidence import TESTS, TableEvidence
from oddsmith.metrics.measure import MEASURES, Figure, ForecastFunction, Measure, checked_level
from oddsmith.metrics.min_sample_size import FEWEST_OF_A_CLASS
from oddsmith.metrics.provenance import is_in_sample
from oddsmith.metrics.result import plain
from oddsmith.metrics.verdict import Groups, row_evidence, table_groups, verdict_of_evidence

#: How often rows of two classes, or labels of several, are drawn again by default.
_SAMPLES, _LABEL_SAMPLES = 1000, 400

#: Why a test is not computed.
_INDEPENDENT = (
    "this test needs rows that do not depend on each other; got groups or copies. "
    "Hint: use Cox's test (--test cox), which counts groups."
)

#: Classes that are named where several are meant.
_NAMED = 5


def evaluate(
    forecast: ScoreTable | ClassForecast | ScoreRows,
    *,
    intervals: bool = True,
    level: float = 0.95,
    n_resamples: int | None = None,
    random_state: RandomState = 0,
    distinct: int | None = None,
    groups: Groups | None = None,
) -> dict[str, Any]:
    """Return the usual measures of a forecast with definitions, intervals and tests, as plain JSON.

    Parameters
    ----------
    forecast : ScoreTable, ClassForecast or ScoreRows
        A table of log-odds, or rows of class probabilities; of logits the softmax is evaluated. One made by
        `forecast_of` records whether it was fitted on these rows.
    intervals : bool, default True
        Whether to compute intervals, which takes most of the time.
    level : float, default 0.95
    n_resamples : int, optional
        How often rows are drawn again, by default 1000 times; or for several classes labels, by default 400 times, and
        fewer for very many rows.
    random_state : int, Generator or None, default 0
    distinct : int, optional
        How many distinct forecasts there are, where the table has cells of several.
    groups : mapping of any key to ScoreTable, or array-like of shape (n,), optional
        Dependent rows, as in `verdict`; intervals then resample whole groups, and of the tests of two classes only
        Cox's is computed, by groups. All copies of a row are a group where many rows are copies.

    Returns
    -------
    dict
        The same keys for any number of classes. "data": rows, weight, kind, and the number of classes; of two classes
        also the prevalence, distinct forecasts, cells and resolution. "in_sample". "level" of the intervals, or None.
        "measures" by name: value, definition and interval (as `Interval`, or the "reason" for none); a measure that is
        undefined has a "reason" instead of a value. "tests" of calibration by name: p_value and definition, or a
        reason. "classes": a list, of the positive class or of all, each with label, cases, share, mean_probability,
        gap (mean_probability − share), calibration_error, p_value of the gap and p_holm. "reliability": the curve of
        the positive class, or of the most probable class in bins of equal weight. "top_label": for several classes its
        confidence, accuracy and gap, else None. "judged", from `verdict`. "notes": what is left out, and why. Infinite
        numbers are strings.

    See Also
    --------
    verdict : One sentence on the calibration.
    compare : Compares several forecasts.
    oddsmith.write_report : A page with pictures.

    Notes
    -----
    All measures of a table share the same samples, and a table of more than 2048 cells is resampled in that many groups
    of neighbors, so the cost does not grow with the rows. For intervals of several measures see `interval`.

    With several classes, means have intervals by Student's t, with groups by the sums of the groups; discriminations,
    whose errors grow with them, have a higher upper limit, that of their root. Shares have exact ones (Clopper and
    Pearson), with float weights or groups those of as many independent cases as would vary as much. The area under the
    ROC curve has DeLong's. Calibration errors keep forecasts and bins, draw labels from supposed truths on a line from
    the forecast through its best recalibration softmax(a log P + b), and invert the test; if that line does not reach
    the observed errors, another goes through the rates of groups of similar rows. Labels of dependent rows are drawn
    with the correlation of those observed. The miscalibration of the log-loss is a likelihood ratio: 2n times it is χ²
    with one degree of freedom per class if the forecast is calibrated; with groups its variance is larger by their
    design effect.

    Examples
    --------
    >>> import numpy as np
    >>> from oddsmith.metrics import class_forecast, forecast_from_arrays
    >>> found = evaluate(forecast_from_arrays([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9]), intervals=False)
    >>> found["measures"]["squared_error"]["value"], found["data"]["rows"], len(found["classes"])
    (0.1925, 4, 1)
    >>> found = evaluate(class_forecast(["a", "b", "c"], np.eye(3) * 0.7 + 0.1), intervals=False)
    >>> found["measures"]["accuracy"]["value"], [one["label"] for one in found["classes"]]
    (1.0, ['a', 'b', 'c'])
    """
    _check_type(forecast)
    share = checked_level(level)
    many = not isinstance(forecast, ScoreTable)
    asked = (_LABEL_SAMPLES if many else _SAMPLES) if n_resamples is None else n_resamples
    options = {
        "intervals": intervals,
        "level": share,
        "n_resamples": _check.whole_number(asked, "n_resamples", low=20),
        "random_state": random_state,
    }
    if isinstance(forecast, ScoreTable):
        found = _of_table(forecast, table_groups(groups), distinct, **options)
    else:
        found = _of_rows(forecast, groups, **options)
    return dict(plain(found | {"level": share if intervals else None}))


def _check_type(forecast: object) -> None:
    if not isinstance(forecast, (ScoreTable, ClassForecast, ScoreRows)):
        hint = "make a forecast with forecast_from_arrays(y_true, y_prob), class_forecast or forecast_of"
        _check.fail("forecast must be a ScoreTable, ClassForecast or ScoreRows", type(forecast).__name__, hint)


def _of_rows(forecast: ClassForecast | ScoreRows, groups: Groups | None, **options: Any) -> dict[str, Any]:
    """Return the measures of several classes."""
    seen = row_evidence(forecast, groups)
    rows = seen.forecast
    found = row_measures(seen, **options)
    return {
        "data": {
            "rows": len(rows),
            "weight": rows.weight.sum(),
            "kind": "count" if rows.weight.dtype.kind == "i" else "weight",
            "classes": len(rows.labels),
        },
        "in_sample": is_in_sample(rows),
        "level": None,
        "measures": found.measures,
        "tests": found.tests,
        "classes": found.classes,
        "reliability": reliability_curve.of(rows.of_top_label(), n_bins=10, bins="mass"),
        "top_label": found.top_label,
        "judged": verdict_of_evidence(seen),
        "notes": _notes(found.classes, found.measures, grouped=groups is not None),
    }


def _of_table(
    table: ScoreTable, groups: Mapping[Any, ScoreTable] | None, distinct: int | None, **options: Any
) -> dict[str, Any]:
    """Return the measures of two classes."""
    measures = {name: _measure(table, one) for name, one in MEASURES.items()}
    if distinct is not None:
        measures["distinct_outputs"]["value"] = distinct
    seen = TableEvidence(table, groups)
    cases, level = seen.decisions, options["level"]
    if options.pop("intervals"):
        asked = {
            name: Asked(measure, null=measure.null)
            for name, measure in MEASURES.items()
            if measure.resampled and "value" in measures[name]
        }
        drawn = table if cases.group is None else cases.group_cases()
        for name, found in _intervals.intervals(asked, drawn, **options).items():
            measures[name]["interval"] = (
                {"reason": str(found)} if isinstance(found, InvalidInputError) else found.to_dict()
            )
    decisions = GroupedDecisions(cases.decisions, cases.group, level)
    gap = as_measure(decisions.mean(expit(cases.log_odds) - cases.positive, GAP), level)
    one = _positive_class(table, gap, measures["calibration_error"], dependent=cases.group is not None)
    return {
        "data": {
            "rows": table.rows,
            "weight": table.n_pos + table.n_neg,
            "kind": table.kind,
            "classes": 2,
            "prevalence": table.prevalence,
            "distinct": len(table) if distinct is None else distinct,
            "cells": None if distinct in (None, len(table)) else len(table),
            "resolution": table.resolution,
        },
        "in_sample": is_in_sample(table),
        "level": None,
        "measures": measures,
        "tests": _tests(seen),
        "classes": [one],
        "reliability": reliability_curve.of(table, n_bins=10, bins="mass"),
        "top_label": None,
        "judged": verdict_of_evidence(seen, "probability"),
        "notes": [],
    }


def _tests(seen: TableEvidence) -> dict[str, dict[str, Any]]:
    """Return the tests of calibration; where rows are dependent only Cox's, by groups."""
    found = {name: _run_test(seen.forecast, test) for name, test in TESTS.items()}
    if seen.decisions.group is None:
        return found
    for name, part in found.items():
        if "reason" not in part:
            found[name] = {"reason": _INDEPENDENT}
            if name == cox_test.__name__:
                try:
                    found[name] = seen.cox_test_of_groups().to_dict()
                except InvalidInputError as reason:
                    found[name] = {"reason": str(reason)}
    return found


def _positive_class(
    table: ScoreTable, gap: dict[str, Any], error: dict[str, Any], *, dependent: bool
) -> dict[str, Any]:
    """Return the figures of the positive class, as those of each of several classes."""
    found = {"reason": _INDEPENDENT} if dependent else _run_test(table, calibration_in_the_large_test)
    p_value = found.get("p_value")
    return {
        "label": 1 if table.labels[1] is None else table.labels[1],
        "cases": table.n_pos,
        "share": table.prevalence,
        "mean_probability": float(table.total @ expit(table.scores)) / (table.n_pos + table.n_neg),
        "gap": gap,
        "calibration_error": error,
        "p_value": p_value,
        "p_holm": p_value,
    } | ({} if p_value is not None else {"reason": found["reason"]})


def _measure(table: ScoreTable, measure: Measure[..., Any]) -> dict[str, Any]:
    try:
        found = measure.of(table)
    except InvalidInputError as reason:
        return {"definition": measure.definition or measure.__name__, "reason": str(reason)}
    if isinstance(found, Figure):
        return {"value": plain(found.value), "definition": found.definition}
    return {"value": plain(found), "definition": measure.definition}


def _run_test(table: ScoreTable, test: ForecastFunction[..., CalibrationTest]) -> dict[str, Any]:
    try:
        return test.of(table).to_dict()
    except InvalidInputError as reason:
        return {"reason": str(reason)}


def _notes(classes: list[dict[str, Any]], measures: dict[str, dict[str, Any]], *, grouped: bool) -> list[str]:
    """Return what could not be computed, and why."""
    notes = []
    if grouped:
        notes.append("The tests of the most probable class and of each class count rows, not groups.")
    untold = [str(one["label"]) for one in classes if "reason" in one]
    if untold:
        shown = ", ".join(untold[:_NAMED]) + (f" and {len(untold) - _NAMED} more" if len(untold) > _NAMED else "")
        notes.append(f"Classes with fewer than {FEWEST_OF_A_CLASS} cases are not tested: {shown}.")
    if measures["log_loss"]["value"] == math.inf:
        notes.append("The log-loss is infinite: some probability of a true class is 0.")
    if len(classes) > MANY_CLASSES:
        notes.append(
            f"With {len(classes)} classes few rows are similar; the canonical calibration error is not informative."
        )
    return notes
