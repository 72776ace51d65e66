"""A repr that fits in a line: long arrays, sequences and mappings are shown by their size."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

#: Longer values are shown by their size.
_LONGEST = 4


class ShortRepr:
    """A dataclass whose repr does not grow with its arrays; declare it with ``repr=False``."""

    def __repr__(self) -> str:
        shown = (f"{field.name}={_short(getattr(self, field.name))}" for field in fields(self) if field.repr)  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(shown)})"


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return repr(value.tolist()) if value.size <= _LONGEST else f"<array of shape {value.shape}>"
    if isinstance(value, (list, tuple, Mapping)) and len(value) > _LONGEST:
        return f"<{len(value):,} items>"
    return repr(value.item() if isinstance(value, np.generic) else value)
