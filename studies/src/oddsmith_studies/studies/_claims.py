"""Verdicts: what was measured for a claim, and the rule that was written down for it before."""

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple, get_args

from scipy.special import ndtr, ndtri

from oddsmith import checks
from oddsmith.metrics import Interval
from oddsmith.metrics.result import Result
from oddsmith.plots.trials import mean_of_trials
from oddsmith_studies.studies._intervals import over_draws
from oddsmith_studies.studies._tables import Table, written

Verdict = Literal["holds", "fails", "undecided", "cannot be tested", "not run"]

#: Whose data a case is about.
OWN, STAND_IN, EVERYTHING = "the document's data", "stand-ins", "all problems"

_EXPECTED = ("below", "above", "at most", "within", "yes")
_QUANTIFIERS = {"every": "in every case", "most": "in more than half of the cases", "some": "in at least one case"}

#: What a claim is: a sentence of a document, a pattern of its tables and pictures, or a question of our own.
KINDS = {"statement": "Statements", "pattern": "Patterns of tables and pictures", "question": "Our own questions"}

#: Which writing of the rules a run was made under; the second followed when all results by the first were known.
EDITION = 2

#: The error rate of a verdict in either direction: an end of a 95 % interval that lies on the limit, but for rounding.
_AT_END = 0.025 * (1 + 1e-9)
#: Cases that a verdict lists one by one; of more it counts.
_LISTED = 3


Measured = bool | float | Interval | Verdict | None


class Case(NamedTuple):
    """One measurement that a claim is judged by.

    Attributes
    ----------
    name : str
        The data and method it is about.
    value : float, bool, Interval, str or None
        A verdict, where a run has kept no more of it; None where the data cannot be had.
    data : str
        `OWN`: the document's data; `STAND_IN`: public data in the place of others; `EVERYTHING`: both at once.
    """

    name: str
    value: Measured
    data: str = OWN


Evidence = Mapping[str, Sequence[Case]]
"""The cases of each claim, by its number."""


@dataclass(frozen=True)
class Rule:
    """What a claim says, and what would make it hold.

    Parameters
    ----------
    id, study : str
    text : str
        The claim in our own words.
    published : str
        What the document reports.
    measured : str
        What the value of a case is.
    expect : {"below", "above", "at most", "within", "yes"}
        Where the value must lie: beyond the limit with its whole interval, or no farther than the limit from 0; "yes":
        what is measured must be so.
    limit : float
    of : {"every", "most", "some"}
        In how many cases, by the quantifier of the sentence.
    format : str
        Of the values.
    kind : {"statement", "pattern", "question"}
        A sentence of the document, a pattern of its tables or pictures, or a question of our own.
    quote : str
        The sentence, in the document's words; empty unless it is a statement.
    before : str
        The rule that it replaces, and what that one gave; empty where nothing has changed.
    """

    id: str
    study: str
    text: str
    published: str
    measured: str
    expect: str = "below"
    limit: float = 0.0
    of: str = "every"
    format: str = "+.3g"
    kind: str = "statement"
    quote: str = ""
    before: str = ""

    def __post_init__(self) -> None:
        checks.one_of(self.expect, f"expect of claim {self.id}", _EXPECTED)
        checks.one_of(self.of, f"of of claim {self.id}", tuple(_QUANTIFIERS))
        checks.one_of(self.kind, f"kind of claim {self.id}", tuple(KINDS))

    def outcome(self, value: Measured) -> Verdict:
        """Judge one case by its own interval.

        Examples
        --------
        >>> better = Rule("9", "s", "A beats B.", "", "A less B", "below", 0)
        >>> better.outcome(Interval(-1, -2, -0.5, 0.95, "")), better.outcome(Interval(-1, -3, 1, 0.95, ""))
        ('holds', 'undecided')
        """
        found = self.p_values(value)
        if found is None:
            return "cannot be tested"
        return "holds" if found[0] <= _AT_END else "fails" if found[1] <= _AT_END else "undecided"

    def p_values(self, value: Measured) -> tuple[float, float] | None:
        """Return one-sided p-values of the case: for the claim, and against it; None where it cannot be tested.

        A number without an interval is a count, a total or a proof, and decides: 0 or 1. An interval is read as that of
        a normal estimate, each side with its own standard error.
        """
        if isinstance(value, str):
            return {"holds": (0.0, 1.0), "fails": (1.0, 0.0), "undecided": (1.0, 1.0)}.get(value)
        if value is None or math.isnan(float(value.value if isinstance(value, Interval) else value)):
            return None
        limit = self.limit
        if self.expect == "within":
            # Inside both limits, or beyond one of them.
            below, above = _tail(value, limit, rising=True), _tail(value, -limit, rising=False)
            beyond = (_tail(value, limit, rising=False, strict=True), _tail(value, -limit, rising=True, strict=True))
            return max(below, above), min(beyond)
        if self.expect in ("above", "yes"):
            return _tail(value, limit, rising=False, strict=True), _tail(value, limit, rising=True)
        # "at most" is content with the limit itself, "below" is not.
        strict = self.expect == "below"
        return _tail(value, limit, rising=True, strict=strict), _tail(value, limit, rising=False, strict=not strict)

    @property
    def sentence(self) -> str:
        """The rule in words."""
        if self.expect == "yes":
            return f"{self.measured}, {_QUANTIFIERS[self.of]}."
        place = {
            "within": f"be at most {self.limit:g} from 0",
            "at most": f"be at most {self.limit:g}",
        }.get(self.expect, f"lie {self.expect} {self.limit:g}")
        return f"{self.measured} must {place} {_QUANTIFIERS[self.of]}."


