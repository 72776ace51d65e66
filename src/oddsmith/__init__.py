"""Oddsmith turns the scores of any classifier into probabilities that mean what they say.

A table is what the data say about a score; a metric is a function of a table; a calibrator is a function from a table
to a map.
"""

import importlib
from typing import TYPE_CHECKING, Any

# First and from here: SciPy's decorators walk the stack of imports, and cost more the deeper they are.
import sklearn.base as _sklearn_base

from oddsmith.calibrators import (
    AsymmetricGaussianCalibrator,
    AsymmetricLaplaceCalibrator,
    AutoCalibrator,
    BBQCalibrator,
    BetaCalibrator,
    Calibrator,
    CentredIsotonicCalibrator,
    CosineCalibrator,
    DensityCalibrator,
    ENIRCalibrator,
    GaussianCalibrator,
    HistogramCalibrator,
    HybridCalibrator,
    IsotonicCalibrator,
    LaplaceCalibrator,
    LogisticCalibrator,
    LogisticCorrectionCalibrator,
    MinMaxCalibrator,
    MonotoneLogisticCalibrator,
    PiecewiseLogisticCalibrator,
    PlattCalibrator,
    ScalingBinningCalibrator,
    SplineCalibrator,
    SquashCalibrator,
    TemperatureCalibrator,
    VennAbersCalibrator,
)
from oddsmith.maps import CalibrationMap
from oddsmith.table import ScoreTable

if TYPE_CHECKING:
    from oddsmith.classify import (
        AutoScaling,
        CalibratedClassifier,
        DirichletScaling,
        MatrixScaling,
        TemperatureScaling,
        VectorScaling,
        score_tables,
    )
    from oddsmith.learners import (
        BoostedClassifier,
        KernelLogisticRegression,
        MultinomialNaiveBayes,
        SmoothedTreeClassifier,
        VotedPerceptron,
    )
    from oddsmith.streaming import TableStream

del _sklearn_base

__version__ = "0.1.0"

__all__ = [
    "AsymmetricGaussianCalibrator",
    "AsymmetricLaplaceCalibrator",
    "AutoCalibrator",
    "AutoScaling",
    "BBQCalibrator",
    "BetaCalibrator",
    "BoostedClassifier",
    "CalibratedClassifier",
    "CalibrationMap",
    "Calibrator",
    "CentredIsotonicCalibrator",
    "CosineCalibrator",
    "DensityCalibrator",
    "DirichletScaling",
    "ENIRCalibrator",
    "GaussianCalibrator",
    "HistogramCalibrator",
    "HybridCalibrator",
    "IsotonicCalibrator",
    "KernelLogisticRegression",
    "LaplaceCalibrator",
    "LogisticCalibrator",
    "LogisticCorrectionCalibrator",
    "MatrixScaling",
    "MinMaxCalibrator",
    "MonotoneLogisticCalibrator",
    "MultinomialNaiveBayes",
    "PiecewiseLogisticCalibrator",
    "PlattCalibrator",
    "ScalingBinningCalibrator",
    "ScoreTable",
    "SmoothedTreeClassifier",
    "SplineCalibrator",
    "SquashCalibrator",
    "TableStream",
    "TemperatureCalibrator",
    "TemperatureScaling",
    "VectorScaling",
    "VennAbersCalibrator",
    "VotedPerceptron",
    "score_tables",
]

#: Names that bring more of scikit-learn with them are loaded when they are first asked for.
_LAZY = {
    "CalibratedClassifier": "classify",
    "AutoScaling": "classify",
    "DirichletScaling": "classify",
    "MatrixScaling": "classify",
    "TemperatureScaling": "classify",
    "VectorScaling": "classify",
    "score_tables": "classify",
    "BoostedClassifier": "learners",
    "KernelLogisticRegression": "learners",
    "MultinomialNaiveBayes": "learners",
    "SmoothedTreeClassifier": "learners",
    "VotedPerceptron": "learners",
    "TableStream": "streaming",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        msg = f"module 'oddsmith' has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(importlib.import_module(f"oddsmith.{_LAZY[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
