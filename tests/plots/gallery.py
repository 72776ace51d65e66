"""One display of every kind on the same small data, for the tests that hold for all of them."""

import warnings
from dataclasses import fields, is_dataclass

import numpy as np
import pyarrow
from scipy.special import expit

from oddsmith import GaussianCalibrator, PlattCalibrator, ScoreTable, SquashCalibrator
from oddsmith.audit import audit
from oddsmith.bands import pointwise_band
from oddsmith.errors import OddsmithWarning
from oddsmith.metrics import forecast_from_arrays
from oddsmith.plots import (
    AuditDisplay,
    CalibrationBeltDisplay,
    ClasswiseReliabilityDisplay,
    ComparisonDisplay,
    ConfidenceDisplay,
    ConfusionDisplay,
    CorpDisplay,
    CumulativeCalibrationDisplay,
    DecisionCurveDisplay,
    DecompositionDisplay,
    DensityDisplay,
    LearningCurveDisplay,
    MurphyDisplay,
    NetBenefitDifferenceDisplay,
    PredictionHistogramDisplay,
    ReliabilityDisplay,
    RiskCoverageDisplay,
    ScoreSpaceDisplay,
    SmoothReliabilityDisplay,
)

FORECASTS = (PredictionHistogramDisplay, ReliabilityDisplay, CorpDisplay, SmoothReliabilityDisplay)
RELIABILITY = FORECASTS[1:]
SCORES = (ScoreSpaceDisplay, DensityDisplay)
CLASSES = (ConfidenceDisplay, ClasswiseReliabilityDisplay, ConfusionDisplay, RiskCoverageDisplay)


def sample(n=400, seed=0):
    """Scores, labels, and probabilities that are too sure of themselves."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 2, n)
    y = (rng.random(n) < 1 / (1 + np.exp(-scores))).astype(int)
    return scores, y, 1 / (1 + np.exp(-1.7 * scores))


def class_sample(n=300, k=4, seed=0):
    """Labels of several classes, and probabilities that are too sure of themselves."""
    rng = np.random.default_rng(seed)
    z = 1.5 * rng.normal(size=(n, k))
    truth = np.argmax(z + rng.gumbel(size=(n, k)), axis=1)
    sure = np.exp(2 * z)
    return truth, sure / sure.sum(axis=1, keepdims=True)


def quick(cls):
    """Return options that make the computation of a display short."""
    slow = (CorpDisplay, SmoothReliabilityDisplay, ConfidenceDisplay, ClasswiseReliabilityDisplay)
    return {"n_resamples": 40} if cls in slow else {}


def displays():
    """Return a display of every kind and style with the options of its plot, by name."""
    scores, y, prob = sample()
    table, others = ScoreTable.from_arrays(scores, y), ScoreTable.from_arrays(*sample(seed=1)[:2])
    platt, gauss = PlattCalibrator().fit_table(table), GaussianCalibrator().fit_table(table)
    made = {cls.__name__: (cls.from_predictions(y, prob, name="model", **quick(cls)), {}) for cls in FORECASTS}
    made["lines"] = (made["ReliabilityDisplay"][0], {"style": "lines"})
    made["above"] = (made["ReliabilityDisplay"][0], {"histogram": "above"})
    made["bare"] = (made["CorpDisplay"][0], {"histogram": None, "limit": 0.5})
    maps = {"Platt": platt, "Gaussian": gauss}
    made["ScoreSpaceDisplay"] = (ScoreSpaceDisplay.from_tables({"train": table, "test": table}, maps=maps), {})
    limits = ScoreSpaceDisplay.from_table(table, maps=maps, band=pointwise_band(table))
    made["limits"] = (limits, {})
    made["limits of P"] = (limits, {"scale": "probability"})
    made["sigmoid"] = (made["ScoreSpaceDisplay"][0], {"scale": "probability"})
    rows = {"shop": ["north", "south"] * 200, "probability": prob, "label": y}
    made["AuditDisplay"] = (AuditDisplay.from_audit(audit(pyarrow.table(rows), "shop")), {})
    made["DecisionCurveDisplay"] = (DecisionCurveDisplay.from_predictions(y, prob, name="model"), {})
    made["attributes"] = (made["ReliabilityDisplay"][0], {"attributes": True})
    for cls in (CalibrationBeltDisplay, CumulativeCalibrationDisplay, MurphyDisplay):
        made[cls.__name__] = (cls.from_predictions(y, prob, name="model"), {})
    pair = NetBenefitDifferenceDisplay.from_predictions(y, prob, expit(0.5 * scores), name="model − other")
    made["NetBenefitDifferenceDisplay"] = (pair, {})
    forecasts = {"sure": prob, "timid": expit(0.5 * scores), "base rate": np.full(len(y), y.mean())}
    made["DecompositionDisplay"] = (
        DecompositionDisplay.from_forecasts({name: forecast_from_arrays(y, p) for name, p in forecasts.items()}),
        {},
    )
    made["DensityDisplay"] = (DensityDisplay.from_table(table, calibrators={"Gaussian": gauss}), {"modes": True})
    trials = {"Platt": ([32, 64], [[0.30, 0.34], [0.25, 0.27]]), "isotonic": ([32, 64], [[0.4, 0.5], [0.3, 0.3]])}
    made["LearningCurveDisplay"] = (LearningCurveDisplay.from_trials(trials, measure="squared error"), {})
    methods = {"raw": SquashCalibrator().fit_table(table), **maps}
    made["ComparisonDisplay"] = (ComparisonDisplay.from_table(others, methods, raw="raw", n_resamples=50), {})
    groups = {"raw": {"SVM": [0.3, 0.31], "NB": [0.4, 0.42]}, "Platt": {"SVM": [0.2, 0.22], "NB": [0.3, 0.31]}}
    for cls in CLASSES:
        made[cls.__name__] = (cls.from_predictions(*class_sample(), name="model", **quick(cls)), {})
    made["heat map"] = (ConfusionDisplay.from_predictions(*class_sample(k=14), name="model"), {})
    made["groups"] = (ComparisonDisplay.from_trials(groups, measure="squared error"), {})
    return made


def content(value):
    """Return everything that was computed, as text that can be compared."""
    if is_dataclass(value):
        return str([content(getattr(value, field.name)) for field in fields(value)])
    if isinstance(value, dict):
        return str({name: content(part) for name, part in value.items()})
    return repr(value.tolist() if isinstance(value, np.ndarray) else value)


def quietly(calibrator, table):
    """Fit without our own warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OddsmithWarning)
        return calibrator.fit_table(table)
