"""Measures of forecasts, with their tests and intervals.

A measure is a function of a forecast, a `ScoreTable` whose score is a log-odds; ``measure.from_arrays(y_true, y_prob,
sample_weight)`` is its twin for arrays.
"""

from oddsmith.metrics.calibration_tests import (
    CalibrationTest,
    cox_test,
    hosmer_lemeshow_test,
    kolmogorov_smirnov_test,
    kuiper_test,
    spiegelhalter_test,
)
from oddsmith.metrics.compare import compare, compare_rows
from oddsmith.metrics.comparison import Comparison, MeasureComparison
from oddsmith.metrics.curves import EmpiricalLogOdds, ReliabilityCurve, empirical_log_odds, reliability_curve
from oddsmith.metrics.intervals import Interval, interval
from oddsmith.metrics.measure import Figure, Measure, forecast_from_arrays
from oddsmith.metrics.proper import (
    Decomposition,
    decompose,
    discrimination,
    log_loss,
    miscalibration,
    root_mean_squared_error,
    squared_error,
    uncertainty,
    zero_one_error,
)
from oddsmith.metrics.provenance import Forecast, forecast_of
from oddsmith.metrics.ranking import accuracy, auc, average_precision, break_even, distinct_outputs, lift
from oddsmith.metrics.reliability import (
    ErrorDefinition,
    calibration_error,
    classwise_calibration_error,
    top_label_forecast,
)
from oddsmith.metrics.resampling_tests import BootstrapTest, cluster_sign_flip_test, paired_bootstrap
from oddsmith.metrics.significance import (
    PairedTTest,
    SignTest,
    holm,
    mcnemar_test,
    micro_sign_test,
    paired_t_test,
    sign_test,
)
from oddsmith.metrics.slope import calibration_intercept, calibration_slope
from oddsmith.metrics.smooth import integrated_calibration_index, smooth_calibration_error
from oddsmith.metrics.summary import summary, summary_text

__all__ = [
    "BootstrapTest",
    "CalibrationTest",
    "Comparison",
    "Decomposition",
    "EmpiricalLogOdds",
    "ErrorDefinition",
    "Figure",
    "Forecast",
    "Interval",
    "Measure",
    "MeasureComparison",
    "PairedTTest",
    "ReliabilityCurve",
    "SignTest",
    "accuracy",
    "auc",
    "average_precision",
    "break_even",
    "calibration_error",
    "calibration_intercept",
    "calibration_slope",
    "classwise_calibration_error",
    "cluster_sign_flip_test",
    "compare",
    "compare_rows",
    "cox_test",
    "decompose",
    "discrimination",
    "distinct_outputs",
    "empirical_log_odds",
    "forecast_from_arrays",
    "forecast_of",
    "holm",
    "hosmer_lemeshow_test",
    "integrated_calibration_index",
    "interval",
    "kolmogorov_smirnov_test",
    "kuiper_test",
    "lift",
    "log_loss",
    "mcnemar_test",
    "micro_sign_test",
    "miscalibration",
    "paired_bootstrap",
    "paired_t_test",
    "reliability_curve",
    "root_mean_squared_error",
    "sign_test",
    "smooth_calibration_error",
    "spiegelhalter_test",
    "squared_error",
    "summary",
    "summary_text",
    "top_label_forecast",
    "uncertainty",
    "zero_one_error",
]
