"""What a verdict is made of: the cases, tests of calibration, and the gain of the best recalibration with its interval.

Forecasts of two classes and of several are described by the same attributes.
"""

import contextlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, fdtrc, xlogy

from oddsmith import _check
from oddsmith._types import Bools, Floats, Weights
from oddsmith.data import ScoreTable, Signal, is_separable, share_of_copies
from oddsmith.errors import InvalidInputError
from oddsmith.metrics.bins import sum_by
from oddsmith.metrics.calibration_tests import (
    CalibrationTest,
    classwise_test,
    cox_test,
    hosmer_lemeshow_test,
    kolmogorov_smirnov_test,
    kuiper_test,
    spiegelhalter_test,
)
from oddsmith.metrics.classes import ClassForecast, recalibrate
from oddsmith.metrics.grouped import design_effect, hotelling, inflate
from oddsmith.metrics.groups import GroupedForecast, group_rows
from oddsmith.metrics.means import gain_with_interval
from oddsmith.metrics.min_sample_size import FEWEST_GROUPS, FEWEST_OF_A_CLASS
from oddsmith.metrics.proper import decision_log_prob
from oddsmith.metrics.provenance import Forecast
from oddsmith.metrics.significance import Decisions, holm_of_known
from oddsmith.metrics.slope import recalibration_line

#: Tests of calibration, as summaries show them.
TESTS = {
    test.__name__: test
    for test in (spiegelhalter_test, hosmer_lemeshow_test, cox_test, kolmogorov_smirnov_test, kuiper_test)
}
_TITLES = {
    "spiegelhalter_test": "Spiegelhalter's test",
    "hosmer_lemeshow_test": "Hosmer and Lemeshow's test",
    "kolmogorov_smirnov_test": "Kolmogorov and Smirnov's test",
    "kuiper_test": "Kuiper's test",
}

#: Level of the verdict, and the share of it that the test with the most power has; the others divide the rest equally.
LEVEL, _PRIMARY = 0.05, 0.8

#: A gain below this share of the log-loss of the base rate has little practical relevance.
RELEVANT = 0.01

#: From this share of copied rows on, copies count as one case.
MANY_COPIES = 0.2

#: Scores with at least this area under the ROC curve, or accuracy, may come from rows that the classifier was trained
#: on.
PERFECT = 0.9995

#: Equal rows expected to have several labels for a judgment, and the share of them below which equal rows count as
#: copies, as for two classes.
_EXPECTED, _MIXED = 15.0, 0.3


