"""The JSON model file: what was fitted, to what, and nothing that could run."""

from oddsmith.modelfile._data import DataSummary, table_hash
from oddsmith.modelfile._model import CalibrationModel

__all__ = ["CalibrationModel", "DataSummary", "table_hash"]
