"""Oddsmith turns the scores of any classifier into probabilities that mean what they say.

A table is what the data say about a score; a metric is a function of a table; a calibrator is a function from a table
to a map.
"""

from oddsmith.calibrators import (
    AsymmetricGaussianCalibrator,
    AsymmetricLaplaceCalibrator,
    Calibrator,
    CosineCalibrator,
    DensityCalibrator,
    GaussianCalibrator,
    HybridCalibrator,
    IsotonicCalibrator,
    LaplaceCalibrator,
    LogisticCalibrator,
    LogisticCorrectionCalibrator,
    MinMaxCalibrator,
    PiecewiseLogisticCalibrator,
    PlattCalibrator,
    SquashCalibrator,
)
from oddsmith.maps import CalibrationMap
from oddsmith.table import ScoreTable

__version__ = "0.1.0"

__all__ = [
    "AsymmetricGaussianCalibrator",
    "AsymmetricLaplaceCalibrator",
    "CalibrationMap",
    "Calibrator",
    "CosineCalibrator",
    "DensityCalibrator",
    "GaussianCalibrator",
    "HybridCalibrator",
    "IsotonicCalibrator",
    "LaplaceCalibrator",
    "LogisticCalibrator",
    "LogisticCorrectionCalibrator",
    "MinMaxCalibrator",
    "PiecewiseLogisticCalibrator",
    "PlattCalibrator",
    "ScoreTable",
    "SquashCalibrator",
]
