"""Load a model file of any kind and age."""

import os
from typing import Any

from oddsmith.model._envelope import read_file, unseal
from oddsmith.model._model import Model, read_content
from oddsmith.model._row_maps import floats
from oddsmith.model.checked import keys, number, text
from oddsmith.model.strict_json import parse, refuse, show, verify

#: Files that scalings wrote before schema 2 of model files, and what the coefficients of each method are applied to.
_OLDER = "oddsmith scaling"
_OLDER_KEYS = ("format", "schema", "version", "method", "parameters", "labels", "columns", "input", "fitted")
_READINGS = {
    "AutoScaling": "floored_log_probabilities",
    "DirichletScaling": "log_probabilities",
    "MatrixScaling": "logits",
    "TemperatureScaling": "logits",
    "VectorScaling": "logits",
}


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model that ``save`` wrote, in this version of the library or an earlier one.

    Loading runs no code. Models of two classes and of several are used in the same way:
    ``load(path).predict_proba(scores)``.

    Parameters
    ----------
    path : str or Path
        A model file.

    Returns
    -------
    Model

    Raises
    ------
    ModelFileError
        If the file cannot be read, or does not contain a whole model.

    See Also
    --------
    oddsmith.model.Model : What it returns.
    """
    return read_file(path, _read)


def _read(raw: bytes) -> Model:
    content = parse(raw)
    if content.get("format") == _OLDER:
        return read_content(2, _to_schema_2(verify(content)))
    return read_content(*unseal(content, Model._latest))


def _to_schema_2(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content of an older file as a file of schema 2 would have it."""
    keys(content, _OLDER_KEYS, "a scaling")
    method, labels, fitted = content["method"], content["labels"], content["fitted"]
    if content["schema"] != 1 or not isinstance(labels, list) or len(labels) < 2:
        refuse("a scaling must be of schema 1 and have labels", show(content["schema"]))
    if not isinstance(method, str) or method not in _READINGS:
        refuse(f"the file must contain one of {', '.join(_READINGS)}", show(method))
    if method == "AutoScaling":
        keys(fitted, ("parts", "shift", "verdict"), "a fitted AutoScaling")
        parts, shift, verdict = fitted["parts"], fitted["shift"], text(fitted["verdict"], "verdict")
        if not isinstance(parts, list) or not parts:
            refuse("parts must be a list", show(parts))
    else:
        parts, shift, verdict = [_only_part(method, fitted, len(labels))], [0.0] * len(labels), ""
    names = ("name", "weight", "softening", "coef", "intercept")
    parts = [{**keys(part, names, "a part"), "reading": _READINGS[method]} for part in parts]
    weights = [number(part.pop("weight"), "weight", low=0, high=1) for part in parts]
    columns = {name: content[name] for name in ("columns", "input")}
    rest = {name: content[name] for name in ("version", "method", "parameters", "labels")}
    joint_map = {"shape": "scaling", **columns, "parts": parts, "weights": weights, "shift": shift}
    return {**rest, "column_names": None, "data": None, "warnings": [], "verdict": verdict, "map": joint_map}


def _only_part(method: str, fitted: Any, k: int) -> dict[str, Any]:
    """Return a single scaling as the one part of a blend."""
    if method == "TemperatureScaling":
        keys(fitted, ("temperature",), f"a fitted {method}")
        coef: Any = 1 / number(fitted["temperature"], "temperature", low=1e-300, strict=True)
        intercept = [0.0] * k
    else:
        keys(fitted, ("coef", "intercept", "temperature"), f"a fitted {method}")
        coef = floats(fitted["coef"], "coef", [(k,) if method == "VectorScaling" else (k, k)]).tolist()
        intercept = fitted["intercept"]
    name = method.removesuffix("Scaling").lower()
    return {"name": name, "weight": 1.0, "softening": 0.0, "coef": coef, "intercept": intercept}