class GainEstimate(NamedTuple):
    """How much log-loss per case recalibration saves: the median-unbiased estimate and the 95 % interval."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> "GainEstimate":
        """Return the estimate that `gain_with_interval` found."""
        return cls(found["corrected"], found["low"], found["high"])


class CalibrationEvidence(NamedTuple):
    """Tests and effect size: the p-value corrected for the number of tests, which test has it, and the gain."""

    p_value: float | None
    test: str
    gain: GainEstimate | None
    shape: str  # what is off, in words
    beyond: str = ""  # the test that rejects what the best line leaves


class ForecastEvidence(Protocol):
    """What a verdict needs to know of a forecast."""

    @property
    def forecast(self) -> Forecast:
        """The forecast."""

    @property
    def signal(self) -> Signal | None:
        """How well scores separate the classes; None if there is one class only."""

    @property
    def cases(self) -> tuple[float, ...]:
        """Number of cases of each class, of equal weight that would vary as much for float weights."""

    @property
    def n_groups(self) -> int | None:
        """Number of groups that were given."""

    @property
    def copies(self) -> float:
        """Share of rows that repeat an earlier one."""

    @property
    def impossible(self) -> tuple[float, float]:
        """Weight of the cases whose outcome had a probability of exactly 0, and of all cases."""

    @property
    def amounts(self) -> tuple[float, ...]:
        """Weight of each class."""

    def training_hint(self, called: str) -> str:
        """Return in words why the rows may be those of the training; empty if nothing suggests it."""

    def evidence(self) -> CalibrationEvidence:
        """Return tests and effect size."""


class ForecastCases(NamedTuple):
    """Decisions of two classes: log-odds, class, weight and, where rows are dependent, the number of their group."""

    log_odds: Floats
    positive: Bools
    decisions: Decisions
    group: NDArray[np.intp] | None = None

    @classmethod
    def of(cls, table: ScoreTable, groups: Mapping[Any, ScoreTable] | None = None) -> "ForecastCases":
        """Return the decisions of a table, or of the tables of its groups."""
        parts = [table] if groups is None else list(groups.values())
        scores = np.concatenate([part.scores for part in parts])
        weight: Weights = np.concatenate([column for side in ("pos", "neg") for column in _columns(parts, side)])
        squares = np.concatenate([part.squares[side] for side in (0, 1) for part in parts])
        held = weight > 0
        group = None
        if groups is not None:
            group = np.tile(np.repeat(np.arange(len(parts)), [len(part) for part in parts]), 2)[held]
        positive = np.repeat([True, False], len(scores))[held]
        return cls(np.tile(scores, 2)[held], positive, Decisions(weight[held], squares[held]), group)

    def group_cases(self) -> GroupedForecast:
        """Return the cases as intervals resample them, whole groups at a time."""
        assert self.group is not None
        return group_rows(self.log_odds, self.positive, self.decisions.weight, self.group)


def _columns(parts: list[ScoreTable], side: str) -> list[Weights]:
    return [getattr(part, side) for part in parts]


@dataclass(frozen=True, eq=False)
class TableEvidence:
    """The evidence of a forecast of two classes, with the table of each group of dependent rows."""

    forecast: ScoreTable
    groups: Mapping[Any, ScoreTable] | None = None

    @cached_property
    def cases(self) -> tuple[float, ...]:
        """Number of cases of each class."""
        return self.forecast.rows_by_class()

    @cached_property
    def signal(self) -> Signal | None:
        """How well scores separate the classes."""
        return Signal.of_table(self.forecast) if min(self.cases) > 0 else None

    @property
    def n_groups(self) -> int | None:
        """Number of groups that were given."""
        return None if self.groups is None else len(self.groups)

    @cached_property
    def copies(self) -> float:
        """Share of rows that repeat an earlier one."""
        return share_of_copies(self.forecast) if self.groups is None else 0.0

    @property
    def amounts(self) -> tuple[float, ...]:
        """Weight of each class."""
        return self.forecast.n_pos, self.forecast.n_neg

    @cached_property
    def decisions(self) -> ForecastCases:
        """The cases; copies of a row are a group."""
        found = ForecastCases.of(self.forecast, self.groups)
        if self.groups is None and self.copies >= MANY_COPIES:
            return found._replace(group=np.arange(len(found.log_odds)))
        return found

    @property
    def impossible(self) -> tuple[float, float]:
        """Weight of the cases whose outcome had a probability of exactly 0, and of all cases."""
        found = self.decisions
        wrong = np.isinf(found.log_odds) & (found.positive != (found.log_odds > 0))
        return float(found.decisions.weight[wrong].sum()), float(found.decisions.weight.sum())

    def training_hint(self, called: str) -> str:
        """Return in words why the rows may be those of the training."""
        assert self.signal is not None  # both classes have cases
        seen = f"the {called} separates the classes almost perfectly (area under the ROC curve {self.signal.value:.4f})"
        return seen if self.signal.value >= PERFECT else ""

    def evidence(self) -> CalibrationEvidence:
        """Return tests and effect size."""
        cases = self.decisions
        return self._of_rows(cases) if cases.group is None else self._of_groups(cases)

    def cox_test_of_groups(self) -> CalibrationTest:
        """Test slope 1 and intercept 0 for rows that are dependent within groups: Hotelling's test of group scores."""
        sums = _GroupScores.of(self.decisions).sums
        if sums.shape[1] < FEWEST_GROUPS:
            _check.fail(f"a test by groups needs {FEWEST_GROUPS} of them", f"{sums.shape[1]}", "collect more groups")
        statistic, p = hotelling(sums)
        return CalibrationTest(statistic, "score test of slope 1 and intercept 0, by groups of rows (Hotelling)", p, 2)

    def _of_rows(self, cases: ForecastCases) -> CalibrationEvidence:
        """Return tests and effect size for independent rows."""
        forecast = self.forecast
        p_values = _p_values(forecast, TESTS)
        primary = p_values.pop("cox_test", None)
        p, test = correct_p_value(None if primary is None else ("", primary), _by_title(p_values))
        line = _best_line(forecast)
        found, _ = gain_with_interval(_gains(cases, line), cases.decisions, 2, 1 - LEVEL)
        beyond, slight = test, found["corrected"] < RELEVANT * base_rate_loss(*self.amounts)
        if line is not None and not test and slight and p is not None and p < LEVEL:
            # A line may save little because the error has another shape: then a test rejects what the line leaves, too.
            left = forecast.map(lambda scores: line[0] * scores + line[1])
            p_left, test_left = correct_p_value(None, _by_title(_p_values(left, p_values)))
            beyond = test_left if p_left is not None and p_left < LEVEL else ""
        return CalibrationEvidence(p, test, GainEstimate.of(found), _line_words(line), beyond)

    def _of_groups(self, cases: ForecastCases) -> CalibrationEvidence:
        """Return test and effect size for rows that are dependent within groups.

        The interval of the gain has as many cases as would make the scores vary as much as the groups do.
        """
        scores, line = _GroupScores.of(cases), _best_line(self.forecast)
        decisions = inflate(cases.decisions, design_effect(scores.sums, scores.independent))
        found, _ = gain_with_interval(_gains(cases, line), decisions, 2, 1 - LEVEL)
        return CalibrationEvidence(hotelling(scores.sums)[1], "", GainEstimate.of(found), _line_words(line))


