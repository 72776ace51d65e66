"""The JSON model file: what was fitted, to what, and nothing that could run."""

from oddsmith.modelfile._data import DataSummary, table_hash
from oddsmith.modelfile._joint import ClassCounts, JointModel, save_scaling
from oddsmith.modelfile._loading import load
from oddsmith.modelfile._model import CalibrationModel, map_of, save

__all__ = [
    "CalibrationModel",
    "ClassCounts",
    "DataSummary",
    "JointModel",
    "load",
    "map_of",
    "save",
    "save_scaling",
    "table_hash",
]
