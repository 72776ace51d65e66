"""How commands read scores of two classes or of several, and which commands follow from what they find."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, cast

from oddsmith import _check
from oddsmith.calibrators import METHODS, SCALINGS, Calibrator, Method, find_method
from oddsmith.cli._options import RowOptions, ScoreColumns
from oddsmith.cli._output import CommandOutput
from oddsmith.data import Meaning, ScoreRows, ScoreTable
from oddsmith.files import (
    AS_SHOWN,
    BadRows,
    Columns,
    RowMeaning,
    ScoreData,
    ScoreFile,
    ScoreRowData,
    TextFormat,
    choose_columns,
    choose_model_columns,
    input_files,
    open_scores,
    read_rows,
    read_table,
)
from oddsmith.frames import BadRowPolicy
from oddsmith.maps import Segment, logit
from oddsmith.model import Model
from oddsmith.report import NextSteps

#: A file of rows of the same kind.
_OTHER_ROWS = "other_rows.csv"

#: Classes without rows that are named.
_SHOWN = 5


def refuse_options(words: str, **given: Any) -> None:
    """Refuse options that have no effect here; ``words`` are what they are for."""
    for name, value in given.items():
        if value is not None:
            option = "--" + name.replace("_", "-")
            _check.fail(
                f"{option} is for {words}", option if value is True else f"{option} {value}", f"leave {option} out"
            )


def names_in(text: str | None) -> list[str] | None:
    """Return the names that an option joins by commas."""
    return None if text is None else [name.strip() for name in text.split(",")]


def segments_in(by: str | None, model: Model) -> Segment | None:
    """Return the column, or columns, of segments that an option names, or by default those of the model."""
    names = names_in(by)
    return model.by if names is None else names[0] if len(names) == 1 else tuple(names)


def omission_note(dropped: BadRows | None) -> str:
    """Return which rows were left out; empty where none were."""
    return "" if dropped is None else f"Left out: {dropped.message}."


def model_table(
    out: CommandOutput,
    path: str,
    model: Model,
    *,
    scores: Sequence[str] | None = None,
    label: str | None = None,
    positive: str | None = None,
    by: Segment | None = None,
    weight: str | None = None,
    bad_rows: BadRowPolicy = "refuse",
    labeled: bool = True,
    text: TextFormat = AS_SHOWN,
) -> ScoreData:
    """Read scores for a model of two classes, with labels that must be its own, or without labels."""
    sign = positive if positive is not None or set(model.labels) <= {0, 1} else str(model.labels[1])
    with open_scores(path, text=text) as file:
        roles = choose_columns(file, scores or (), label, weight, by or (), one=True, needs_label=labeled)
        roles = roles if labeled else replace(roles, label=None)
        out.remark(roles.message)
        with out.progress(f"Reading {file.name}") as progress:
            data = read_table(
                file,
                roles,
                positive=sign if labeled else None,
                bad_rows=bad_rows,
                progress=progress,
                needs_label=labeled,
            )
    out.remark(omission_note(data.dropped))
    negative = str(data.labels[0])
    if labeled and positive is None and sign is not None and data.table.n_neg and negative != str(model.labels[0]):
        got = f"{negative!r} for a model of {model.labels[0]!r} and {model.labels[1]!r}"
        _check.fail("labels must be those of the model", got, "check the column of labels, or pass --positive")
    return data


def class_rows(
    out: CommandOutput,
    path: str,
    model: Model,
    scores: Sequence[str],
    label: str | None = None,
    *,
    weight: str | None = None,
    bad_rows: BadRowPolicy = "refuse",
    text: TextFormat = AS_SHOWN,
) -> ScoreRows:
    """Read labeled rows for a model of several columns."""
    with open_scores(path, text=text) as file, out.progress(f"Reading {file.name}") as progress:
        columns = choose_model_columns(file, model, scores)
        found = choose_columns(file, columns.scores, label, weight)
        data = read_rows(
            file,
            replace(columns, label=found.label, weight=found.weight),
            input="logits" if model.map.input == "logits" else "auto",
            bad_rows=bad_rows,
            progress=progress,
        )
    out.remark(omission_note(data.dropped))
    return data.rows


@dataclass(frozen=True)
class CommandInput:
    """A file of scores, and all that a command was told about it; what does not suit its classes is refused."""

    columns: ScoreColumns
    rows: RowOptions
    scores_are: str
    sample: int | None
    seed: int
    groups: str | None = None
    by: str | None = None
    fits: bool = False

    @cached_property
    def file(self) -> ScoreFile:
        """The file, open until it is read or the command ends."""
        return open_scores(self.columns.file, self.columns.labels, self.rows.text)

    @cached_property
    def roles(self) -> Columns:
        """The columns that are meant; options that mean nothing for so many are refused."""
        told = self.columns
        found = choose_columns(
            self.file,
            told.scores or (),
            told.label,
            told.weight,
            self.by if self.by in self.file.columns else names_in(self.by) or (),
            self.groups,
            classes=names_in(told.classes),
            kind=told.kind,
        )
        # A result is of the rows without a key, too; a model by segment could not be applied to them.
        found = replace(found, missing_segments=not self.fits)
        if len(found.scores) > 1:
            refuse_options("the scores of two classes", positive=told.positive)
        else:
            named = told.kind == "probability" and self.scores_are != "auto"
            several = "several classes, one column for each (--scores 'p_*')"
            refuse_options(several, sample=self.sample, scores_are=self.scores_are if named else None)
        return found

    @property
    def several(self) -> bool:
        """Whether there is one column per class, rather than one score of two classes."""
        return len(self.roles.scores) > 1

    def of_other_rows(self) -> "CommandInput":
        """Return the same input for rows that are not in this file."""
        return replace(self, columns=replace(self.columns, file=_OTHER_ROWS))

    @property
    def files(self) -> list[Any]:
        """The files that are read."""
        return [*input_files(self.columns.file), *([] if self.columns.labels is None else [self.columns.labels])]

    @property
    def meaning(self) -> Meaning:
        """What the scores of two classes are."""
        same = {"auto": "score", "logits": "log_odds", "probabilities": "probability"}
        return cast("Meaning", same.get(self.scores_are, self.scores_are.replace("-", "_")))

    @property
    def class_meaning(self) -> RowMeaning:
        """What the columns of several classes hold."""
        same = {"score": "auto", "log-odds": "logits", "probability": "probabilities"}
        return cast("RowMeaning", same.get(self.scores_are, self.scores_are))

    def read_scores(self, out: CommandOutput, *, count_distinct: bool = False) -> tuple[ScoreData, Columns]:
        """Read the table of two classes, and print which columns were guessed and which rows left out.

        The tables of segments, or else of groups, are the segments of the data.
        """
        roles, width = self.roles, _resolution(self.rows.resolution)
        parts = (
            roles if roles.groups is None else replace(roles, by=(roles.groups,), groups=None, missing_segments=False)
        )
        with self.file as file:
            out.remark(roles.message)
            with out.progress(f"Reading {file.name}") as progress:
                data = read_table(
                    file,
                    parts,
                    positive=self.columns.positive,
                    bad_rows=self.rows.bad_rows,
                    resolution=width,
                    count_distinct=count_distinct,
                    progress=progress,
                )
        out.remark(omission_note(data.dropped))
        out.remark(f"Labels: {data.census}." if data.census else "")
        return data, roles

    def read_forecast(self, out: CommandOutput) -> tuple[ScoreTable, ScoreData, Columns]:
        """Read probabilities as a table of log-odds, infinite at 0 and 1, in addition to what `read_scores` returns."""
        data, roles = self.read_scores(out, count_distinct=True)
        low, high = data.table.span()
        if low < 0 or high > 1:
            got, hint = f"values from {low:g} to {high:g}", "calibrate scores first (oddsmith fit, oddsmith apply)"
            _check.fail("probabilities must lie in [0, 1]", got, hint)
        return data.table.map(logit), data, roles

    def read_classes(self, out: CommandOutput, *, tables: bool = False) -> ScoreRowData:
        """Read the rows of several classes, and print what was guessed, left out, and drawn."""
        with self.file as file:
            out.remark(self.roles.message)
            with out.progress(f"Reading {file.name}") as progress:
                data = read_rows(
                    file,
                    self.roles,
                    input=self.class_meaning,
                    bad_rows=self.rows.bad_rows,
                    sample=self.sample,
                    random_state=self.seed,
                    tables=tables,
                    progress=progress,
                )
        if self.class_meaning == "auto":
            are = {"probabilities": "probabilities: rows sum to 1", "logits": "logits: rows do not sum to 1"}
            out.remark(f"Read as {are[data.rows.input]}.")
        if data.largest_gap > 1e-5:
            out.remark(f"Rows were divided by their sums, which miss 1 by up to {data.largest_gap:.2g}.")
        out.remark(omission_note(data.dropped))
        if data.tables is not None:
            out.remark(f"Using all {data.total:,} rows, by one table per class.")
        elif data.sampled:
            out.remark(f"Using a random sample of {data.rows.n_rows:,} of {data.total:,} rows (--seed {self.seed}).")
        if data.unseen:
            shown = ", ".join(str(each) for each in data.unseen[:_SHOWN])
            more = f" and {len(data.unseen) - _SHOWN:,} more" if len(data.unseen) > _SHOWN else ""
            out.warn(f"no row has the label {shown}{more}.")
        return data

    def next_steps(self, roles: Columns, labels: tuple[Any, Any]) -> NextSteps:
        """Return the commands that follow from advice about two classes."""
        columns = _words({"--label": roles.label, "--labels": self.columns.labels, "--weight": roles.weight})
        same, score = [*columns, *_words({"--positive": self.columns.positive})], ["--score", roles.score]
        rows = self._row_words("--bad-rows", "--resolution")
        groups = _words({"--groups": self.groups})
        if_reversed, other = "negate the score", other_label(labels)
        if other is not None:
            turned = self._command("report", *score, *columns, "--positive", other, *groups, *rows)
            if_reversed += f", or take {other} as the positive label: {turned}"

        def fit(method: str) -> str:
            return self._command("fit", "-o", "model.json", *score, *same, *_method_words(method), *groups, *rows)

        evaluate = self._command("evaluate", "--probability", roles.score, *same, *groups, *rows)
        return NextSteps(fit, if_reversed, evaluate)

    def class_next_steps(self) -> NextSteps:
        """Return the commands that follow from advice about several classes."""
        told, meaning = self.columns, None if self.class_meaning == "auto" else self.class_meaning
        words = [word for text in told.scores or () for word in ("--scores", text)]
        words += _words({f"--{name}": getattr(told, name) for name in ("classes", "label", "labels", "weight")})
        words += [*_words({"--scores-are": meaning}), *self._row_words("--bad-rows")]
        groups = _words({"--groups": self.groups})

        def fit(method: str) -> str:
            return self._command("fit", "-o", "model.json", *_method_words(method), *words, *groups)

        evaluate = self._command("evaluate", *words, *groups)
        return NextSteps(fit, "check that columns and labels belong together", evaluate)

    def _command(self, name: str, *options: str) -> str:
        return "oddsmith " + shlex.join([name, self.columns.file, *options])

    def _row_words(self, *names: str) -> list[str]:
        """Return the options of rows that are not what they are by default."""
        given = {"--bad-rows": self.rows.bad_rows, "--resolution": self.rows.resolution}
        changed = {name: None if given[name] in ("refuse", "auto") else given[name] for name in names}
        return _words(changed | self.rows.words())


def _words(options: dict[str, Any]) -> list[str]:
    """Return options as they are written, without those that are None."""
    return [word for name, value in options.items() if value is not None for word in (name, str(value))]


def _method_words(method: str) -> list[str]:
    return [] if method == "auto" else ["-m", method]


def other_label(labels: tuple[Any, Any]) -> str | None:
    """Return the negative label, None where it stands for several."""
    negative, positive = map(str, labels)
    return None if negative == f"not {positive}" else negative


def _resolution(text: str) -> float | Literal["auto"] | None:
    """Return what ``--resolution`` means."""
    if text in ("auto", "exact"):
        return "auto" if text == "auto" else None
    try:
        return float(text)
    except ValueError:
        return _check.fail("resolution must be 'auto', 'exact' or a number", repr(text), "leave it out for 'auto'")


def table_methods(names: Sequence[str] | None) -> dict[str, Calibrator]:
    """Return methods for two classes by name, by default all."""
    return {name: _calibrator(name) for name in names or METHODS}


def _calibrator(name: str) -> Calibrator:
    found = find_method(name, 2, "--method")
    if not isinstance(found, Calibrator):
        _check.fail("--method must be a calibrator for two classes", name, f"choose one of {', '.join(METHODS)}")
    return found


def class_methods(names: Sequence[str] | None) -> dict[str, Method]:
    """Return methods for several classes by name, by default every joint scaling."""
    return {name: find_method(name, 3, "--method") for name in names or SCALINGS}
