"""Labels as files write them: text of two values."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith._types import Label

#: What a column of labels is called.
LABEL_NAMES = frozenset(
    {
        *("actual", "class", "ground_truth", "label", "labels", "outcome", "response"),
        *("target", "targets", "truth", "y", "y_true"),
    }
)

#: Labels that mean one class or the other wherever they occur, as `_folded` returns them.
_YES = frozenset({1.0, "+", "ja", "oui", "pos", "positive", "si", "sim", "sí", "t", "true", "y", "yes"})
_NO = frozenset({0.0, -1.0, "-", "f", "false", "n", "não", "neg", "negative", "nein", "no", "non"})

#: Labels that a census names.
_SHOWN = 10


def read_labels(
    counts: Mapping[str, int], positive: str | None, option: str = "positive"
) -> tuple[tuple[str, ...], tuple[Label, Label]]:
    """Return which of all texts that occur mean the positive class, and what the two classes are called.

    Texts that are the same number ("1", "1.0") or the same truth ("true", "True") are the same label. Other texts are
    the same label only where they are equal: if one is positive, those that differ from it by case or blanks alone must
    be too.

    Parameters
    ----------
    counts : mapping of str to int
        All labels as they are written, and how many rows have each; 0 where that is unknown.
    positive : str or None
        The positive label, or several of them joined by commas.
    option : str, default "positive"
        What the user calls ``positive``.
    """
    texts = sorted(counts)
    if positive is None:
        values = label_values(texts)
        if not _is_coded(values):
            _refuse_unnamed(counts, option)
        chosen, sign = set[str](), None
    else:
        named = [positive] if _spellings(texts, positive) else _split_labels(counts, positive, option)
        chosen = {text for name in named for text in _spellings(texts, name)}
        _refuse_split(counts, chosen, option)
        values = label_values([*texts, named[0]])
        values, sign = values[:-1].copy(), values[-1].item()
        values[[text in chosen for text in texts]] = sign
    found = _check.as_labels(values, len(texts), sign, against_rest=True, option=option)
    negative, yes = (label.item() if isinstance(label, np.generic) else label for label in found.classes)
    return tuple(text for text, meant in zip(texts, found.positive, strict=True) if meant), (negative, yes)


def label_census(counts: Mapping[str, int], positive: Sequence[str] = ()) -> str:
    """Return how many rows have each label, the commonest first, and which are positive.

    Examples
    --------
    >>> label_census({"JA": 6, "ja": 94, "nein": 1023}, ["JA", "ja"])
    'nein 1,023, ja 94, JA 6; positive: ja, JA'
    """
    ordered = sorted(counts, key=lambda text: (-counts[text], text))
    census = _first([f"{_show(text)} {counts[text]:,}" if counts[text] else _show(text) for text in ordered])
    meant = [_show(text) for text in ordered if text in positive]
    return f"{census}; positive: {_first(meant)}" if meant else census


def _first(words: list[str]) -> str:
    """Return the first words of many."""
    return ", ".join([*words[:_SHOWN], *([f"{len(words) - _SHOWN} more"] if len(words) > _SHOWN else [])])


def are_plain(counts: Mapping[str, int]) -> bool:
    """Tell whether all labels are written as 0 and 1."""
    return counts.keys() <= {"0", "1"}


def _show(text: str) -> str:
    """Return a label as it is written, in quotes where it could be taken for a number of rows, or its end is unseen."""
    return repr(text) if isinstance(_fold(text), float) or text != text.strip() or "," in text else text


def _spellings(texts: Sequence[str], name: str) -> list[str]:
    """Return the texts that are this label."""
    values = label_values([*texts, name])
    return [text for text, value in zip(texts, values[:-1], strict=True) if value == values[-1]]


def _fold(text: str) -> str | float:
    """Return what labels have in common that nobody writes on purpose to tell them apart."""
    bare = text.strip().casefold()
    try:
        return float(bare.replace("_", "?"))  # Python takes 1_0 for 10
    except ValueError:
        return bare


def _split_labels(counts: Mapping[str, int], positive: str, option: str) -> list[str]:
    """Return the labels that are joined by commas, each of which must occur."""
    texts = sorted(counts)
    parts = positive.split(",")
    kinds = {_fold(text) for text in texts}
    if len(parts) == 1 and len(kinds) < 2 and _fold(positive) not in kinds:
        return parts  # all rows are negative
    named = [part if _spellings(texts, part) else part.strip() for part in parts]
    for name in named:
        if not _spellings(texts, name):
            alike = [text for text in texts if _fold(text) == _fold(name)]
            hint = _pass(alike, option) if alike else f"list labels of the file, joined by commas ({_pass([], option)})"
            _check.fail(f"{option} must name labels that occur", f"{name!r} with labels {label_census(counts)}", hint)
    return named


def _refuse_split(counts: Mapping[str, int], chosen: set[str], option: str) -> None:
    """Refuse to count labels on both sides that differ by case, blanks or the way a number is written alone."""
    kinds = {_fold(text) for text in chosen}
    missed = [text for text in counts if text not in chosen and _fold(text) in kinds]
    if missed:
        texts = sorted(chosen, key=lambda text: (-counts[text], text)) + sorted(missed)
        _check.fail(
            "labels that differ by case or blanks only must be on the same side",
            f"labels {label_census(counts)}",
            f"{_pass(texts, option)}, or write them in the same way in the file",
        )


def _is_coded(values: NDArray[Any]) -> bool:
    """Tell whether labels need no name for the positive one, or are no labels at all, which is refused elsewhere."""
    found = set(values.tolist())
    outcomes = values.dtype.kind == "f" and (len(found) > 2 or not np.isfinite(values).all())
    return found <= {0, 1} or found <= {-1, 1} or found == {1, 2} or outcomes


def _refuse_unnamed(counts: Mapping[str, int], option: str) -> NoReturn:
    """Refuse labels of which nobody can tell which are positive, with the likeliest ones in the hint."""
    kinds: dict[str | float, list[str]] = {}
    for text in sorted(counts, key=lambda text: (-counts[text], text)):
        kinds.setdefault(_fold(text), []).append(text)
    yes = [text for kind, texts in kinds.items() if kind in _YES for text in texts]
    if yes and all(kind in _YES or kind in _NO for kind in kinds):
        hint = _pass(yes, option)
    elif len(kinds) <= 2:
        hint = _pass(kinds[max(kinds, key=str)], option)
    else:
        hint = (
            f"list the positive ones, joined by commas ({_pass([], option)}): all others are negative; for a "
            "probability of each class pass one column per class (--scores 'p_*')"
        )
    must = f"labels must be 0 and 1, -1 and 1, 1 and 2 or false and true, or {option} must name the positive ones"
    _check.fail(must, f"labels {label_census(counts)}", hint)


def _pass(texts: Sequence[str], option: str) -> str:
    """Return what to pass for labels, in Python and on the command line."""
    if not texts:
        return f"{option}= (--{option})"
    joined = ",".join(texts)
    return f"pass {option}={joined!r} (--{option} {shlex.quote(joined)})"


def label_values(texts: Sequence[str]) -> NDArray[Any]:
    """Return what texts mean: truth if all do, numbers if all are, else text."""
    folded = [text.strip().casefold() for text in texts]
    if set(folded) <= {"true", "false"}:
        return np.array([text == "true" for text in folded])
    try:
        numbers = np.array([float(text.replace("_", "?")) for text in folded])  # as in `_folded`
    except ValueError:
        return np.array(texts)
    whole = np.isfinite(numbers).all() and np.all(numbers == np.floor(numbers)) and np.all(np.abs(numbers) < 2**53)
    return numbers.astype(np.int64) if whole else numbers


def class_values(names: Sequence[str], texts: Sequence[str] = ()) -> list[Label]:
    """Return what names of classes mean, and after them texts that are compared with them.

    All are text where a class is called "nan" or "inf": as a number it would be missing, or equal no other.

    Examples
    --------
    >>> class_values(["1", "2"], ["2.0", "nan"]), class_values(["1", "nan"], ["nan"])
    ([1.0, 2.0, 2.0, nan], ['1', 'nan', 'nan'])
    """
    own = label_values(names)
    if own.dtype.kind == "f" and not np.isfinite(own).all():
        return [*names, *texts]
    return list(label_values([*names, *texts]).tolist())
