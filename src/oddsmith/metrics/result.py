"""What every result shares: it becomes plain JSON by ``to_dict()``."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from oddsmith._short_repr import ShortRepr


@dataclass(frozen=True, eq=False, repr=False)
class Result(ShortRepr):
    """A result of this package; its fields are its dictionary."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as strings, numbers, lists and dictionaries; infinite numbers by name, as JSON has none.

        Returns
        -------
        dict
        """
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}


def plain(value: Any) -> Any:
    """Return what JSON can hold of a value."""
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
