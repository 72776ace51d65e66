"""Files that scalings wrote before schema 2 of model files."""

from typing import Any

import numpy as np

from oddsmith.maps.joint import LogitReading, ScalingMap, ScalingPart
from oddsmith.modelfile._joint_maps import columns_and_input, floats, read_joint_map
from oddsmith.modelfile.checked import keys, number, text
from oddsmith.modelfile.strict_json import refuse, shown

FORMAT = "oddsmith scaling"

_KEYS = ("format", "schema", "version", "method", "parameters", "labels", "columns", "input", "fitted")

#: What the coefficients of a method are applied to.
_READINGS: dict[str, LogitReading] = {
    "TemperatureScaling": "logits",
    "VectorScaling": "logits",
    "MatrixScaling": "logits",
    "DirichletScaling": "log_probabilities",
}


def to_schema_2(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content of such a file as a file of schema 2 would have it."""
    keys(content, _KEYS, "a scaling")
    method, labels, fitted = content["method"], content["labels"], content["fitted"]
    if content["schema"] != 1 or not isinstance(labels, list) or len(labels) < 2:
        refuse("a scaling must be of schema 1 and have labels", shown(content["schema"]))
    k = len(labels)
    if method == "AutoScaling":
        found, verdict = (
            _blend(content, k),
            text(keys(fitted, ("parts", "shift", "verdict"), "fitted")["verdict"], "verdict"),
        )
    elif isinstance(method, str) and method in _READINGS:
        found, verdict = _single(content, k), ""
    else:
        refuse(f"the file must hold one of {', '.join(sorted(['AutoScaling', *_READINGS]))}", shown(method))
    rest = {name: content[name] for name in ("version", "method", "parameters", "labels")}
    return {**rest, "column_names": None, "data": None, "warnings": [], "verdict": verdict, "map": found.to_dict()}


def _single(content: dict[str, Any], k: int) -> ScalingMap:
    method, fitted = content["method"], content["fitted"]
    if method == "TemperatureScaling":
        keys(fitted, ("temperature",), f"a fitted {method}")
        coef = np.array(1 / number(fitted["temperature"], "temperature", low=1e-300, strict=True))
        intercept = np.zeros(k)
    else:
        keys(fitted, ("coef", "intercept", "temperature"), f"a fitted {method}")
        coef = floats(fitted["coef"], "coef", [(k,) if method == "VectorScaling" else (k, k)])
        intercept = floats(fitted["intercept"], "intercept", [(k,)])
    name = method.removesuffix("Scaling").lower()
    part = ScalingPart(name, _READINGS[method], 0.0, coef, intercept)
    return ScalingMap(*columns_and_input(content, k), (part,), np.ones(1), np.zeros(k))


def _blend(content: dict[str, Any], k: int) -> Any:
    fitted = keys(content["fitted"], ("parts", "shift", "verdict"), "a fitted AutoScaling")
    if not isinstance(fitted["parts"], list) or not fitted["parts"]:
        refuse("parts must be a list", shown(fitted["parts"]))
    parts = [keys(part, ("name", "weight", "softening", "coef", "intercept"), "a part") for part in fitted["parts"]]
    return read_joint_map(
        {
            "shape": "scaling",
            "columns": content["columns"],
            "input": content["input"],
            "parts": [
                {name: value for name, value in part.items() if name != "weight"}
                | {"reading": "floored_log_probabilities"}
                for part in parts
            ],
            "weights": [number(part["weight"], "weight", low=0, high=1) for part in parts],
            "shift": fitted["shift"],
        },
        k,
    )
