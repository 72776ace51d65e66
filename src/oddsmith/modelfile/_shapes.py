"""What each shape of calibration map must hold: one checker a shape."""

import math
from collections.abc import Callable
from typing import Any

from oddsmith.errors import InvalidInputError
from oddsmith.maps import CalibrationMap
from oddsmith.modelfile._checked import array, ascending, keys, number
from oddsmith.modelfile._strict_json import refuse, shown

#: Maps inside maps; nothing that is fitted has more than two levels.
_MAX_DEPTH = 6

#: Rounding moves a sum of weights by less.
_SUM_SLACK = 1e-9


def read_map(content: Any, where: str = "map", depth: int = 0) -> CalibrationMap:
    """Return the map that content describes, after every number in it was looked at."""
    if depth > _MAX_DEPTH:
        refuse(f"{where} must not be nested more than {_MAX_DEPTH} levels", "a deeper one")
    shape = content.get("shape") if isinstance(content, dict) else None
    checker = CHECKERS.get(shape) if isinstance(shape, str) else None
    if checker is None:
        refuse(f"{where}.shape must be one of {', '.join(sorted(CHECKERS))}", shown(shape))
    checked = checker({name: value for name, value in content.items() if name != "shape"}, where, depth)
    try:
        return CalibrationMap.from_dict({"shape": shape, **checked})
    except InvalidInputError as error:
        refuse(f"{where} must be a map", str(error))


def _polynomial(content: dict[str, Any], where: str, _depth: int) -> dict[str, Any]:
    keys(content, ("knots", "origins", "coefficients", "scale"), where)
    pieces = content["coefficients"]
    if not isinstance(pieces, list) or not pieces or not isinstance(pieces[0], list) or not 1 <= len(pieces[0]) <= 4:
        refuse(f"{where}.coefficients must be lists of one to four numbers", shown(pieces))
    return {
        "knots": ascending(content["knots"], f"{where}.knots", length=len(pieces) - 1),
        "origins": array(content["origins"], f"{where}.origins", length=len(pieces)),
        "coefficients": [array(piece, f"{where}.coefficients", length=len(pieces[0])) for piece in pieces],
        "scale": number(content["scale"], f"{where}.scale", low=0, strict=True),
    }


def _linear(content: dict[str, Any], where: str, _depth: int) -> dict[str, Any]:
    keys(content, ("knots", "values"), where)
    knots = ascending(content["knots"], f"{where}.knots")
    return {"knots": knots, "values": array(content["values"], f"{where}.values", length=len(knots), low=0, high=1)}


def _step(content: dict[str, Any], where: str, _depth: int) -> dict[str, Any]:
    keys(content, ("knots", "at", "between"), where)
    knots = ascending(content["knots"], f"{where}.knots")
    return {
        "knots": knots,
        "at": array(content["at"], f"{where}.at", length=len(knots), low=0, high=1),
        "between": array(content["between"], f"{where}.between", length=len(knots) + 1, low=0, high=1),
    }


def _cosine(content: dict[str, Any], where: str, _depth: int) -> dict[str, Any]:
    keys(content, ("low", "high", "coefficients"), where)
    low, high = ascending([content["low"], content["high"]], f"{where}.low and high")
    return {"low": low, "high": high, "coefficients": array(content["coefficients"], f"{where}.coefficients")}


def _log_basis(content: dict[str, Any], where: str, _depth: int) -> dict[str, Any]:
    keys(content, ("slopes", "intercept", "centre", "scale"), where)
    return {
        "slopes": array(content["slopes"], f"{where}.slopes", length=2),
        "intercept": number(content["intercept"], f"{where}.intercept"),
        "centre": number(content["centre"], f"{where}.centre"),
        "scale": number(content["scale"], f"{where}.scale", low=0, strict=True),
    }


def _unit_input(content: dict[str, Any], where: str, depth: int) -> dict[str, Any]:
    keys(content, ("inner", "clip"), where)
    inner = read_map(content["inner"], f"{where}.inner", depth + 1).to_dict()
    return {"inner": inner, "clip": number(content["clip"], f"{where}.clip", low=0, high=0.5, strict=True)}


def _soft_logit(content: dict[str, Any], where: str, depth: int) -> dict[str, Any]:
    keys(content, ("inner", "softness"), where)
    inner = read_map(content["inner"], f"{where}.inner", depth + 1).to_dict()
    return {"inner": inner, "softness": number(content["softness"], f"{where}.softness", low=0, strict=True)}


def _blend(content: dict[str, Any], where: str, depth: int) -> dict[str, Any]:
    keys(content, ("parts", "weights"), where)
    weights = array(content["weights"], f"{where}.weights", low=0, high=1)
    parts = content["parts"]
    if not isinstance(parts, list) or len(parts) != len(weights):
        refuse(f"{where}.parts must be a list of as many maps as weights", shown(parts))
    if abs(math.fsum(weights) - 1) > _SUM_SLACK:
        refuse(f"{where}.weights must sum to 1", repr(math.fsum(weights)))
    maps = [read_map(part, f"{where}.parts[{i}]", depth + 1).to_dict() for i, part in enumerate(parts)]
    return {"parts": maps, "weights": weights}


def _logit_input(content: dict[str, Any], where: str, depth: int) -> dict[str, Any]:
    if "clip" in content and content["clip"] is None:
        return {**_unit_input({**content, "clip": 0.1}, where, depth), "clip": None}
    return _unit_input(content, where, depth)


#: A shape that is not here can be neither saved nor loaded.
CHECKERS: dict[str, Callable[[dict[str, Any], str, int], dict[str, Any]]] = {
    "blend": _blend,
    "cosine": _cosine,
    "linear": _linear,
    "log_basis": _log_basis,
    "logit_input": _logit_input,
    "polynomial": _polynomial,
    "soft_log_odds": _soft_logit,
    "soft_logit": _soft_logit,
    "step": _step,
    "unit_input": _unit_input,
}
