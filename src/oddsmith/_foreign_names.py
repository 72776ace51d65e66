"""Names that other libraries or earlier versions use, with what this library has instead."""

import re
import sys
from importlib import import_module
from importlib.util import find_spec
from types import FrameType
from typing import NoReturn

#: Modules whose names people look for elsewhere, the preferred one first.
SEARCHED = (
    "oddsmith",
    *(f"oddsmith.{room}" for room in ("metrics", "plots", "report", "classify", "data", "frames", "export", "model")),
    *(f"oddsmith.{room}" for room in ("decide", "cutoffs", "base_rates", "bands", "combine", "audit", "pooling")),
    *(f"oddsmith.{room}" for room in ("monitor", "expected", "explain", "planning", "files", "maps", "errors")),
)

_LOG_LOSS = "oddsmith.metrics.log_loss(y_true, y_prob), a mean in nats"
_PLATT = "oddsmith.PlattCalibrator, or oddsmith.LogisticCalibrator without Platt's softened targets"
_TEMPERATURE = "oddsmith.TemperatureCalibrator for two classes, or oddsmith.TemperatureScaling for logits of several"
_ADAPTIVE = "oddsmith.metrics.calibration_error(y_true, y_prob), which has bins of equal weight by default"
_DECOMPOSE = "oddsmith.metrics.decompose(y_true, y_prob), which has parts of log-loss and Brier score"
_RELIABILITY = "oddsmith.plots.ReliabilityDisplay.from_predictions(y_true, y_prob)"
_TOP_LABEL = "oddsmith.metrics.top_label_calibration_error(y_true, P)"
_IN_THE_LARGE = "oddsmith.metrics.calibration_intercept(y_true, y_prob), the shift of the log-odds at slope 1"
_CLASSWISE = "oddsmith.metrics.classwise_calibration_error(y_true, P), a mean over the classes"
_CUTOFF = "oddsmith.cutoffs.threshold for a guaranteed precision, recall or rate, or oddsmith.cutoffs.least_cost"
_BASE_RATE = "oddsmith.base_rates.estimate_prior, then oddsmith.base_rates.shift_prior"
_SAMPLE_SIZE = "oddsmith.planning.labels_needed"
_NEAR_ISOTONIC = "oddsmith.ENIRCalibrator"
_EXPECTED = (
    "oddsmith.expected.expected_performance, with oddsmith.expected.importance_weights where other columns differ"
)
_CURVE_OF_BENEFIT = "oddsmith.metrics.decision_curve(y_true, y_prob)"

