"""Which rows belong to which segment: the one look-up behind every model by segment."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["rows_by_segment", "segment_name"]


def segment_name(key: Any) -> str | None:
    """Return a key as the text that names its segment, as files write it; None for a missing one."""
    if key is None or key != key:
        return None
    if isinstance(key, float) and key.is_integer():
        return str(int(key))  # a column of integers with a missing one is a column of floats in pandas
    return str(key).lower() if isinstance(key, (bool, np.bool_)) else str(key)


def rows_by_segment(keys: NDArray[Any]) -> dict[str | None, NDArray[np.intp]]:
    """Return the rows of each segment, in their order; None for those without one.

    Examples
    --------
    >>> rows_by_segment(np.array([True, False, True]))
    {'true': array([0, 2]), 'false': array([1])}
    """
    codes: dict[str | None, int] = {}
    names = (key if type(key) is str else segment_name(key) for key in keys.tolist())
    code = np.fromiter((codes.setdefault(name, len(codes)) for name in names), np.intp, len(keys))
    rows = np.split(np.argsort(code, kind="stable"), np.cumsum(np.bincount(code, minlength=len(codes)))[:-1])
    return dict(zip(codes, rows, strict=False))
