"""Which columns are the scores of which classes."""

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from oddsmith import _check
from oddsmith._types import Label
from oddsmith.files._labels import LABEL_NAMES, class_values
from oddsmith.files.columns import guess_column, known_column, listed
from oddsmith.files.source import ScoreFile

__all__ = ["ClassColumns", "choose_class_columns"]

_WILD = re.compile(r"[*?\[]")

#: Where the common part of names may end: after what is neither letter nor digit, and before a number.
_PREFIX_END = re.compile(r"(?<=[^\w])|(?<=_)|(?<=[^\W\d_])(?=\d)")


@dataclass(frozen=True)
class ClassColumns:
    """The columns of several classes.

    Parameters
    ----------
    scores : tuple of str
        One column per class.
    classes : tuple
        The label of each of them.
    label, weight : str or None
    message : str
        What was guessed, in words; empty if nothing was.
    groups : str or None
        The column that names the group of each row.
    """

    scores: tuple[str, ...]
    classes: tuple[Label, ...]
    label: str | None
    weight: str | None
    message: str
    groups: str | None = None

    @property
    def names(self) -> list[str]:
        """Columns in use: the scores first, then label, weight and group where there are any."""
        return [*self.scores, *(name for name in (self.label, self.weight, self.groups) if name is not None)]

    def role_of(self, name: str) -> str:
        """Return what a column in use is: "score", "label", "weight" or "group"."""
        roles = {self.label: "label", self.weight: "weight", self.groups: "group"}
        return "score" if name in self.scores else roles[name]


def choose_class_columns(
    file: ScoreFile,
    scores: Sequence[str] = (),
    classes: Sequence[str] | None = None,
    label: str | None = None,
    weight: str | None = None,
    groups: str | None = None,
    *,
    kind: Literal["score", "probability"] = "score",
    needs_label: bool = True,
) -> ClassColumns:
    r"""Find one column of scores per class, and the class that each belongs to.

    Parameters
    ----------
    file : ScoreFile
    scores : sequence of str
        Patterns such as ``"p_*"``, whose columns keep the order of the file, names, or names joined by commas, also of
        a matrix; by default the matrix of a file of arrays.
    classes : sequence of str, optional
        The label of each column; by default the part of the names that varies.
    label, weight, groups : str, optional
        Names of columns; the label is guessed by its name where it is not given.
    kind : {"score", "probability"}, default "score"
        Which matrix of several to take by default: logits, or probabilities.
    needs_label : bool, default True
        Whether there must be a label.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from oddsmith.files import open_scores
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = path.write_text("id,p_cat,p_dog,p_cow,animal\n7,0.1,0.7,0.2,dog\n")
    >>> with open_scores(path) as file:
    ...     choose_class_columns(file, ["p_*"], label="animal").classes
    ('cat', 'dog', 'cow')
    """
    named = {"label": label, "weight": weight, "groups": groups}
    taken = {name: known_column(file, what, name) for what, name in named.items() if name}
    label, weight, groups = (None if name is None else taken[name] for name in (label, weight, groups))
    found, varying = _scores(file, scores or file.matrix(kind), set(taken.values()))
    if len(found) < 2:
        _check.fail(
            "scores must name one column per class, two or more",
            listed(found) if found else "none",
            "pass scores= (--scores 'p_*' or a list); one score for two classes is --score",
        )
    guessed = [] if scores else [f"columns {found[0]!r} to {found[-1]!r} as the scores"]
    if label is None and needs_label:
        if set(file.columns) == set(file.matrix()):
            _check.fail(f"{file.name} must come with labels", "scores alone", "pass labels= (--labels FILE.npy)")
        others: dict[str | None, str] = {**dict.fromkeys(found, "scores"), weight: "weight", groups: "groups"}
        label = guess_column(file, "label", "label", LABEL_NAMES, others)
        guessed.append(f"column {label!r} as the label")
    names = varying if classes is None else list(classes)
    if len(names) != len(found):
        _check.fail("classes must be one per score column", f"{len(names)} for {len(found)} columns", "list them all")
    values = tuple(class_values(names))
    message = f"Using {' and '.join(guessed)}." if guessed else ""
    columns = ClassColumns(tuple(found), values, label, weight, message, groups)
    if len(set(columns.names)) < len(columns.names):
        _check.fail(
            "scores, label, weight and groups must be different columns", listed(columns.names), "check the names"
        )
    if len(set(values)) < len(values):
        twice = next(value for value in values if values.count(value) > 1)
        _check.fail(
            "classes must differ",
            f"{twice!r} twice",
            "name them with classes= (--classes), in the order of the columns",
        )
    return columns


def _scores(file: ScoreFile, given: Sequence[str], taken: set[str]) -> tuple[list[str], list[str]]:
    """Return the columns that are meant, and what varies in their names."""
    found: dict[str, str | None] = {}
    for text in given:
        parts = [text] if text in file.columns or _WILD.search(text) else [part.strip() for part in text.split(",")]
        for part in parts:
            if part in file.columns or not _WILD.search(part):
                found |= dict.fromkeys(file.columns_of(part) or [known_column(file, "scores", part)])
                continue
            pattern = re.compile(_with_groups(part))
            matches = {name: match for name in file.columns if name not in taken and (match := pattern.match(name))}
            if not matches:
                hint = f"choose among {listed(file.columns)}"
                _check.fail(f"scores must match columns of {file.name}", repr(part), hint)
            found |= {known_column(file, "scores", name): "".join(match.groups()) for name, match in matches.items()}
    by_pattern = list(found.values())
    return list(found), [v or "" for v in by_pattern] if all(by_pattern) else _varying(list(found))


def _with_groups(pattern: str) -> str:
    """Return a regular expression that catches what stands for the wild parts of a pattern."""
    parts = re.split(r"(\*|\?|\[[^\]]*\])", pattern)
    # Translated part by part; what `translate` adds around is cut off.
    wild = {"*": ".*", "?": "."}
    parts[1::2] = [wild.get(one) or fnmatch.translate(one).removeprefix("(?s:").split(")")[0] for one in parts[1::2]]
    return "".join(f"({part})" if i % 2 else re.escape(part) for i, part in enumerate(parts)) + r"\Z"


def _varying(names: Sequence[str]) -> list[str]:
    """Return what is left of names without their common beginning and end, cut where words end.

    Examples
    --------
    >>> _varying(["p_cat", "p_car"]), _varying(["logit0", "logit1"]), _varying(["cat prob", "dog prob"])
    (['cat', 'car'], ['0', '1'], ['cat', 'dog'])
    """
    start = _common(names)
    end = _common([name[start:][::-1] for name in names])
    return [name[start : len(name) - end] for name in names]


def _common(names: Sequence[str]) -> int:
    """Return the length of the common beginning of names that leaves something of each."""
    first, shortest = (names[0], min(map(len, names))) if names else ("", 0)
    ends = [found.end() for found in _PREFIX_END.finditer(first) if found.end() < shortest]
    return max((end for end in ends if all(name.startswith(first[:end]) for name in names)), default=0)
