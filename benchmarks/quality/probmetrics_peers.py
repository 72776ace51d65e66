"""The methods that lead CalArena, as it runs them, where probmetrics is installed.

``pip install 'oddsmith[arena]'`` has it, with torch, which it needs, and numba, which it does not declare.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.quality.tasks import Competitor

Array = np.ndarray

#: By CalArena's names: the class, and its parameters.
TWO: Mapping[str, tuple[str, dict[str, Any]]] = {
    "TS": ("TemperatureScalingCalibrator", {}),
    "ETS": ("ETSCalibrator", {}),
    "Quadratic": ("BinaryLogisticCalibrator", {"type": "quadratic"}),
    "Spline": ("MLISplineCalibrator", {}),
    "Venn-Abers": ("BinaryVennAbersCalibrator", {}),
    "CatBoost": ("CatBoostCalibrator", {}),
}
SEVERAL: Mapping[str, tuple[str, dict[str, Any]]] = {
    "TS": ("TemperatureScalingCalibrator", {}),
    "ETS": ("ETSCalibrator", {}),
    "VS": ("VectorScalingCalibrator", {}),
    "SVS": ("SVSCalibrator", {}),
    "SMS": ("SMSCalibrator", {}),
}


def probmetrics_peers(
    methods: Mapping[str, tuple[str, dict[str, Any]]], as_probabilities: Callable[[Array, Array], tuple[Array, Array]]
) -> Iterator[Competitor]:
    """Yield the methods as competitors; ``as_probabilities`` turns scores of both parts into what they want."""
    if not (find_spec("probmetrics") and find_spec("torch")):
        return
    for short, (name, parameters) in methods.items():
        run = partial(_calibrate, name, parameters, as_probabilities)
        yield Competitor(f"probmetrics:{short}", version("probmetrics"), run)


def _calibrate(
    name: str, parameters: dict[str, Any], as_probabilities: Any, scores: Array, y: Array, test: Array
) -> Array:
    from probmetrics import calibrators

    scores, test = as_probabilities(scores, test)
    fitted = getattr(calibrators, name)(**parameters)
    fitted.fit(scores, y)
    prob = np.asarray(fitted.predict_proba(test))
    return prob[:, 1] if test.ndim == 1 else prob
