"""Verdicts: what was measured for a claim, and the rule that was written down for it before."""

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple, get_args

from oddsmith import checks
from oddsmith.metrics import Interval
from oddsmith.metrics.result import Result
from oddsmith_studies.studies._tables import Table, written

Verdict = Literal["holds", "fails", "undecided", "cannot be tested"]

#: Whose data a case is about.
OWN, STAND_IN, EVERYTHING = "own data", "stand-ins", "all problems"

_EXPECTED = ("below", "above", "at most", "within", "includes", "yes")
_QUANTIFIERS = {"every": "in every case", "most": "in more than half of the cases", "some": "in at least one case"}
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
    expect : {"below", "above", "at most", "within", "includes", "yes"}
        Where the value must lie: beyond the limit with its whole interval, or no farther than the limit from 0;
        "includes": the interval must include the limit; "yes": what is measured must be so.
    limit : float
    of : {"every", "most", "some"}
        In how many cases.
    format : str
        Of the values.
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

    def __post_init__(self) -> None:
        checks.one_of(self.expect, f"expect of claim {self.id}", _EXPECTED)
        checks.one_of(self.of, f"of of claim {self.id}", tuple(_QUANTIFIERS))

    def outcome(self, value: Measured) -> Verdict:
        """Judge one case.

        Examples
        --------
        >>> better = Rule("9", "s", "A beats B.", "", "A less B", "below", 0)
        >>> better.outcome(Interval(-1, -2, -0.5, 0.95, "")), better.outcome(Interval(-1, -3, 1, 0.95, ""))
        ('holds', 'undecided')
        """
        if value is None:
            return "cannot be tested"
        if isinstance(value, str):
            return value
        low, high = (value.low, value.high) if isinstance(value, Interval) else (float(value), float(value))
        if math.isnan(low) or math.isnan(high):
            return "cannot be tested"
        limit = self.limit
        if self.expect == "includes":
            return "holds" if low <= limit <= high else "fails"
        if self.expect == "within":
            if max(abs(low), abs(high)) <= limit:
                return "holds"
            return "fails" if low > limit or high < -limit else "undecided"
        if self.expect in ("above", "yes"):
            return "holds" if low > limit else "fails" if high < limit or low == high else "undecided"
        if self.expect == "at most":
            return "holds" if high <= limit else "fails" if low > limit else "undecided"
        return "holds" if high < limit else "fails" if low > limit or low == high else "undecided"

    @property
    def sentence(self) -> str:
        """The rule in words."""
        if self.expect == "yes":
            return f"{self.measured}, {_QUANTIFIERS[self.of]}."
        place = {
            "within": f"be at most {self.limit:g} from 0",
            "includes": f"include {self.limit:g}",
            "at most": f"be at most {self.limit:g}",
        }.get(self.expect, f"lie {self.expect} {self.limit:g}")
        return f"{self.measured} must {place} {_QUANTIFIERS[self.of]}."


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
    verdict : {"holds", "fails", "undecided", "cannot be tested"}
    reason : str
        The rule.
    """

    id: str
    text: str
    data: str
    published: str
    ours: str
    verdict: Verdict
    reason: str


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

    A claim without a case is undecided: the run has not measured it, or what it is about does not occur.
    """
    known = {number: rule for number, rule in (book or rules()).items() if rule.study == study}
    if unknown := sorted(set(evidence) - set(known)):
        checks.fail("every claim must have a rule", unknown[0], "write it into expected/verdicts.toml")
    return [claim for number, rule in known.items() for claim in _claims_of(rule, evidence.get(number))]


def _claims_of(rule: Rule, cases: Sequence[Case] | None) -> Iterable[Claim]:
    if not cases:
        said = "not measured by the run that is kept here; the next full run does"
        if cases is not None:
            said = "what it is about does not occur"
        yield Claim(rule.id, rule.text, OWN, rule.published, said, "undecided", rule.sentence)
    for data in dict.fromkeys(case.data for case in cases or ()):
        mine = [case for case in cases or () if case.data == data]
        outcomes = [rule.outcome(case.value) for case in mine]
        yield Claim(
            rule.id,
            rule.text,
            data,
            rule.published,
            _ours(rule, mine, outcomes),
            combine(outcomes, rule.of),
            rule.sentence,
        )


def combine(outcomes: Sequence[Verdict], of: str) -> Verdict:
    """Return the verdict over all cases that can be tested.

    Examples
    --------
    >>> combine(["holds", "undecided"], "every"), combine(["holds", "holds", "fails"], "most")
    ('undecided', 'holds')
    """
    tested = [each for each in outcomes if each != "cannot be tested"]
    if not tested:
        return "cannot be tested"
    held, failed, n = tested.count("holds"), tested.count("fails"), len(tested)
    if of == "every":
        return "fails" if failed else "holds" if held == n else "undecided"
    if of == "most":
        return "holds" if 2 * held > n else "fails" if 2 * (n - failed) <= n else "undecided"
    return "holds" if held else "fails" if failed == n else "undecided"


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


def claims_table(claims: Sequence[Claim]) -> Table:
    """Return the verdicts as a table."""
    return Table(
        "claims",
        "Claims and verdicts",
        ("claim", "what it says", "tested on", "published", "ours", "verdict", "rule"),
        [
            (claim.id, claim.text, claim.data, claim.published, claim.ours, claim.verdict, claim.reason)
            for claim in claims
        ],
    )


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
