"""Score files: read through DuckDB however large they are, written whole or not at all."""

from oddsmith.atomic import replacing, write_atomically
from oddsmith.files.adding import NewColumn as NewColumn
from oddsmith.files.adding import add_columns as add_columns
from oddsmith.files.applying import Applied, apply_map
from oddsmith.files.class_applying import apply_joint_model, choose_model_columns
from oddsmith.files.class_applying import class_inputs as class_inputs
from oddsmith.files.class_applying import class_probability_inputs as class_probability_inputs
from oddsmith.files.class_applying import probability_inputs as probability_inputs
from oddsmith.files.class_applying import scores_of as scores_of
from oddsmith.files.class_applying import share_of_probabilities as share_of_probabilities
from oddsmith.files.class_columns import ClassColumns, choose_class_columns
from oddsmith.files.class_reading import ClassData, read_class_rows
from oddsmith.files.class_reading import ClassScoreMeaning as ClassScoreMeaning
from oddsmith.files.columns import Roles, choose_columns
from oddsmith.files.columns import known_column as known_column
from oddsmith.files.costs import Costs, read_costs
from oddsmith.files.costs import read_two_class_costs as read_two_class_costs
from oddsmith.files.reading import ScoreData, read_table
from oddsmith.files.source import ScoreFile, has_matrix, input_files, open_scores
from oddsmith.files.unlabeled import read_unlabeled
from oddsmith.frames import BadRows

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
    "read_unlabeled",
    "replacing",
    "write_atomically",
]
