"""Claims of a document, each with a verdict."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from oddsmith.metrics import Interval
from oddsmith.metrics.result import Result
from oddsmith_studies.studies._tables import Table

Verdict = Literal["confirmed", "not confirmed", "partly", "cannot be tested"]


@dataclass(frozen=True)
class Claim(Result):
    """A claim, what the document says of it, what we found, and the verdict.

    Parameters
    ----------
    id : str
        Its number in the specification, such as "9.4.5".
    text : str
        The claim in our own words.
    published, ours : str
        The figures behind it.
    verdict : {"confirmed", "not confirmed", "partly", "cannot be tested"}
    reason : str
        Why.
    """

    id: str
    text: str
    published: str
    ours: str
    verdict: Verdict
    reason: str


def judge_ordering(difference: Interval, *, expected: Literal["below", "above"] = "below") -> tuple[Verdict, str]:
    """Judge a claimed order of two methods by the interval of their paired difference.

    The order holds if the interval excludes 0 on the expected side, fails if it excludes 0 on the other one, and is
    undecided otherwise: only the first confirms the claim.

    Parameters
    ----------
    difference : Interval
        First method less second.
    expected : {"below", "above"}, default "below"
        Where the claim puts it.

    Returns
    -------
    verdict, reason : str

    Examples
    --------
    >>> from oddsmith.metrics import Interval
    >>> judge_ordering(Interval(-0.02, -0.03, -0.01, 0.95, "t"))[0]
    'confirmed'
    """
    share = f"{100 * difference.level:g} % interval"
    sign = -1 if expected == "below" else 1
    low, high = sorted((sign * difference.low, sign * difference.high))
    if low > 0:
        return "confirmed", f"the {share} of the paired difference lies {expected} 0"
    if high < 0:
        return "not confirmed", f"the opposite holds: the {share} of the paired difference excludes 0"
    return "not confirmed", f"undecided: the {share} of the paired difference includes 0"


def judge_all(held: Sequence[bool]) -> Verdict:
    """Return "confirmed" if it held every time, "partly" if some times, else "not confirmed".

    Examples
    --------
    >>> judge_all([True, False])
    'partly'
    """
    return "confirmed" if all(held) else "partly" if any(held) else "not confirmed"


def claims_table(claims: Sequence[Claim]) -> Table:
    """Return the verdicts as a table."""
    return Table(
        "claims",
        "Claims and verdicts",
        ("claim", "what it says", "published", "ours", "verdict", "why"),
        [(claim.id, claim.text, claim.published, claim.ours, claim.verdict, claim.reason) for claim in claims],
    )
