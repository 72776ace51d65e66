"""What each shape of calibration map must contain, one checker per shape, and the effects of columns."""

import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from oddsmith.errors import InvalidInputError
from oddsmith.maps import LARGEST_SLOPE, MOST_SHIFT, SMALLEST_SLOPE, CalibrationMap, Effects, Term
from oddsmith.model.checked import array, ascending, keys, number, text
from oddsmith.model.strict_json import refuse, show

#: Maps inside maps; nothing that is fitted has more than two levels.
_MAX_DEPTH = 6

#: Rounding moves a sum of weights by less.
_SUM_SLACK = 1e-9

#: Sums of coefficients, and slopes, that are larger overflow on the way; nothing that is fitted comes near.
_LARGEST = 1e200

_MAX = sys.float_info.max

#: Scores of every size: zero, the smallest and the largest doubles, and powers of ten between.
_SIZES = np.array([5e-324, *(10.0**power for power in range(-320, 309, 5)), 0.3, 0.5, 0.7, 1.0, _MAX])
_EXTREMES = np.concatenate([-_SIZES, [0.0], _SIZES])


def read_map(content: Any, where: str = "map", depth: int = 0) -> CalibrationMap:
    """Return the map that content describes, after every number in it was looked at."""
    if depth > _MAX_DEPTH:
        refuse(f"{where} must not be nested more than {_MAX_DEPTH} levels", "a deeper one")
    shape = content.get("shape") if isinstance(content, dict) else None
    if not isinstance(shape, str) or shape not in CHECKERS:
        refuse(f"{where}.shape must be one of {', '.join(sorted(CHECKERS))}", show(shape))
    checker, names = CHECKERS[shape]
    rest = keys({name: value for name, value in content.items() if name != "shape"}, names, where)
    checked = checker(rest, where, depth)
    try:
        found = CalibrationMap.from_dict({"shape": shape, **checked})
    except InvalidInputError as error:
        refuse(f"{where} must be a map", str(error))
    if depth == 0:
        _refuse_undefined(found, where)
    return found


def _refuse_undefined(found: CalibrationMap, where: str) -> None:
    """Try a map wherever numbers that are each in order could give no number together."""
    knots = np.array([knot for shape in _within(found.to_dict()) for knot in shape.get("knots", ())])
    scores = np.unique(np.concatenate([_EXTREMES, knots, knots[:-1] / 2 + knots[1:] / 2]))
    for tried in (scores, scores[(scores > 0) & (scores < 1)]):
        try:
            with np.errstate(all="ignore"):
                values = found.log_odds(tried), found.probability(tried)
        except InvalidInputError:
            continue  # a map of probabilities takes no other scores
        undefined = np.isnan(values).any(axis=0)
        if undefined.any():
            refuse(f"{where} must give a probability for every score", f"none for {float(tried[undefined][0])!r}")
        return


