"""What may be wrong with the rows of a file, and where the first bad ones lie."""

import dataclasses
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from oddsmith import _check
from oddsmith.files._lines import count_rejects
from oddsmith.files._parquet import Parquet
from oddsmith.files.columns import Columns
from oddsmith.files.source import ScoreFile
from oddsmith.frames import BadRows, CopyRowPolicy, text_literal

_SHOWN = 5

#: How the engine's names of types begin whose values are not numbers.
_NO_NUMBERS = ("BLOB", "DATE", "DURATION", "INTERVAL", "MAP", "STRUCT", "TIME", "UNION", "UUID")

_MALFORMED = "not a row of these columns"

#: The place among problems of rows that are no objects.
_BROKEN = 0


class RowProblem(NamedTuple):
    """What may be wrong with a row: an SQL condition, words for it, and the value to show."""

    condition: str
    words: str
    value: str = "''"


def problems_of(file: ScoreFile, columns: Columns, *, infinite: bool = False) -> list[RowProblem]:
    """List what may be wrong with the columns in use, as `Layout.select` gives them.

    ``infinite``: a single score may be ±∞, as where a map is applied, which has its limits there.
    """
    found = [RowProblem("broken", "not a JSON object with each key once")]
    names = columns.names
    several = sum(columns.role_of(name) == "score" for name in names) > 1
    for i, name in enumerate(names):
        field = f"f{i}"
        empty = f" OR trim({field}) = ''" if file.layout.type_of(name) == "VARCHAR" else ""
        what = columns.role_of(name)
        if what == "segment" and columns.missing_segments:
            continue
        of_column = text_literal(f" in {name!r}" if several and what == "score" else "")
        found.append(RowProblem(f"{field} IS NULL{empty}", f"{what} is missing", of_column))
        if what in ("score", "weight"):
            _refuse_type(file, name, what)
            number, value = f"TRY_CAST({field} AS DOUBLE)", f"{of_column} || ': ' || CAST({field} AS VARCHAR)"
            # The engine takes 1_000 for a number.
            grouped = f" OR contains({field}, '_')" if empty else ""
            found.append(RowProblem(f"{number} IS NULL{grouped}", f"{what} is not a number", value))
            if infinite and what == "score" and not several:
                found.append(RowProblem(f"isnan({number})", f"{what} is not a number", value))
                continue
            # A logit of −inf masks its class; it is neither a probability nor a score to fit to.
            masks = f" AND {number} <> '-inf'" if several and what == "score" else ""
            found.append(RowProblem(f"NOT isfinite({number}){masks}", f"{what} is not finite", value))
        if what == "weight":
            found.append(RowProblem(f"{number} < 0", "weight is negative", value))
    if several:
        fields = [f"TRY_CAST(f{i} AS DOUBLE)" for i, name in enumerate(names) if columns.role_of(name) == "score"]
        found.append(RowProblem(f"greatest({', '.join(fields)}) = '-inf'", "all classes are masked by -inf"))
    return found


def _refuse_type(file: ScoreFile, name: str, what: str) -> None:
    """Refuse columns whose values are not numbers, nor text that may be some: dates, durations, lists."""
    kind = file.layout.type_of(name)
    if isinstance(file.layout, Parquet) and file.layout.is_duration(file.engine, name):
        kind = "DURATION"
    if kind.startswith(_NO_NUMBERS) or kind.endswith("]"):
        hint = f"choose another column, or convert it to a number where {file.name} is made"
        _check.fail(f"{what} must be a column of numbers", f"{name!r}, a column of type {kind}", hint)


def problem_code(problems: list[RowProblem]) -> str:
    """Return an SQL expression for the index of the first problem of a row, null where there is none."""
    return f"CASE {' '.join(f'WHEN {problem.condition} THEN {i}' for i, problem in enumerate(problems))} END"


def refuse_bad_rows(
    file: ScoreFile,
    columns: Columns,
    problems: list[RowProblem],
    counts: Mapping[int | None, int],
    policy: CopyRowPolicy,
    policies: Sequence[str] = ("refuse", "skip"),
    further: Sequence[str] = (),
) -> BadRows | None:
    """Refuse bad rows by the policy, or return what is allowed; None where all rows are good.

    ``counts`` is how many rows have each problem, and for None how many have none. Problems may depend on ``further``
    columns, which follow those in use. What cannot be told apart into columns cannot be kept.
    """
    reasons = Counter[str]()
    for code, problem in enumerate(problems):
        if times := counts.get(code):
            reasons[problem.words] += times
    if malformed := count_rejects(file.engine):
        reasons[_MALFORMED] = malformed
    count = sum(reasons.values())
    places = _places(file, [*columns.names, *further], problems) if count else ()
    found = BadRows(count, count + counts.get(None, 0), reasons, places)
    if policy == "keep" and (malformed or counts.get(_BROKEN)):
        hint = 'repair such rows, or pass bad_rows="skip" (--bad-rows skip) to leave them out'
        _check.fail(f"rows of {file.name} must have columns to be kept", found.message, hint)
    return found.allow(policy, file.name, policies)


def _places(file: ScoreFile, names: Sequence[str], problems: list[RowProblem]) -> tuple[str, ...]:
    """Return where the first bad rows are."""
    cases = " ".join(f"WHEN {one.condition} THEN {text_literal(one.words)} || {one.value}" for one in problems)
    found: list[str] = []
    for path in file.layout.paths:
        layout = dataclasses.replace(file.layout, paths=(path,))
        of_file = f"{os.path.basename(path)} " if len(file.layout.paths) > 1 else ""
        for number, why in layout.locate(file.engine, names, f"CASE {cases} END", _SHOWN - len(found)):
            where = f"{of_file}{layout.place} {number}" if number is not None else f"{of_file}somewhere"
            found.append(f"{where}: {why}")
        if len(found) >= _SHOWN:
            break
    return tuple(found)
