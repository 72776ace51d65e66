"""Fitted scalings as JSON: numbers and labels only, sealed by a checksum, refused where they do not hold together."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from oddsmith._types import Floats
from oddsmith.errors import ModelFileError
from oddsmith.modelfile.checked import keys, plain
from oddsmith.modelfile.strict_json import parse, read_bytes, refuse, render, shown, verify

_FORMAT = "oddsmith scaling"

#: Raised when a file of today would be misread by an older version.
_SCHEMA = 1

_KEYS = ("format", "schema", "version", "method", "parameters", "labels", "columns", "input", "fitted")


class Scaling(Protocol):
    """What can be saved."""

    classes_: NDArray[Any]
    n_features_in_: int
    input_: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Any: ...
    def _state(self) -> dict[str, Any]: ...
    def _set_state(self, state: Any) -> None: ...


Kind = TypeVar("Kind", bound=Scaling)


def to_json(scaling: Scaling) -> str:
    """Return a fitted scaling as text."""
    from oddsmith._version import __version__

    parameters = {name: value for name, value in scaling.get_params().items() if name != "classes"}
    return render(
        {
            "format": _FORMAT,
            "schema": _SCHEMA,
            "version": __version__,
            "method": type(scaling).__name__,
            "parameters": parameters,
            "labels": scaling.classes_.tolist(),
            "columns": scaling.n_features_in_,
            "input": scaling.input_,
            "fitted": scaling._state(),
        }
    )


def restore_any(kinds: Mapping[str, type[Any]], path: str | os.PathLike[str]) -> Any:
    """Return the scaling that a file holds, of whichever kind it names."""
    try:
        content = verify(parse(read_bytes(path)))
        kind = kinds.get(str(content.get("method")))
        if kind is None:
            refuse(f"method must be one of {', '.join(sorted(kinds))}", shown(content.get("method")))
        return _restored(kind(), content)
    except ModelFileError as error:
        message = f"{os.fspath(path)}: {error}"
        raise ModelFileError(message) from None


def _restored(scaling: Kind, content: dict[str, Any]) -> Kind:
    keys(content, _KEYS, "a scaling")
    if content["format"] != _FORMAT or content["method"] != type(scaling).__name__:
        refuse(f"the file must hold a {type(scaling).__name__}", shown(content["method"]), "load it by its own class")
    if content["schema"] != _SCHEMA:
        refuse(f"this version reads schema {_SCHEMA}", shown(content["schema"]), "upgrade oddsmith")
    names = set(scaling.get_params()) - {"classes"}
    parameters = plain(keys(content["parameters"], names, "parameters"), "parameters")
    labels, columns = content["labels"], content["columns"]
    if not isinstance(labels, list) or not all(isinstance(label, str | int | float | bool) for label in labels):
        refuse("labels must be a list of plain values", shown(labels))
    if len(labels) < 2 or columns not in ((1, 2) if len(labels) == 2 else (len(labels),)):
        refuse("columns must be one per label", shown(columns))
    if content["input"] not in ("logits", "probabilities"):
        refuse("input must be logits or probabilities", shown(content["input"]))
    scaling.set_params(classes=labels, **parameters)
    scaling.classes_, scaling.n_features_in_, scaling.input_ = np.asarray(labels), columns, content["input"]
    scaling._set_state(content["fitted"])
    return scaling


def floats(value: Any, where: str, shapes: Sequence[tuple[int, ...]]) -> Floats:
    """Return finite numbers of one of these shapes."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        refuse(f"{where} must hold numbers", shown(value))
    if array.shape not in shapes or not np.isfinite(array).all():
        refuse(f"{where} must be finite and of shape {' or '.join(map(str, shapes))}", f"shape {array.shape}")
    return array
