"""How commands read scores, and which commands follow from what they find."""

import shlex
from typing import Any, Literal, cast

from oddsmith import _check
from oddsmith.cli._output import CommandOutput
from oddsmith.files import Roles, ScoreData, choose_columns, open_scores, read_table
from oddsmith.maps.base import logit
from oddsmith.report import NextSteps, ScoreMeaning
from oddsmith.table import ScoreTable


def next_steps(
    path: str, roles: Roles, labels: tuple[Any, Any], positive: str | None, bad_rows: str, resolution: str
) -> NextSteps:
    """Return the commands that follow from advice about a file."""
    given = ["--label", str(roles.label)]
    given += [] if roles.weight is None else ["--weight", roles.weight]
    same = [] if positive is None else ["--positive", positive]
    reading = [] if bad_rows == "refuse" else ["--bad-rows", bad_rows]
    reading += [] if resolution == "auto" else ["--resolution", resolution]

    def command(name: str, *options: str) -> str:
        return "oddsmith " + shlex.join([name, path, *options, *reading])

    def fit(method: str) -> str:
        chosen = [] if method == "auto" else ["-m", method]
        return command("fit", "-o", "model.json", "--score", roles.score, *given, *same, *chosen)

    negate, other = "negate the score", other_label(labels)
    if other is not None:
        turned = command("report", "--score", roles.score, *given, "--positive", other)
        negate += f", or take {other} as the positive label: {turned}"
    return NextSteps(fit, negate, command("evaluate", "--probability", roles.score, *given, *same))


def other_label(labels: tuple[Any, Any]) -> str | None:
    """Return the negative label, None where it stands for several."""
    negative, positive = map(str, labels)
    return None if negative == f"not {positive}" else negative


def meaning_of(scores_are: str) -> ScoreMeaning:
    """Return what ``--scores-are`` means to the library, for two classes."""
    same = {"auto": "score", "logits": "log_odds", "probabilities": "probability"}
    return cast("ScoreMeaning", same.get(scores_are, scores_are.replace("-", "_")))


def resolution_of(text: str) -> float | Literal["auto"] | None:
    """Return what ``--resolution`` means."""
    if text in ("auto", "exact"):
        return "auto" if text == "auto" else None
    try:
        return float(text)
    except ValueError:
        return _check.fail("resolution must be 'auto', 'exact' or a number", repr(text), "leave it out for 'auto'")


def read_forecast(
    out: CommandOutput, path: str, *, probability: str | None, **options: Any
) -> tuple[ScoreTable, ScoreData, Roles]:
    """Read probabilities as a table of log-odds, infinite at 0 and 1, beside what `read_scores` returns."""
    data, roles = read_scores(out, path, score=probability, kind="probability", **options)
    low, high = data.table.span()
    if low < 0 or high > 1:
        got = f"values from {low:g} to {high:g}"
        _check.fail("probabilities must lie in [0, 1]", got, "calibrate scores first (oddsmith fit, oddsmith apply)")
    return data.table.map(logit), data, roles


def read_scores(
    out: CommandOutput,
    path: str,
    *,
    score: str | None,
    label: str | None,
    weight: str | None = None,
    by: str | None = None,
    positive: str | None = None,
    bad_rows: Literal["refuse", "skip"] = "refuse",
    resolution: str = "auto",
    kind: Literal["score", "probability"] = "score",
) -> tuple[ScoreData, Roles]:
    """Read the table of a file, and print which columns were guessed and which rows left out."""
    with open_scores(path) as file:
        roles = choose_columns(file, score, label, weight, by, kind=kind)
        out.remark(roles.message)
        with out.progress(f"Reading {file.name}") as progress:
            width = resolution_of(resolution)
            data = read_table(file, roles, positive=positive, bad_rows=bad_rows, resolution=width, progress=progress)
    if data.dropped is not None:
        out.remark(f"Left out: {data.dropped.message}.")
    return data, roles
