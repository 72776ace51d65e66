"""Labels as files write them: text of two values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check

Label = str | int | float | bool

_SHOWN = 5


@dataclass(frozen=True)
class Coding:
    """Which texts mean the positive class, and what the two classes are called (negative first)."""

    positive: tuple[str, ...]
    labels: tuple[Label, Label]


def read_labels(texts: Sequence[str], positive: str | None) -> Coding:
    """Tell the two classes apart by all texts that occur.

    Texts that are the same number ("1", "1.0") or the same truth ("true", "True") are the same label.
    """
    values = _values([*texts, positive] if positive is not None else texts)
    if positive is None and not _is_coding(values) and len(set(values.tolist())) <= 2:
        shown = ", ".join(repr(text) for text in sorted(texts))
        _check.fail(
            "labels must be {0, 1}, {-1, +1} or {false, true}, or positive must name the positive one",
            f"labels {shown}",
            f"pass positive={max(texts)!r} (--positive {max(texts)})",
        )
    chosen = None if positive is None else values[-1].item()
    occurring = {*values[: len(texts)].tolist()}
    if chosen is not None and chosen not in occurring and len(occurring) == 2:
        shown = " and ".join(repr(text) for text in sorted(texts)[:2])
        _check.fail("positive must be one of the labels", f"{positive!r}, with labels {shown}", "name one of them")
    if len(occurring) > 2 and values.dtype.kind != "f":
        return _one_against_the_rest(texts, values[: len(texts)], chosen)
    found = _check.as_labels(values[: len(texts)], len(texts), chosen)
    meant = tuple(text for text, yes in zip(texts, found.positive, strict=True) if yes)
    negative, yes = (label.item() if isinstance(label, np.generic) else label for label in found.classes)
    return Coding(meant, (negative, yes))


def _is_coding(values: NDArray[Any]) -> bool:
    """Whether it is plain which label is positive; of labels that are missing something else is said."""
    if values.dtype.kind == "U":
        return False
    found = set(values.tolist())
    return values.dtype.kind == "b" or found <= {0, 1} or found <= {-1, 1} or bool(np.isnan(values).any())


def _one_against_the_rest(texts: Sequence[str], values: NDArray[Any], chosen: Label | None) -> Coding:
    """Take one of several labels for the positive class, and all others for the negative one."""
    shown = ", ".join(repr(text) for text in sorted(texts)[:_SHOWN]) + (", …" if len(texts) > _SHOWN else "")
    got = f"{len(set(values.tolist()))} labels: {shown}"
    one = sorted(texts)[0]
    if chosen is None:
        hint = f"pass positive={one!r} (--positive {one}) to calibrate it against the rest"
        _check.fail("there must be two labels, or positive must name one of them", got, hint)
    if chosen not in values.tolist():
        _check.fail("positive must be one of the labels", f"{chosen!r}, with {got}", "name one of them")
    meant = tuple(text for text, value in zip(texts, values.tolist(), strict=True) if value == chosen)
    return Coding(meant, (f"not {chosen}", str(chosen)))


def _values(texts: Sequence[str]) -> NDArray[Any]:
    """Return what texts mean: truth if all do, numbers if all are, else text."""
    folded = [text.strip().casefold() for text in texts]
    if set(folded) <= {"true", "false"}:
        return np.array([text == "true" for text in folded])
    try:
        numbers = np.array([float(text.replace("_", "?")) for text in folded])  # Python takes 1_0 for 10
    except ValueError:
        return np.array(texts)
    whole = np.isfinite(numbers).all() and np.all(numbers == np.floor(numbers)) and np.all(np.abs(numbers) < 2**53)
    return numbers.astype(np.int64) if whole else numbers