class _GroupScores(NamedTuple):
    """Σ w(y − p)(L, 1) of each group, shape (2, groups), and its covariance if rows were independent."""

    sums: Floats
    independent: Floats

    @classmethod
    def of(cls, cases: ForecastCases) -> "_GroupScores":
        assert cases.group is not None
        weight = cases.decisions.weight
        finite = np.where(np.isfinite(cases.log_odds), cases.log_odds, 0.0)
        center = float(weight @ finite) / float(weight.sum())
        spread = math.sqrt(float(weight @ (finite - center) ** 2) / float(weight.sum())) or 1.0
        columns = np.stack([(finite - center) / spread, np.ones(len(finite))])
        prob = expit(cases.log_odds)
        sums = np.stack([sum_by(cases.group, weight * (cases.positive - prob) * column) for column in columns])
        varies = cases.decisions.squares * prob * (1 - prob)
        return cls(sums, (columns * varies) @ columns.T)


@dataclass(frozen=True, eq=False)
class RowEvidence:
    """The evidence of a forecast of several classes, with the number of the group of each row."""

    forecast: ClassForecast
    given: NDArray[np.intp] | None = None

    @cached_property
    def decisions(self) -> Decisions:
        """How much each row counts."""
        return Decisions(self.forecast.weight, self.forecast.squared_weight)

    @cached_property
    def lines(self) -> Floats:
        """Logs of the best recalibration softmax(a log P + b)."""
        return recalibrate(self.forecast)

    @cached_property
    def better(self) -> Floats:
        """Log P of the true class after the best recalibration."""
        return np.take_along_axis(self.lines, self.forecast.truth[:, None], axis=1)[:, 0]

    @cached_property
    def gains(self) -> Floats:
        """How much log-loss the best recalibration saves in each row."""
        return np.asarray(self.better - self.forecast.log_of_truth)

    @cached_property
    def signal(self) -> Signal:
        """How well probabilities separate the classes."""
        return Signal.of_rows(self.forecast.prob, self.forecast.truth, self.forecast.weight)

    @cached_property
    def cases(self) -> tuple[float, ...]:
        """Number of cases of each class."""
        return tuple(sum_by(self.forecast.truth, self.decisions.effective, len(self.forecast.labels)).tolist())

    @property
    def n_groups(self) -> int | None:
        """Number of groups that were given."""
        return None if self.given is None else len(np.unique(self.given))

    @cached_property
    def _copies(self) -> tuple[float, NDArray[np.intp]]:
        return copies_among(self.forecast, np.exp(self.lines))

    @property
    def copies(self) -> float:
        """Share of rows that repeat an earlier one."""
        return self._copies[0] if self.given is None else 0.0

    @property
    def group(self) -> NDArray[np.intp] | None:
        """The groups that were given, or the rows that are copies of each other."""
        return self._copies[1] if self.copies >= MANY_COPIES else self.given

    @property
    def amounts(self) -> tuple[float, ...]:
        """Weight of each class."""
        return tuple(self.forecast.base_rates.tolist())

    @property
    def impossible(self) -> tuple[float, float]:
        """Weight of the cases whose outcome had a probability of exactly 0, and of all cases."""
        weight = self.forecast.weight
        return float(weight[np.isinf(self.forecast.log_of_truth)].sum()), float(weight.sum())

    def training_hint(self, called: str) -> str:
        """Return in words why the rows may be those of the training."""
        del called
        right = self._mean(self.forecast.right)
        return f"the most probable class is almost always right (accuracy {right:.4f})" if right >= PERFECT else ""

    def _mean(self, values: NDArray[Any]) -> float:
        return float(self.decisions.weight @ values) / float(self.decisions.weight.sum())

    def evidence(self) -> CalibrationEvidence:
        """Return tests and effect size."""
        found, p = self.gain(self.group)
        p_value, test = correct_p_value(("", p), self._other_tests() if self.group is None else {})
        confidence, right = self._mean(self.forecast.prob.max(axis=1)), self._mean(self.forecast.right)
        shape = f"mean confidence {confidence:.3f}, accuracy {right:.3f}"
        return CalibrationEvidence(p_value, test, GainEstimate.of(found), shape, test)

    def gain(self, group: NDArray[np.intp] | None, level: float = 1 - LEVEL) -> tuple[dict[str, Any], float]:
        """Return the mean gain of the best recalibration with its interval, and the p-value of no gain.

        With groups the variance is larger by the design effect, and the law is F instead of χ².
        """
        df = int(np.count_nonzero(self.forecast.base_rates))
        if group is None or np.isinf(self.gains).any():
            return gain_with_interval(self.gains, self.decisions, df, level)
        effect = self._design_effect(group)
        found, _ = gain_with_interval(self.gains, inflate(self.decisions, effect), df, level)
        statistic = 2 * self.decisions.n_effective * found["value"] / effect
        return found, float(fdtrc(df, (len(np.unique(group)) - 1) / 2, statistic / df))

    def _other_tests(self) -> dict[str, float]:
        """Return the p-values of tests of the most probable class, and of each class against the rest."""
        found, cases = {}, np.array(self.cases)
        with contextlib.suppress(InvalidInputError):
            top = spiegelhalter_test.of(self.forecast.of_top_label())
            found["Spiegelhalter's test of the most probable class"] = top.p_value
        tests = classwise_test.of(self.forecast)
        enough = np.maximum(cases, tests.mean_predicted * cases.sum()) >= FEWEST_OF_A_CLASS
        p_values = holm_of_known(np.where(enough, tests.p_values, np.nan))
        least = np.min(p_values, where=~np.isnan(p_values), initial=1.0)
        return found | {"a test of the share of each class": float(least)}

    def _design_effect(self, group: NDArray[np.intp]) -> float:
        """Return the design effect of groups on the scores of one slope and k intercepts."""
        forecast = self.forecast
        index = np.unique(group, return_inverse=True)[1]
        gap = -forecast.prob.copy()
        gap[np.arange(len(gap)), forecast.truth] += 1
        z = np.log(np.maximum(forecast.prob, 1e-300))
        scores = np.column_stack([np.sum(gap * z, axis=1), gap])
        sums = np.stack([sum_by(index, forecast.weight * column) for column in scores.T])
        return design_effect(sums, (scores.T * forecast.squared_weight) @ scores)