#: For names that people try, whatever their case and underscores: what to use, and how that differs.
INSTEAD = {
    "CalibratedClassifierCV": "oddsmith.CalibratedClassifier, which takes the same arguments",
    "CalibrationCurveDisplay": _RELIABILITY,
    "CalibrationDisplay": (
        "oddsmith.plots.ReliabilityDisplay, which has the same from_estimator and from_predictions, draws ten bins"
        " instead of five, with intervals and a histogram, and takes bins='mass' instead of strategy='quantile'"
    ),
    "IVAP": "oddsmith.VennAbersCalibrator",
    "InductiveVennAbers": "oddsmith.VennAbersCalibrator",
    "IsotonicRegression": "oddsmith.IsotonicCalibrator, which predicts probabilities",
    "LogisticCalibration": _PLATT,
    "NearIsotonic": _NEAR_ISOTONIC,
    "NearIsotonicRegression": _NEAR_ISOTONIC,
    "PlattScaling": _PLATT,
    "SigmoidCalibration": _PLATT,
    "SplineCalib": "oddsmith.SplineCalibrator",
    "TemperatureScaler": _TEMPERATURE,
    "TunedThresholdClassifierCV": _CUTOFF,
    "accuracy_score": "oddsmith.metrics.accuracy(y_true, y_prob), which decides at P > 1/2",
    "ace": _ADAPTIVE,
    "adaptive_calibration_error": _ADAPTIVE,
    "auc": "oddsmith.metrics.roc_auc(y_true, y_prob); scikit-learn's auc(x, y) is the area under any curve",
    "average_precision_score": (
        "oddsmith.metrics.average_precision(y_true, y_prob), which is the same number for probabilities and refuses"
        " other scores"
    ),
    "best_threshold": _CUTOFF,
    "betacal": "oddsmith.BetaCalibrator",
    "brier": "oddsmith.metrics.brier_score_loss(y_true, y_prob), also called squared_error",
    "brier_decomposition": _DECOMPOSE,
    "brier_score": "oddsmith.metrics.brier_score_loss(y_true, y_prob), also called squared_error",
    "brier_score_loss": "oddsmith.metrics.brier_score_loss(y_true, y_prob), also called squared_error",
    "calibrate": "oddsmith.AutoCalibrator().fit(scores, y), or oddsmith.CalibratedClassifier for a classifier",
    "calibration_curve": (
        "oddsmith.metrics.reliability_curve(y_true, y_prob), which returns one object with fraction_positive,"
        " mean_predicted and the weight of each bin, has ten bins instead of five, and takes bins='mass' instead of"
        " strategy='quantile'"
    ),
    "calibration_in_the_large": _IN_THE_LARGE,
    "calibration_plot": _RELIABILITY,
    "calibration_report": 'oddsmith.write_report(y_true, y_prob, "report.html")',
    "cbpe": _EXPECTED,
    "citl": _IN_THE_LARGE,
    "classwise_ece": _CLASSWISE,
    "corp": "oddsmith.plots.CorpDisplay.from_predictions(y_true, y_prob)",
    "cox": "oddsmith.metrics.cox_test(y_true, y_prob)",
    "cross_entropy": _LOG_LOSS,
    "d2_brier_score": "oddsmith.metrics.brier_skill_score(y_true, y_prob)",
    "d2_log_loss_score": "1 - oddsmith.metrics.normalized_entropy(y_true, y_prob)",
    "dca": _CURVE_OF_BENEFIT,
    "decision_curve_analysis": _CURVE_OF_BENEFIT,
    "delong": "oddsmith.metrics.delong_test(y_true, a, b)",
    "e50": "oddsmith.metrics.integrated_calibration_index(y_true, y_prob, statistic='e50')",
    "ece": "oddsmith.metrics.calibration_error(y_true, y_prob, definition='ece')",
    "emax": "oddsmith.metrics.integrated_calibration_index(y_true, y_prob, statistic='emax')",
    "expected_calibration_error": (
        "oddsmith.metrics.calibration_error(y_true, y_prob, definition='ece') for the probability of the positive"
        " class, or top_label_calibration_error(y_true, P, definition='ece') for that of the predicted class, as deep"
        " learning libraries define it; both take 15 bins of equal width"
    ),
    "find_threshold": _CUTOFF,
    "fit": "oddsmith.AutoCalibrator().fit(scores, y)",
    "hosmer_lemeshow": "oddsmith.metrics.hosmer_lemeshow_test(y_true, y_prob)",
    "ici": "oddsmith.metrics.integrated_calibration_index(y_true, y_prob)",
    "ks_test": "oddsmith.metrics.kolmogorov_smirnov_test(y_true, y_prob)",
    "kuiper": "oddsmith.metrics.kuiper_test(y_true, y_prob)",
    "load_model": "oddsmith.load(path)",
    "maximum_calibration_error": "oddsmith.metrics.calibration_error(y_true, y_prob, definition='mce')",
    "mce": "oddsmith.metrics.calibration_error(y_true, y_prob, definition='mce')",
    "mcnemar": "oddsmith.metrics.mcnemar_test(right_a, right_b)",
    "multicalibration": "oddsmith.audit.audit",
    "murphy_decomposition": _DECOMPOSE,
    "negative_log_likelihood": _LOG_LOSS,
    "nll": _LOG_LOSS,
    "nll_loss": _LOG_LOSS,
    "observed_expected_ratio": "1 / oddsmith.metrics.predicted_observed_ratio(y_true, y_prob)",
    "oe_ratio": "1 / oddsmith.metrics.predicted_observed_ratio(y_true, y_prob)",
    "optimal_threshold": _CUTOFF,
    "pape": _EXPECTED,
    "plot_calibration_curve": _RELIABILITY,
    "plot_reliability_diagram": _RELIABILITY,
    "pmsampsize": _SAMPLE_SIZE,
    "prior_shift": _BASE_RATE,
    "reliability_diagram": _RELIABILITY,
    "reliability_plot": _RELIABILITY,
    "roc_auc_score": (
        "oddsmith.metrics.roc_auc(y_true, y_prob), which is the same number for probabilities and refuses other scores"
    ),
    "saerens": _BASE_RATE,
    "sample_size": _SAMPLE_SIZE,
    "save": "the method save(path) of what is fitted, and oddsmith.load(path)",
    "sigmoid": _PLATT,
    "sld": _BASE_RATE,
    "smece": "oddsmith.metrics.smooth_calibration_error(y_true, y_prob)",
    "smooth_ece": "oddsmith.metrics.smooth_calibration_error(y_true, y_prob)",
    "spiegelhalter": "oddsmith.metrics.spiegelhalter_test(y_true, y_prob)",
    "spiegelhalter_z": "oddsmith.metrics.spiegelhalter_test(y_true, y_prob)",
    "static_calibration_error": _CLASSWISE,
    "temperature": _TEMPERATURE,
    "temperature_scaling": _TEMPERATURE,
    "top_label_ece": _TOP_LABEL,
}

