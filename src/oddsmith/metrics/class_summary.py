"""All that is usually asked of a forecast of several classes, in one dictionary."""

import math
from dataclasses import replace
from typing import Any, NamedTuple, SupportsFloat

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax

from oddsmith import _check, _kernels
from oddsmith._types import Floats, Weights
from oddsmith.data import ScoreRows
from oddsmith.errors import InvalidInputError
from oddsmith.metrics._alternatives import rates_of_alike
from oddsmith.metrics._class_bins import ClassBins, Observed
from oddsmith.metrics._confidence_limits import Asked, by_inversion
from oddsmith.metrics._formulas import error_limits
from oddsmith.metrics.bins import sum_by
from oddsmith.metrics.calibration_tests import classwise_test, spiegelhalter_test
from oddsmith.metrics.canonical import CanonicalCases, canonical_calibration_error
from oddsmith.metrics.class_verdict import class_gain, class_verdict, copies_among
from oddsmith.metrics.classes import ClassForecast, recalibrated
from oddsmith.metrics.curves import reliability_curve
from oddsmith.metrics.groups import GroupedForecast, grouped_classes
from oddsmith.metrics.intervals import explained
from oddsmith.metrics.means import mean_with_interval
from oddsmith.metrics.min_sample_size import FEWEST_OF_A_CLASS
from oddsmith.metrics.proper import decompose, log_of_truth
from oddsmith.metrics.reliability import calibration_error, classwise_calibration_error, top_label_calibration_error
from oddsmith.metrics.resampling_tests import as_clusters
from oddsmith.metrics.result import plain
from oddsmith.metrics.significance import Decisions, holm_of_known
from oddsmith.metrics.verdict import MANY_COPIES, Verdict

_LEVEL = 0.95

#: Rows times draws, and the fewest draws whatever the rows.
_WORK, _FEWEST_DRAWS = 2 * 10**8, 100

#: Of canonical calibration, whose time grows with the square of the rows and with classes: so many rows, and draws of
#: their labels, at least, at most, and times classes.
_CANONICAL_ROWS, _CANONICAL_DRAWS, _CANONICAL_WORK = 1000, (40, 200), 2000

#: Above so many classes hardly any rows are alike.
_CANONICAL_CLASSES = 20

#: Classes that are named where several are meant.
_NAMED = 5

#: Probabilities of logits so far apart that they round to 0.
_LEAST = 1e-300

#: Keys of a measure, in order.
_KEYS = ("value", "low", "high", "corrected", "consistency", "note", "reason", "definition")

_LARGE = "half the sum over classes of |mean of P - share|"


def forecast_of_rows(rows: ScoreRows) -> ClassForecast:
    """Return what rows say uncalibrated: probabilities, or the softmax of logits; rows without weight are absent.

    Examples
    --------
    >>> rows = ScoreRows(np.zeros((1, 2)), np.array([0]), ("a", "b"), None, ("a", "b"), "log_odds")
    >>> forecast_of_rows(rows).prob.tolist()
    [[0.5, 0.5]]
    """
    prob = rows.values
    if rows.meaning == "log_odds":
        prob = np.maximum(np.exp(log_softmax(rows.values, axis=1)), _LEAST)
    weight = np.ones(rows.n_rows, np.int64) if rows.weight is None else rows.weight
    held = weight > 0
    if not held.any():
        _check.fail("some row must carry weight", f"{rows.n_rows} rows without", "check the weights")
    return ClassForecast(
        prob[held], rows.truth[held].astype(np.intp), weight[held], np.array(rows.labels, dtype=object)
    )


def verdict_of_classes(rows: ScoreRows, *, groups: ArrayLike | None = None) -> Verdict:
    """Decide whether class probabilities, or the softmax of logits, are calibrated; for two classes see `verdict_of`.

    Parameters
    ----------
    rows : ScoreRows
    groups : array-like of shape (n,), optional
        Which rows are dependent, such as the visits of a patient. Tests and intervals then count groups, not rows.

    Examples
    --------
    >>> values = np.repeat([[0.7, 0.2, 0.1], [0.1, 0.7, 0.2]], 40, axis=0)
    >>> rows = ScoreRows(values, np.repeat([0, 1], 40), ("a", "b", "c"), None, ("a", "b", "c"), "probability")
    >>> verdict_of_classes(rows).kind
    'miscalibrated'
    """
    return judge_rows(rows, group_numbers(rows, groups))[0]


