"""Which columns are the scores, and which the label, weights and segments."""

import difflib
import fnmatch
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from oddsmith import _check
from oddsmith._types import Label
from oddsmith.files._labels import LABEL_NAMES, class_values
from oddsmith.files.source import ScoreFile

__all__ = ["Columns", "choose_columns", "known_column"]

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

#: What a column may be, in the order in which messages name them.
_ROLES = ("score", "scores", "label", "weight", "by", "groups")

#: Columns that a message names.
_SHOWN = 20

_WILD = re.compile(r"[*?\[]")

#: Where the common part of names may end: after what is neither letter nor digit, and before a number.
_PREFIX_END = re.compile(r"(?<=[^\w])|(?<=_)|(?<=[^\W\d_])(?=\d)")


@dataclass(frozen=True)
class Columns:
    """The columns of scores, label, weight, segments and groups.

    Parameters
    ----------
    scores : tuple of str
        One score of two classes, or one column per class.
    classes : tuple
        The label of each of several columns; empty where there is one score.
    label, weight : str or None
    by : tuple of str
        Columns of segments.
    groups : str or None
        The column that names the group of each row.
    missing_segments : bool
        Whether rows without a value of a column of segments are a segment of their own, "missing", rather than bad.
    message : str
        What was guessed, in words; empty if nothing was.

    See Also
    --------
    choose_columns : Finds them by name.
    """

    scores: tuple[str, ...]
    classes: tuple[Label, ...] = ()
    label: str | None = None
    weight: str | None = None
    by: tuple[str, ...] = ()
    groups: str | None = None
    message: str = ""
    missing_segments: bool = False

    def __post_init__(self) -> None:
        _refuse_repeated(self)

    @property
    def names(self) -> list[str]:
        """Columns in use: the scores first, then label, weight, segments and groups where there are any."""
        return [*self.scores, *self._others]

    def key(self, name: str) -> str:
        """Return an SQL expression for a column of segments, given the columns in use as f0, f1, and so on.

        Parameters
        ----------
        name : str
            A column of segments.
        """
        value = f"CAST(f{self.names.index(name)} AS VARCHAR)"
        return f"CASE WHEN trim({value}) <> '' THEN {value} ELSE 'missing' END" if self.missing_segments else value

    @property
    def score(self) -> str:
        """The first column of scores, which is the only one of two classes."""
        return self.scores[0]

    def role_of(self, name: str) -> str:
        """Return what a column in use is: "score", "label", "weight", "segment" or "group".

        Parameters
        ----------
        name : str
            A column.

        Returns
        -------
        str
        """
        return self._others.get(name, "score")

    @property
    def _others(self) -> dict[str, str]:
        named = (
            (self.label, "label"),
            (self.weight, "weight"),
            *((name, "segment") for name in self.by),
            (self.groups, "group"),
        )
        return {name: role for name, role in named if name is not None}


def is_several(scores: Sequence[str]) -> bool:
    """Whether texts that name columns of scores mean one column per class: a pattern, or several names."""
    return len(scores) > 1 or any(_WILD.search(text) or "," in text for text in scores)


