"""Rows that cannot be used: what is wrong with them, how many there are, and where the first ones lie."""

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from oddsmith import _check
from oddsmith.files._engine import text_literal
from oddsmith.files._lines import count_rejects
from oddsmith.files.columns import Roles
from oddsmith.files.source import ScoreFile

__all__ = ["BadRowPolicy", "BadRows"]

BadRowPolicy = Literal["refuse", "skip"]

_SHOWN = 5

_MALFORMED = "not a row of these columns"


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
        Where the first ones are, and what is wrong there.
    """

    count: int
    total: int
    reasons: Mapping[str, int]
    places: tuple[str, ...]

    @property
    def message(self) -> str:
        """All of that in words."""
        reasons = ", ".join(f"{why}: {times:,}" for why, times in self.reasons.items())
        first = f"; first {'; '.join(self.places)}" if self.places else ""
        return f"{self.count:,} of {self.total:,} rows cannot be used ({reasons}{first})"


class Problem(NamedTuple):
    """What may be wrong with a row: an SQL condition, words for it, and the value to show."""

    condition: str
    words: str
    value: str = "''"


def problems_of(file: ScoreFile, roles: Roles) -> list[Problem]:
    """List what may be wrong with the columns in use, as `Layout.select` gives them."""
    found = [Problem("broken", "not a JSON object with each key once")]
    for i, name in enumerate(roles.names):
        field = f"f{i}"
        empty = f" OR trim({field}) = ''" if file.layout.type_of(name) == "VARCHAR" else ""
        what = next(role for role in ("score", "label", "weight", "by") if getattr(roles, role) == name)
        found.append(Problem(f"{field} IS NULL{empty}", f"{'segment' if what == 'by' else what} is missing"))
        if what in ("score", "weight"):
            number, value = f"TRY_CAST({field} AS DOUBLE)", f"': ' || CAST({field} AS VARCHAR)"
            # The engine takes 1_000 for a number.
            grouped = f" OR contains({field}, '_')" if empty else ""
            found.append(Problem(f"{number} IS NULL{grouped}", f"{what} is not a number", value))
            found.append(Problem(f"NOT isfinite({number})", f"{what} is not finite", value))
        if what == "weight":
            found.append(Problem(f"{number} < 0", "weight is negative", value))
    return found


def problem_code(problems: list[Problem]) -> str:
    """Return an SQL expression for the index of the first problem of a row, null where there is none."""
    return f"CASE {' '.join(f'WHEN {problem.condition} THEN {i}' for i, problem in enumerate(problems))} END"


def judge(
    file: ScoreFile, roles: Roles, problems: list[Problem], counts: Mapping[int, int], good: int, policy: BadRowPolicy
) -> BadRows | None:
    """Refuse bad rows, or return what is left out; None where all rows are good.

    Parameters
    ----------
    file, roles, problems
        What was read, and what may be wrong with it.
    counts : mapping of int to int
        How many rows have each problem.
    good : int
        How many have none.
    policy : {"refuse", "skip"}
    """
    _check.one_of(policy, "bad_rows", ("refuse", "skip"))
    reasons = {problems[code].words: times for code, times in sorted(counts.items())}
    malformed = count_rejects(file.engine)
    if malformed:
        reasons[_MALFORMED] = malformed
    count = sum(reasons.values())
    if not count:
        return None
    bad = BadRows(count, count + good, reasons, _places(file, roles, problems))
    if policy == "refuse":
        _check.fail(
            f"all rows of {file.name} must be usable",
            bad.message,
            'repair them, or pass bad_rows="skip" (--bad-rows skip) to leave them out',
        )
    if not good:
        _check.fail(f"some row of {file.name} must be usable", bad.message, "check the columns and the format")
    return bad


def _places(file: ScoreFile, roles: Roles, problems: list[Problem]) -> tuple[str, ...]:
    """Return where the first bad rows are."""
    cases = " ".join(f"WHEN {one.condition} THEN {text_literal(one.words)} || {one.value}" for one in problems)
    found: list[str] = []
    for path in file.layout.paths:
        layout = dataclasses.replace(file.layout, paths=(path,))
        of_file = f"{os.path.basename(path)} " if len(file.layout.paths) > 1 else ""
        for number, why in layout.locate(file.engine, roles.names, f"CASE {cases} END", _SHOWN - len(found)):
            where = f"{of_file}{layout.place} {number}" if number is not None else f"{of_file}somewhere"
            found.append(f"{where}: {why}")
        if len(found) >= _SHOWN:
            break
    return tuple(found)
