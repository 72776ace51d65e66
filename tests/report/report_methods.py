"""More methods than stand out in a picture."""

from oddsmith import (
    HistogramCalibrator,
    IsotonicCalibrator,
    LogisticCalibrator,
    MinMaxCalibrator,
    PiecewiseLogisticCalibrator,
    PlattCalibrator,
    SquashCalibrator,
)

METHODS = {
    "platt": PlattCalibrator(),
    "isotonic": IsotonicCalibrator(),
    "piecewise": PiecewiseLogisticCalibrator(),
    "histogram": HistogramCalibrator(),
    "logistic": LogisticCalibrator(),
    "squash": SquashCalibrator(),
    "min-max": MinMaxCalibrator(),
}
