"""Whether rows of several classes can be used as probabilities, by the rules of `verdict_of`."""

import contextlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from oddsmith._types import Floats
from oddsmith.data import Signal
from oddsmith.errors import InvalidInputError
from oddsmith.metrics.bins import sum_by
from oddsmith.metrics.calibration_tests import classwise_test, spiegelhalter_test
from oddsmith.metrics.classes import ClassForecast
from oddsmith.metrics.grouped import design_effect, inflated
from oddsmith.metrics.means import gain_with_interval
from oddsmith.metrics.min_sample_size import FEWEST_GROUPS, FEWEST_OF_A_CLASS, few_cases_of_classes, few_groups, too_few
from oddsmith.metrics.significance import Decisions, holm_of_known
from oddsmith.metrics.verdict import (
    LEVEL,
    MANY_COPIES,
    PERFECT,
    CalibrationEvidence,
    GainEstimate,
    Verdict,
    base_rate_loss,
    corrected,
    decided,
    doubts_about,
    impossible,
)

#: As for two classes: values expected to have several labels for a judgment, and the share of them below which equal
#: rows count as copies.
_EXPECTED, _MIXED = 15.0, 0.3


def class_verdict(
    forecast: ClassForecast, logs: Floats, lines: Floats, group: NDArray[np.intp] | None = None
) -> Verdict:
    """Decide whether class probabilities are calibrated.

    Parameters
    ----------
    forecast : ClassForecast
    logs : ndarray of shape (n,)
        Logs of the probability of the true class.
    lines : ndarray of shape (n, k)
        Logs of the best recalibration softmax(a log P + b).
    group : ndarray of int, shape (n,), optional
        The group of each row, where rows of a group are dependent.

    Examples
    --------
    >>> from oddsmith.metrics.classes import class_forecast, recalibrated
    >>> from oddsmith.metrics.proper import log_of_truth
    >>> few = class_forecast(["a", "b", "c"], np.eye(3) * 0.7 + 0.1)
    >>> class_verdict(few, log_of_truth(few), recalibrated(few)).kind
    'few'
    """
    decisions = Decisions(forecast.weight, forecast.squared_weight)
    cases = sum_by(forecast.truth, decisions.effective, len(forecast.labels))
    signal = Signal.of_rows(forecast.prob, forecast.truth, forecast.weight)
    if signal.kind == "reversed":
        return Verdict("reversed", signal.words())
    if too_few(*cases):
        return Verdict("few", f"Cannot tell: {few_cases_of_classes(*cases)}.")
    if group is not None and (n_groups := len(np.unique(group))) < FEWEST_GROUPS:
        return Verdict("few", f"Cannot tell: {few_groups(n_groups)}.")
    copies = 0.0
    if group is None:
        copies, same = copies_among(forecast, np.exp(lines))
        if copies >= MANY_COPIES:
            group = same
    if signal.kind == "none":
        return Verdict("no signal", signal.words())
    right = float(decisions.weight @ forecast.right) / float(decisions.weight.sum())
    perfect = f"the most probable class is almost always right (accuracy {right:.4f})" if right >= PERFECT else ""
    doubts = doubts_about(copies, perfect)
    if np.isinf(logs).any():
        return impossible(float(forecast.weight[np.isinf(logs)].sum()), float(forecast.weight.sum()), doubts)
    better = np.take_along_axis(lines, forecast.truth[:, None], axis=1)[:, 0]
    confidence = float(decisions.weight @ forecast.prob.max(axis=1)) / float(decisions.weight.sum())
    found, p = class_gain(forecast, better - logs, group)
    others = _other_tests(forecast, cases) if group is None else {}
    p_value, test = corrected(("", p), others)
    shape = f"mean confidence {confidence:.3f}, accuracy {right:.3f}"
    gain = GainEstimate(found["corrected"], found["low"], found["high"])
    return decided(CalibrationEvidence(p_value, test, gain, shape, test), base_rate_loss(*forecast.base_rates), doubts)


def class_gain(forecast: ClassForecast, gains: Floats, group: NDArray[np.intp] | None) -> tuple[dict[str, Any], float]:
    """Return the mean gain of the best recalibration with its interval, and the p-value of no gain, of rows or groups.

    With groups the variance is larger by the design effect, and the law is F instead of χ².
    """
    decisions = Decisions(forecast.weight, forecast.squared_weight)
    df = int(np.count_nonzero(forecast.base_rates))
    if group is None or np.isinf(gains).any():
        return gain_with_interval(gains, decisions, df, 1 - LEVEL)
    effect = _class_design_effect(forecast, group)
    found, _ = gain_with_interval(gains, inflated(decisions, effect), df, 1 - LEVEL)
    statistic = 2 * decisions.n_effective * found["value"] / effect
    return found, float(fdtrc(df, (len(np.unique(group)) - 1) / 2, statistic / df))


def _other_tests(forecast: ClassForecast, cases: Floats) -> dict[str, float]:
    """Return the p-values of tests of the most probable class, and of each class against the rest."""
    found = {}
    with contextlib.suppress(InvalidInputError):
        top = spiegelhalter_test.of(forecast.of_top_label())
        found["Spiegelhalter's test of the most probable class"] = top.p_value
    tests = classwise_test.of(forecast)
    enough = np.maximum(cases, tests.mean_predicted * cases.sum()) >= FEWEST_OF_A_CLASS
    p_values = holm_of_known(np.where(enough, tests.p_values, np.nan))
    least = np.min(p_values, where=~np.isnan(p_values), initial=1.0)
    return found | {"a test of the share of each class": float(least)}


def _class_design_effect(forecast: ClassForecast, group: NDArray[np.intp]) -> float:
    """Return the design effect of groups on the scores of one slope and k intercepts."""
    index = np.unique(group, return_inverse=True)[1]
    gap = -forecast.prob.copy()
    gap[np.arange(len(gap)), forecast.truth] += 1
    z = np.log(np.maximum(forecast.prob, 1e-300))
    scores = np.column_stack([np.sum(gap * z, axis=1), gap])
    sums = np.stack([sum_by(index, forecast.weight * column) for column in scores.T])
    return design_effect(sums, (scores.T * forecast.squared_weight) @ scores)


def copies_among(forecast: ClassForecast, likely: Floats) -> tuple[float, NDArray[np.intp]]:
    """Return the share of rows that repeat an earlier one, 0 where chance explains equal rows, and which are equal."""
    if forecast.weight.dtype.kind == "f":
        return 0.0, np.arange(len(forecast))
    rows = np.ascontiguousarray(forecast.prob)
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    first, index, times = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)[1:]
    repeated = times > 1
    if not repeated.any():
        return 0.0, index
    expected = float(np.sum(1 - np.sum(likely[first[repeated]] ** times[repeated, None], axis=1)))
    mixed = np.zeros(len(times), bool)
    mixed[index[forecast.truth != forecast.truth[first[index]]]] = True
    if expected < _EXPECTED or np.sum(mixed) > _MIXED * expected:
        return 0.0, index
    return float(np.sum(times[repeated & ~mixed] - 1)) / len(rows), index
