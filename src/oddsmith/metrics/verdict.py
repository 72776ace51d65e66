"""Whether scores can be used as probabilities: the one function that decides, which all commands and reports quote."""

import contextlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

from oddsmith._types import Bools, Floats, Weights
from oddsmith.data import ScoreTable, Signal, is_separable, share_of_copies
from oddsmith.errors import InvalidInputError
from oddsmith.metrics.bins import sum_by
from oddsmith.metrics.calibration_tests import (
    cox_test,
    hosmer_lemeshow_test,
    kolmogorov_smirnov_test,
    kuiper_test,
    spiegelhalter_test,
)
from oddsmith.metrics.grouped import design_effect, hotelling, inflated
from oddsmith.metrics.groups import GroupedForecast, grouped_rows
from oddsmith.metrics.means import gain_with_interval
from oddsmith.metrics.min_sample_size import FEWEST_GROUPS, few_cases, few_groups, too_few
from oddsmith.metrics.proper import decision_log_prob
from oddsmith.metrics.provenance import is_in_sample
from oddsmith.metrics.result import Result
from oddsmith.metrics.significance import Decisions
from oddsmith.metrics.slope import recalibration_line

VerdictKind = Literal[
    "reversed",
    "few",
    "no signal",
    "not probabilities",
    "impossible",
    "miscalibrated",
    "slight",
    "calibrated",
    "inconclusive",
    "untested",
]

#: Problems that have to be solved before calibration matters.
FIRST: tuple[VerdictKind, ...] = ("reversed", "few", "no signal")

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

#: From this share of copied rows on, copies count as one case; smaller shares are mentioned.
MANY_COPIES, _SOME_COPIES = 0.2, 0.01

#: Scores with at least this area under the ROC curve, or accuracy, may come from rows that the classifier was trained
#: on.
PERFECT = 0.9995


class GainEstimate(NamedTuple):
    """How much log-loss per case recalibration saves: the median-unbiased estimate and the 95 % interval."""

    mean: float
    low: float
    high: float


class CalibrationEvidence(NamedTuple):
    """Tests and effect size: the p-value corrected for the number of tests, which test has it, and the gain."""

    p_value: float | None
    test: str
    gain: GainEstimate | None
    shape: str  # what is off, in words
    beyond: str = ""  # the test that rejects what the best line leaves


@dataclass(frozen=True, eq=False)
class Verdict(Result):
    """Whether scores can be used as probabilities.

    Attributes
    ----------
    kind : str
        "reversed": higher scores go with the negative class. "few": too few cases. "no signal": the scores do not
        separate the classes. "not probabilities": the scores have no meaning as probabilities before they are
        calibrated. "impossible": outcomes happened whose probability was exactly 0. "miscalibrated", "slight": a test
        rejects calibration, and recalibration gains more, or less, than ``threshold``. "calibrated", "inconclusive": no
        test rejects calibration, and a gain above ``threshold`` is, or is not, excluded by the interval. "untested": no
        test can be computed.
    p_value : float or None
        The p-value, corrected for the number of tests.
    test : str
        The test that it belongs to.
    gain : dict or None
        "mean", "low" and "high": how much log-loss per case a recalibration saves, with the 95 % interval.
    threshold : float or None
        The threshold of practical relevance: 1 % of the log-loss of the base rate.
    words : str
        All of that in sentences.
    """

    kind: VerdictKind
    words: str
    p_value: float | None = None
    test: str = ""
    gain: dict[str, float] | None = None
    threshold: float | None = None

    @property
    def is_miscalibrated(self) -> bool:
        """Whether calibration is rejected."""
        return self.kind in ("impossible", "miscalibrated", "slight")

    @property
    def comes_first(self) -> bool:
        """Whether there is a problem that has to be solved before calibration matters."""
        return self.kind in FIRST


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

    def grouped(self) -> GroupedForecast:
        """Return the cases as intervals resample them, whole groups at a time."""
        assert self.group is not None
        return grouped_rows(self.log_odds, self.positive, self.decisions.weight, self.group)


def _columns(parts: list[ScoreTable], side: str) -> list[Weights]:
    return [getattr(part, side) for part in parts]