def judge_rows(rows: ScoreRows, group: NDArray[np.intp] | None) -> tuple[Verdict, NDArray[np.intp] | None]:
    """Return the verdict, and the groups of the rows: those given, or the rows that are copies of each other."""
    forecast = forecast_of_rows(rows)
    lines = recalibrated(forecast)
    verdict = class_verdict(forecast, _log_of_truth(rows, forecast), lines, group)
    if group is None:
        share, same = copies_among(forecast, np.exp(lines))
        group = same if share >= MANY_COPIES else None
    return verdict, group


def group_numbers(rows: ScoreRows, groups: ArrayLike | None) -> NDArray[np.intp] | None:
    """Return the number of the group of each row that carries weight."""
    if groups is None:
        return None
    names = as_clusters(groups, rows.n_rows)
    held = slice(None) if rows.weight is None else rows.weight > 0
    return np.asarray(np.unique(names[held], return_inverse=True)[1])


def evaluate_classes(
    rows: ScoreRows, *, random_state: int = 0, n_resamples: int = 400, groups: ArrayLike | None = None
) -> dict[str, Any]:
    """Return the usual measures of a forecast of several classes with intervals and tests, as plain JSON.

    Parameters
    ----------
    rows : ScoreRows
        Probabilities, or logits whose softmax is evaluated, of rows that the forecast was not fitted to.
    random_state : int, default 0
    n_resamples : int, default 400
        How often labels are drawn again for intervals of calibration errors; fewer for very many rows.
    groups : array-like of shape (n,), optional
        Which rows are dependent. Intervals, the likelihood ratio test and the verdict then count groups, not rows.

    Returns
    -------
    dict
        "data" (rows, weight, kind, input, classes); "level" of intervals; "measures" by name (value, low, high and
        definition; of errors that noise inflates also "corrected" and "consistency", the range of a perfect forecast;
        "note", as that of `Interval`: why value or corrected is not strictly inside the interval, empty where both are;
        where there is no interval, low and high are None and "reason" gives the reason); "tests" of calibration;
        "classes" by label; "top_label"; "judged", from `verdict_of_classes`; and "notes": what could not be computed,
        and why, and with groups which tests count rows. Infinite numbers are strings.

    Notes
    -----
    Means have intervals by Student's t, with groups by the sums of the groups; discriminations, whose errors grow with
    them, have a higher upper limit, that of their root. Shares have exact ones (Clopper and
    Pearson); with float weights or groups, those of as many independent cases as would vary as much. Calibration errors
    keep forecasts and bins, draw labels from supposed truths on a line from the forecast through its best recalibration
    softmax(a log P + b), and invert the test; if that line does not reach what was seen, another goes through the rates
    of groups of similar rows. Labels of dependent rows are drawn with the correlation of those observed. The
    miscalibration of the log-loss is a likelihood ratio: 2n times it is χ² with one degree of freedom per class if the
    forecast is calibrated; with groups its variance is larger by their design effect.

    Examples
    --------
    >>> values = np.repeat([[0.7, 0.2, 0.1], [0.1, 0.7, 0.2]], 40, axis=0)
    >>> rows = ScoreRows(values, np.repeat([0, 1, 2, 1], 20), ("a", "b", "c"), None, ("a", "b", "c"), "probability")
    >>> found = evaluate_classes(rows)
    >>> found["measures"]["zero_one_error"]["value"], found["classes"]["b"]["cases"]
    (0.5, 40)
    """
    draws = _check.whole_number(n_resamples, "n_resamples", low=20)
    seed = _check.whole_number(random_state, "random_state", low=0)
    forecast = forecast_of_rows(rows)
    group = group_numbers(rows, groups)
    cases = _GroupedDecisions(Decisions(forecast.weight, forecast.squared_weight), group)
    lines = recalibrated(forecast)
    grouped = None if group is None else grouped_classes(forecast, group).correlated(np.exp(lines))
    bins = ClassBins.of(forecast, np.exp(lines), grouped)
    errors = _errors(bins, draws, np.random.default_rng(seed))
    logs, better = _log_of_truth(rows, forecast), np.take_along_axis(lines, forecast.truth[:, None], axis=1)[:, 0]
    gain, p_value = class_gain(forecast, better - logs, group)
    measures = {
        **_proper(bins, cases, logs, better, gain, errors),
        "top_label_calibration_error": errors.measure("top_label", top_label_calibration_error.of(forecast)),
        "classwise_calibration_error": errors.measure("classwise", classwise_calibration_error.of(forecast)),
        "canonical_calibration_error": _canonical(bins, np.random.default_rng(seed)),
        "calibration_in_the_large": errors.measure("in_the_large", definition=_LARGE),
    }
    classes = _classes(forecast, cases, bins, errors)
    content = {
        "data": {
            "rows": len(forecast),
            "weight": forecast.weight.sum(),
            "kind": "count" if forecast.weight.dtype.kind == "i" else "weight",
            "input": rows.input,
            "classes": len(forecast.labels),
        },
        "level": _LEVEL,
        "measures": {name: _explained(one) for name, one in measures.items()},
        "tests": _tests(forecast, gain["value"], p_value, grouped, classes),
        "classes": dict(zip(_names(rows.labels), classes, strict=True)),
        "top_label": _top_label(forecast, cases),
        "judged": class_verdict(forecast, logs, lines, group),
        "notes": _notes(classes, measures, rows.labels, grouped),
    }
    return dict(plain(content))


