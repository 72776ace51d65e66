"""What all commands that read scores have in common: their options, and reading."""

import shlex
from typing import Annotated, Any, Literal

import typer

from oddsmith import _check
from oddsmith.cli._output import Voice
from oddsmith.files import Roles, ScoreData, choose_columns, open_scores, read_table
from oddsmith.maps.base import logit
from oddsmith.report import Steps
from oddsmith.table import ScoreTable

ScoresFile = Annotated[
    str,
    typer.Argument(metavar="FILE", help="CSV, TSV, JSON lines or Parquet, also .gz and .zst; '-' is standard input."),
]
ScoreColumn = Annotated[str | None, typer.Option("--score", "-s", help="Column of the score. [default: by its name]")]
ProbabilityColumn = Annotated[
    str | None, typer.Option("--probability", "-p", help="Column of the probability. [default: by its name]")
]
LabelColumn = Annotated[str | None, typer.Option("--label", "-y", help="Column of the label. [default: by its name]")]
WeightColumn = Annotated[
    str | None, typer.Option("--weight", "-w", help="Column of weights; whole numbers are counts.")
]
Positive = Annotated[
    str | None, typer.Option("--positive", help="The positive label, unless labels are 0/1, -1/1 or true/false.")
]
BadRows = Annotated[
    Literal["refuse", "skip"], typer.Option("--bad-rows", help="What to do with rows that cannot be used.")
]
Resolution = Annotated[
    str,
    typer.Option(
        "--resolution",
        help="Width of score cells: 'auto', 'exact' (every distinct score) or a power of two such as 0.0625.",
    ),
]


ScoresAre = Annotated[
    Literal["score", "probability", "log-odds"],
    typer.Option(
        "--scores-are",
        help="What uncalibrated scores mean; 'score': probabilities where all lie in [0, 1], else nothing known.",
    ),
]


def meaning_of(scores_are: str) -> Literal["score", "probability", "log_odds"]:
    """Return what ``--scores-are`` means to the library."""
    return "log_odds" if scores_are == "log-odds" else "probability" if scores_are == "probability" else "score"


def next_steps(
    path: str, roles: Roles, labels: tuple[Any, Any], positive: str | None, bad_rows: str, resolution: str
) -> Steps:
    """Return the commands that follow from advice about a file."""

    def command(name: str, *more: str | None) -> str:
        return "oddsmith " + shlex.join([name, path, *(word for word in more if word is not None)])

    given = ["--score", roles.score, "--label", str(roles.label)]
    given += [] if roles.weight is None else ["--weight", roles.weight]
    same = [] if positive is None else ["--positive", positive]
    odd = [] if bad_rows == "refuse" else ["--bad-rows", bad_rows]
    odd += [] if resolution == "auto" else ["--resolution", resolution]

    def fit(method: str) -> str:
        chosen = [] if method == "auto" else ["-m", method]
        return command("fit", "-o", "model.json", *given, *same, *odd, *chosen)

    turned = command("report", *given, "--positive", str(labels[0]), *odd)
    judged = ["--probability", roles.score, *given[2:], *same, *odd]
    return Steps(
        fit, f"negate the score, or take {labels[0]!r} for the positive label: {turned}", command("evaluate", *judged)
    )


def resolution_of(text: str) -> float | Literal["auto"] | None:
    """Return what ``--resolution`` means."""
    if text in ("auto", "exact"):
        return "auto" if text == "auto" else None
    try:
        return float(text)
    except ValueError:
        return _check.fail("resolution must be 'auto', 'exact' or a number", repr(text), "leave it out for 'auto'")


def read_forecast(voice: Voice, path: str, *, probability: str | None, **options: Any) -> tuple[ScoreTable, int]:
    """Read probabilities as a table of log-odds, infinite at 0 and 1, with the number of distinct ones."""
    data, _ = read_scores(voice, path, score=probability, kind="probability", **options)
    low, high = data.table.span()
    if low < 0 or high > 1:
        got = f"values from {low:g} to {high:g}"
        _check.fail("probabilities must lie in [0, 1]", got, "calibrate scores first (oddsmith fit, oddsmith apply)")
    return data.table.map(logit), data.distinct


def read_scores(
    voice: Voice,
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
    """Read the table of a file, saying what was guessed and what was left out."""
    with open_scores(path) as file:
        roles = choose_columns(file, score, label, weight, by, kind=kind)
        voice.remark(roles.message)
        with voice.progress(f"Reading {file.name}") as progress:
            width = resolution_of(resolution)
            data = read_table(file, roles, positive=positive, bad_rows=bad_rows, resolution=width, progress=progress)
    if data.dropped is not None:
        voice.remark(f"Left out: {data.dropped.message}.")
    return data, roles