#: What names of methods end with, here and elsewhere.
_METHOD_WORD = re.compile("_?(calibrator|calibration|scaling|regression|binning)?(_?cv)?$", re.IGNORECASE)

#: Former names, by the module that had them.
FORMER = {
    "oddsmith": {
        "TableStream": "ScoreTable.save and ScoreTable.load, with one file per chunk, and merge",
        "modelfile": "oddsmith.model",
        "solvers": "oddsmith.fitting",
        "table": "oddsmith.data",
        "learners": "oddsmith_studies.learners, in the distribution oddsmith-studies",
        "BoostedClassifier": "oddsmith_studies.learners.BoostedClassifier or sklearn.ensemble.AdaBoostClassifier",
        "KernelLogisticRegression": "oddsmith_studies.learners.KernelLogisticRegression",
        "MultinomialNaiveBayes": "oddsmith_studies.learners.MultinomialNaiveBayes or sklearn.naive_bayes.MultinomialNB",
        "SmoothedTreeClassifier": "oddsmith_studies.learners.SmoothedTreeClassifier",
        "VotedPerceptron": "oddsmith_studies.learners.VotedPerceptron",
    },
    "oddsmith.metrics": {
        "compare_rows": "oddsmith.metrics.compare, whose first argument may be the labels of the rows",
        "evaluate_classes": "oddsmith.metrics.evaluate",
        "summary": "oddsmith.metrics.evaluate",
        "verdict_of": "oddsmith.metrics.verdict",
        "verdict_of_classes": "oddsmith.metrics.verdict",
        "verdict_of_scores": 'oddsmith.metrics.verdict(table, input="score")',
    },
    "oddsmith.report": {
        "ClassMethodComparison": "oddsmith.report.MethodComparison",
        "compare_class_methods": "oddsmith.report.compare_methods",
        "summarize_classes": "oddsmith.report.summarize",
        "verdict_before": 'oddsmith.metrics.verdict(table, input="score")',
    },
}


def refuse(module: str, name: str) -> NoReturn:
    """Raise the error for a name that a module does not have, with what to use instead where that is known.

    Inside ``from module import name`` it is an `ImportError`, since that statement does not show the message of an
    `AttributeError`.
    """
    use = _instead(module, name)
    if use is None:
        msg = f"module {module!r} has no attribute {name!r}"
    else:
        msg = f"{module} has no {name!r}; use {use}"
        if _is_imported():
            raise ImportError(msg, name=module)
    raise AttributeError(msg, name=name, obj=sys.modules[module])


def _instead(module: str, name: str) -> str | None:
    """Return what to use instead of a name, if that is known."""
    if name in FORMER.get(module, {}):
        return FORMER[module][name]
    if name[0] == "_" or find_spec(f"{module}.{name}") is not None:  # a submodule is found after this
        return None
    folded = _fold(name)
    for known, use in INSTEAD.items():
        if _fold(known) == folded:
            return use
    for same in (str, _fold):  # a function and the class of its result may differ by case alone
        for room in SEARCHED:
            for public in import_module(room).__all__:
                if same(public) == same(name):
                    return f"{room}.{public}"
    for method in import_module("oddsmith.calibrators").__all__:
        if _stem(method) == _stem(name) != "":
            return f"oddsmith.{method}"
    return None


def _stem(method: str) -> str:
    return _fold(_METHOD_WORD.sub("", method))


def _fold(name: str) -> str:
    return name.replace("_", "").casefold()


def _is_imported() -> bool:
    """Return whether an import statement looks a module's name up, by the nearest frame outside ``__getattr__``."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_name == "__getattr__":
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename == "<frozen importlib._bootstrap>"
