"""Histograms and reliability of predicted values, as the document draws them."""

import numpy as np
from scipy.special import expit

from oddsmith import ScoreTable
from oddsmith.checks import Bools, Floats
from oddsmith.maps.base import logit
from oddsmith.metrics.slope import recalibration_line
from oddsmith_studies.studies._study import Json
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.methods import ISO, PLATT, RAW, methods_of
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.scores import Scores, Stage
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.tasks import Sample

HISTOGRAM_BINS, RELIABILITY_BINS, CURVE_POINTS = 40, 10, 201


def picture(scores: Scores, drawn: Sample) -> Json:
    """Return what is drawn of the test rows' votes, raw and calibrated by three folds, and both fitted functions."""
    methods = methods_of(scores, drawn.y_train, drawn.y_validation)
    grid = np.linspace(0, 1, CURVE_POINTS)
    at_grid = Stage(2 * grid - 1, 1.0)
    return {
        "methods": {name: _binned(expit(methods[name][0](scores.test)), drawn.y_test) for name in (RAW, PLATT, ISO)},
        "slopes": {
            name: _slope(expit(methods[name][0](scores.test)), drawn.y_test, len(drawn.y_train))
            for name in (RAW, PLATT, ISO)
        },
        "functions": {name: expit(methods[name][0](at_grid)) for name in (PLATT, ISO)},
    }


def _binned(predicted: Floats, y: Bools) -> Json:
    # Decimal edges are not exact in binary: a value on an edge belongs above it.
    bins = np.minimum(np.floor(RELIABILITY_BINS * predicted + 1e-12), RELIABILITY_BINS - 1).astype(int)
    counts = np.bincount(bins, minlength=RELIABILITY_BINS)
    filled = counts > 0
    return {
        "histogram": np.histogram(predicted, HISTOGRAM_BINS, (0, 1))[0],
        "distinct": len(np.unique(predicted)),
        "mean": (np.bincount(bins, predicted, RELIABILITY_BINS)[filled] / counts[filled]),
        "positive": (np.bincount(bins, y, RELIABILITY_BINS)[filled] / counts[filled]),
        "count": counts[filled],
    }


def _slope(predicted: Floats, y: Bools, cases: int) -> list[float] | None:
    """Return the slope of log-odds of what happened over log-odds of what was said, and its standard error.

    Above 1 the reliability diagram is a sigmoid: what is said to be rare is rarer, and what is said to be common more
    common. A forecast that says the same of all rows has none.
    """
    if predicted.min() == predicted.max():
        return None
    bound = -float(logit(np.array(1 / (2 * cases))))
    odds = np.clip(logit(predicted), -bound, bound)
    a, b = recalibration_line(ScoreTable.from_arrays(odds, y))
    p = expit(a * odds + b)
    spread = p * (1 - p)
    center = np.average(odds, weights=spread)
    return [a, float(1 / np.sqrt(np.sum(spread * (odds - center) ** 2)))]
