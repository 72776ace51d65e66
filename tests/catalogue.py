"""Every exported calibrator, with the variants of its options that the shared laws hold for."""

from oddsmith import Calibrator
from oddsmith.calibrators.registry import METHODS

CLASSES = list(METHODS.values())

_OPTIONS = {
    "LogisticCalibrator": [{"penalty": 0.1}, {"fit_intercept": False}],
    "GaussianCalibrator": [{"tied": True}, {"tied": True, "bias": "zero"}, {"prior": "frequency"}],
    "DensityCalibrator": [
        {"positive": "exponential", "negative": "gaussian"},
        {"positive": "laplace", "negative": "hybrid", "subdivisions": 3},
    ],
    "AsymmetricLaplaceCalibrator": [{"subdivisions": 10}, {"min_side": 2}, {"min_side": 0.1}],
    "AsymmetricGaussianCalibrator": [{"subdivisions": 1}, {"epsilon": 1e-6, "inf": 1e6}],
    "HybridCalibrator": [{"hold": True}],
    "PiecewiseLogisticCalibrator": [
        {"pieces": "grow"},
        {"pieces": "grow", "selection": "bic", "penalty": 0.1},
        {"penalty": 0.1, "outside": "clip"},
        {"penalty": 0.5, "outside": "literal"},
        {"monotone": True},
        {"knots": [-0.5, 0.5], "penalty": 1.0},
    ],
    "IsotonicCalibrator": [{"between": "step"}, {"bounded": True}],
    "CosineCalibrator": [{"terms": 5, "penalty": 0.0}],
    "BetaCalibrator": [{"parameters": 2}, {"input": "log_odds"}],
    "CenteredIsotonicCalibrator": [{"bounded": True}],
    "HistogramCalibrator": [{"bins": "width"}, {"smoothing": None, "n_bins": 5}],
    "SplineCalibrator": [{"penalty": 1.0}, {"input": "log_odds"}],
    "TemperatureCalibrator": [{"input": "log_odds"}],
}


def variants() -> list[Calibrator]:
    """Every calibrator with its defaults, then with its options."""
    return [cls(**options) for cls in CLASSES for options in ({}, *_OPTIONS.get(cls.__name__, []))]


def name(calibrator: Calibrator) -> str:
    given = _given(calibrator)
    return f"{type(calibrator).__name__}({', '.join(f'{key}={value!r}' for key, value in given.items())})"


def _given(calibrator: Calibrator) -> dict[str, object]:
    defaults = type(calibrator)().get_params()
    return {key: value for key, value in calibrator.get_params().items() if value != defaults[key]}