def _within(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Walk over a map and those inside."""
    yield content
    for part in (content["inner"],) if "inner" in content else content.get("parts", ()):
        yield from _within(part)


def _polynomial(content: dict[str, Any], where: str, _depth: int) -> dict[str, Any]:
    pieces = content["coefficients"]
    if not isinstance(pieces, list) or not pieces or not isinstance(pieces[0], list) or not 2 <= len(pieces[0]) <= 4:
        refuse(f"{where}.coefficients must be lists of two to four numbers", show(pieces))
    return {
        "knots": ascending(content["knots"], f"{where}.knots", length=len(pieces) - 1),
        "origins": array(content["origins"], f"{where}.origins", length=len(pieces)),
        "coefficients": [array(piece, f"{where}.coefficients", length=len(pieces[0])) for piece in pieces],
        "scale": _scale(content["scale"], content["origins"], where),
    }


def _scale(value: Any, origins: list[float], where: str) -> float:
    """Return a unit in which the points that scores are measured from can be told."""
    scale = number(value, f"{where}.scale", low=0, strict=True)
    if scale < 1 and max(map(abs, origins)) > _MAX * scale:
        refuse(f"{where}.scale must not be tiny compared with the scores", f"{scale!r}")
    return scale


def _linear(content: dict[str, Any], where: str, _depth: int) -> dict[str, Any]:
    knots = ascending(content["knots"], f"{where}.knots")
    return {"knots": knots, "values": array(content["values"], f"{where}.values", length=len(knots), low=0, high=1)}


def _step(content: dict[str, Any], where: str, _depth: int) -> dict[str, Any]:
    knots = ascending(content["knots"], f"{where}.knots")
    return {
        "knots": knots,
        "at": array(content["at"], f"{where}.at", length=len(knots), low=0, high=1),
        "between": array(content["between"], f"{where}.between", length=len(knots) + 1, low=0, high=1),
    }


def _cosine(content: dict[str, Any], where: str, _depth: int) -> dict[str, Any]:
    low, high = ascending([content["low"], content["high"]], f"{where}.low and high")
    coefficients = array(content["coefficients"], f"{where}.coefficients")
    if sum(map(abs, coefficients)) > _LARGEST:
        refuse(f"{where}.coefficients must sum to at most {_LARGEST:g}", "more")
    return {"low": low, "high": high, "coefficients": coefficients}


def _log_basis(content: dict[str, Any], where: str, _depth: int) -> dict[str, Any]:
    return {
        "slopes": array(content["slopes"], f"{where}.slopes", length=2, low=-_LARGEST, high=_LARGEST),
        "intercept": number(content["intercept"], f"{where}.intercept"),
        "centre": (centre := number(content["centre"], f"{where}.centre")),
        "scale": _scale(content["scale"], [centre], where),
    }


def _unit_input(content: dict[str, Any], where: str, depth: int) -> dict[str, Any]:
    checked = _logit_input(content, where, depth)
    if checked["clip"] is None:
        refuse(f"{where}.clip must be a number", show(None))
    return checked


def _soft_logit(content: dict[str, Any], where: str, depth: int) -> dict[str, Any]:
    inner = read_map(content["inner"], f"{where}.inner", depth + 1).to_dict()
    return {"inner": inner, "softness": number(content["softness"], f"{where}.softness", low=1 / _MAX)}


def _held_input(content: dict[str, Any], where: str, depth: int) -> dict[str, Any]:
    low, high = ascending([content["low"], content["high"]], f"{where}.low and high")
    center, *_ = array([content["center"], low, high], f"{where}.center, low and high", low=-_MAX / 4, high=_MAX / 4)
    scale = number(content["scale"], f"{where}.scale", low=0, strict=True)
    # No score that is held within the bounds may overflow on the way.
    if max(abs(low - center), abs(high - center)) > _LARGEST * scale:
        refuse(f"{where}.scale must not be tiny compared with low and high", f"{scale!r}")
    inner = read_map(content["inner"], f"{where}.inner", depth + 1).to_dict()
    return {"inner": inner, "low": low, "high": high, "center": center, "scale": scale}


def _shifted(content: dict[str, Any], where: str, depth: int) -> dict[str, Any]:
    inner = read_map(content["inner"], f"{where}.inner", depth + 1).to_dict()
    return {"inner": inner, "shift": number(content["shift"], f"{where}.shift", low=-MOST_SHIFT, high=MOST_SHIFT)}


def _adjusted(content: dict[str, Any], where: str, depth: int) -> dict[str, Any]:
    slope = number(content["slope"], f"{where}.slope", low=SMALLEST_SLOPE, high=LARGEST_SLOPE)
    return {**_shifted({name: content[name] for name in ("inner", "shift")}, where, depth), "slope": slope}


def _blend(content: dict[str, Any], where: str, depth: int) -> dict[str, Any]:
    weights = array(content["weights"], f"{where}.weights", low=0, high=1)
    parts = content["parts"]
    if not isinstance(parts, list) or len(parts) != len(weights):
        refuse(f"{where}.parts must be a list of as many maps as weights", show(parts))
    if abs(math.fsum(weights) - 1) > _SUM_SLACK:
        refuse(f"{where}.weights must sum to 1", repr(math.fsum(weights)))
    maps = [read_map(part, f"{where}.parts[{i}]", depth + 1).to_dict() for i, part in enumerate(parts)]
    return {"parts": maps, "weights": weights}


def _logit_input(content: dict[str, Any], where: str, depth: int) -> dict[str, Any]:
    clip = content["clip"]
    if clip is not None:
        clip = number(clip, f"{where}.clip", low=0, high=0.5, strict=True)
    return {"inner": read_map(content["inner"], f"{where}.inner", depth + 1).to_dict(), "clip": clip}


Checker = Callable[[dict[str, Any], str, int], dict[str, Any]]

#: What each shape holds, and who looks at it. A shape that is not here can be neither saved nor loaded.
CHECKERS: dict[str, tuple[Checker, tuple[str, ...]]] = {
    "adjusted": (_adjusted, ("inner", "slope", "shift")),
    "blend": (_blend, ("parts", "weights")),
    "cosine": (_cosine, ("low", "high", "coefficients")),
    "held_input": (_held_input, ("inner", "low", "high", "center", "scale")),
    "linear": (_linear, ("knots", "values")),
    "log_basis": (_log_basis, ("slopes", "intercept", "centre", "scale")),
    "logit_input": (_logit_input, ("inner", "clip")),
    "polynomial": (_polynomial, ("knots", "origins", "coefficients", "scale")),
    "shifted": (_shifted, ("inner", "shift")),
    "soft_log_odds": (_soft_logit, ("inner", "softness")),
    "soft_logit": (_soft_logit, ("inner", "softness")),
    "step": (_step, ("knots", "at", "between")),
    "unit_input": (_unit_input, ("inner", "clip")),
}


def read_effects(content: Any, n_columns: int) -> Effects:
    """Return the effects that content describes, after every value in it was checked."""
    keys(content, ("terms",), "effects")
    if not isinstance(content["terms"], list):
        refuse("effects.terms must be a list", show(content["terms"]))
    terms = tuple(_read_term(term, f"effects.terms[{i}]", n_columns) for i, term in enumerate(content["terms"]))
    if len({term.columns for term in terms}) < len(terms):
        refuse("effects.terms must be of different columns", "two of the same")
    return Effects(n_columns, terms)


def _read_term(content: Any, where: str, n_columns: int) -> Term:
    keys(content, ("columns", "keys", "shifts", "slopes"), where)
    columns, names = content["columns"], content["keys"]
    if not isinstance(columns, list) or any(type(one) is not int for one in columns):
        refuse(f"{where}.columns must be a list of whole numbers", show(columns))
    if sorted(set(columns) & set(range(n_columns))) != columns:
        refuse(f"{where}.columns must be ascending numbers of columns", show(columns))
    if not isinstance(names, list) or any(not isinstance(key, list) or len(key) != len(columns) for key in names):
        refuse(f"{where}.keys must be lists of one key per column", show(names))
    found = tuple(tuple(text(value, f"{where}.keys") for value in key) for key in names)
    if len(set(found)) < len(found) or (not columns and len(found) != 1):
        refuse(f"{where}.keys must differ", show(names))
    shifts = array(content["shifts"], f"{where}.shifts", length=len(found), low=-MOST_SHIFT, high=MOST_SHIFT)
    slopes = array(content["slopes"], f"{where}.slopes", length=len(found), low=-LARGEST_SLOPE, high=LARGEST_SLOPE)
    return Term(tuple(columns), found, np.array(shifts), np.array(slopes))
