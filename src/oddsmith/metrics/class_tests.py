"""Tests of calibration of each of several classes, corrected for their number; calibration in the large first."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from oddsmith._types import Floats
from oddsmith.errors import InvalidInputError
from oddsmith.metrics.calibration_tests import CalibrationTest, calibration_in_the_large_test
from oddsmith.metrics.classes import ClassForecast
from oddsmith.metrics.measure import ForecastFunction, forecast_function, size
from oddsmith.metrics.result import Result
from oddsmith.metrics.significance import holm_of_known


@dataclass(frozen=True, eq=False)
class ClassTests(Result):
    """A test of each class against the rest.

    Attributes
    ----------
    labels : tuple
        Labels of the classes.
    mean_predicted, prevalence : ndarray of shape (k,)
        Mean forecast and share of each class: their difference is its calibration in the large.
    tests : tuple of CalibrationTest or str
        The test of each class, or why there is none.
    p_values, p_holm : ndarray of shape (k,)
        Uncorrected, and by Holm's correction for the number of classes tested; NaN where there is no test.
    """

    labels: tuple[Any, ...]
    mean_predicted: Floats
    prevalence: Floats
    tests: tuple[CalibrationTest | str, ...]
    p_values: Floats
    p_holm: Floats

    def __str__(self) -> str:
        rows = zip(self.labels, self.mean_predicted, self.prevalence, self.p_values, self.p_holm, strict=True)
        return "\n".join(
            f"{label}: predicted {mean:.4g}, observed {share:.4g}, p = {p:.4g}, after Holm {corrected:.4g}"
            for label, mean, share, p, corrected in rows
        )


@forecast_function("classes")
def classwise_test(
    forecast: ClassForecast,
    /,
    *,
    test: ForecastFunction[..., CalibrationTest] = calibration_in_the_large_test,
    **options: Any,
) -> ClassTests:
    """Test the calibration of each class against the rest.

    Parameters
    ----------
    y_true, y_prob, sample_weight, labels
        As for every `Measure`; its ``of`` takes a `ClassForecast`.
    test : default `calibration_in_the_large_test`
        Any test of calibration of two classes, such as `spiegelhalter_test`.
    **options
        Keyword arguments of the test.

    Examples
    --------
    >>> print(classwise_test(["a", "b", "c"], [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]]))
    a: predicted 0.3667, observed 0.3333, p = 0.8759, after Holm 1
    b: predicted 0.3, observed 0.3333, p = 0.8728, after Holm 1
    c: predicted 0.3333, observed 0.3333, p = 1, after Holm 1
    """
    tests = tuple(_tested(test, table, options) for table in forecast.of_classes())
    p = np.array([np.nan if isinstance(one, str) else one.p_value for one in tests])
    mean = forecast.weight @ forecast.prob / size(forecast)
    return ClassTests(tuple(forecast.labels.tolist()), mean, forecast.base_rates, tests, p, holm_of_known(p))


def _tested(test: ForecastFunction[..., CalibrationTest], table: Any, options: dict[str, Any]) -> CalibrationTest | str:
    try:
        return test.of(table, **options)
    except InvalidInputError as reason:
        return str(reason)
