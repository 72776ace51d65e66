"""Calibration maps: what a fitted calibrator is, a small function from score to log-odds.

Methods are many, shapes are few; saving, plotting, applying and exporting are written once per shape.

=================  ==============================================================================
shape              methods
=================  ==============================================================================
`PolynomialMap`    everything polynomial by pieces in log-odds: logistic, Platt, densities, piecewise
                   logistic, splines, constants
`LinearMap`        linear interpolation in probability: isotonic, min–max
`StepMap`          steps in probability, with separate values at and between the knots
`CosineMap`        a cosine series in probability
`LogBasisMap`      beta calibration
`BlendMap`         a weighted mean of other maps
`ShiftedMap`       any other map, with log-odds larger by a constant
`AdjustedMap`      any other map, with log-odds that are scaled and shifted
`LogitInputMap`    any other map, after the log-odds of a probability
`UnitInputMap`     the same for scores that turned out to be probabilities
`SoftLogitMap`     the same with softened log-odds
`SoftLogOddsMap`   softened log-odds of a score that is a log-odds
`HeldInputMap`     any other map, after clipping the score and standardizing it
=================  ==============================================================================
"""

from oddsmith.formula import Formula, Vector
from oddsmith.maps.adjusted import LARGEST_SLOPE as LARGEST_SLOPE
from oddsmith.maps.adjusted import SMALLEST_SLOPE as SMALLEST_SLOPE
from oddsmith.maps.adjusted import AdjustedMap
from oddsmith.maps.band import Area, Band
from oddsmith.maps.base import FAR as FAR
from oddsmith.maps.base import MAX as MAX
from oddsmith.maps.base import MOST_SHIFT as MOST_SHIFT
from oddsmith.maps.base import SUREST as SUREST
from oddsmith.maps.base import CalibrationMap, ShiftedMap
from oddsmith.maps.base import logit as logit
from oddsmith.maps.blend import BlendMap
from oddsmith.maps.cosine import CosineMap
from oddsmith.maps.cosine import share_of_way as share_of_way
from oddsmith.maps.effects import Effects, Term
from oddsmith.maps.effects import Keys as Keys
from oddsmith.maps.effects import check_columns as check_columns
from oddsmith.maps.families import map_families as map_families
from oddsmith.maps.inputs import HeldInputMap, LogitInputMap, UnitInputMap
from oddsmith.maps.inputs import InputMap as InputMap
from oddsmith.maps.inputs import clip_and_scale as clip_and_scale
from oddsmith.maps.inputs import halfway as halfway
from oddsmith.maps.inputs import logit_input as logit_input
from oddsmith.maps.inputs import unit_log_odds as unit_log_odds
from oddsmith.maps.inverse import scores_reaching as scores_reaching
from oddsmith.maps.linear import LinearMap
from oddsmith.maps.log_basis import LogBasisMap
from oddsmith.maps.log_basis import log_basis as log_basis
from oddsmith.maps.one_vs_rest import OneVsRestMap as OneVsRestMap
from oddsmith.maps.polynomial import PolynomialMap, constant_map, line_map
from oddsmith.maps.rows import Input as Input
from oddsmith.maps.rows import JointMap as JointMap
from oddsmith.maps.scaling import FLOOR as FLOOR
from oddsmith.maps.scaling import LogitReading as LogitReading
from oddsmith.maps.scaling import ScalingMap as ScalingMap
from oddsmith.maps.scaling import ScalingPart as ScalingPart
from oddsmith.maps.segments import Segment as Segment
from oddsmith.maps.segments import rows_by_segment as rows_by_segment
from oddsmith.maps.segments import segment_name as segment_name
from oddsmith.maps.segments import segment_names as segment_names
from oddsmith.maps.soft_logit import SoftLogitMap, SoftLogOddsMap
from oddsmith.maps.soft_logit import soft_log_odds as soft_log_odds
from oddsmith.maps.soft_logit import soft_logit as soft_logit
from oddsmith.maps.step import StepMap

__all__ = [
    "AdjustedMap",
    "Area",
    "Band",
    "BlendMap",
    "CalibrationMap",
    "CosineMap",
    "Effects",
    "Formula",
    "HeldInputMap",
    "LinearMap",
    "LogBasisMap",
    "LogitInputMap",
    "PolynomialMap",
    "ShiftedMap",
    "SoftLogOddsMap",
    "SoftLogitMap",
    "StepMap",
    "Term",
    "UnitInputMap",
    "Vector",
    "constant_map",
    "line_map",
]
