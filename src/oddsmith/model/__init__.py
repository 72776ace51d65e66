"""Models: what was fitted, to what, and the JSON file that keeps it, which contains nothing that could run."""

from oddsmith.model._data import ClassCounts, DataSummary, table_hash
from oddsmith.model._loading import load
from oddsmith.model._model import Model

__all__ = ["ClassCounts", "DataSummary", "Model", "load", "table_hash"]

# Names that other rooms use.
from oddsmith.model._model import fitted_map_of as fitted_map_of
from oddsmith.model._model import joint_map_of as joint_map_of
from oddsmith.model._model import map_of as map_of
from oddsmith.model._model import model_of as model_of
from oddsmith.model._model import save as save
