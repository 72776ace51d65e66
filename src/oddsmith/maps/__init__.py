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
`LogitInputMap`    any other map, after the log-odds of a probability
`UnitInputMap`     the same for scores that turned out to be probabilities
`SoftLogitMap`     the same with softened log-odds
`SoftLogOddsMap`   softened log-odds of a score that is a log-odds
`HeldInputMap`     any other map, after holding the score within bounds and standardizing it
=================  ==============================================================================
"""

from oddsmith.maps.base import CalibrationMap
from oddsmith.maps.blend import BlendMap
from oddsmith.maps.cosine import CosineMap
from oddsmith.maps.inputs import HeldInputMap, LogitInputMap, UnitInputMap
from oddsmith.maps.linear import LinearMap
from oddsmith.maps.log_basis import LogBasisMap
from oddsmith.maps.polynomial import PolynomialMap, constant_map, line_map
from oddsmith.maps.soft_logit import SoftLogitMap, SoftLogOddsMap
from oddsmith.maps.step import StepMap

__all__ = [
    "BlendMap",
    "CalibrationMap",
    "CosineMap",
    "HeldInputMap",
    "LinearMap",
    "LogBasisMap",
    "LogitInputMap",
    "PolynomialMap",
    "SoftLogOddsMap",
    "SoftLogitMap",
    "StepMap",
    "UnitInputMap",
    "constant_map",
    "line_map",
]
