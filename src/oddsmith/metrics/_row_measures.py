"""Measures of a forecast of several classes with intervals and tests: of whole rows, and of each class."""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from oddsmith import _kernels
from oddsmith._types import Floats, Weights
from oddsmith.errors import InvalidInputError
from oddsmith.metrics._alternatives import rates_of_alike
from oddsmith.metrics._confidence_limits import Asked, by_inversion
from oddsmith.metrics._formulas import error_limits
from oddsmith.metrics._label_draws import ClassBins, Observed, cell_of
from oddsmith.metrics.bins import sum_by
from oddsmith.metrics.calibration_tests import classwise_test, spiegelhalter_test
from oddsmith.metrics.canonical import CanonicalCases, canonical_calibration_error
from oddsmith.metrics.classes import ClassForecast
from oddsmith.metrics.evidence import RowEvidence
from oddsmith.metrics.groups import GroupedForecast, group_classes
from oddsmith.metrics.intervals import Interval, explain_interval
from oddsmith.metrics.means import mean_with_interval
from oddsmith.metrics.min_sample_size import FEWEST_OF_A_CLASS
from oddsmith.metrics.proper import decompose
from oddsmith.metrics.ranking import roc_auc
from oddsmith.metrics.reliability import calibration_error, classwise_calibration_error, top_label_calibration_error
from oddsmith.metrics.significance import Decisions, holm_of_known

#: Rows times draws, and the fewest draws whatever the rows.
_WORK, _FEWEST_DRAWS = 2 * 10**8, 100

#: Of canonical calibration, whose time grows with the square of the rows and with classes: so many rows, and draws of
#: their labels, at least, at most, and times classes.
_CANONICAL_ROWS, _CANONICAL_DRAWS, _CANONICAL_WORK = 1000, (40, 200), 2000

#: Classes above which hardly any rows are alike.
MANY_CLASSES = 20

_LARGE = "half the sum over classes of |mean of P - share|"
GAP = "mean of P - share of cases"


class GroupedDecisions(NamedTuple):
    """Decisions, the groups of those that are dependent, and the level of intervals."""

    decisions: Decisions
    group: NDArray[np.intp] | None
    level: float

    def mean(self, values: Floats, definition: str = "") -> dict[str, Any]:
        """Return a mean over the cases with its interval."""
        method = "Student's t" if self.group is None else "Student's t over groups"
        found = mean_with_interval(values, self.decisions, self.level, self.group)
        return found | {"method": method, "definition": definition}


def as_measure(found: dict[str, Any], level: float) -> dict[str, Any]:
    """Return a measure and its limits as summaries have it: value, definition, and an interval or the reason for none.

    Examples
    --------
    >>> share = {"value": 0.5, "low": 0.4, "high": 0.6, "method": "given", "definition": "a share"}
    >>> as_measure(share, 0.95)["interval"]["low"]
    0.4
    """
    told = {"definition": found["definition"]}
    if found["value"] is None:
        return told | {"reason": found["reason"]}
    told = {"value": found["value"]} | told
    if "low" not in found:
        return told
    if found["low"] is None:
        return told | {"interval": {"reason": found["reason"]}}
    corrected, band = found.get("corrected"), found.get("consistency")
    try:
        low, high, note = explain_interval(found["value"], found["low"], found["high"], corrected)
    except InvalidInputError as reason:
        return told | {"interval": {"reason": str(reason)}}
    made = Interval(found["value"], low, high, level, found["method"], corrected, band and tuple(band), note=note)
    return told | {"interval": made.to_dict()}


@dataclass(frozen=True, eq=False)
class RowMeasures:
    """Measures, tests and classes of a forecast, as `evaluate` returns them."""

    measures: dict[str, dict[str, Any]]
    tests: dict[str, dict[str, Any]]
    classes: list[dict[str, Any]]
    top_label: dict[str, Any]


