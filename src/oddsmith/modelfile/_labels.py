"""Labels and parameters as JSON knows them."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from oddsmith import _check
from oddsmith._types import Label
from oddsmith.modelfile.checked import plain
from oddsmith.modelfile.strict_json import refuse, shown


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
        refuse(f"labels of {where} must be {many}", shown(value))
    labels = tuple(plain(value, "labels"))
    if least != most and len(set(labels)) < len(labels):
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
