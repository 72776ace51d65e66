"""Fitted scalings as JSON: numbers and labels only, sealed by a checksum."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from oddsmith._types import Floats
from oddsmith._version import __version__
from oddsmith.modelfile.strict_json import refuse, render, shown

FORMAT = "oddsmith scaling"

#: Raised when a file of today would be misread by an older version.
SCHEMA = 1

KEYS = ("format", "schema", "version", "method", "parameters", "labels", "columns", "input", "fitted")


def to_json(scaling: Any) -> str:
    """Return a fitted scaling as text."""
    parameters = {name: value for name, value in scaling.get_params().items() if name != "classes"}
    return render(
        {
            "format": FORMAT,
            "schema": SCHEMA,
            "version": __version__,
            "method": type(scaling).__name__,
            "parameters": parameters,
            "labels": scaling.classes_.tolist(),
            "columns": scaling.n_features_in_,
            "input": scaling.input_,
            "fitted": scaling._state(),
        }
    )


def floats(value: Any, where: str, shapes: Sequence[tuple[int, ...]]) -> Floats:
    """Return finite numbers of one of these shapes."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        refuse(f"{where} must hold numbers", shown(value))
    if array.shape not in shapes or not np.isfinite(array).all():
        refuse(f"{where} must be finite and of shape {' or '.join(map(str, shapes))}", f"shape {array.shape}")
    return array