def choose_columns(
    file: ScoreFile,
    scores: str | Sequence[str] = (),
    label: str | None = None,
    weight: str | None = None,
    by: str | Sequence[str] = (),
    groups: str | None = None,
    *,
    classes: Sequence[str] | None = None,
    kind: Literal["score", "probability"] = "score",
    one: bool = False,
    needs_label: bool = True,
) -> Columns:
    r"""Find the columns that are named, and guess scores and label by their names where they are not.

    One column of scores is that of two classes. With several classes there is one column per class.

    Parameters
    ----------
    file : ScoreFile
    scores : str or sequence of str, optional
        One name; or for several classes patterns such as ``"p_*"``, whose columns keep the order of the file, names,
        or names joined by commas, also of a matrix. By default the matrix of a file of arrays, or the one column whose
        name is that of a score.
    label, weight, groups : str, optional
        Names of columns; the label is guessed by its name where it is not given, weights and groups never are.
    by : str or sequence of str, optional
        Columns of segments.
    classes : sequence of str, optional
        The label of each of several columns; by default the part of the names that varies.
    kind : {"score", "probability"}, default "score"
        What to look for: any score, or only what is called like a probability.
    one : bool, default False
        Whether only one column of scores is looked for where none is named.
    needs_label : bool, default True
        Whether there must be a label.

    Returns
    -------
    Columns

    Raises
    ------
    InvalidInputError
        If a column is missing, or if none or several columns could be meant.

    See Also
    --------
    choose_model_columns : For a model that names its columns.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from oddsmith.files import open_scores
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = path.write_text("id,p_cat,p_dog,p_cow,animal\n7,0.1,0.7,0.2,dog\n")
    >>> with open_scores(path) as file:
    ...     choose_columns(file, ["p_*"], label="animal").classes
    ('cat', 'dog', 'cow')
    """
    texts = [scores] if isinstance(scores, str) else list(scores)
    segments = [by] if isinstance(by, str) else list(by)
    named = {"label": label, "weight": weight, "groups": groups}
    known = {option: known_column(file, option, name) for option, name in named.items() if name is not None}
    label, weight, groups = (known.get(option) for option in named)
    segments = [known_column(file, "by", name) for name in segments]
    taken = {name: option for option, name in known.items()} | dict.fromkeys(segments, "by")
    guessed = []
    found, varying = _scores(file, texts or (() if one else file.matrix(kind)), taken)
    if not found:
        found = [guess_column(file, "scores", kind, _SCORES if kind == "score" else _PROBABILITIES, taken)]
        guessed.append(f"column {found[0]!r} as the {kind}")
    elif not texts:
        guessed.append(f"columns {found[0]!r} to {found[-1]!r} as the scores")
    several = len(found) > 1
    if not several and texts and texts[0] not in file.columns and is_several(texts):
        hint = "pass scores= (--scores 'p_*' or a list); one score for two classes is --score"
        _check.fail("scores must name one column per class, two or more", list_columns(found), hint)
    if label is None and needs_label:
        if set(file.columns) == set(file.matrix()):
            _check.fail(f"{file.name} must come with labels", "scores alone", "pass labels= (--labels FILE.npy)")
        used = {name: "scores" if several else str(kind) for name in found} | taken
        label = guess_column(file, "label", "label", LABEL_NAMES, used)
        guessed.append(f"column {label!r} as the label")
    message = f"Using {' and '.join(guessed)}." if guessed else ""
    labels = _labels_of(found, varying, classes)
    return Columns(tuple(found), labels, label, weight, tuple(segments), groups, message)


def _labels_of(scores: Sequence[str], varying: Sequence[str], given: Sequence[str] | None) -> tuple[Label, ...]:
    """Return the label of each of several columns: those given, or what varies in the names."""
    if len(scores) == 1:
        if given is not None:
            hint = "leave classes= (--classes) out, or pass scores= (--scores 'p_*') for one column per class"
            _check.fail("classes must be for several columns of scores", f"{scores[0]!r} alone", hint)
        return ()
    names = varying if given is None else list(given)
    if len(names) != len(scores):
        _check.fail("classes must be one per score column", f"{len(names)} for {len(scores)} columns", "list them all")
    values = tuple(class_values(names))
    if len(set(values)) < len(values):
        twice = next(value for value in values if values.count(value) > 1)
        hint = "name them with classes= (--classes), in the order of the columns"
        _check.fail("classes must differ", f"{twice!r} twice", hint)
    return values