def verdict_of(
    forecast: ScoreTable, *, groups: Mapping[Any, ScoreTable] | None = None, called: str = "probability"
) -> Verdict:
    """Decide whether probabilities are calibrated.

    Scores that are reversed, carry no signal or come from too few cases are reported first. A test of calibration is
    Cox's at four fifths of the 5 % level, or one of four others at the rest. The effect size is the log-loss that the
    best straight line in log-odds saves.

    Parameters
    ----------
    forecast : ScoreTable
        Scores are log-odds.
    groups : mapping of any key to ScoreTable, optional
        The forecast of each group of dependent rows, such as the visits of a patient; they merge to ``forecast``. Tests
        and intervals then count groups instead of rows.
    called : str, default "probability"
        What sentences call the score.

    Examples
    --------
    >>> from oddsmith.metrics import forecast_from_arrays
    >>> p = np.linspace(0.1, 0.9, 2000)
    >>> y = (np.arange(2000) * 0.618 % 1 < p).astype(int)
    >>> verdict_of(forecast_from_arrays(y, p)).kind, verdict_of(forecast_from_arrays(y, p**3)).kind
    ('calibrated', 'miscalibrated')
    """
    if is_in_sample(forecast):
        return Verdict("untested", "The forecast was fitted on these rows: evaluate it on other rows.")
    first, doubts = _first(forecast, groups, called)
    if first is not None:
        return first
    cases = ForecastCases.of(forecast, groups)
    if groups is None and has_many_copies(forecast):
        cases = cases._replace(group=np.arange(len(cases.log_odds)))
    wrong = np.isinf(cases.log_odds) & (cases.positive != (cases.log_odds > 0))
    if wrong.any():
        return impossible(float(cases.decisions.weight[wrong].sum()), float(cases.decisions.weight.sum()), doubts)
    evidence = _evidence(forecast) if cases.group is None else _evidence_of_groups(forecast, cases)
    return decided(evidence, base_rate_loss(forecast.n_pos, forecast.n_neg), doubts)


def verdict_of_scores(table: ScoreTable, *, groups: Mapping[Any, ScoreTable] | None = None) -> Verdict:
    """Judge scores that are not probabilities: whether they are reversed or useless, and nothing else.

    Examples
    --------
    >>> verdict_of_scores(ScoreTable.from_arrays([3.0, 7.0], [0, 1], [40, 40])).kind
    'not probabilities'
    """
    first, doubts = _first(table, groups, "score")
    low, high = table.span()
    are = f"The scores are not probabilities (values from {low:.4g} to {high:.4g})"
    words = f"{are}, so there is no log-loss before calibration to compare with."
    return first or Verdict("not probabilities", " ".join([*doubts, words]))


def _first(
    table: ScoreTable, groups: Mapping[Any, ScoreTable] | None, called: str
) -> tuple[Verdict | None, tuple[str, ...]]:
    """Return a verdict that makes calibration irrelevant, if there is one; else doubts about the data, in words."""
    cases = table.rows_by_class()
    signal = Signal.of_table(table) if min(cases) > 0 else None
    if signal is not None and signal.kind == "reversed":
        return Verdict("reversed", signal.words(called)), ()
    if too_few(*cases):
        return Verdict("few", f"Cannot tell: {few_cases(*cases)}."), ()
    if groups is not None and len(groups) < FEWEST_GROUPS:
        return Verdict("few", f"Cannot tell: {few_groups(len(groups))}."), ()
    assert signal is not None  # both classes have cases
    copies = share_of_copies(table) if groups is None else 0.0
    if signal.kind == "none":
        return Verdict("no signal", signal.words(called)), ()
    seen = f"the {called} separates the classes almost perfectly (area under the ROC curve {signal.value:.4f})"
    return None, doubts_about(copies, seen if signal.value >= PERFECT else "")


def has_many_copies(table: ScoreTable) -> bool:
    """Whether so many rows are copies of others that copies have to count as one case."""
    return share_of_copies(table) >= MANY_COPIES


def doubts_about(copies: float, perfect: str) -> tuple[str, ...]:
    """Return what is suspicious about the data, in words."""
    said = f"Warning: {copies:.1%} of the rows are copies of another row (equal scores and label)"
    once = "; all copies of a row count as one case here, and groups= (--groups) can name the original rows"
    doubts = [f"{said}{once if copies >= MANY_COPIES else ''}."] if copies >= _SOME_COPIES else []
    if perfect:
        doubts.append(f"Warning: {perfect}. Make sure that these rows were not used to train the classifier.")
    return tuple(doubts)


def impossible(wrong: float, total: float, doubts: tuple[str, ...] = ()) -> Verdict:
    """Return the verdict on forecasts of exactly 0 for what happened."""
    words = (
        f"Miscalibrated: {wrong:,.6g} of {total:,.6g} cases had an outcome whose probability was exactly 0, so the "
        "log-loss is infinite and the gain of recalibrating unbounded."
    )
    gain = {"mean": math.inf, "low": math.inf, "high": math.inf}
    return Verdict("impossible", " ".join([*doubts, words]), 0.0, "an impossible outcome", gain)


def base_rate_loss(*amounts: float) -> float:
    """Return the log-loss of the shares of classes."""
    shares = np.array(amounts, dtype=np.float64) / float(sum(amounts))
    return float(-xlogy(shares, shares).sum())


