"""Names that other libraries or earlier versions use, with what this library has instead."""

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import NoReturn

#: Modules whose names people look for elsewhere, the preferred one first.
SEARCHED = (
    "oddsmith",
    *(f"oddsmith.{room}" for room in ("metrics", "plots", "report", "classify", "data", "frames", "export")),
)

_LOG_LOSS = "oddsmith.metrics.log_loss(y_true, y_prob), a mean in nats"
_PLATT = "oddsmith.PlattCalibrator, or oddsmith.LogisticCalibrator without Platt's softened targets"
_CLASSWISE = "oddsmith.metrics.classwise_calibration_error(y_true, P), a mean over the classes"

#: For each name that people try: what to use, and how that differs.
INSTEAD = {
    "BetaCalibration": "oddsmith.BetaCalibrator",
    "CalibratedClassifierCV": "oddsmith.CalibratedClassifier, which takes the same arguments",
    "CalibrationDisplay": (
        "oddsmith.plots.ReliabilityDisplay, which has the same from_estimator and from_predictions, draws ten bins"
        " instead of five, with intervals and a histogram, and takes bins='mass' instead of strategy='quantile'"
    ),
    "ECE": "oddsmith.metrics.calibration_error(y_true, y_prob, definition='ece')",
    "HistogramBinning": "oddsmith.HistogramCalibrator",
    "IsotonicRegression": "oddsmith.IsotonicCalibrator, which predicts probabilities",
    "LogisticCalibration": _PLATT,
    "PlattScaling": _PLATT,
    "SigmoidCalibration": _PLATT,
    "SigmoidCalibrator": _PLATT,
    "VennAbers": "oddsmith.VennAbersCalibrator",
    "adaptive_calibration_error": (
        "oddsmith.metrics.calibration_error(y_true, y_prob), which has bins of equal weight by default"
    ),
    "average_precision_score": (
        "oddsmith.metrics.average_precision(y_true, y_prob), which is the same number for probabilities and refuses"
        " other scores"
    ),
    "brier": "oddsmith.metrics.brier_score_loss(y_true, y_prob), also called squared_error",
    "brier_score": "oddsmith.metrics.brier_score_loss(y_true, y_prob), also called squared_error",
    "brier_score_loss": "oddsmith.metrics.brier_score_loss(y_true, y_prob), also called squared_error",
    "calibration_curve": (
        "oddsmith.metrics.reliability_curve(y_true, y_prob), which returns one object with fraction_positive,"
        " mean_predicted and the weight of each bin, has ten bins instead of five, and takes bins='mass' instead of"
        " strategy='quantile'"
    ),
    "classwise_ece": _CLASSWISE,
    "cross_entropy": _LOG_LOSS,
    "ece": "oddsmith.metrics.calibration_error(y_true, y_prob, definition='ece')",
    "expected_calibration_error": (
        "oddsmith.metrics.calibration_error(y_true, y_prob, definition='ece') for the probability of the positive"
        " class, or top_label_calibration_error(y_true, P, definition='ece') for that of the predicted class, as deep"
        " learning libraries define it; both take 15 bins of equal width"
    ),
    "hosmer_lemeshow": "oddsmith.metrics.hosmer_lemeshow_test(y_true, y_prob)",
    "ici": "oddsmith.metrics.integrated_calibration_index(y_true, y_prob)",
    "maximum_calibration_error": "oddsmith.metrics.calibration_error(y_true, y_prob, definition='mce')",
    "mce": "oddsmith.metrics.calibration_error(y_true, y_prob, definition='mce')",
    "negative_log_likelihood": _LOG_LOSS,
    "nll": _LOG_LOSS,
    "nll_loss": _LOG_LOSS,
    "reliability_diagram": "oddsmith.plots.ReliabilityDisplay.from_predictions(y_true, y_prob)",
    "roc_auc_score": (
        "oddsmith.metrics.roc_auc(y_true, y_prob), which is the same number for probabilities and refuses other scores"
    ),
    "spiegelhalter_z": "oddsmith.metrics.spiegelhalter_test(y_true, y_prob)",
    "static_calibration_error": _CLASSWISE,
}

#: Former names, by the module that had them.
FORMER = {
    "oddsmith.metrics": {
        "auc": "oddsmith.metrics.roc_auc",
        "compare_rows": "oddsmith.metrics.compare, whose first argument may be the labels of the rows",
        "evaluate_classes": "oddsmith.metrics.evaluate",
        "summary": "oddsmith.metrics.evaluate",
        "verdict_of": "oddsmith.metrics.verdict",
        "verdict_of_classes": "oddsmith.metrics.verdict",
        "verdict_of_scores": 'oddsmith.metrics.verdict(table, scores_are="score")',
    },
    "oddsmith.report": {
        "ClassMethodComparison": "oddsmith.report.MethodComparison",
        "compare_class_methods": "oddsmith.report.compare_methods",
        "summarize_classes": "oddsmith.report.summarize",
        "verdict_before": 'oddsmith.metrics.verdict(table, scores_are="score")',
    },
}


def refuse(module: str, name: str) -> NoReturn:
    """Raise the error for a name that a module does not have, with what to use instead where that is known.

    An `ImportError`, because ``from module import name`` would not show the message of an `AttributeError`.
    """
    instead = FORMER.get(module, {}) | INSTEAD
    if name in instead:
        msg = f"{module} has no {name!r}; use {instead[name]}"
        raise ImportError(msg, name=module)
    if name[0] != "_" and find_spec(f"{module}.{name}") is None:  # a submodule is found after this
        for room in SEARCHED:
            if room != module and name in import_module(room).__all__:
                msg = f"{module} has no {name!r}; use {room}.{name}"
                raise ImportError(msg, name=module)
    msg = f"module {module!r} has no attribute {name!r}"
    raise AttributeError(msg, name=name, obj=sys.modules[module])
