"""Which rows belong to which segment: the one look-up behind every model by segment."""

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check

__all__ = ["Segment", "rows_by_segment", "segment_name", "segment_names"]

#: The name of a segment: the text of a key, or of several columns the texts of all keys.
Segment: TypeAlias = str | tuple[str, ...]


def segment_name(key: Any) -> str | None:
    """Return a key as the text that names its segment, as files write it; None for a missing one."""
    if key is None or key != key:
        return None
    if isinstance(key, float) and key.is_integer():
        return str(int(key))  # a column of integers with a missing one is a column of floats in pandas
    return str(key).lower() if isinstance(key, (bool, np.bool_)) else str(key)


def segment_names(keys: Iterable[Any]) -> list[tuple[str, ...]]:
    """Return the texts that name segments, which must differ; a key of several columns is a tuple."""
    names: list[tuple[str, ...]] = []
    for key in keys:
        texts = tuple(map(segment_name, key if isinstance(key, tuple) else (key,)))
        known = tuple(text for text in texts if text is not None)
        if len(known) < len(texts):
            _check.fail("keys of segments must not be missing", repr(key), "name the missing values, or leave them out")
        names.append(known)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        got = f"two that are {', '.join(twice)}"
        _check.fail("segments must be different when their keys are written as text", got, "rename one")
    return names


def rows_by_segment(*keys: NDArray[Any], partial: bool = False) -> dict[Any, NDArray[np.intp]]:
    """Return the rows of each segment, in their order; None for those without one.

    Segments are those of one column of keys, or of several, whose names are then tuples. With ``partial``, names are
    always tuples, in which missing keys are None.

    Examples
    --------
    >>> rows_by_segment(np.array([True, False, True]))
    {'true': array([0, 2]), 'false': array([1])}
    >>> rows_by_segment(np.array(["a", "b"]), np.array([1, 2]))
    {('a', '1'): array([0]), ('b', '2'): array([1])}
    """
    codes: dict[Any, int] = {}
    columns = [[key if type(key) is str else segment_name(key) for key in column.tolist()] for column in keys]
    names: Iterable[Any] = columns[0]
    if partial:
        names = zip(*columns, strict=True)
    elif len(columns) > 1:
        names = (None if None in several else several for several in zip(*columns, strict=True))
    code = np.fromiter((codes.setdefault(name, len(codes)) for name in names), np.intp, len(columns[0]))
    rows = np.split(np.argsort(code, kind="stable"), np.cumsum(np.bincount(code, minlength=len(codes)))[:-1])
    return dict(zip(codes, rows, strict=False))