def row_measures(
    seen: RowEvidence, *, level: float, n_resamples: int, random_state: Any, intervals: bool
) -> RowMeasures:
    """Return the measures of a forecast of several classes; without intervals no labels are drawn."""
    forecast, group = seen.forecast, seen.given
    cases = GroupedDecisions(seen.decisions, group, level)
    lines = np.exp(seen.lines)
    grouped = None if group is None else group_classes(forecast, group).with_correlation(lines)
    bins = ClassBins.of(forecast, lines, grouped)
    draws = n_resamples if intervals else 0
    errors = _errors(bins, draws, level, np.random.default_rng(random_state))
    gain, p_value = seen.gain(group, level)
    raw = {
        **_proper(bins, cases, seen, gain, errors),
        "roc_auc": _area(bins, cases),
        "top_label_calibration_error": errors.measure("top_label", top_label_calibration_error.of(forecast)),
        "classwise_calibration_error": errors.measure("classwise", classwise_calibration_error.of(forecast)),
        "canonical_calibration_error": _canonical(
            bins, level, np.random.default_rng(random_state), intervals=intervals
        ),
        "calibration_in_the_large": errors.measure("in_the_large", definition=_LARGE),
    }
    classes = _classes(forecast, cases, bins, errors)
    measures = {name: _show(one, level, intervals=intervals) for name, one in raw.items()}
    top = _top_label(forecast, cases, intervals=intervals)
    return RowMeasures(
        measures,
        _tests(forecast, gain["value"], p_value, grouped, classes),
        [
            {
                name: _show(part, level, intervals=intervals) if isinstance(part, dict) else part
                for name, part in one.items()
            }
            for one in classes
        ],
        top,
    )


def _show(found: dict[str, Any], level: float, *, intervals: bool) -> dict[str, Any]:
    measure = as_measure(found, level)
    if not intervals:
        measure.pop("interval", None)
    return measure


class _Errors:
    """Calibration errors with intervals, all from the same draws of labels."""

    def __init__(
        self,
        asked: dict[str, Asked],
        seen: Any,
        source: ClassBins | CanonicalCases,
        draws: int,
        level: float,
        rng: np.random.Generator,
    ) -> None:
        self.seen = {name: one.of(seen) for name, one in asked.items()}
        self.limits = None
        if draws:
            paths, further = [source.path(source.suggested)], map(source.path, rates_of_alike(source.forecast))
            self.limits = by_inversion(asked, paths, further, source.labels_again, level, draws, rng)

    def measure(self, name: str, found: SupportsFloat | None = None, definition: str = "") -> dict[str, Any]:
        """Return an error with its interval and definition; its exact value where the bins have only about the same."""
        about = self.seen[name]
        value = about if found is None else float(found)
        told = {"value": value, "definition": definition or getattr(found, "definition", "")}
        if self.limits is None:
            return told
        try:
            limits = self.limits(name, about)
        except InvalidInputError as reason:
            return told | {"low": None, "high": None, "reason": str(reason)}
        band = [max(limit + value - about, 0.0) for limit in limits.consistency or (0.0, 0.0)]
        ends = {"low": limits.low, "high": limits.high, "corrected": limits.corrected, "consistency": band}
        return told | ends | {"method": limits.method}