def _explained(measure: dict[str, Any]) -> dict[str, Any]:
    """Return a measure with the note on its interval, or the reason for none, its keys in the order of all others."""
    if measure["low"] is not None:
        try:
            ends = explained(measure["value"], measure["low"], measure["high"], measure.get("corrected"))
            measure = measure | dict(zip(("low", "high", "note"), ends, strict=True))
        except InvalidInputError as reason:
            kept = {name: measure[name] for name in ("value", "definition") if name in measure}
            measure = kept | {"low": None, "high": None, "reason": str(reason)}
    return {name: measure[name] for name in _KEYS if name in measure}


def _names(labels: tuple[Any, ...]) -> list[str]:
    """Return labels as text, those of other types apart: 1 and "1" are two classes."""
    names = [str(label) for label in labels]
    return names if len(set(names)) == len(names) else [repr(label) for label in labels]


class _GroupedDecisions(NamedTuple):
    """Decisions, and the groups of those that are dependent."""

    decisions: Decisions
    group: NDArray[np.intp] | None

    def mean(self, values: Floats) -> dict[str, Any]:
        """Return a mean over the cases with its interval."""
        return mean_with_interval(values, self.decisions, _LEVEL, self.group)


class _Errors:
    """Calibration errors with intervals, all from the same draws of labels."""

    def __init__(
        self,
        asked: dict[str, Asked],
        seen: Any,
        source: ClassBins | CanonicalCases,
        draws: int,
        rng: np.random.Generator,
    ) -> None:
        self.seen = {name: one.of(seen) for name, one in asked.items()}
        paths, further = [source.path(source.suggested)], map(source.path, rates_of_alike(source.forecast))
        self.limits = by_inversion(asked, paths, further, source.labels_again, _LEVEL, draws, rng)

    def measure(self, name: str, found: SupportsFloat | None = None, definition: str = "") -> dict[str, Any]:
        """Return an error with its interval and definition; its exact value where the bins have only about the same."""
        about = self.seen[name]
        value = about if found is None else float(found)
        told = {"value": value, "definition": definition or getattr(found, "definition", "")}
        try:
            limits = self.limits(name, about)
        except InvalidInputError as reason:
            return told | {"low": None, "high": None, "reason": str(reason)}
        band = [max(limit + value - about, 0.0) for limit in limits.consistency or (0.0, 0.0)]
        return told | {"low": limits.low, "high": limits.high, "corrected": limits.corrected, "consistency": band}


