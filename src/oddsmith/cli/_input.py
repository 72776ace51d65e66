"""What all commands that read scores have in common: their options, and reading."""

from typing import Annotated, Any, Literal

import typer

from oddsmith import ScoreTable, _check
from oddsmith.cli._output import Voice
from oddsmith.files import Roles, ScoreData, choose_columns, open_scores, read_table
from oddsmith.metrics._measure import log_odds

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


def resolution_of(text: str) -> float | Literal["auto"] | None:
    """Return what ``--resolution`` means."""
    if text in ("auto", "exact"):
        return "auto" if text == "auto" else None
    try:
        return float(text)
    except ValueError:
        return _check.fail("resolution must be 'auto', 'exact' or a number", repr(text), "leave it out for 'auto'")


def read_forecast(voice: Voice, path: str, *, probability: str | None, **options: Any) -> ScoreTable:
    """Read probabilities as a table of log-odds, infinite at 0 and 1."""
    table = read_scores(voice, path, score=probability, kind="probability", **options)[0].table
    low, high = table.span()
    if low < 0 or high > 1:
        got = f"values from {low:g} to {high:g}"
        _check.fail("probabilities must lie in [0, 1]", got, "calibrate scores first (oddsmith fit, oddsmith apply)")
    return table.map(log_odds)


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