def base_rate_loss(*amounts: float) -> float:
    """Return the log-loss of the shares of classes."""
    shares = np.array(amounts, dtype=np.float64) / float(sum(amounts))
    return float(-xlogy(shares, shares).sum())


def correct_p_value(primary: tuple[str, float] | None, others: Mapping[str, float]) -> tuple[float | None, str]:
    """Return a p-value corrected for the number of tests, and the name of its test.

    The primary test has four fifths of the level, the others share the rest. Where the primary test does not reject,
    the smallest corrected p-value is returned.

    Examples
    --------
    >>> p, test = correct_p_value(("a", 0.02), {"b": 0.01, "c": 0.5})
    >>> round(p, 6), test
    (0.025, 'a')
    """
    rest = 1.0 if primary is None else 1 - _PRIMARY
    found = [(min(p * len(others) / rest, 1.0), name) for name, p in others.items()]
    if primary is not None:
        first = min(primary[1] / (_PRIMARY if others else 1.0), 1.0), primary[0]
        if first[0] < LEVEL:
            return first
        found.insert(0, first)
    return min(found, key=lambda one: one[0]) if found else (None, "")


def has_many_copies(table: ScoreTable) -> bool:
    """Whether the share of copied rows is so large that all copies of a row count as one case."""
    return share_of_copies(table) >= MANY_COPIES


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


def _p_values(forecast: ScoreTable, names: Iterable[str]) -> dict[str, float]:
    """Return the p-values of tests that can be computed."""
    found = {}
    for name in names:
        with contextlib.suppress(InvalidInputError):
            found[name] = TESTS[name].of(forecast).p_value
    return found


def _by_title(p_values: Mapping[str, float]) -> dict[str, float]:
    return {_TITLES[name]: p for name, p in p_values.items()}


def _best_line(forecast: ScoreTable) -> tuple[float, float] | None:
    """Return slope and intercept of the best line in log-odds; None where a threshold separates the classes."""
    return None if is_separable(forecast) else recalibration_line(forecast)


def _line_words(line: tuple[float, float] | None) -> str:
    if line is None:
        return "the classes do not overlap"
    return f"slope {line[0]:.2f}, intercept {line[1]:z.2f}".replace("-", "−")


def _gains(cases: ForecastCases, line: tuple[float, float] | None) -> Floats:
    """Return the log-loss that the best line saves in each case; all of it where the classes do not overlap."""
    now = decision_log_prob(np.where(cases.positive, cases.log_odds, -cases.log_odds))
    if line is None:
        return -now
    finite = np.isfinite(cases.log_odds)
    moved = np.where(finite, line[0] * np.where(finite, cases.log_odds, 0.0) + line[1], cases.log_odds)
    return decision_log_prob(np.where(cases.positive, moved, -moved)) - now
