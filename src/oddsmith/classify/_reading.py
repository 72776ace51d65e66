"""How joint scalings read what they are given: logits, or the logarithms of probabilities."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from oddsmith import _check
from oddsmith._types import Floats

Input = Literal["auto", "logits", "probabilities"]
Kind = Literal["logits", "probabilities"]

#: Smaller probabilities are read as this one.
_LEAST = 1e-16


def read_logits(values: ArrayLike, given: Input) -> tuple[Floats, int, Kind]:
    """Return logits with one column per class, how many columns came, and what they were taken for.

    One column is the log-odds, or the probability, of the second of two classes.
    """
    _check.one_of(given, "input", ("auto", "logits", "probabilities"))
    array = _check.as_array(_on_this_machine(values), "logits", (1, 2), unit=given == "probabilities")
    single = array.ndim == 1 or array.shape[1] == 1
    if given == "probabilities":
        return _log_probabilities(array, single), 1 if single else array.shape[1], given
    if single:
        return np.column_stack([np.zeros(len(array)), array.ravel()]), 1, "logits"
    if given == "auto" and _check.are_distributions(array):
        return _log_probabilities(array, single), array.shape[1], "probabilities"
    return array, array.shape[1], "logits"


def _log_probabilities(prob: Floats, single: bool) -> Floats:
    rows = _check.as_distribution(prob.ravel() if single else prob)
    return np.log(np.maximum(rows, _LEAST))


def _on_this_machine(values: Any) -> Any:
    """Take a tensor out of its graph and off its device, whatever library it is from."""
    for step in ("detach", "cpu"):
        if callable(take := getattr(values, step, None)):
            values = take()
    if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
        values = np.from_dlpack(values)
    return values
