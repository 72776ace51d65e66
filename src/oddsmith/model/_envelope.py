"""Parts that every model file has: format, schema, checksum, origin and labels."""

import math
import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from oddsmith import _check
from oddsmith._types import Label
from oddsmith.errors import ModelFileError
from oddsmith.model.checked import identifier, plain, text, whole
from oddsmith.model.strict_json import read_bytes, refuse, show, verify

FORMAT = "oddsmith calibration model"

Content = TypeVar("Content")


def unseal(content: dict[str, Any], latest: int) -> tuple[int, dict[str, Any]]:
    """Return schema and content of a parsed file; edited files and those of newer versions are refused."""
    if content.get("format") != FORMAT:
        refuse(
            f'a model file must contain "format": "{FORMAT}"',
            show(content.get("format")),
            "give the path of a model file",
        )
    schema = whole(content.get("schema"), "schema", low=1)
    if schema > latest:
        version = show(content.get("version"))
        got = f"schema {schema}, written by version {version}"
        refuse(f"this version reads schemas up to {latest}", got, "upgrade oddsmith")
    rest = verify(content)
    return schema, {key: value for key, value in rest.items() if key not in ("format", "schema")}


def read_file(path: str | os.PathLike[str], read: Callable[[bytes], Content]) -> Content:
    """Read a file; errors name it."""
    raw = read_bytes(path)
    try:
        return read(raw)
    except ModelFileError as error:
        message = f"{os.fspath(path)}: {error}"
        raise ModelFileError(message) from None


def read_origin(content: dict[str, Any], where: str) -> dict[str, Any]:
    """Return what a file says of the fit, checking every value: method, parameters, warnings and version."""
    warnings, parameters = content["warnings"], content["parameters"]
    if not isinstance(warnings, list) or not isinstance(parameters, dict):
        refuse(f"warnings and parameters of {where} must be a list and an object", show(warnings))
    return {
        "method": identifier(content["method"], "method"),
        "parameters": {identifier(name, "a parameter"): plain(each, "parameters") for name, each in parameters.items()},
        "warnings": tuple(text(warning, "warnings") for warning in warnings),
        "version": text(content["version"], "version", limit=200),
    }


def plain_label(value: Any) -> Label:
    """Return a label as JSON knows it, or refuse it."""
    found = value.item() if isinstance(value, np.generic) else value
    if not isinstance(found, Label) or (isinstance(found, float) and not math.isfinite(found)):
        must = "labels must be text, finite numbers or truth values to be saved"
        _check.fail(must, f"a label {found!r}", "fit to such labels, for example y == positive")
    return found


def read_labels(value: Any, where: str, *, least: int, most: int) -> tuple[Any, ...]:
    """Return labels that a file holds: so many, plain, and each once."""
    if not isinstance(value, list) or not least <= len(value) <= most or not all(isinstance(v, Label) for v in value):
        many = "two values" if least == most == 2 else f"a list of at least {least} values"
        refuse(f"labels of {where} must be {many}", show(value))
    labels = tuple(plain(value, "labels"))
    if len(set(labels)) < len(labels):
        refuse(f"labels of {where} must differ", "two that are equal")
    return labels


def plain_value(value: Any) -> Any:
    """Return a parameter as JSON knows it; what is no plain value is told by its class."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no infinity
    if value is None or isinstance(value, Label):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain_value(item) for item in value]
    if hasattr(value, "get_params"):
        return {"method": type(value).__name__, "parameters": plain_value(value.get_params(deep=False))}
    return f"<{type(value).__name__}>"
