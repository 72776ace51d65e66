"""The score table: rows, cells, tables, resampling and streams. What the data show about a score."""

from oddsmith.data.fingerprint import Fingerprint
from oddsmith.data.folds import Fold as Fold
from oddsmith.data.folds import RandomState as RandomState
from oddsmith.data.folds import deal_by_class as deal_by_class
from oddsmith.data.folds import deal_groups as deal_groups
from oddsmith.data.folds import deal_weight as deal_weight
from oddsmith.data.grid import Grid
from oddsmith.data.grid import power_of_two as power_of_two
from oddsmith.data.near_ties import around as around
from oddsmith.data.resample import bootstrap as bootstrap
from oddsmith.data.resample import limit_cells as limit_cells
from oddsmith.data.resample import resample_labels as resample_labels
from oddsmith.data.row_hash import marks as marks
from oddsmith.data.row_sketch import MANY_SHARED as MANY_SHARED
from oddsmith.data.row_sketch import Hashes as Hashes
from oddsmith.data.row_sketch import RowSketch as RowSketch
from oddsmith.data.rows import LabeledScores
from oddsmith.data.rows import Meaning as Meaning
from oddsmith.data.rows import binary_scale as binary_scale
from oddsmith.data.rows import read_rows as read_rows
from oddsmith.data.rows import slices as slices
from oddsmith.data.score_rows import LEAST as LEAST
from oddsmith.data.score_rows import ScoreRows
from oddsmith.data.signal import Signal
from oddsmith.data.signal import SignalKind as SignalKind
from oddsmith.data.signal import is_reversed as is_reversed
from oddsmith.data.signal import is_separable as is_separable
from oddsmith.data.signal import kind_of_ranking as kind_of_ranking
from oddsmith.data.signal import ranking_z as ranking_z
from oddsmith.data.signal import share_of_copies as share_of_copies
from oddsmith.data.signal import signal_kind as signal_kind
from oddsmith.data.table import Origin, Sample, ScoreTable, as_table
from oddsmith.data.table import pool as pool
from oddsmith.data.weighted_quantiles import Cumulative as Cumulative
from oddsmith.data.weighted_quantiles import equal_mass_starts as equal_mass_starts
from oddsmith.data.weighted_quantiles import quantiles as quantiles
from oddsmith.data.weighted_quantiles import weighted_median as weighted_median

__all__ = [
    "Fingerprint",
    "Grid",
    "LabeledScores",
    "Origin",
    "Sample",
    "ScoreRows",
    "ScoreTable",
    "Signal",
    "as_table",
]
