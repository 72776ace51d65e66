"""Arguments and options that several commands share."""

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import typer

if TYPE_CHECKING:
    from oddsmith.files import TextFormat

ScoresFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, JSON lines or Parquet, also .gz and .zst; .npz or .npy; '-' is standard input.",
    ),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file, from oddsmith fit.")]
_COLUMNS = (
    "Column of the {what}; of several classes one column per class, by a pattern such as 'p_*' or a list. [default: by "
    "its name; for .npz and .npy their matrix]"
)
ScoreNames = Annotated[
    list[str] | None,
    typer.Option("--scores", "--score", "-s", metavar="COLUMNS", help=_COLUMNS.format(what="score")),
]
ProbabilityNames = Annotated[
    list[str] | None,
    typer.Option("--scores", "--probability", "-p", metavar="COLUMNS", help=_COLUMNS.format(what="probability")),
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
    typer.Option("--scores-are", help="What the columns of several classes contain; 'auto': probabilities sum to 1."),
]
ResultSegments = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="A,B,…",
        help="Columns of segments: also a result for each combination of their values; rows without one are 'missing'.",
    ),
]
LabelColumn = Annotated[str | None, typer.Option("--label", "-y", help="Column of the label. [default: by its name]")]
WeightColumn = Annotated[
    str | None, typer.Option("--weight", "-w", help="Column of weights; whole numbers are counts.")
]
GroupColumn = Annotated[
    str | None,
    typer.Option(
        "--groups",
        help="Column that names groups of dependent rows, such as patients; folds and tests keep them whole.",
    ),
]
SegmentColumns = Annotated[
    str | None,
    typer.Option("--by", metavar="A,B,…", help="Columns of segments: one model for each combination of their values."),
]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive", help="The positive label, or several with commas, unless labels are 0/1, -1/1 or true/false."
    ),
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
_TEXT = "Text files"
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        rich_help_panel=_TEXT,
        help="Character between fields, or 'tab'. [default: the most frequent of , ; | and tab in the first line]",
    ),
]
Decimal = Annotated[
    Literal[".", ","], typer.Option("--decimal", rich_help_panel=_TEXT, help="Decimal mark of numbers.")
]
Encoding = Annotated[
    str, typer.Option("--encoding", rich_help_panel=_TEXT, help="Encoding of the text, such as latin-1 or utf-16.")
]
SkippedLines = Annotated[
    int, typer.Option("--skip-lines", min=0, rich_help_panel=_TEXT, help="Lines before the header.")
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
        help="Methods to compare; may be repeated. Several classes: {class_methods}; by default all but the last. "
        "[default: all of {methods}]",
    ),
]
ScoresAre = Annotated[
    Literal["auto", "score", "probability", "log-odds", "logits", "probabilities"],
    typer.Option(
        "--scores-are",
        help="What the scores are. 'auto': probabilities if all lie in [0, 1] (several classes: and rows sum to 1), "
        "otherwise unknown (several classes: logits).",
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of folds, intervals and samples.")]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print the result as one JSON object, or an error as one on standard error.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but the result and warnings.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing output.")]


@dataclass(frozen=True)
class ScoreColumns:
    """A file of scores, and which of its columns are what."""

    kind: ClassVar[Literal["score", "probability"]] = "score"

    file: ScoresFile
    scores: ScoreNames = None
    label: LabelColumn = None
    weight: WeightColumn = None
    positive: Positive = None
    classes: Classes = None
    labels: LabelsFile = None


@dataclass(frozen=True)
class ProbabilityColumns(ScoreColumns):
    """A file of probabilities, and which of its columns are what."""

    kind = "probability"

    scores: ProbabilityNames = None


@dataclass(frozen=True)
class TextOptions:
    """How text is written, where the file does not show it."""

    delimiter: Delimiter = None
    decimal: Decimal = "."
    encoding: Encoding = "utf-8"
    skip_lines: SkippedLines = 0

    @property
    def text(self) -> "TextFormat":
        """The form of text."""
        from oddsmith.files import TextFormat

        delimiter = "\t" if self.delimiter in ("tab", "\\t") else self.delimiter
        return TextFormat(delimiter, self.decimal, self.encoding, self.skip_lines)

    def words(self) -> dict[str, str | None]:
        """Return the options that are not what they are by default."""
        given = {field.name: getattr(self, field.name) for field in fields(TextOptions)}
        changed = {field.name for field in fields(TextOptions) if given[field.name] != field.default}
        return {f"--{name.replace('_', '-')}": str(value) for name, value in given.items() if name in changed}


@dataclass(frozen=True)
class RowOptions(TextOptions):
    """How rows are read."""

    bad_rows: BadRowsOption = "refuse"
    resolution: Resolution = "auto"


def flatten_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with one parameter for each field of the groups among its own, for the parser to read."""
    given = signature(command).parameters.values()
    groups: dict[str, Any] = {each.name: each.annotation for each in given if is_dataclass(each.annotation)}
    options = [
        option
        for each in given
        for option in (signature(each.annotation).parameters.values() if each.name in groups else [each])
    ]

    @wraps(command)
    def run(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        command(**values)

    vars(run)["__signature__"] = Signature([option.replace(kind=Parameter.KEYWORD_ONLY) for option in options])
    return run