def corrected(primary: tuple[str, float] | None, others: Mapping[str, float]) -> tuple[float | None, str]:
    """Return a p-value corrected for the number of tests, and the name of its test.

    The primary test has four fifths of the level, the others share the rest. Where the primary test does not reject,
    the smallest corrected p-value is returned.

    Examples
    --------
    >>> p, test = corrected(("a", 0.02), {"b": 0.01, "c": 0.5})
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


def _evidence(forecast: ScoreTable) -> CalibrationEvidence:
    """Return tests and effect size for independent rows."""
    p_values = _p_values(forecast, TESTS)
    primary = p_values.pop("cox_test", None)
    p, test = corrected(None if primary is None else ("", primary), _by_title(p_values))
    cases = ForecastCases.of(forecast)
    line = _best_line(forecast)
    found, _ = gain_with_interval(_gains(cases, line), cases.decisions, 2, 1 - LEVEL)
    beyond, slight = test, found["corrected"] < RELEVANT * base_rate_loss(forecast.n_pos, forecast.n_neg)
    if line is not None and not test and slight and p is not None and p < LEVEL:
        # A line may save little because the error has another shape: then a test rejects what the line leaves, too.
        left = forecast.map(lambda scores: line[0] * scores + line[1])
        p_left, test_left = corrected(None, _by_title(_p_values(left, p_values)))
        beyond = test_left if p_left is not None and p_left < LEVEL else ""
    gain = GainEstimate(found["corrected"], found["low"], found["high"])
    return CalibrationEvidence(p, test, gain, _line_words(line), beyond)


def _p_values(forecast: ScoreTable, names: Iterable[str]) -> dict[str, float]:
    """Return the p-values of tests that can be computed."""
    found = {}
    for name in names:
        with contextlib.suppress(InvalidInputError):
            found[name] = TESTS[name].of(forecast).p_value
    return found


def _by_title(p_values: Mapping[str, float]) -> dict[str, float]:
    return {_TITLES[name]: p for name, p in p_values.items()}


def _evidence_of_groups(forecast: ScoreTable, cases: ForecastCases) -> CalibrationEvidence:
    """Return test and effect size for rows that are dependent within groups: Hotelling's test of the group scores.

    The score of a group is Σ w(y − p)(L, 1). The interval of the gain has as many cases as would make the scores vary
    as much as the groups do.
    """
    assert cases.group is not None
    weight = cases.decisions.weight
    finite = np.where(np.isfinite(cases.log_odds), cases.log_odds, 0.0)
    center = float(weight @ finite) / float(weight.sum())
    spread = math.sqrt(float(weight @ (finite - center) ** 2) / float(weight.sum())) or 1.0
    columns = np.stack([(finite - center) / spread, np.ones(len(finite))])
    prob = expit(cases.log_odds)
    sums = np.stack([sum_by(cases.group, weight * (cases.positive - prob) * column) for column in columns])
    varies = cases.decisions.squares * prob * (1 - prob)
    p = hotelling(sums)
    line = _best_line(forecast)
    decisions = inflated(cases.decisions, design_effect(sums, (columns * varies) @ columns.T))
    found, _ = gain_with_interval(_gains(cases, line), decisions, 2, 1 - LEVEL)
    return CalibrationEvidence(p, "", GainEstimate(found["corrected"], found["low"], found["high"]), _line_words(line))


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


def decided(evidence: CalibrationEvidence, uncertainty: float, doubts: tuple[str, ...] = ()) -> Verdict:
    """Return the verdict that tests and effect size imply, in words; ``uncertainty`` is the log-loss of the base rate.

    Examples
    --------
    >>> small = GainEstimate(0.0034, 0.0003, 0.0117)
    >>> decided(CalibrationEvidence(0.015, "", small, "slope 0.88"), 0.65).kind
    'slight'
    """
    p, test, gain, shape, beyond = evidence
    threshold = RELEVANT * uncertainty
    if p is None or gain is None:
        return Verdict("untested", "No test of calibration can be computed for these data.")
    seen = f"({shape}{', ' if shape else ''}{p_words(p)}{f' by {test}' if test and p < LEVEL else ''})"
    limit = f"{threshold:.4f}, the threshold of practical relevance (1 % of the log-loss of the base rate)"
    about = f"recalibrating gains about {gain.mean:.4f} nats per case (95 % interval {gain.low:.4f} to {gain.high:.4f})"
    kind: VerdictKind
    if p < LEVEL and beyond and gain.mean < threshold:
        # The other tests reject shapes that a line cannot repair, whatever it gains.
        more = f"a straight line in log-odds does not repair that ({beyond}): {about}"
        kind, words = "miscalibrated", f"Miscalibrated {seen}; {more}."
    elif p < LEVEL and gain.mean < threshold:
        kind, words = "slight", f"Slightly miscalibrated {seen}; {about}, less than {limit}."
    elif p < LEVEL:
        kind, words = "miscalibrated", f"Miscalibrated {seen}; {about}, more than {limit}."
    elif gain.high < threshold:
        most = f"recalibrating gains at most {gain.high:.4f} nats per case (95 % interval)"
        kind, words = "calibrated", f"No sign of miscalibration {seen}; {most}, less than {limit}."
    else:
        most = f"a gain of up to {gain.high:.4f} nats per case (95 % interval) is not excluded"
        more = "more cases are needed to decide"
        kind, words = "inconclusive", f"No test rejects calibration {seen}, but {most}, more than {limit}; {more}."
    return Verdict(kind, " ".join([*doubts, words]), p, test, gain._asdict(), threshold)


def p_words(p: float) -> str:
    """Write a p-value.

    Examples
    --------
    >>> p_words(0.0152), p_words(2e-7)
    ('p = 0.015', 'p < 0.0001')
    """
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"
