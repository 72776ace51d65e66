"""Rows that cannot be used: what is wrong with them, how many there are, and whether to go on without them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from oddsmith import _check

__all__ = ["BadRowPolicy", "BadRows", "CopyRowPolicy"]

BadRowPolicy = Literal["refuse", "skip"]

#: Of copies with new columns: "keep" writes bad rows, too, with nothing in the new columns.
CopyRowPolicy = Literal["refuse", "skip", "keep"]

_DECIMAL_COMMA = re.compile(r"is not a number.*: [-+]?\d*,\d+$")

_QUOTED = re.compile(r"""is not a number.*: (['"`]).*\1$""")


@dataclass(frozen=True)
class BadRows:
    """Rows that cannot be used.

    Parameters
    ----------
    count, total : int
        How many there are, of how many rows.
    reasons : mapping of str to int
        What is wrong, and how often.
    places : tuple of str
        Where the first ones are, and what is wrong there, as far as that is known.

    See Also
    --------
    read_table : Returns them with what it read.
    """

    count: int
    total: int
    reasons: Mapping[str, int]
    places: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """All of that in words."""
        reasons = ", ".join(f"{why}: {times:,}" for why, times in self.reasons.items())
        first = f"; first {'; '.join(self.places)}" if self.places else ""
        return f"{self.count:,} of {self.total:,} rows cannot be used ({reasons}{first})"

    def allow(self, policy: CopyRowPolicy, name: str, policies: Sequence[str] = ("refuse", "skip")) -> "BadRows | None":
        """Refuse bad rows of a file or frame by the policy; return what is allowed, None where all rows are good.

        Parameters
        ----------
        policy : str
            What to do with bad rows.
        name : str
            What errors call the file or frame.
        policies : tuple of str
            What may be chosen.

        Returns
        -------
        BadRows or None
        """
        _check.one_of(policy, "bad_rows", policies)
        if not self.count:
            return None
        if policy == "refuse":
            hint = 'repair them, or pass bad_rows="skip" (--bad-rows skip) to leave them out'
            if self.places and all(_DECIMAL_COMMA.search(place) for place in self.places):
                hint = 'pass text=TextFormat(decimal=",") (--decimal ,)'
            elif self.places and all(_QUOTED.search(place) for place in self.places):
                hint = "write numbers without quotes, or with double quotes"
            elif self.places and all("unterminated quote" in place for place in self.places):
                hint = "end the quoted text with a quote, and write quotes within it twice"
            elif self.places and all("not utf-8" in place for place in self.places):
                hint = 'pass text=TextFormat(encoding="latin-1") (--encoding latin-1)'
            elif self.places and all("not a probability that the model takes" in place for place in self.places):
                hint = 'fit with input="log_odds" (--scores-are log-odds) if scores are not probabilities'
                if self.count < self.total:
                    hint += ', or pass bad_rows="skip" (--bad-rows skip) to leave these rows out'
            elif self.count == self.total:
                hint = "choose other columns, or repair the file: no row would be left"
            _check.fail(f"all rows of {name} must be usable", self.message, hint)
        if self.count == self.total and policy == "skip":
            _check.fail(f"some row of {name} must be usable", self.message, "check the columns and the format")
        return self
