"""Score files: read through DuckDB however large they are, written whole or not at all."""

from oddsmith.atomic import replacing, write_atomically
from oddsmith.files.applying import Applied, apply_map
from oddsmith.files.class_applying import apply_joint_model, choose_model_columns
from oddsmith.files.class_columns import ClassColumns, choose_class_columns
from oddsmith.files.class_reading import ClassData, read_class_rows
from oddsmith.files.columns import Roles, choose_columns
from oddsmith.files.costs import Costs, read_costs
from oddsmith.files.reading import ScoreData, read_table
from oddsmith.files.source import ScoreFile, has_matrix, input_files, open_scores
from oddsmith.frames.bad_rows import BadRows

__all__ = [
    "Applied",
    "BadRows",
    "ClassColumns",
    "ClassData",
    "Costs",
    "Roles",
    "ScoreData",
    "ScoreFile",
    "apply_joint_model",
    "apply_map",
    "choose_class_columns",
    "choose_columns",
    "choose_model_columns",
    "has_matrix",
    "input_files",
    "open_scores",
    "read_class_rows",
    "read_costs",
    "read_table",
    "replacing",
    "write_atomically",
]