def _errors(bins: ClassBins, draws: int, level: float, rng: np.random.Generator) -> _Errors:
    """Return the errors of all classes together and of each against the rest."""
    together = (Observed.top_label, Observed.classwise, Observed.in_the_large, Observed.brier_miscalibration)
    asked = {one.__name__: Asked(one) for one in together}
    asked |= {f"class {k}": Asked(Observed.of_class, {"k": k}) for k in range(len(bins.tables))}
    affordable = max(_WORK // len(bins.forecast), _FEWEST_DRAWS)
    return _Errors(asked, bins.observe(bins.forecast.truth), bins, min(draws, affordable), level, rng)


def _proper(
    bins: ClassBins, cases: GroupedDecisions, seen: RowEvidence, gain: dict[str, Any], errors: _Errors
) -> dict[str, dict[str, Any]]:
    """Return proper scores and what they are made of, from logs of P and of its best recalibration."""
    forecast, mean = bins.forecast, cases.mean
    logs = forecast.log_of_truth

    def share(value: float, low: float, high: float, which: str) -> dict[str, Any]:
        definition = f"share of cases whose most probable class is {which} one"
        return {"value": value, "low": low, "high": high, "method": method, "definition": definition}

    of_truth = forecast.base_rates[forecast.truth]
    base = -np.log(of_truth)
    by_lines = "log-loss that the best softmax(a log P + b) saves"
    squared = decompose.of(forecast, score="squared")
    by_classes = f"Brier score that {squared.recalibration} saves"
    miscalibration = errors.measure("brier_miscalibration", squared.miscalibration, by_classes)
    discrimination = mean(_isotonic_savings(forecast), f"{by_classes} against the base rates")
    weight = cases.decisions.weight
    wrong = float(weight @ ~forecast.right) / float(weight.sum())
    low, high, method = error_limits(forecast if bins.grouped is None else bins.grouped, cases.level)[:3]
    return {
        "log_loss": mean(-logs, "mean of -log P(true class), in nats"),
        "log_loss_miscalibration": gain | {"method": "likelihood ratio", "definition": by_lines},
        "log_loss_discrimination": _widen_upper_limit(mean(base + seen.better, f"{by_lines} against the base rates")),
        "log_loss_uncertainty": mean(base, "log-loss of the base rates"),
        "squared_error": mean(forecast.squared_distance, "mean of the sum over classes of (t - P)²"),
        "brier_miscalibration": miscalibration,
        "brier_discrimination": _widen_upper_limit(_less_noise(discrimination, squared.discrimination, miscalibration)),
        # Of 1 − Σπ² the derivative is −2π: its error is that of the mean of 2π of the true class.
        "brier_uncertainty": _move_interval(mean(2 * of_truth, "Brier score of the base rates"), squared.uncertainty),
        "zero_one_error": share(wrong, low, high, "not the true"),
        "accuracy": share(1 - wrong, 1 - high, 1 - low, "the true"),
    }


def _area(bins: ClassBins, cases: GroupedDecisions) -> dict[str, Any]:
    """Return the mean area under the ROC curve of the classes, with the interval of its placements (DeLong)."""
    forecast, definition = bins.forecast, f"mean over classes against the rest: {roc_auc.definition}"
    values = np.zeros(len(forecast))
    for k, table in enumerate(bins.tables):
        if table.n_pos == 0 or table.n_neg == 0:
            return {"value": None, "reason": "both classes must be present", "definition": definition}
        area, at, actual = roc_auc.of(table), cell_of(table, forecast.prob[:, k]), forecast.truth == k
        below = (np.cumsum(table.neg, dtype=np.float64) - table.neg / 2) / table.n_neg
        above = 1 - (np.cumsum(table.pos, dtype=np.float64) - table.pos / 2) / table.n_pos
        rate = table.prevalence
        values += area + np.where(actual, (below[at] - area) / rate, (above[at] - area) / (1 - rate))
    found = cases.mean(values / len(bins.tables), definition)
    if found["low"] is None:
        return found
    return found | {"low": max(found["low"], 0.0), "high": min(found["high"], 1.0), "method": "DeLong"}


def _move_interval(measure: dict[str, Any], value: float) -> dict[str, Any]:
    """Return a measure with the interval of another that varies as much."""
    if measure["low"] is None:
        return measure | {"value": value}
    by = value - measure["value"]
    return measure | {"value": value, "low": measure["low"] + by, "high": measure["high"] + by}


def _widen_upper_limit(measure: dict[str, Any]) -> dict[str, Any]:
    """Return a discrimination with the upper limit that it has on the scale of roots.

    Its variance grows with it, so a sample with a small discrimination shows too small an error: in 7 % of samples of
    20 groups Student's interval is entirely below the true value.
    """
    estimate = measure["value"] if measure.get("corrected") is None else measure["corrected"]
    if measure["low"] is None or estimate <= 0:
        return measure
    half = measure["high"] - estimate
    return measure | {"high": measure["high"] + half * min(half / (4 * estimate), 0.5)}


def _isotonic_savings(forecast: ClassForecast) -> Floats:
    """Return what isotonic regression of each class saves in every case against the base rates, as Brier score."""
    rates = forecast.base_rates
    saved = 1 - 2 * rates[forecast.truth] + float(rates @ rates)
    for k, p in enumerate(forecast.prob.T):
        actual = forecast.truth == k
        values, place = np.unique(p, return_inverse=True)
        pos = np.bincount(place, forecast.weight * actual, len(values))
        starts, shares = _kernels.pool_violators(pos, np.bincount(place, forecast.weight, len(values)) - pos)
        fitted = np.repeat(shares, np.diff(np.append(starts, len(values))))
        saved -= (actual - fitted[place]) ** 2
    return np.asarray(saved)


def _less_noise(measure: dict[str, Any], value: float, error: dict[str, Any]) -> dict[str, Any]:
    """Return what a recalibration gains with an interval from which is taken what its fit to noise adds to an error."""
    if measure["low"] is None or error.get("corrected") is None:
        return measure | {"value": value}
    corrected = max(value - (error["value"] - error["corrected"]), 0.0)
    return _move_interval(measure, corrected) | {"value": value, "corrected": corrected}


def _canonical(bins: ClassBins, level: float, rng: np.random.Generator, *, intervals: bool) -> dict[str, Any]:
    """Return the canonical calibration error of a limited number of cases, with its interval."""
    forecast, grouped = bins.forecast, bins.grouped
    at, weight = _single_cases(forecast, rng)
    if len(at) < 2:
        return {
            "value": None,
            "low": None,
            "high": None,
            "reason": "there must be two cases or more",
            "definition": "canonical",
        }
    drawn = forecast.at(at, weight=weight)
    if grouped is not None:
        places = np.arange(len(at))
        grouped = replace(
            grouped, forecast=drawn, cell=places, truth=drawn.truth, weight=weight, group=grouped.group[at]
        )
    cases = CanonicalCases.of(drawn, bins.suggested[at], grouped)
    found = canonical_calibration_error.of(drawn, bandwidth=cases.bandwidth)
    draws = int(np.clip(_CANONICAL_WORK // len(forecast.labels), *_CANONICAL_DRAWS))
    available = len(forecast) if forecast.weight.dtype.kind == "f" else int(forecast.weight.sum())
    on = f"; on {len(at):,} cases drawn at random" if len(at) < available else ""
    errors = _Errors({"": Asked(float)}, found, cases, draws if intervals else 0, level, rng)
    return errors.measure("", found, found.definition + on)


def _single_cases(forecast: ClassForecast, rng: np.random.Generator) -> tuple[NDArray[np.intp], Weights]:
    """Draw rows of single cases, of counts as many as they count, but not more than canonical calibration can take."""
    if forecast.weight.dtype.kind == "f":
        at = np.sort(rng.choice(len(forecast), min(len(forecast), _CANONICAL_ROWS), replace=False))
        return at, forecast.weight[at]
    upto = np.cumsum(forecast.weight)
    picked = np.sort(rng.choice(upto[-1], min(upto[-1], _CANONICAL_ROWS), replace=False))
    return np.searchsorted(upto, picked, side="right"), np.ones(len(picked), np.int64)


def _classes(
    forecast: ClassForecast, cases: GroupedDecisions, bins: ClassBins, errors: _Errors
) -> list[dict[str, Any]]:
    """Return figures and the test of each class against the rest."""
    tests = classwise_test.of(forecast)
    counts = np.bincount(forecast.truth, forecast.weight, len(forecast.labels))
    seen = sum_by(forecast.truth, cases.decisions.effective, len(forecast.labels))
    told = (np.maximum(seen, tests.mean_predicted * seen.sum()) >= FEWEST_OF_A_CLASS) & ~np.isnan(tests.p_values)
    corrected = holm_of_known(np.where(told, tests.p_values, np.nan))
    found = []
    for k, label in enumerate(tests.labels):
        gap = cases.mean(forecast.prob[:, k] - (forecast.truth == k), GAP)
        error = errors.measure(f"class {k}", calibration_error.of(bins.tables[k]))
        one = {
            "label": label,
            "cases": int(counts[k]) if forecast.weight.dtype.kind == "i" else counts[k],
            "share": tests.prevalence[k],
            "mean_probability": tests.mean_predicted[k],
            "gap": gap,
            "calibration_error": error,
            "p_value": tests.p_values[k] if told[k] else None,
            "p_holm": corrected[k] if told[k] else None,
        }
        if not told[k]:
            one["reason"] = f"fewer than {FEWEST_OF_A_CLASS} cases, seen or expected"
        found.append(one)
    return found


def _top_label(forecast: ClassForecast, cases: GroupedDecisions, *, intervals: bool) -> dict[str, Any]:
    """Return the mean probability of the most probable class, and how often it is right."""
    table = forecast.of_top_label()
    weight = cases.decisions.weight
    gap = cases.mean(forecast.prob.max(axis=1) - forecast.right, "mean confidence - accuracy")
    confidence = float(weight @ forecast.prob.max(axis=1)) / float(weight.sum())
    return {
        "confidence": confidence,
        "accuracy": table.prevalence,
        "gap": _show(gap, cases.level, intervals=intervals),
    }


def _tests(
    forecast: ClassForecast, gain: float, p_value: float, grouped: GroupedForecast | None, classes: list[dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Return tests of calibration: of whole rows, of the top label, and of the worst class."""
    told = [one["p_holm"] for one in classes if one["p_holm"] is not None]
    worst: dict[str, Any] = {"reason": f"no class has {FEWEST_OF_A_CLASS} cases, seen or expected"}
    if told:
        least = f"calibration in the large of each class, the least p-value of {len(told)} after Holm's correction"
        worst = {"p_value": min(told), "definition": least}
    try:
        top = spiegelhalter_test.of(forecast.of_top_label()).to_dict()
    except InvalidInputError as reason:
        top = {"reason": str(reason)}
    df = int(np.count_nonzero(forecast.base_rates))
    law = f"softmax(a log P + b) against P, χ² with {df} degrees of freedom"
    if grouped is not None:
        law = f"softmax(a log P + b) against P, F with {df} and {(grouped.n_groups - 1) / 2:g} degrees of freedom"
    if math.isinf(gain):
        law += "; an outcome had probability 0"
    rows: dict[str, Any] = {"p_value": p_value, "df": df, "definition": law}
    if forecast.in_sample:
        rows = {"reason": "the forecast was fitted on these rows"}
    return {"likelihood_ratio_test": rows, "top_label_test": top, "classwise_test": worst}
