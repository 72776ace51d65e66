"""Saved scalings, whichever they are."""

import os

from oddsmith.classify import _saved
from oddsmith.classify.auto_scaling import AutoScaling
from oddsmith.classify.scaling import DirichletScaling, MatrixScaling, TemperatureScaling, VectorScaling

_KINDS = {
    cls.__name__: cls for cls in (AutoScaling, DirichletScaling, MatrixScaling, TemperatureScaling, VectorScaling)
}

Scaling = AutoScaling | DirichletScaling | MatrixScaling | TemperatureScaling | VectorScaling


def load_scaling(path: str | os.PathLike[str]) -> Scaling:
    """Read the scaling that ``save`` wrote, of whatever kind.

    Raises
    ------
    ModelFileError
        If the file cannot be read, was edited, or holds no scaling.
    """
    scaling: Scaling = _saved.restore_any(_KINDS, path)
    return scaling
