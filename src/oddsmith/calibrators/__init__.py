"""One calibrator an idea, one idea a file."""

from oddsmith.calibrators._base import Calibrator
from oddsmith.calibrators.auto import AutoCalibrator
from oddsmith.calibrators.bbq import BBQCalibrator
from oddsmith.calibrators.beta import BetaCalibrator
from oddsmith.calibrators.binning import HistogramCalibrator, ScalingBinningCalibrator
from oddsmith.calibrators.centred import CentredIsotonicCalibrator
from oddsmith.calibrators.cosine import CosineCalibrator
from oddsmith.calibrators.density import (
    AsymmetricGaussianCalibrator,
    AsymmetricLaplaceCalibrator,
    DensityCalibrator,
    GaussianCalibrator,
    HybridCalibrator,
    LaplaceCalibrator,
)
from oddsmith.calibrators.enir import ENIRCalibrator
from oddsmith.calibrators.isotonic import IsotonicCalibrator
from oddsmith.calibrators.monotone import MonotoneLogisticCalibrator
from oddsmith.calibrators.piecewise import PiecewiseLogisticCalibrator
from oddsmith.calibrators.sigmoid import LogisticCalibrator, PlattCalibrator
from oddsmith.calibrators.spline import SplineCalibrator
from oddsmith.calibrators.squash import LogisticCorrectionCalibrator, MinMaxCalibrator, SquashCalibrator
from oddsmith.calibrators.temperature import TemperatureCalibrator
from oddsmith.calibrators.venn_abers import VennAbersCalibrator

__all__ = [
    "AsymmetricGaussianCalibrator",
    "AsymmetricLaplaceCalibrator",
    "AutoCalibrator",
    "BBQCalibrator",
    "BetaCalibrator",
    "Calibrator",
    "CentredIsotonicCalibrator",
    "CosineCalibrator",
    "DensityCalibrator",
    "ENIRCalibrator",
    "GaussianCalibrator",
    "HistogramCalibrator",
    "HybridCalibrator",
    "IsotonicCalibrator",
    "LaplaceCalibrator",
    "LogisticCalibrator",
    "LogisticCorrectionCalibrator",
    "MinMaxCalibrator",
    "MonotoneLogisticCalibrator",
    "PiecewiseLogisticCalibrator",
    "PlattCalibrator",
    "ScalingBinningCalibrator",
    "SplineCalibrator",
    "SquashCalibrator",
    "TemperatureCalibrator",
    "VennAbersCalibrator",
]
