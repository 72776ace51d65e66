"""Probabilities from boosted scores: raw, calibrated and corrected; and how they are judged."""

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from oddsmith import Calibrator, IsotonicCalibrator, PlattCalibrator
from oddsmith.checks import Bools, Floats
from oddsmith.maps.base import logit
from oddsmith.metrics.proper import decision_log_prob, decision_squared_error
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.scores import Scores, Stage

RAW, PLATT, ISO, LOGIST, LOGLOSS = "RAW", "PLATT", "ISO", "LOGIST", "LOGLOSS"
#: The columns of the document's Table 2.
COLUMNS = (RAW, PLATT, ISO, LOGIST, LOGLOSS)

#: Calibrated on the validation rows, as in the document's Figure 6.
PLATT_1K, ISO_1K = "PLATT, validation rows", "ISO, validation rows"
#: Calibrated on the rows that were trained on, against which the document warns.
PLATT_TRAIN, ISO_TRAIN = "PLATT, training rows", "ISO, training rows"

CROSS_ENTROPY, SQUARED_ERROR = "cross-entropy", "squared error"
MEASURES = (CROSS_ENTROPY, SQUARED_ERROR)
#: Cross-entropy with P held 1e-6 from 0 and 1, to see how much the bound matters.
WIDE = "cross-entropy, 1e-6"
_WIDE_SHARE = 1e-6

Forecast = Callable[[Stage], Floats]


def platt(scores: Floats, y: Bools) -> Calibrator:
    """Return Platt scaling fitted to scores."""
    return PlattCalibrator().fit(scores, y)


def isotonic(scores: Floats, y: Bools) -> Calibrator:
    """Return isotonic regression fitted to scores, a step function as in the document."""
    return IsotonicCalibrator(between="step").fit(scores, y)


def methods_of(scores: Scores, y_train: Bools, y_validation: Bools) -> dict[str, tuple[Forecast, int]]:
    """Return, by name, log-odds as functions of boosted scores, and how many cases each was fitted on."""
    if scores.held is None:
        return {LOGLOSS: (lambda stage: stage.total, len(y_train))}
    found: dict[str, tuple[Forecast, int]] = {
        RAW: (lambda stage: logit(stage.share), len(y_train)),
        LOGIST: (lambda stage: 2 * stage.total, len(y_train)),
    }
    for names, given, y in (
        ((PLATT, ISO), scores.held, y_train),
        ((PLATT_1K, ISO_1K), scores.validation.share, y_validation),
        ((PLATT_TRAIN, ISO_TRAIN), scores.train.share, y_train),
    ):
        for name, fit in zip(names, (platt, isotonic), strict=True):
            found[name] = (_of_share(fit(given, y)), len(y))
    return found


def _of_share(calibrator: Calibrator) -> Forecast:
    return lambda stage: calibrator.log_odds(stage.share)


def losses(odds: Floats, y: Bools, cases: int) -> dict[str, Floats]:
    """Return the losses of every row: cross-entropy in bits, with P held 1/(2n) from 0 and 1, and squared error."""
    return {
        CROSS_ENTROPY: _bits(odds, y, 1 / (2 * cases)),
        SQUARED_ERROR: decision_squared_error(np.where(y, odds, -odds)),
        WIDE: _bits(odds, y, _WIDE_SHARE),
    }


def _bits(odds: Floats, y: Bools, share: float) -> Floats:
    bound = -float(logit(np.array(share)))
    held = np.clip(odds, -bound, bound)
    return np.asarray(-decision_log_prob(np.where(y, held, -held)) / np.log(2))


def summary(found: dict[str, Floats]) -> dict[str, list[float]]:
    """Return the mean of each loss, and its standard error."""
    return {name: [float(each.mean()), float(each.std(ddof=1) / np.sqrt(len(each)))] for name, each in found.items()}


def rounded_probability(odds: Floats) -> list[float]:
    """Return P to six digits after the point, which no clipped loss can tell from P itself."""
    return [round(value, 6) for value in expit(odds).tolist()]