def _tail(value: bool | float | Interval, limit: float, *, rising: bool, strict: bool = False) -> float:
    """Return the p-value for a value below the limit (``rising``) or above it.

    ``strict`` leaves out the limit itself where the value is a number without an interval.
    """
    sign = 1.0 if rising else -1.0
    middle = float(value.value) if isinstance(value, Interval) else float(value)
    away = sign * (limit - middle)
    if not isinstance(value, Interval) or value.low == value.high or math.isinf(middle):
        return 0.0 if away > 0 or (away == 0 and not strict) else 1.0
    end = value.high if rising else value.low
    reach = abs(end - middle)
    if reach == 0:
        return 0.0 if away >= 0 else 1.0
    return float(ndtr(-away / reach * ndtri(0.5 + value.level / 2)))


@dataclass(frozen=True)
class Claim(Result):
    """A claim, what the document reports, what we found, and the verdict.

    Parameters
    ----------
    id : str
        Its number in the specification, such as "9.4.5a".
    text : str
        The claim in our own words.
    data : str
        Whose data it was tested on.
    published, ours : str
        The figures behind it.
    verdict : {"holds", "fails", "undecided", "cannot be tested", "not run"}
    reason : str
        The rule.
    kind : {"statement", "pattern", "question"}
    """

    id: str
    text: str
    data: str
    published: str
    ours: str
    verdict: Verdict
    reason: str
    kind: str = "statement"


@cache
def rules() -> Mapping[str, Rule]:
    """Return the rules of all claims by number, from ``expected/verdicts.toml``."""
    file = files("oddsmith_studies.studies").joinpath("expected", "verdicts.toml")
    found = tomllib.loads(file.read_text(encoding="utf-8"))
    return {
        number: Rule(id=number, study=study, **entry)
        for study, claims in found.items()
        for number, entry in claims.items()
    }


def judge(study: str, evidence: Evidence, book: Mapping[str, Rule] | None = None) -> list[Claim]:
    """Return the verdicts of a study: one for each claim and kind of data.

    A claim without a case was not run, or is undecided if what it is about does not occur.
    """
    known = {number: rule for number, rule in (book or rules()).items() if rule.study == study}
    if unknown := sorted(set(evidence) - set(known)):
        checks.fail("every claim must have a rule", unknown[0], "write it into expected/verdicts.toml")
    return [claim for number, rule in known.items() for claim in _claims_of(rule, evidence.get(number))]