def _errors(bins: ClassBins, draws: int, rng: np.random.Generator) -> _Errors:
    """Return the errors of all classes together and of each against the rest."""
    together = (Observed.top_label, Observed.classwise, Observed.in_the_large, Observed.brier_miscalibration)
    asked = {one.__name__: Asked(one) for one in together}
    asked |= {f"class {k}": Asked(Observed.of_class, {"k": k}) for k in range(len(bins.tables))}
    affordable = max(_WORK // len(bins.forecast), _FEWEST_DRAWS)
    return _Errors(asked, bins.observed(bins.forecast.truth), bins, min(draws, affordable), rng)


def _log_of_truth(rows: ScoreRows, forecast: ClassForecast) -> Floats:
    """Return log P of the true class, exact where P itself rounds to 0."""
    if rows.meaning == "probability":
        return log_of_truth(forecast)
    logs = np.take_along_axis(log_softmax(rows.values, axis=1), rows.truth[:, None], axis=1)[:, 0]
    return np.asarray(logs if rows.weight is None else logs[rows.weight > 0])


def _proper(
    bins: ClassBins, cases: _GroupedDecisions, logs: Floats, better: Floats, gain: dict[str, Any], errors: _Errors
) -> dict[str, dict[str, Any]]:
    """Return proper scores and what they are made of, from logs of P and of its best recalibration."""
    forecast = bins.forecast

    def mean(values: Floats, definition: str) -> dict[str, Any]:
        return cases.mean(values) | {"definition": definition}

    def share(value: float, low: float, high: float, which: str) -> dict[str, Any]:
        definition = f"share of cases whose most probable class is {which} one"
        return {"value": value, "low": low, "high": high, "definition": definition}

    of_truth = forecast.base_rates[forecast.truth]
    base = -np.log(of_truth)
    by_lines = "log-loss that the best softmax(a log P + b) saves"
    squared = decompose.of(forecast, score="squared")
    by_classes = f"Brier score that {squared.recalibration} saves"
    miscalibration = errors.measure("brier_miscalibration", squared.miscalibration, by_classes)
    discrimination = mean(_saved_by_isotonic(forecast), f"{by_classes} against the base rates")
    weight = cases.decisions.weight
    wrong = float(weight @ ~forecast.right) / float(weight.sum())
    low, high = error_limits(forecast if bins.grouped is None else bins.grouped, _LEVEL)[:2]
    return {
        "log_loss": mean(-logs, "mean of -log P(true class), in nats"),
        "log_loss_miscalibration": gain | {"definition": by_lines},
        "log_loss_discrimination": _growing(mean(base + better, f"{by_lines} against the base rates")),
        "log_loss_uncertainty": mean(base, "log-loss of the base rates"),
        "squared_error": mean(forecast.squared_distance, "mean of the sum over classes of (t - P)²"),
        "brier_miscalibration": miscalibration,
        "brier_discrimination": _growing(_less_noise(discrimination, squared.discrimination, miscalibration)),
        # Of 1 − Σπ² the derivative is −2π: its error is that of the mean of 2π of the true class.
        "brier_uncertainty": _shifted(mean(2 * of_truth, "Brier score of the base rates"), squared.uncertainty),
        "zero_one_error": share(wrong, low, high, "not the true"),
        "accuracy": share(1 - wrong, 1 - high, 1 - low, "the true"),
    }


def _shifted(measure: dict[str, Any], value: float) -> dict[str, Any]:
    """Return a measure with the interval of another that varies as much."""
    if measure["low"] is None:
        return measure | {"value": value}
    by = value - measure["value"]
    return measure | {"value": value, "low": measure["low"] + by, "high": measure["high"] + by}


def _growing(measure: dict[str, Any]) -> dict[str, Any]:
    """Return a discrimination with the upper limit that it has on the scale of roots.

    Its variance grows with it, so a sample with a small discrimination shows too small an error: in 7 % of samples of
    20 groups Student's interval is entirely below the true value.
    """
    estimate = measure["value"] if measure.get("corrected") is None else measure["corrected"]
    if measure["low"] is None or estimate <= 0:
        return measure
    half = measure["high"] - estimate
    return measure | {"high": measure["high"] + half * min(half / (4 * estimate), 0.5)}


def _saved_by_isotonic(forecast: ClassForecast) -> Floats:
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
    return _shifted(measure, corrected) | {"value": value, "corrected": corrected}


def _canonical(bins: ClassBins, rng: np.random.Generator) -> dict[str, Any]:
    """Return the canonical calibration error of a limited number of cases, with its interval."""
    forecast, grouped = bins.forecast, bins.grouped
    at, weight = _single_cases(forecast, rng)
    if len(at) < 2:
        return {"value": None, "low": None, "high": None, "reason": "it takes two cases", "definition": "canonical"}
    drawn = replace(forecast, prob=forecast.prob[at], truth=forecast.truth[at], weight=weight)
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
    errors = _Errors({"": Asked(float)}, found, cases, draws, rng)
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
    forecast: ClassForecast, cases: _GroupedDecisions, bins: ClassBins, errors: _Errors
) -> list[dict[str, Any]]:
    """Return what can be told of each class against the rest."""
    tests = classwise_test.of(forecast)
    counts = np.bincount(forecast.truth, forecast.weight, len(forecast.labels))
    seen = sum_by(forecast.truth, cases.decisions.effective, len(forecast.labels))
    told = (np.maximum(seen, tests.mean_predicted * seen.sum()) >= FEWEST_OF_A_CLASS) & ~np.isnan(tests.p_values)
    corrected = holm_of_known(np.where(told, tests.p_values, np.nan))
    found = []
    for k, label in enumerate(tests.labels):
        gap = cases.mean(forecast.prob[:, k] - (forecast.truth == k))
        error = errors.measure(f"class {k}", calibration_error.of(bins.tables[k]))
        one = {
            "label": label,
            "cases": int(counts[k]) if forecast.weight.dtype.kind == "i" else counts[k],
            "share": tests.prevalence[k],
            "mean_probability": tests.mean_predicted[k],
            "gap": _explained(gap),
            "calibration_error": {key: part for key, part in _explained(error).items() if key != "definition"},
            "p_value": tests.p_values[k] if told[k] else None,
            "p_holm": corrected[k] if told[k] else None,
        }
        if not told[k]:
            one["reason"] = f"fewer than {FEWEST_OF_A_CLASS} cases, seen or expected"
        found.append(one)
    return found


