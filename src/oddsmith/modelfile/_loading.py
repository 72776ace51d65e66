"""Load a model file of any kind and age."""

import os

from oddsmith.modelfile import _older_scaling
from oddsmith.modelfile._envelope import read_file, unseal
from oddsmith.modelfile._joint import JointModel
from oddsmith.modelfile._model import CalibrationModel
from oddsmith.modelfile.strict_json import parse, verify


def load(path: str | os.PathLike[str]) -> CalibrationModel | JointModel:
    """Read what ``save`` wrote: a `CalibrationModel` of two classes, or a `JointModel` of several.

    Loading runs no code. Both predict: ``load(path).predict_proba(scores)``.

    Raises
    ------
    ModelFileError
        If the file cannot be read, or does not hold a model that is whole.
    """
    return read_file(path, _read)


def _read(raw: bytes) -> CalibrationModel | JointModel:
    content = parse(raw)
    if content.get("format") == _older_scaling.FORMAT:
        return JointModel._from_content(_older_scaling.to_schema_2(verify(content)))
    schema, rest = unseal(raw)
    model = CalibrationModel if schema == CalibrationModel._schema else JointModel
    return model._from_content(rest)