def _refuse_repeated(columns: Columns) -> None:
    """Refuse a column that plays two roles."""
    one = "score" if len(columns.scores) == 1 else "scores"
    roles: list[tuple[str | None, str]] = [(name, one) for name in columns.scores]
    roles += [(name, "by") for name in columns.by]
    roles += [(columns.label, "label"), (columns.weight, "weight"), (columns.groups, "groups")]
    times = Counter(name for name, _ in roles if name is not None)
    for twice in (name for name, n in times.items() if n > 1):
        played = sorted((role for name, role in roles if name == twice), key=_ROLES.index)
        hint = f"leave {played[-1]}= (--{played[-1]}) out, or name another column for it"
        got = f"{twice!r} as {' and '.join(played)}"
        _check.fail("scores, label, weight, by and groups must be different columns", got, hint)


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
        f"did you mean {close[0]!r}"
        if close
        else f"choose one of {list_columns(file.columns, [name, option.removesuffix('s')])}",
    )


def guess_column(file: ScoreFile, parameter: str, what: str, known: Collection[str], taken: Mapping[str, str]) -> str:
    """Return the only column that is called like what is looked for, and is not taken by another option."""
    found = [column for column in file.columns if column not in taken and _bare(column) in known]
    if len(found) == 1:
        return found[0]
    hint = f"pass {parameter}= (--{what})"
    if found:
        if len(set(found)) < len(found):
            hint = "rename one of them"
        _check.fail(f"one column of {file.name} must be the {what}", f"several: {list_columns(found)}", hint)
    got = f"columns {list_columns(file.columns, known)}"
    if parameter == "scores" and (pattern := _pattern(column for column in file.columns if column not in taken)):
        hint += f"; for one column per class pass scores={pattern!r} (--scores {shlex.quote(pattern)})"
    elif used := [(column, role) for column, role in taken.items() if _bare(column) in known]:
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


def list_columns(columns: Collection[str], near: Collection[str] = ()) -> str:
    """Return the names of columns; of many the first ones, after those that resemble names that are looked for."""
    if len(columns) <= _SHOWN:
        return ", ".join(map(repr, columns))
    words = {word for name in near for word in _bare(name).split("_") if len(word) > 1}
    alike = [column for column in columns if words & set(_bare(column).split("_"))]
    alike += [column for column in columns if column not in alike and any(word in _bare(column) for word in words)]
    shown = [*alike, *(column for column in columns if column not in alike)]
    return ", ".join([*map(repr, shown[:_SHOWN]), "…"])


def _scores(file: ScoreFile, given: Sequence[str], taken: Collection[str]) -> tuple[list[str], list[str]]:
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
                hint = f"choose among {list_columns(file.columns)}"
                _check.fail(f"scores must match columns of {file.name}", repr(part), hint)
            found |= {known_column(file, "scores", name): "".join(match.groups()) for name, match in matches.items()}
    by_pattern = list(found.values())
    return list(found), [v or "" for v in by_pattern] if all(by_pattern) else _varying_parts(list(found))


def _with_groups(pattern: str) -> str:
    """Return a regular expression that catches what stands for the wild parts of a pattern."""
    parts = re.split(r"(\*|\?|\[[^\]]*\])", pattern)
    # Translated part by part; what `translate` adds around is cut off.
    wild = {"*": ".*", "?": "."}
    parts[1::2] = [wild.get(one) or fnmatch.translate(one).removeprefix("(?s:").split(")")[0] for one in parts[1::2]]
    return "".join(f"({part})" if i % 2 else re.escape(part) for i, part in enumerate(parts)) + r"\Z"


def _varying_parts(names: Sequence[str]) -> list[str]:
    """Return what is left of names without their common beginning and end, cut where words end.

    Examples
    --------
    >>> _varying_parts(["p_cat", "p_car"]), _varying_parts(["cat prob", "dog prob"])
    (['cat', 'car'], ['cat', 'dog'])
    >>> _varying_parts(["logit0", "logit1"])
    ['0', '1']
    """
    start = _common(names)
    end = _common([name[start:][::-1] for name in names])
    return [name[start : len(name) - end] for name in names]


def _common(names: Sequence[str]) -> int:
    """Return the length of the common beginning of names that leaves something of each."""
    first, shortest = (names[0], min(map(len, names))) if names else ("", 0)
    ends = [found.end() for found in _PREFIX_END.finditer(first) if found.end() < shortest]
    return max((end for end in ends if all(name.startswith(first[:end]) for name in names)), default=0)
