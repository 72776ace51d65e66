"""One map of every shape, and scores that all of them take."""

import numpy as np

from oddsmith.maps import (
    AdjustedMap,
    BlendMap,
    CosineMap,
    HeldInputMap,
    LinearMap,
    LogBasisMap,
    LogitInputMap,
    PolynomialMap,
    SoftLogitMap,
    SoftLogOddsMap,
    StepMap,
    UnitInputMap,
    constant_map,
    line_map,
)

STEPS = StepMap(np.array([0.2, 0.7]), np.array([0.0, 0.5]), np.array([0.0, 0.3, 1.0]))
RAMP = LinearMap(np.array([0.1, 0.5, 0.9]), np.array([0.0, 0.4, 1.0]))
HUGE = PolynomialMap(np.empty(0), np.zeros(1), np.array([[1e9, -1e9, 0.0]]), 1.0)
ONE_SCORE = [
    line_map(2.0, -1.0),
    HUGE,
    constant_map(0.3),
    STEPS,
    RAMP,
    CosineMap(0.0, 1.0, np.array([0.5, -0.6])),
    LogBasisMap(np.array([1.0, 0.5]), 0.2, 0.0, 1.0),
    LogitInputMap(STEPS, 1e-6),
    UnitInputMap(line_map(0.7), 1e-6),
    SoftLogitMap(line_map(0.7), 1e-3),
    SoftLogOddsMap(RAMP, 1e-3),
    HeldInputMap(RAMP, 0.0, 1.0, 0.5, 2.0),
    BlendMap((STEPS, RAMP), np.array([0.25, 0.75])),
    STEPS.shifted(0.4),
    AdjustedMap(line_map(2.0, -1.0), 0.8, -0.3),
]
SCORES = np.concatenate([np.linspace(0.0, 1.0, 101), [0.2, 0.7, 1e-300, 1 - 2.0**-53]])
