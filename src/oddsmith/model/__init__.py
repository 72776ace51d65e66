"""The JSON model file: what was fitted, to what, and nothing that could run."""

from oddsmith.model._data import DataSummary, table_hash
from oddsmith.model._joint import ClassCounts, JointModel, save_scaling
from oddsmith.model._loading import load
from oddsmith.model._model import CalibrationModel, map_of, save

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
