"""Titles of measures and tests in tables."""

__all__ = ["title_of"]

_TITLES = {
    "log_loss": "log-loss",
    "squared_error": "Brier score",
    "zero_one_error": "errors at ½",
    "log_loss_miscalibration": "miscalibration of log-loss (MCB)",
    "log_loss_discrimination": "discrimination of log-loss (DSC)",
    "log_loss_uncertainty": "uncertainty of log-loss (UNC)",
    "calibration_error": "calibration error (ECE)",
    "smooth_calibration_error": "smooth calibration error",
    "integrated_calibration_index": "integrated calibration index",
    "e90": "E90, 90 % quantile of the error",
    "roc_auc": "area under the ROC curve",
    "lift": "lift of the top 10 %",
    "break_even": "break-even of precision and recall",
    "spiegelhalter_test": "Spiegelhalter",
    "hosmer_lemeshow_test": "Hosmer–Lemeshow",
    "cox_test": "Cox (slope 1, intercept 0)",
    "kolmogorov_smirnov_test": "Kolmogorov–Smirnov",
    "kuiper_test": "Kuiper",
    "brier_miscalibration": "miscalibration of the Brier score (MCB)",
    "brier_discrimination": "discrimination of the Brier score (DSC)",
    "brier_uncertainty": "uncertainty of the Brier score (UNC)",
    "top_label_calibration_error": "top-label calibration error (ECE)",
    "classwise_calibration_error": "class-wise calibration error (ECE)",
    "likelihood_ratio_test": "likelihood ratio, whole rows",
    "top_label_test": "Spiegelhalter, top label",
    "classwise_test": "in the large, each class",
    "calibration_in_the_large": "calibration in the large",
}

#: Other titles with several classes.
_OF_SEVERAL = {"zero_one_error": "errors"}


def title_of(name: str, *, several: bool = False) -> str:
    """Return the title of a measure or test, of two classes or of several.

    Examples
    --------
    >>> title_of("log_loss"), title_of("average_precision")
    ('log-loss', 'average precision')
    """
    known = _TITLES | _OF_SEVERAL if several else _TITLES
    return known.get(name, name.replace("_", " "))
