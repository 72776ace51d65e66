"""Score files: read through DuckDB however large they are, written whole or not at all."""

from oddsmith.atomic import replacing, write_atomically
from oddsmith.files._layout import AS_SHOWN as AS_SHOWN
from oddsmith.files.adding import NewColumn as NewColumn
from oddsmith.files.adding import add_columns as add_columns
from oddsmith.files.applying import Applied, apply_model, choose_model_columns
from oddsmith.files.applying import share_of_probabilities as share_of_probabilities
from oddsmith.files.columns import Columns, choose_columns
from oddsmith.files.columns import known_column as known_column
from oddsmith.files.costs import Costs, read_costs
from oddsmith.files.costs import read_two_class_costs as read_two_class_costs
from oddsmith.files.inputs import probability_inputs as probability_inputs
from oddsmith.files.inputs import score_inputs as score_inputs
from oddsmith.files.inputs import scores_of as scores_of
from oddsmith.files.rows import RowMeaning as RowMeaning
from oddsmith.files.rows import ScoreRowData, read_rows
from oddsmith.files.source import ScoreFile, TextFormat, has_matrix, input_files, open_scores
from oddsmith.files.tables import ScoreData, SegmentRows, read_segments, read_table
from oddsmith.files.unlabeled import read_unlabeled
from oddsmith.frames import BadRows

__all__ = [
    "Applied",
    "BadRows",
    "Columns",
    "Costs",
    "ScoreData",
    "ScoreFile",
    "ScoreRowData",
    "SegmentRows",
    "TextFormat",
    "apply_model",
    "choose_columns",
    "choose_model_columns",
    "has_matrix",
    "input_files",
    "open_scores",
    "read_costs",
    "read_rows",
    "read_segments",
    "read_table",
    "read_unlabeled",
    "replacing",
    "write_atomically",
]
