"""Take values out of parsed JSON, refusing whatever is not as it must be."""

import itertools
import math
import re
from collections.abc import Collection
from typing import Any

import numpy as np

from oddsmith.model.strict_json import refuse, show

_IDENTIFIER = re.compile("[A-Za-z][A-Za-z0-9_.-]{0,63}")
_MAX_TEXT = 10_000
_MAX_DEPTH = 8


def keys(value: Any, names: Collection[str], where: str) -> dict[str, Any]:
    """Return an object that has exactly these keys."""
    if not isinstance(value, dict):
        refuse(f"{where} must be an object", show(value))
    if value.keys() != set(names):
        missing, unknown = sorted(set(names) - value.keys()), sorted(value.keys() - set(names))
        refuse(f"{where} must contain exactly {', '.join(names)}", f"missing {missing}, unknown {show(str(unknown))}")
    return value


def text(value: Any, where: str, *, limit: int = _MAX_TEXT) -> str:
    """Return Unicode of limited length."""
    if not isinstance(value, str) or len(value) > limit:
        refuse(f"{where} must be text of at most {limit} characters", show(value))
    if any("\ud800" <= character <= "\udfff" for character in value):
        refuse(f"{where} must be Unicode text", show(value))
    return value


def identifier(value: Any, where: str) -> str:
    """Return the name of something in a program: nothing that could mean more than itself, wherever it is written."""
    if not isinstance(value, str) or not _IDENTIFIER.fullmatch(value):
        refuse(f"{where} must be a name of at most 64 letters, digits and _ . -, a letter first", show(value))
    return value


def number(value: Any, where: str, *, low: float = -math.inf, high: float = math.inf, strict: bool = False) -> float:
    """Return a finite number within bounds; ``strict``: not at a bound."""
    if type(value) not in (int, float):
        refuse(f"{where} must be a number", show(value))
    try:
        result = float(value)
    except OverflowError:
        refuse(f"{where} must be finite", "an integer beyond the range of doubles")
    if not math.isfinite(result) or not low <= result <= high or (strict and result in (low, high)):
        bounds = "" if low == -math.inf and high == math.inf else f" and between {low:g} and {high:g}"
        refuse(f"{where} must be finite{bounds}", show(value))
    return result


def whole(value: Any, where: str, *, low: int, high: int = 2**63 - 1) -> int:
    """Return an integer within bounds."""
    if type(value) is not int or not low <= value <= high:
        refuse(f"{where} must be an integer between {low} and {high}", show(value))
    return value


def array(
    value: Any, where: str, *, length: int | None = None, low: float = -math.inf, high: float = math.inf
) -> list[float]:
    """Return a list of finite numbers within bounds, of a given length (default: not empty)."""
    if not isinstance(value, list) or not {type(item) for item in value} <= {int, float}:
        refuse(f"{where} must be a list of numbers", show(value))
    if len(value) != length and (length is not None or not value):
        refuse(f"{where} must have {'at least one number' if length is None else f'{length} numbers'}", str(len(value)))
    try:
        numbers = np.array(value, dtype=np.float64)
    except OverflowError:
        refuse(f"{where} must be finite", "an integer beyond the range of doubles")
    if not np.all(np.isfinite(numbers) & (numbers >= low) & (numbers <= high)):
        refuse(f"{where} must be finite{'' if low == -math.inf else f' and in [{low:g}, {high:g}]'}", "other numbers")
    checked: list[float] = numbers.tolist()
    return checked


def ascending(value: Any, where: str, *, length: int | None = None) -> list[float]:
    """Return a list of numbers each of which is larger than the one before."""
    numbers = array(value, where, length=length)
    for before, after in itertools.pairwise(numbers):
        if after <= before:
            refuse(f"{where} must ascend", f"{after!r} after {before!r}")
    return numbers


def plain(value: Any, where: str, depth: int = 0) -> Any:
    """Return a value made of objects, lists, text, numbers, booleans and null, not deeper than a few levels."""
    if depth > _MAX_DEPTH:
        refuse(f"{where} must not be nested more than {_MAX_DEPTH} levels", "a deeper one")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return text(value, where)
    if isinstance(value, list):
        return [plain(item, where, depth + 1) for item in value]
    if isinstance(value, dict):
        return {text(key, where): plain(item, where, depth + 1) for key, item in value.items()}
    if type(value) is int:
        return whole(value, where, low=-(2**63))
    return number(value, where)
