"""Score files: read through DuckDB however large they are, written whole or not at all."""

from oddsmith.atomic import replacing, write_atomically
from oddsmith.files.applying import Applied, apply_map
from oddsmith.files.columns import Roles, choose_columns
from oddsmith.files.reading import ScoreData, read_table
from oddsmith.files.source import ScoreFile, input_files, open_scores
from oddsmith.frames.bad_rows import BadRows

__all__ = [
    "Applied",
    "BadRows",
    "Roles",
    "ScoreData",
    "ScoreFile",
    "apply_map",
    "choose_columns",
    "input_files",
    "open_scores",
    "read_table",
    "replacing",
    "write_atomically",
]
