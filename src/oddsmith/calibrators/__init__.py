"""One calibrator an idea, one idea a file."""

from oddsmith.calibrators._base import Calibrator
from oddsmith.calibrators.cosine import CosineCalibrator
from oddsmith.calibrators.density import (
    AsymmetricGaussianCalibrator,
    AsymmetricLaplaceCalibrator,
    DensityCalibrator,
    GaussianCalibrator,
    HybridCalibrator,
    LaplaceCalibrator,
)
from oddsmith.calibrators.isotonic import IsotonicCalibrator
from oddsmith.calibrators.piecewise import PiecewiseLogisticCalibrator
from oddsmith.calibrators.sigmoid import LogisticCalibrator, PlattCalibrator
from oddsmith.calibrators.squash import LogisticCorrectionCalibrator, MinMaxCalibrator, SquashCalibrator

__all__ = [
    "AsymmetricGaussianCalibrator",
    "AsymmetricLaplaceCalibrator",
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
    "SquashCalibrator",
]
