"""Which column is the score, and which the label."""

import difflib
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from oddsmith import _check
from oddsmith.files._labels import LABEL_NAMES
from oddsmith.files.source import ScoreFile

__all__ = ["Roles", "choose_columns", "known_column"]

_PROBABILITIES = {
    *("confidence", "p", "p_hat", "pred", "prediction", "predictions"),
    *("predicted_probability", "prob", "proba", "probability", "y_prob"),
}
_SCORES = _PROBABILITIES | {
    *("decision", "decision_function", "decision_value", "log_odds", "logit", "margin"),
    *("model_score", "raw_score", "score", "scores", "y_score"),
}

#: What the columns of several classes begin with, before a "_".
_CLASS_PREFIXES = _SCORES | {"logits", "probabilities", "probs", "z"}

#: Columns that a message names.
_SHOWN = 20


@dataclass(frozen=True)
class Roles:
    """Which column plays which role.

    Parameters
    ----------
    score : str
    label, weight, by : str or None
    message : str
        What was guessed, in words; empty if nothing was.
    """

    score: str
    label: str | None
    weight: str | None
    by: str | None
    message: str

    @property
    def names(self) -> list[str]:
        """Columns in use: the score first, then label, weight and segment where there are any."""
        return [name for name in (self.score, self.label, self.weight, self.by) if name is not None]

    def role_of(self, name: str) -> str:
        """Return what a column in use is: "score", "label", "weight" or "segment"."""
        role = next(role for role in ("score", "label", "weight", "by") if getattr(self, role) == name)
        return "segment" if role == "by" else role


def choose_columns(
    file: ScoreFile,
    score: str | None = None,
    label: str | None = None,
    weight: str | None = None,
    by: str | None = None,
    *,
    kind: Literal["score", "probability"] = "score",
    needs_label: bool = True,
) -> Roles:
    """Find the columns that are named, and guess score and label by their names where they are not.

    Weights and segments are never guessed.

    Parameters
    ----------
    file : ScoreFile
    score, label, weight, by : str, optional
        Names of columns.
    kind : {"score", "probability"}, default "score"
        What to look for: any score, or only what is called like a probability.
    needs_label : bool, default True
        Whether there must be a label.

    Raises
    ------
    InvalidInputError
        If a name is none of the columns, or if none or several columns could be meant.
    """
    score, label, weight, by = (
        None if name is None else known_column(file, option, name)
        for option, name in {"score": score, "label": label, "weight": weight, "by": by}.items()
    )
    guessed = []
    if score is None:
        known, others = _SCORES if kind == "score" else _PROBABILITIES, {label: "label", weight: "weight", by: "by"}
        score = guess_column(file, "score", kind, known, others)
        guessed.append(f"column {score!r} as the {kind}")
    if label is None and needs_label:
        label = guess_column(file, "label", "label", LABEL_NAMES, {score: kind, weight: "weight", by: "by"})
        guessed.append(f"column {label!r} as the label")
    roles = Roles(score, label, weight, by, f"Using {' and '.join(guessed)}." if guessed else "")
    if len(set(roles.names)) < len(roles.names):
        twice = next(name for name in roles.names if roles.names.count(name) > 1)
        played = [role for role in ("score", "label", "weight", "by") if getattr(roles, role) == twice]
        hint = f"leave {played[-1]}= (--{played[-1]}) out, or name another column for it"
        got = f"{twice!r} as {' and '.join(played)}"
        _check.fail("score, label, weight and by must be different columns", got, hint)
    return roles


def known_column(file: ScoreFile, option: str, name: str) -> str:
    """Return the column of this name, which may have spaces around it in the file."""
    times = file.columns.count(name)
    if times == 1:
        return name
    padded = [column for column in file.columns if column.strip() == name]
    if len(padded) == 1:
        return padded[0]
    if times > 1:
        _check.fail(f"{option} must name one column", f"{name!r}, {times} times in {file.name}", "rename one of them")
    folded = {column.casefold(): column for column in file.columns}
    close = [folded[found] for found in difflib.get_close_matches(name.casefold(), folded, n=1)]
    return _check.fail(
        f"{option} must name a column of {file.name}",
        f"{name!r}",
        f"did you mean {close[0]!r}" if close else f"choose one of {listed(file.columns, [name, option])}",
    )


def guess_column(
    file: ScoreFile, parameter: str, what: str, known: Collection[str], taken: Mapping[str | None, str]
) -> str:
    """Return the only column that is called like what is looked for, and is not taken by another option."""
    found = [column for column in file.columns if column not in taken and _bare(column) in known]
    if len(found) == 1:
        return found[0]
    hint = f"pass {parameter}= (--{what})"
    if found:
        _check.fail(f"one column of {file.name} must be the {what}", f"several: {listed(found)}", hint)
    got = f"columns {listed(file.columns, known)}"
    if parameter == "score" and (pattern := _pattern(column for column in file.columns if column not in taken)):
        hint += f"; for one column per class pass scores={pattern!r} (--scores {shlex.quote(pattern)})"
    elif used := [(column, role) for column, role in taken.items() if column is not None and _bare(column) in known]:
        column, role = used[0]
        got += f", of which {column!r} is taken by {role}= (--{role})"
        hint = f"leave {role}= (--{role}) out, or name another column for it"
    return _check.fail(f"no {what} column recognized", got, hint)


def _bare(column: str) -> str:
    """Return a name as it is compared."""
    return column.strip().casefold().replace(" ", "_").replace("-", "_")


def _pattern(columns: Iterable[str]) -> str:
    """Return a pattern such as p_* that several columns match and classes often have; empty where there is none."""
    starts = Counter(match[0] for column in columns if (match := re.match(r"[^\W\d_]+_(?=.)", column)))
    scores = {start: times for start, times in starts.items() if times > 1 and start[:-1].casefold() in _CLASS_PREFIXES}
    return f"{max(scores, key=scores.__getitem__)}*" if scores else ""


def listed(columns: Collection[str], near: Collection[str] = ()) -> str:
    """Return the names of columns; of many the first ones, after those that resemble names that are looked for."""
    if len(columns) <= _SHOWN:
        return ", ".join(map(repr, columns))
    words = {word for name in near for word in _bare(name).split("_") if len(word) > 1}
    alike = [column for column in columns if words & set(_bare(column).split("_"))]
    alike += [column for column in columns if column not in alike and any(word in _bare(column) for word in words)]
    shown = [*alike, *(column for column in columns if column not in alike)]
    return ", ".join([*map(repr, shown[:_SHOWN]), "…"])
