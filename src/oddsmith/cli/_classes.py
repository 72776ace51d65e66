"""How commands read the scores of several classes, and which commands follow from what they find."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from oddsmith import _check
from oddsmith.calibrators import Calibrator
from oddsmith.calibrators.registry import calibrator_named, find_method
from oddsmith.classify.methods import SCALINGS
from oddsmith.classify.scaling import JointScaling
from oddsmith.cli._output import CommandOutput
from oddsmith.files import ClassData, choose_class_columns, open_scores, read_class_rows
from oddsmith.files.class_reading import ClassScoreMeaning
from oddsmith.report import NextSteps

#: What a calibrator of each class against the rest is called.
_ONE_VS_REST = "one-vs-rest"

#: Classes without rows that are named.
_SHOWN = 5


@dataclass(frozen=True)
class ClassOptions:
    """What a command was told about the columns of several classes."""

    scores: tuple[str, ...] = ()
    classes: str | None = None
    label: str | None = None
    labels: Path | None = None
    weight: str | None = None
    scores_are: str = "auto"
    bad_rows: Literal["refuse", "skip"] = "refuse"
    sample: int | None = None
    seed: int = 0

    @property
    def meaning(self) -> ClassScoreMeaning:
        """What the columns hold."""
        same = {"score": "auto", "log-odds": "logits", "probability": "probabilities"}
        return cast("ClassScoreMeaning", same.get(self.scores_are, self.scores_are))

    @property
    def words(self) -> list[str]:
        """The options as they are written, for a command that reads the same rows."""
        found = [word for text in self.scores for word in ("--scores", text)]
        given = {"--classes": self.classes, "--label": self.label, "--labels": self.labels, "--weight": self.weight}
        found += [word for name, value in given.items() if value is not None for word in (name, str(value))]
        found += [] if self.meaning == "auto" else ["--scores-are", self.meaning]
        return found + ([] if self.bad_rows == "refuse" else ["--bad-rows", self.bad_rows])


def are_several(path: str, scores: list[str] | None, one: str | None) -> bool:
    """Tell whether a command is about several classes: columns are given, or arrays without one column of scores."""
    return bool(scores) or (one is None and Path(path).suffix.lower() in (".npy", ".npz"))


def refuse_two_class_options(**given: Any) -> None:
    """Refuse options that mean nothing for several classes."""
    for name, value in given.items():
        if value is not None and value is not False:
            option = "--" + name.replace("_", "-")
            _check.fail(f"{option} is for the scores of two classes", f"{option} {value}", f"leave {option} out")


def refuse_class_options(**given: Any) -> None:
    """Refuse options that mean nothing for two classes."""
    for name, value in given.items():
        if value is not None:
            option = "--" + name.replace("_", "-")
            hint = f"leave {option} out, or pass --scores 'p_*' for one column per class"
            _check.fail(f"{option} is for several classes", f"{option} without --scores", hint)


def read_classes(
    out: CommandOutput,
    path: str,
    options: ClassOptions,
    kind: Literal["score", "probability"] = "score",
    *,
    tables: bool = False,
) -> ClassData:
    """Read the rows of a file, and print what was guessed, left out, and drawn."""
    with open_scores(path, options.labels) as file:
        names = None if options.classes is None else [name.strip() for name in options.classes.split(",")]
        columns = choose_class_columns(file, options.scores, names, options.label, options.weight, kind=kind)
        out.remark(columns.message)
        with out.progress(f"Reading {file.name}") as progress:
            data = read_class_rows(
                file,
                columns,
                scores_are=options.meaning,
                bad_rows=options.bad_rows,
                sample=options.sample,
                random_state=options.seed,
                tables=tables,
                progress=progress,
            )
    if options.meaning == "auto":
        are = {"probabilities": "probabilities: rows sum to 1", "logits": "logits: rows do not sum to 1"}
        out.remark(f"Read as {are[data.rows.input]}.")
    if data.largest_gap > 1e-5:
        out.remark(f"Rows were divided by their sums, which miss 1 by up to {data.largest_gap:.2g}.")
    if data.dropped is not None:
        out.remark(f"Left out: {data.dropped.message}.")
    if data.tables is not None:
        out.remark(f"Using all {data.total:,} rows, by one table per class.")
    elif data.sampled:
        out.remark(f"Using a random sample of {data.rows.n_rows:,} of {data.total:,} rows (--seed {options.seed}).")
    if data.unseen:
        shown = ", ".join(str(each) for each in data.unseen[:_SHOWN])
        more = f" and {len(data.unseen) - _SHOWN:,} more" if len(data.unseen) > _SHOWN else ""
        out.remark(f"Warning: no row has the label {shown}{more}.")
    return data


def class_method(name: str) -> JointScaling | Calibrator:
    """Return a joint scaling, or for ``one-vs-rest:METHOD`` the calibrator of each class against the rest."""
    kind, colon, inner = name.partition(":")
    if kind.replace("_", "-").lower() == _ONE_VS_REST:
        if not colon:
            _check.fail("one-vs-rest needs the method of each class", name, "write --method one-vs-rest:platt")
        return calibrator_named(inner, "--method")
    known: dict[str, Any] = {**SCALINGS, f"{_ONE_VS_REST}:METHOD": None}
    return cast("JointScaling", find_method(name, known, "--method")())


def class_methods(names: list[str] | None) -> dict[str, JointScaling | Calibrator]:
    """Return methods by name, by default every joint scaling."""
    return {name: class_method(name) for name in (names or list(SCALINGS))}


def class_next_steps(path: str, options: ClassOptions) -> NextSteps:
    """Return the commands that follow from advice about a file."""

    def command(name: str, *more: str) -> str:
        return "oddsmith " + shlex.join([name, path, *more, *options.words])

    def fit(method: str) -> str:
        return command("fit", "-o", "model.json", *([] if method == "auto" else ["-m", method]))

    return NextSteps(fit, "check that columns and labels belong together", command("evaluate"))