def _top_label(forecast: ClassForecast, cases: _GroupedDecisions) -> dict[str, Any]:
    """Return how sure the forecast is of its decisions, and how often they are right."""
    table = forecast.of_top_label()
    weight = cases.decisions.weight
    gap = cases.mean(forecast.prob.max(axis=1) - forecast.right)
    confidence = float(weight @ forecast.prob.max(axis=1)) / float(weight.sum())
    return {
        "confidence": confidence,
        "accuracy": table.prevalence,
        "gap": _explained(gap | {"definition": "mean confidence less accuracy"}),
        "curve": reliability_curve.of(table, n_bins=10, bins="mass"),
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
        law += "; something happened whose probability was 0"
    rows = {"p_value": p_value, "df": df, "definition": law}
    return {"likelihood_ratio_test": rows, "top_label_test": top, "classwise_test": worst}


def _notes(
    classes: list[dict[str, Any]],
    measures: dict[str, dict[str, Any]],
    labels: tuple[Any, ...],
    grouped: GroupedForecast | None,
) -> list[str]:
    """Return what could not be computed, and why."""
    notes = []
    if grouped is not None:
        notes.append("The tests of the most probable class and of each class count rows, not groups.")
    untold = [str(one["label"]) for one in classes if "reason" in one]
    if untold:
        shown = ", ".join(untold[:_NAMED]) + (f" and {len(untold) - _NAMED} more" if len(untold) > _NAMED else "")
        notes.append(f"Classes with fewer than {FEWEST_OF_A_CLASS} cases are not tested: {shown}.")
    if measures["log_loss"]["value"] == math.inf:
        notes.append("The log-loss is infinite: some probability of a true class is 0.")
    if len(labels) > _CANONICAL_CLASSES:
        notes.append(
            f"With {len(labels)} classes few rows are alike; the canonical calibration error is not informative."
        )
    return notes
