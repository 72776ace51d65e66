"""Names that other libraries or earlier versions use, with what this library has instead."""

import sys
from typing import NoReturn

#: For each name that people try: what to use, and how that differs.
INSTEAD = {
    "CalibratedClassifierCV": "oddsmith.CalibratedClassifier, which takes the same arguments",
    "CalibrationDisplay": (
        "oddsmith.plots.ReliabilityDisplay, which has the same from_estimator and from_predictions, draws ten bins"
        " instead of five, with intervals and a histogram, and takes bins='mass' instead of strategy='quantile'"
    ),
    "ECE": "oddsmith.metrics.calibration_error(y_true, y_prob, definition='ece')",
    "IsotonicRegression": "oddsmith.IsotonicCalibrator, which predicts probabilities",
    "average_precision_score": (
        "oddsmith.metrics.average_precision(y_true, y_prob), which is the same number for probabilities and refuses"
        " other scores"
    ),
    "brier_score": "oddsmith.metrics.brier_score_loss(y_true, y_prob), also called squared_error",
    "brier_score_loss": "oddsmith.metrics.brier_score_loss(y_true, y_prob), also called squared_error",
    "calibration_curve": (
        "oddsmith.metrics.reliability_curve(y_true, y_prob), which returns one object with fraction_positive,"
        " mean_predicted and the weight of each bin, has ten bins instead of five, and takes bins='mass' instead of"
        " strategy='quantile'"
    ),
    "ece": "oddsmith.metrics.calibration_error(y_true, y_prob, definition='ece')",
    "expected_calibration_error": (
        "oddsmith.metrics.calibration_error(y_true, y_prob, definition='ece') for the probability of the positive"
        " class, or top_label_calibration_error(y_true, P, definition='ece') for that of the predicted class, as deep"
        " learning libraries define it; both take 15 bins of equal width"
    ),
    "nll_loss": "oddsmith.metrics.log_loss(y_true, y_prob), a mean in nats",
    "reliability_diagram": "oddsmith.plots.ReliabilityDisplay.from_predictions(y_true, y_prob)",
    "roc_auc_score": (
        "oddsmith.metrics.roc_auc(y_true, y_prob), which is the same number for probabilities and refuses other scores"
    ),
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
    """Raise the error for a name that a module does not have; for a known one it says what to use.

    An `ImportError`, because ``from module import name`` would not show the message of an `AttributeError`.
    """
    instead = FORMER.get(module, {}) | INSTEAD
    if name in instead:
        msg = f"{module} has no {name!r}; use {instead[name]}"
        raise ImportError(msg, name=module)
    msg = f"module {module!r} has no attribute {name!r}"
    raise AttributeError(msg, name=name, obj=sys.modules[module])
