"""How joint scalings read what they are given: logits, or the logarithms of probabilities."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.maps.joint import LEAST, Input

DeclaredInput = Literal["auto", "logits", "probabilities"]


def read_rows(values: ArrayLike, given: DeclaredInput) -> tuple[Floats, Input]:
    """Return the columns that came, shape (n, c), and what they were taken for.

    One column is the log-odds, or the probability, of the second of two classes.
    """
    _check.one_of(given, "input", ("auto", "logits", "probabilities"))
    array = _check.as_array(_on_this_machine(values), "logits", (1, 2), unit=given == "probabilities")
    rows = array[:, None] if array.ndim == 1 else array
    if given == "probabilities":
        _check.as_distribution(rows[:, 0] if rows.shape[1] == 1 else rows)
        return rows, given
    return rows, "probabilities" if given == "auto" and rows.shape[1] > 1 and _check.are_distributions(
        rows
    ) else "logits"


def logits_of(rows: Floats, kind: Input) -> Floats:
    """Return one logit per class."""
    if rows.shape[1] == 1:
        p = rows[:, 0]
        rows = np.column_stack([1 - p, p] if kind == "probabilities" else [np.zeros(len(p)), p])
    return np.log(np.maximum(rows, LEAST)) if kind == "probabilities" else rows


def _on_this_machine(values: Any) -> Any:
    """Take a tensor out of its graph and off its device, whatever library it is from."""
    for step in ("detach", "cpu"):
        if callable(take := getattr(values, step, None)):
            values = take()
    if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
        values = np.from_dlpack(values)
    return values
