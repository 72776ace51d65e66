"""Labels as files write them: text of two values."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith._types import Label

#: What a column of labels is called.
LABEL_NAMES = frozenset(
    {"actual", "class", "label", "labels", "outcome", "response", "target", "targets", "truth", "y", "y_true"}
)


def read_labels(texts: Sequence[str], positive: str | None) -> tuple[tuple[str, ...], tuple[Label, Label]]:
    """Return which of all texts that occur mean the positive class, and what the two classes are called.

    Texts that are the same number ("1", "1.0") or the same truth ("true", "True") are the same label.
    """
    values = label_values(texts if positive is None else [*texts, positive])
    chosen = None if positive is None else values[-1].item()
    n = len(texts)
    found = _check.as_labels(values[:n], n, chosen, against_rest=True, option="positive")
    negative, yes = (label.item() if isinstance(label, np.generic) else label for label in found.classes)
    return tuple(text for text, meant in zip(texts, found.positive, strict=True) if meant), (negative, yes)


def label_values(texts: Sequence[str]) -> NDArray[Any]:
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
