"""What the scores of each class look like, and the curves that follow from them."""

from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import kstest, kurtosis

from oddsmith import (
    AsymmetricGaussianCalibrator,
    AsymmetricLaplaceCalibrator,
    GaussianCalibrator,
    HybridCalibrator,
    ScoreTable,
)
from oddsmith.checks import Bools, Floats
from oddsmith.metrics import Interval

WHOLE, INNER = "whole", "inner"

#: What is compared: exponential sides with a Gaussian; and, the outer side being Gaussian in both, the inner side.
_PAIRS = {
    WHOLE: (AsymmetricLaplaceCalibrator, GaussianCalibrator),
    INNER: (HybridCalibrator, AsymmetricGaussianCalibrator),
}
#: Classes with fewer test rows are not described.
_LEAST = 20
#: A mode keeps this share of its class on each side: no density is a spike.
_SIDE = 0.05
_TINY = 1e-300


def describe_classes(held: ScoreTable, test: Floats, truth: Bools) -> dict[str, dict[str, Any]]:
    """Return how much better exponential densities fit the test scores of each class than Gaussian ones do.

    Parameters
    ----------
    held : ScoreTable
        Scores of folds, which the densities are fitted to.
    test, truth : ndarray
        Scores and labels of test rows.

    Returns
    -------
    dict of class to dict
        "whole": the log-density of an asymmetric Laplace less that of a Gaussian, mean over test rows, and the standard
        error of that mean; "inner": the same of the two densities that differ only on the side of the other class;
        "from_gaussian": the largest distance between the distribution of test scores and the Gaussian of their mean and
        variance; "kurtosis": excess kurtosis, which is 0 for a Gaussian and at least 3 with exponential sides.
    """
    logs = {pair: [_log_densities(kind(min_side=_SIDE), held, test) for kind in _PAIRS[pair]] for pair in _PAIRS}
    found: dict[str, dict[str, Any]] = {}
    for place, label in enumerate((True, False)):
        rows = truth == label
        if rows.sum() < _LEAST:
            continue
        scores = test[rows]
        distance = kstest((scores - scores.mean()) / scores.std(), "norm").statistic
        found["positive" if label else "negative"] = {
            "from_gaussian": float(distance),
            "kurtosis": float(kurtosis(scores)),
        }
        for pair, (exponential, gaussian) in logs.items():
            gain = (exponential[place] - gaussian[place])[rows]
            found["positive" if label else "negative"][pair] = [gain.mean(), gain.std(ddof=1) / np.sqrt(len(gain))]
    return found


def _log_densities(calibrator: Any, held: ScoreTable, test: Floats) -> list[Floats]:
    found = calibrator.fit_table(held).class_densities(test)
    return [np.log(np.maximum(each, _TINY)) for each in found]


def gain_interval(described: dict[str, Any], pair: str) -> Interval:
    """Return the mean gain that `describe_classes` found, with its 95 % interval."""
    mean, error = described[pair]
    reach = float(ndtri(0.975)) * error
    return Interval(mean, mean - reach, mean + reach, 0.95, "normal interval of a mean")


def coefficients(fit: Any) -> list[float] | None:
    """Return the log-odds of a fit as a polynomial in the score, highest power first; None of a constant fit.

    Examples
    --------
    >>> from oddsmith import PlattCalibrator
    >>> fit = PlattCalibrator().fit([-2.0, -1.0, 0.5, 0.0, 1.5, 3.0], [0, 0, 0, 1, 1, 1])
    >>> bool(np.isclose(np.polyval(coefficients(fit), 2.0), fit.log_odds([2.0])[0]))
    True
    """
    if isinstance(fit, GaussianCalibrator) and not fit.tied:
        return _parabola(fit) if hasattr(fit, "positive_") else None
    return [float(fit.a_), float(fit.b_)] if hasattr(fit, "a_") else None


def _parabola(fit: GaussianCalibrator) -> list[float]:
    total = np.array([0.0, 0.0, np.log(fit.prior_positive_) - np.log1p(-fit.prior_positive_)])
    for sign, density in ((1, fit.positive_), (-1, fit.negative_)):
        mean, width = density.parameters["mu"], density.parameters["sigma"]
        total += sign * (np.array([-0.5, mean, -0.5 * mean**2]) / width**2 - [0, 0, np.log(width)])
    return [float(value) for value in total]


def falls_at(parabola: list[float], scores: Floats) -> Bools:
    """Return at which scores the log-odds fall as the score rises.

    Examples
    --------
    >>> falls_at([-1.0, 2.0, 0.0], np.array([0.0, 2.0]))
    array([False,  True])
    """
    return np.asarray(2 * parabola[0] * scores + parabola[1] < 0)
