"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated, Literal

import typer

ScoresFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, JSON lines or Parquet, also .gz and .zst; .npz or .npy; '-' is standard input.",
    ),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file, from oddsmith fit.")]
ScoreColumn = Annotated[str | None, typer.Option("--score", "-s", help="Column of the score. [default: by its name]")]
ClassColumnNames = Annotated[
    list[str] | None,
    typer.Option(
        "--scores",
        metavar="COLUMNS",
        help="Several classes: one column per class, by a pattern such as 'p_*' or a list. [default for .npz and .npy: "
        "their matrix]",
    ),
]
Classes = Annotated[
    str | None,
    typer.Option(
        "--classes", metavar="A,B,…", help="Labels of these columns. [default: the part of their names that varies]"
    ),
]
LabelsFile = Annotated[
    Path | None, typer.Option("--labels", metavar="FILE", help="Labels (.npy) of scores that are a .npy file.")
]
RowLimit = Annotated[
    int | None,
    typer.Option(
        "--sample",
        min=1,
        help="Several classes: rows to use at most, drawn at random. [default: as many as make 20 million scores]",
    ),
]
ClassScoresAre = Annotated[
    Literal["auto", "logits", "probabilities"],
    typer.Option("--scores-are", help="What the columns of several classes hold; 'auto': probabilities sum to 1."),
]
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
BadRowsOption = Annotated[
    Literal["refuse", "skip"], typer.Option("--bad-rows", help="What to do with rows that cannot be used.")
]
Resolution = Annotated[
    str,
    typer.Option(
        "--resolution",
        help="Width of score cells: 'auto', 'exact' (every distinct score) or a power of two such as 0.0625.",
    ),
]
CopyOutput = Annotated[
    Path,
    typer.Option(
        "--output", "-o", help="File to write: .csv, .tsv, .jsonl, .parquet, .npz or .npy; '-': CSV, or JSON lines."
    ),
]
MethodName = Annotated[
    str, typer.Option("--method", "-m", help="One of {methods}; for several classes one of {class_methods}.")
]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        "-m",
        help="Which ones; may be repeated. Of several classes {class_methods}; by default all but the last. [default: "
        "all of {methods}]",
    ),
]
ScoresAre = Annotated[
    Literal["auto", "score", "probability", "log-odds", "logits", "probabilities"],
    typer.Option(
        "--scores-are",
        help="What uncalibrated scores mean; 'auto': probabilities where all lie in [0, 1], and of several classes sum "
        "to 1; else nothing known, and of several classes logits.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of folds, intervals and samples.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but the result.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace output that exists.")]
