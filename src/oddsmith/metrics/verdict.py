"""Whether scores can be used as probabilities: the one function that decides, which all commands and reports quote."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.data import Meaning, ScoreRows, ScoreTable
from oddsmith.maps import logit
from oddsmith.metrics.classes import ClassForecast
from oddsmith.metrics.evidence import (
    LEVEL,
    MANY_COPIES,
    RELEVANT,
    CalibrationEvidence,
    ForecastEvidence,
    RowEvidence,
    TableEvidence,
    base_rate_loss,
)
from oddsmith.metrics.min_sample_size import FEWEST_GROUPS, few_cases, few_groups, too_few
from oddsmith.metrics.provenance import forecast_of, is_in_sample
from oddsmith.metrics.resampling_tests import as_clusters
from oddsmith.metrics.result import Result

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

#: Groups of dependent rows: the table of each, or of several classes the name of the group of each row.
Groups = Mapping[Any, ScoreTable] | ArrayLike

#: Problems that have to be solved before calibration matters.
FIRST: tuple[VerdictKind, ...] = ("reversed", "few", "no signal")

#: From this share of copied rows on, copies are mentioned.
_SOME_COPIES = 0.01


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

    See Also
    --------
    verdict : Returns it.
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


def verdict(
    data: ScoreTable | ScoreRows | ClassForecast,
    *,
    input: Meaning | None = None,
    groups: Groups | None = None,
) -> Verdict:
    """Decide whether scores can be used as probabilities.

    Scores that are reversed, carry no signal or come from too few cases are reported first. For two classes a test of
    calibration is Cox's at four fifths of the 5 % level, or one of four others at the rest, and the effect size is the
    log-loss that the best straight line in log-odds saves. For several it is a likelihood ratio test, and the gain is
    that of the best softmax(a log P + b).

    Parameters
    ----------
    data : ScoreTable, ClassForecast or ScoreRows
        A forecast: a table of log-odds, or class probabilities; rows of logits are read as their softmax.
    input : {"score", "probability", "log_odds"}, optional
        For a table of scores before calibration, what they are. "score": probabilities where all lie in [0, 1], else
        nothing that has a log-loss, so only reversed or useless scores are found.
    groups : mapping of any key to ScoreTable, or array-like of shape (n,), optional
        The table of each group of dependent rows, such as the visits of a patient, which merge to ``data``; for several
        classes the group of each row. Tests and intervals then count groups instead of rows.

    Returns
    -------
    Verdict

    See Also
    --------
    evaluate : All measures, with intervals.
    cox_test : The test that it uses first.

    Examples
    --------
    >>> from oddsmith.metrics import forecast_from_arrays
    >>> p = np.linspace(0.1, 0.9, 2000)
    >>> y = (np.arange(2000) * 0.618 % 1 < p).astype(int)
    >>> verdict(forecast_from_arrays(y, p)).kind, verdict(forecast_from_arrays(y, p**3)).kind
    ('calibrated', 'miscalibrated')
    >>> verdict(ScoreTable.from_arrays([3.0, 7.0], [0, 1], [40, 40]), input="score").kind
    'not probabilities'
    """
    if not isinstance(data, ScoreTable):
        return verdict_of_evidence(row_evidence(data, groups))
    parts = table_groups(groups)
    if input is None:
        return verdict_of_evidence(TableEvidence(data, parts), "probability")
    known = log_odds_of(data, input)
    if known is None:
        return _verdict_of_scores(TableEvidence(data, parts))
    parts = None if parts is None else {name: part.map(known) for name, part in parts.items()}
    return verdict_of_evidence(TableEvidence(data.map(known), parts))


def row_evidence(data: ScoreRows | ClassForecast, groups: Groups | None) -> RowEvidence:
    """Return the evidence of rows of several classes, given the group of each."""
    forecast = forecast_of(data) if isinstance(data, ScoreRows) else data
    if groups is None:
        return RowEvidence(forecast)
    if isinstance(groups, Mapping):
        hint = "pass an array with the group of each row"
        _check.fail("groups of several classes must name one group per row", "a mapping", hint)
    weight = data.weight if isinstance(data, ScoreRows) else None
    names = as_clusters(groups, len(forecast) if weight is None else len(weight))
    held = slice(None) if weight is None else weight > 0
    return RowEvidence(forecast, np.asarray(np.unique(names[held], return_inverse=True)[1]))


def table_groups(groups: Groups | None) -> Mapping[Any, ScoreTable] | None:
    """Refuse groups of a table that are not tables."""
    if groups is None or isinstance(groups, Mapping):
        return groups
    hint = "pass a table per group, as ScoreTable.from_frame(..., by=...) makes them"
    return _check.fail("groups of a table must be tables", f"a {type(groups).__name__}", hint)


def log_odds_of(table: ScoreTable, input: Meaning) -> Callable[[Floats], Floats] | None:
    """Return how uncalibrated scores are read as log-odds; None where they are not probabilities."""
    _check.one_of(input, "input", ("score", "probability", "log_odds"))
    if input == "log_odds":
        return lambda scores: scores
    low, high = table.span()
    if 0 <= low and high <= 1:
        return logit
    if input == "probability":
        _check.fail("probabilities must lie in [0, 1]", f"scores from {low:g} to {high:g}", "leave input out")
    return None


def verdict_of_evidence(seen: ForecastEvidence, called: str = "score") -> Verdict:
    """Return the verdict on a forecast; sentences call its score as given."""
    if is_in_sample(seen.forecast):
        return Verdict("untested", "The forecast was fitted on these rows: evaluate it on other rows.")
    first, doubts = _first(seen, called)
    if first is not None:
        return first
    wrong, total = seen.impossible
    if wrong > 0:
        return _impossible(wrong, total, doubts)
    return decide_verdict(seen.evidence(), base_rate_loss(*seen.amounts), doubts)


def _verdict_of_scores(seen: TableEvidence) -> Verdict:
    """Return the verdict on scores that are not probabilities: whether they are reversed or useless."""
    first, doubts = _first(seen, "score")
    low, high = seen.forecast.span()
    are = f"The scores are not probabilities (values from {low:.4g} to {high:.4g})"
    words = f"{are}, so there is no log-loss before calibration to compare with."
    return first or Verdict("not probabilities", " ".join([*doubts, words]))


def _first(seen: ForecastEvidence, called: str) -> tuple[Verdict | None, tuple[str, ...]]:
    """Return a verdict that makes calibration irrelevant, if there is one; else doubts about the data, in words."""
    signal = seen.signal
    if signal is not None and signal.kind == "reversed":
        return Verdict("reversed", signal.words(called)), ()
    if too_few(*seen.cases):
        return Verdict("few", f"Cannot tell: {few_cases(*seen.cases)}."), ()
    if seen.n_groups is not None and seen.n_groups < FEWEST_GROUPS:
        return Verdict("few", f"Cannot tell: {few_groups(seen.n_groups)}."), ()
    assert signal is not None  # both classes have cases
    if signal.kind == "none":
        return Verdict("no signal", signal.words(called)), ()
    return None, _doubts_about(seen.copies, seen.training_hint(called))


def _doubts_about(copies: float, perfect: str) -> tuple[str, ...]:
    """Return what is suspicious about the data, in words."""
    said = f"Warning: {copies:.1%} of the rows are copies of another row (equal scores and label)"
    once = "; all copies of a row count as one case here, and groups= (--groups) can name the original rows"
    doubts = [f"{said}{once if copies >= MANY_COPIES else ''}."] if copies >= _SOME_COPIES else []
    if perfect:
        doubts.append(f"Warning: {perfect}. Make sure that these rows were not used to train the classifier.")
    return tuple(doubts)


def _impossible(wrong: float, total: float, doubts: tuple[str, ...] = ()) -> Verdict:
    """Return the verdict on forecasts of exactly 0 for what happened."""
    words = (
        f"Miscalibrated: {wrong:,.6g} of {total:,.6g} cases had an outcome whose probability was exactly 0, so the "
        "log-loss is infinite and the gain of recalibrating unbounded."
    )
    gain = {"mean": math.inf, "low": math.inf, "high": math.inf}
    return Verdict("impossible", " ".join([*doubts, words]), 0.0, "an impossible outcome", gain)


def decide_verdict(evidence: CalibrationEvidence, uncertainty: float, doubts: tuple[str, ...] = ()) -> Verdict:
    """Return the verdict that tests and effect size imply, in words; ``uncertainty`` is the log-loss of the base rate.

    Examples
    --------
    >>> from oddsmith.metrics.evidence import GainEstimate
    >>> small = GainEstimate(0.0034, 0.0003, 0.0117)
    >>> decide_verdict(CalibrationEvidence(0.015, "", small, "slope 0.88"), 0.65).kind
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
