"""Every exported calibrator, with the variants of its options that the shared laws hold for."""

from oddsmith import Calibrator
from oddsmith.calibrators.registry import METHODS

CLASSES = list(METHODS.values())

#: Options that every calibrator is checked with, its defaults first, and the laws that it claims with them.
#: "monotone": the map never falls. "scale", "shift": P does not change when scores are multiplied by a positive
#: constant, or moved. "mirror": (s, y) → (−s, 1 − y) turns P into 1 − P. Calibrators from outside claim none.
_VARIANTS = {
    "AsymmetricGaussianCalibrator": [
        ({}, "scale shift"),
        ({"subdivisions": 1}, "scale shift"),
        ({"epsilon": 1e-6, "inf": 1e6}, "shift"),  # absolute constants do not grow with the scores
    ],
    "AsymmetricLaplaceCalibrator": [
        ({}, "scale shift"),
        ({"subdivisions": 10}, "scale shift"),
        ({"min_side": 2}, "scale shift"),
        ({"min_side": 0.1}, "scale shift"),
    ],
    "AutoCalibrator": [({}, "monotone")],
    # Mirrored scores in [0, 1] are no longer taken for probabilities.
    "BetaCalibrator": [
        ({}, "monotone"),
        ({"parameters": 2}, "monotone"),
        ({"input": "log_odds"}, "monotone mirror"),
    ],
    "CenteredIsotonicCalibrator": [
        ({}, "monotone scale shift mirror"),
        ({"bounded": True}, "monotone scale shift mirror"),
    ],
    # Without a penalty a system that few scores leave singular has many solutions.
    "CosineCalibrator": [({}, "scale shift mirror"), ({"n_terms": 5, "penalty": 0.0}, "scale shift")],
    "DensityCalibrator": [
        ({}, "scale shift"),
        ({"positive": "exponential", "negative": "gaussian"}, "scale shift"),
        ({"positive": "laplace", "negative": "hybrid", "subdivisions": 3}, "scale shift"),
    ],
    "ENIRCalibrator": [({}, "scale shift mirror")],
    "GaussianCalibrator": [
        ({}, "scale shift mirror"),
        ({"tied": True}, "scale shift mirror"),
        ({"tied": True, "bias": "zero"}, "scale mirror"),
        ({"prior": "frequency"}, "scale shift mirror"),
    ],
    "HistogramCalibrator": [
        ({}, "scale shift"),
        ({"bins": "width"}, ""),
        ({"smoothing": None, "n_bins": 5}, "scale shift"),
    ],
    "HybridCalibrator": [({}, "scale shift"), ({"hold": True}, "scale shift")],
    # The step rule looks to the right, so a mirrored fit differs between calibration scores.
    "IsotonicCalibrator": [
        ({}, "monotone scale shift mirror"),
        ({"between": "step"}, "monotone scale shift"),
        ({"bounded": True}, "monotone scale shift mirror"),
    ],
    "LaplaceCalibrator": [({}, "scale shift mirror")],
    "LogisticCalibrator": [
        ({}, "scale shift mirror"),
        ({"penalty": 0.1}, "mirror"),
        ({"fit_intercept": False}, "scale mirror"),
    ],
    "LogisticCorrectionCalibrator": [({}, "monotone mirror")],
    "MinMaxCalibrator": [({}, "monotone scale shift mirror")],
    "MonotoneLogisticCalibrator": [({}, "monotone")],
    # Under a penalty the choice of knots, and of the penalty itself, may depend on the last bits of the scores.
    "PiecewiseLogisticCalibrator": [
        ({}, ""),
        ({"n_pieces": "grow"}, ""),
        ({"n_pieces": "grow", "selection": "bic", "penalty": 0.1}, ""),
        ({"penalty": 0.1, "outside": "clip"}, ""),
        ({"penalty": 0.5, "outside": "literal"}, ""),
        ({"monotone": True}, "monotone"),
        ({"knots": [-0.5, 0.5], "penalty": 1.0}, ""),
    ],
    "PlattCalibrator": [({}, "scale shift mirror")],
    "ScalingBinningCalibrator": [({}, "scale shift")],
    # The choice of the penalty may depend on the last bits of the scores.
    "SplineCalibrator": [({}, ""), ({"penalty": 1.0}, ""), ({"input": "log_odds"}, "")],
    "SquashCalibrator": [({}, "monotone mirror")],
    # Scores that a change of scale or sign brings into or out of [0, 1] are read differently.
    "TemperatureCalibrator": [({}, "monotone"), ({"input": "log_odds"}, "monotone mirror")],
    "VennAbersCalibrator": [({}, "monotone scale shift mirror")],
}


def _cases() -> list[tuple[Calibrator, str]]:
    return [(cls(**options), laws) for cls in CLASSES for options, laws in _VARIANTS.get(cls.__name__, [({}, "")])]


def variants() -> list[Calibrator]:
    """Every calibrator with its defaults, then with its options."""
    return [calibrator for calibrator, _ in _cases()]


def claiming(law: str) -> list[Calibrator]:
    """Every calibrator, with its options, that claims a law."""
    return [calibrator for calibrator, laws in _cases() if law in laws.split()]


def name(calibrator: Calibrator) -> str:
    given = _given(calibrator)
    return f"{type(calibrator).__name__}({', '.join(f'{key}={value!r}' for key, value in given.items())})"


def _given(calibrator: Calibrator) -> dict[str, object]:
    defaults = type(calibrator)().get_params()
    return {key: value for key, value in calibrator.get_params().items() if value != defaults[key]}
