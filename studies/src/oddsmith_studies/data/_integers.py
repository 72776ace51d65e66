"""Comma-separated integers, read a few megabytes at a time."""

import warnings

import numpy as np
from numpy.typing import NDArray

from oddsmith import checks

_BLOCK = 1 << 23

Integers = NDArray[np.int16]


def parse_integers(raw: bytes, width: int, where: str) -> Integers:
    r"""Return a table of small integers from lines of ``width`` values each.

    Examples
    --------
    >>> from oddsmith_studies.data._integers import parse_integers
    >>> parse_integers(b"1,2\n3,4\n", 2, "example").tolist()
    [[1, 2], [3, 4]]
    """
    tables, start = [np.empty((0, width), np.int16)], 0
    while start < len(raw):
        end = raw.find(b"\n", start + _BLOCK) + 1 or len(raw)
        tables.append(_parse_block(raw[start:end].strip(), width, where))
        start = end
    return np.concatenate(tables)


def _parse_block(lines: bytes, width: int, where: str) -> Integers:
    n_lines = lines.count(b"\n") + 1 if lines else 0
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            values = np.fromstring(lines.replace(b"\r", b"").replace(b"\n", b","), dtype=np.int32, sep=",")
        except (ValueError, DeprecationWarning):
            values = np.empty(0, np.int32)
    if values.size != n_lines * width or (values.size and np.abs(values).max() > np.iinfo(np.int16).max):
        checks.fail(
            f"{where} must contain {width} small integers a line", f"lines such as {lines[:60]!r}", "get it again"
        )
    return values.reshape(n_lines, width).astype(np.int16)
