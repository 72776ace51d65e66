"""The JSON model file: what was fitted, to what, and nothing that could run."""

from oddsmith.modelfile._data import DataSummary, table_hash
from oddsmith.modelfile._model import CalibrationModel, load, map_of, save

__all__ = ["CalibrationModel", "DataSummary", "load", "map_of", "save", "table_hash"]