def _claims_of(rule: Rule, cases: Sequence[Case] | None) -> Iterable[Claim]:
    if not cases:
        # Without an entry the run did not measure it; with an empty one there was nothing to measure.
        found: tuple[str, Verdict] = ("the kept run has not measured it", "not run")
        if cases is not None:
            found = ("what it is about does not occur", "undecided")
        yield Claim(rule.id, rule.text, OWN, rule.published, *found, rule.sentence, rule.kind)
    for data in dict.fromkeys(case.data for case in cases or ()):
        mine = [case for case in cases or () if case.data == data]
        outcomes = [rule.outcome(case.value) for case in mine]
        yield Claim(
            rule.id,
            rule.text,
            data,
            rule.published,
            _ours(rule, mine, outcomes),
            combine([rule.p_values(case.value) for case in mine], rule.of),
            rule.sentence,
            rule.kind,
        )


def combine(found: Sequence[tuple[float, float] | None], of: str) -> Verdict:
    """Return the verdict over all cases that can be tested, by partial conjunction (Benjamini and Heller 2008).

    That a claim holds in at least u of n cases has the p-value (n − u + 1) p₍u₎, p₍u₎ being the u-th smallest one of
    single cases: the largest p-value for "every", Bonferroni's correction for "some", and in between for "most". It is
    valid however cases depend on each other. The claim fails if its contrary is shown in the same way, which is that
    at least n − u + 1 cases go against it; otherwise it is undecided.

    Parameters
    ----------
    found : sequence of tuple or None
        p-values of each case, for and against; None where a case cannot be tested.
    of : {"every", "most", "some"}

    References
    ----------
    Benjamini, Y. and Heller, R. (2008). Screening for partial conjunction hypotheses. Biometrics 64, 1215-1222.

    Examples
    --------
    >>> combine([(0.001, 0.999), (0.2, 0.8)], "every"), combine([(0.001, 0.999), (0.2, 0.8)], "some")
    ('undecided', 'holds')
    """
    tested = [each for each in found if each is not None]
    n = len(tested)
    if not n:
        return "cannot be tested"
    needed = {"every": n, "most": n // 2 + 1, "some": 1}[of]
    contrary = n - needed + 1
    if contrary * sorted(each[0] for each in tested)[needed - 1] <= _AT_END:
        return "holds"
    return "fails" if needed * sorted(each[1] for each in tested)[contrary - 1] <= _AT_END else "undecided"


def _ours(rule: Rule, cases: Sequence[Case], outcomes: Sequence[Verdict]) -> str:
    known = [(case, each) for case, each in zip(cases, outcomes, strict=True) if each != "cannot be tested"]
    if not known:
        return "data not available"
    if len(known) <= _LISTED:
        return "; ".join(_shown(rule, case) for case, _ in known)
    if len(set(outcomes) - {"cannot be tested"}) == 1:
        return f"{known[0][1]} in all {len(known)} cases{_range(rule, [case for case, _ in known])}."
    counts = [f"{each} in {n}" for each in ("holds", "fails", "undecided") if (n := outcomes.count(each))]
    # One case is enough for "some", and one exception against "every".
    holding = rule.of == "some" and "holds" in outcomes
    label = "Holds for" if holding else "Exceptions" if "holds" in outcomes else "Among them"
    named = [_shown(rule, case) for case, each in known if (each == "holds") == holding]
    more = f"; and {len(named) - _LISTED} more" if len(named) > _LISTED else ""
    return f"{', '.join(counts)} of {len(known)} cases. {label}: {'; '.join(named[:_LISTED])}{more}."


def _range(rule: Rule, cases: Sequence[Case]) -> str:
    """Say between which values all cases lie; truths and verdicts have none."""
    middle = [case.value.value if isinstance(case.value, Interval) else case.value for case in cases]
    numbers = [value for value in middle if isinstance(value, float | int) and not isinstance(value, bool)]
    ends = [_spaced(f"{end:{rule.format}}") for end in (min(numbers), max(numbers))] if numbers else []
    if not ends:
        return ""
    return f", at {ends[0]}" if ends[0] == ends[1] else f", from {ends[0]} to {ends[1]}"


def _shown(rule: Rule, case: Case) -> str:
    value = case.value
    if isinstance(value, bool):
        return f"{case.name}: {'yes' if value else 'no'}"
    if isinstance(value, str):
        return f"{case.name}: {value}"
    return f"{case.name} {_spaced(written(value, rule.format))}"


def _spaced(text: str) -> str:
    """Write percentages as everywhere on the pages."""
    return text.replace("%", " %")


def claims_table(claims: Sequence[Claim], name: str = "claims", title: str = "Claims and verdicts") -> Table:
    """Return the verdicts as a table."""
    return Table(
        name,
        title,
        ("claim", "statement", "tested on", "published", "ours", "verdict", "rule"),
        [
            (claim.id, claim.text, claim.data, claim.published, claim.ours, claim.verdict, claim.reason)
            for claim in claims
        ],
    )


def over_seeds(found: Sequence[Evidence]) -> dict[str, list[Case]]:
    """Return one measurement for each case that runs with several seeds have measured.

    Intervals get the variance over rows, mean of the runs, and that of the mean over runs; numbers without an interval
    the t interval over runs. What must be so must be so in every run, and verdicts count if all runs agree.

    Examples
    --------
    >>> runs = [{"9": [Case("a", Interval(each, each - 1, each + 1, 0.95, ""))]} for each in (0.0, 2.0)]
    >>> found = over_seeds(runs)["9"][0].value
    >>> found.value, bool(found.low < -1)
    (1.0, True)
    """
    combined: dict[str, list[Case]] = {}
    for number in dict.fromkeys(number for run in found for number in run):
        values: dict[tuple[str, str], list[Measured]] = {}
        for run in found:
            for case in run.get(number, ()):
                values.setdefault((case.name, case.data), []).append(case.value)
        combined[number] = [Case(name, _over_runs(each), data) for (name, data), each in values.items()]
    return combined


def _over_runs(values: Sequence[Measured]) -> Measured:
    first = values[0]
    if any(value is None for value in values):
        return None
    if isinstance(first, Interval):
        return over_draws([(each.value, each.low, each.high) for each in values if isinstance(each, Interval)])
    if isinstance(first, bool):
        return all(values)
    if isinstance(first, str):
        return first if len(set(values)) == 1 else "undecided"
    numbers = [float(value) for value in values]  # type: ignore[arg-type]
    return first if len(set(numbers)) == 1 else mean_of_trials(numbers, 0.95)


def evidence_to_dict(evidence: Evidence) -> dict[str, Any]:
    """Return all cases as plain data."""
    return {
        number: [
            {"case": case.name, "data": case.data}
            | (
                {"value": case.value.value, "low": case.value.low, "high": case.value.high}
                if isinstance(case.value, Interval)
                else {"value": case.value}
            )
            for case in cases
        ]
        for number, cases in evidence.items()
    }


def evidence_from_dict(kept: Mapping[str, Any]) -> dict[str, list[Case]]:
    """Return what `evidence_to_dict` wrote."""
    return {number: [_case(each) for each in cases] for number, cases in kept.items()}


def _case(kept: Mapping[str, Any]) -> Case:
    value = kept["value"]
    if isinstance(value, str) and value not in get_args(Verdict):
        value = float(value)  # JSON has no infinity: it is written as a word
    if "low" in kept:
        value = Interval(float(value), float(kept["low"]), float(kept["high"]), 0.95, "")
    return Case(kept["case"], value, kept["data"])
