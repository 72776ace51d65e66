"""What joint maps must contain, before one is made of them."""

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from oddsmith._types import Floats
from oddsmith.maps import MOST_SHIFT, Input, JointMap, LogitReading, OneVsRestMap, ScalingMap, ScalingPart
from oddsmith.model._shapes import read_map
from oddsmith.model.checked import keys, number, text, whole
from oddsmith.model.strict_json import refuse, show

#: A model of more classes would not be read by anybody.
MOST_CLASSES = 1_000_000

_READINGS = ("logits", "log_probabilities", "floored_log_probabilities")

#: Coefficients that are larger overflow on the way; nothing that is fitted comes near, but for tiny logits.
_LARGEST = 1e300

#: Rounding moves a sum of weights by less.
_SUM_SLACK = 1e-9

#: Values of columns: probabilities, and numbers of every size.
_UNIT = np.array([0.0, 1e-300, 1e-16, 0.3, 0.7, 1.0])
_ANY = np.concatenate([_UNIT, -_UNIT, [30.0, -30.0, 1e4, -1e4, 1e300, -1e300]])


def read_joint_map(content: Any, k: int) -> JointMap:
    """Return the map of k classes that content describes, after every number in it was looked at."""
    shape = content.get("shape") if isinstance(content, dict) else None
    reader = {"scaling": _scaling, "one_vs_rest": _one_vs_rest}.get(shape) if isinstance(shape, str) else None
    if reader is None:
        refuse("map.shape must be one of one_vs_rest, scaling", show(shape))
    found = reader(content, k)
    with np.errstate(all="ignore"):
        # Maps of one class against the rest may take nothing but probabilities.
        if not any(np.isfinite(found.class_probability(_rows(sizes, found.columns))).all() for sizes in (_ANY, _UNIT)):
            refuse("map must give probabilities for every row", "none for some")
    return found


def _rows(sizes: Floats, columns: int) -> Floats:
    """Return rows that bring every size into every column."""
    return np.stack([np.roll(sizes, i % len(sizes)) for i in range(columns)], axis=1)


def floats(value: Any, where: str, shapes: Sequence[tuple[int, ...]]) -> Floats:
    """Return finite numbers of one of these shapes."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, OverflowError):
        refuse(f"{where} must contain numbers", show(value))
    if array.dtype.kind not in "iuf" or array.shape not in shapes or not np.all(np.abs(array) <= _LARGEST):
        refuse(f"{where} must be finite and of shape {' or '.join(map(str, shapes))}", f"shape {array.shape}")
    return array.astype(np.float64)


def columns_and_input(content: dict[str, Any], k: int) -> tuple[int, Input]:
    """Return how many columns there are, and what they hold."""
    columns = whole(content["columns"], "columns", low=1, high=MOST_CLASSES)
    if columns not in ((1, 2) if k == 2 else (k,)):
        refuse("columns must be one per label", show(columns))
    if content["input"] not in ("logits", "probabilities"):
        refuse("input must be logits or probabilities", show(content["input"]))
    return columns, cast("Input", content["input"])


def _scaling(content: dict[str, Any], k: int) -> JointMap:
    keys(content, ("shape", "columns", "input", "parts", "weights", "shift"), "map")
    given = content["parts"]
    if not isinstance(given, list) or not given:
        refuse("parts must be a list of scalings", show(given))
    weights = floats(content["weights"], "weights", [(len(given),)])
    if not (weights > 0).all() or abs(math.fsum(weights) - 1) > _SUM_SLACK:
        refuse("weights must be positive and sum to 1", show(content["weights"]))
    parts = tuple(_part(part, k) for part in given)
    return ScalingMap(*columns_and_input(content, k), parts, weights, floats(content["shift"], "shift", [(k,)]))


def _part(content: Any, k: int) -> ScalingPart:
    far = ("floor", "drop") if isinstance(content, dict) and "floor" in content else ()
    keys(content, ("name", "reading", "softening", "coef", "intercept", *far), "a part")
    # Logits are clipped at a floor that has no drop.
    sizes = [name for name in far if name == "floor" or content[name] is not None]
    reading = content["reading"]
    if reading not in _READINGS:
        refuse(f"reading must be one of {', '.join(_READINGS)}", show(reading))
    floored = reading == "floored_log_probabilities"
    return ScalingPart(
        text(content["name"], "name", limit=200),
        cast("LogitReading", reading),
        number(content["softening"], "softening", low=0, high=1 if floored else 0),
        floats(content["coef"], "coef", [(), (k,), (k, k)]),
        floats(content["intercept"], "intercept", [(k,)]),
        *(number(content[name], name, low=0, high=_LARGEST) for name in sizes),
    )


def _one_vs_rest(content: dict[str, Any], k: int) -> JointMap:
    moved = ("shift",) if "shift" in content else ()
    keys(content, ("shape", "columns", "input", "maps", "against_rest", *moved), "map")
    columns, read_as = columns_and_input(content, k)
    given, against_rest = content["maps"], content["against_rest"]
    if not isinstance(given, list) or len(given) != k or columns != k:
        refuse("maps must be a list of one map per label", show(given))
    if type(against_rest) is not bool:
        refuse("against_rest must be true or false", show(against_rest))
    maps = tuple(read_map(each, f"maps[{i}]") for i, each in enumerate(given))
    shift = floats(content["shift"], "shift", [(k,)]) if moved else None
    if shift is not None and not 0 < shift.max() - shift.min() <= MOST_SHIFT:
        refuse(f"values of shift must differ, by at most {MOST_SHIFT:g}", show(content["shift"]))
    return OneVsRestMap(columns, read_as, maps, against_rest, shift)
