"""Load a saved scaling of any kind; what does not hold together is refused."""

import os
from typing import Any

import numpy as np

from oddsmith.classify._saved import FORMAT, KEYS, SCHEMA
from oddsmith.classify.methods import SCALINGS
from oddsmith.classify.scaling import JointScaling
from oddsmith.errors import ModelFileError
from oddsmith.modelfile.checked import keys, plain
from oddsmith.modelfile.strict_json import parse, read_bytes, refuse, shown, verify


def load_scaling(path: str | os.PathLike[str]) -> JointScaling:
    """Read the scaling that ``save`` wrote, of whatever kind; loading runs no code.

    Raises
    ------
    ModelFileError
        If the file cannot be read, was edited, or holds no scaling.
    """
    try:
        return _restored(verify(parse(read_bytes(path))))
    except ModelFileError as error:
        message = f"{os.fspath(path)}: {error}"
        raise ModelFileError(message) from None


def _restored(content: dict[str, Any]) -> JointScaling:
    keys(content, KEYS, "a scaling")
    kinds = {cls.__name__: cls for cls in SCALINGS.values()}
    if content["format"] != FORMAT or content["method"] not in kinds:
        refuse(f"the file must hold one of {', '.join(sorted(kinds))}", shown(content["method"]))
    if content["schema"] != SCHEMA:
        refuse(f"this version reads schema {SCHEMA}", shown(content["schema"]), "upgrade oddsmith")
    scaling = kinds[content["method"]]()
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
