"""Calibration error without bins: smooth ECE, and ICI, E50, E90, Emax of a named smoother."""

from typing import Literal

import numpy as np
from scipy.fft import dct, idct
from scipy.optimize import brentq
from scipy.special import expit

from oddsmith import _check, _kernels
from oddsmith._types import Floats, Weights
from oddsmith.data import ScoreTable, quantiles
from oddsmith.metrics.bins import sum_by
from oddsmith.metrics.measure import Figure, measure, probability, register_measure, residuals, size, squared_weight
from oddsmith.metrics.slope import recalibration_line, without_certain
from oddsmith.metrics.smoothers import loess, lowess, spline_log_odds

#: Cells of the lattice on [0, 1]; forecasts are shared between the two nearest centers.
_CELLS = 4096
_SMALLEST = 1e-4

Smoother = Literal["isotonic", "logistic", "kernel", "lowess", "loess", "spline"]
Statistic = Literal["ici", "e50", "e90", "emax"]

_STATISTICS = {"ici": "mean", "e50": "median", "e90": "90th percentile", "emax": "largest"}
_SMOOTHERS = {
    "isotonic": "isotonic regression (PAV)",
    "logistic": "logistic regression on the log-odds",
    "lowess": "lowess, span 2/3, as R's val.prob",
    "loess": "loess of the labels on P, span 3/4, degree 2",
    "spline": "logistic regression on a restricted cubic spline of the log-odds",
    "kernel": "reflected Gaussian kernel on P, bandwidth {bandwidth:.4g} of smECE",
}


@register_measure
@measure(null="calibrated")
def smooth_calibration_error(forecast: ScoreTable, *, bandwidth: float | None = None) -> Figure:
    """Return the smooth calibration error, smECE, with the bandwidth that equals the error.

    Parameters
    ----------
    bandwidth : float, optional
        A fixed bandwidth σ; by default the one with smECE_σ = σ.

    See Also
    --------
    calibration_error : By bins.
    integrated_calibration_index : A mean distance to a curve.

    Notes
    -----
    smECE_σ = ∫₀¹ |Σᵢ wᵢ(yᵢ − pᵢ)K_σ(t, pᵢ)| dt / Σw, with the Gaussian kernel reflected at 0 and 1. On a lattice of
    4096 cells the reflected kernel is a product of cosine transforms.

    References
    ----------
    J. Błasiok and P. Nakkiran, Smooth ECE: principled reliability diagrams via kernel smoothing, ICLR 2024.

    Examples
    --------
    >>> round(smooth_calibration_error([0, 0, 1, 1], [0.1, 0.6, 0.6, 0.8]), 6)
    0.095497
    """
    sigma = None if bandwidth is None else _check.number(bandwidth, "bandwidth", low=0, strict=True)
    spectrum = np.asarray(dct(_in_cells(probability(forecast), residuals(forecast)), type=2))
    sigma = _fixed_point(spectrum, size(forecast)) if sigma is None else sigma
    value = _absolute_mass(spectrum, sigma) / size(forecast)
    return Figure(value, f"smECE: reflected Gaussian kernel on P, bandwidth {sigma:.4g}")


@register_measure
@measure(null="calibrated")
def integrated_calibration_index(
    forecast: ScoreTable,
    *,
    smoother: Smoother = "isotonic",
    statistic: Statistic = "ici",
) -> Figure:
    """Return the mean, median, 90th percentile or maximum of |smoothed share of positives − P| over rows.

    The number depends on the smoother, so the smoother is named with it.

    Parameters
    ----------
    smoother : {"isotonic", "logistic", "kernel", "lowess", "loess", "spline"}, default "isotonic"
        Isotonic regression; a straight line in log-odds; smECE's reflected Gaussian kernel and bandwidth; Cleveland's
        lowess of labels on P, with which "ici", "e90" and "emax" are Eavg, E90 and Emax of ``val.prob`` in R's rms; his
        loess, locally quadratic; or logistic regression on a restricted cubic spline of the log-odds with five knots,
        R's ``lrm(y ~ rcs(qlogis(p), 5))``.
    statistic : {"ici", "e50", "e90", "emax"}, default "ici"

    See Also
    --------
    calibration_error : By bins.
    smooth_calibration_error : By a kernel.

    References
    ----------
    P. Austin and E. Steyerberg, The integrated calibration index and related metrics, Statistics in Medicine 2019.

    Examples
    --------
    >>> round(integrated_calibration_index([0, 1, 1], [0.2, 0.6, 0.7]), 6)
    0.3
    """
    _check.one_of(smoother, "smoother", tuple(_SMOOTHERS))
    _check.one_of(statistic, "statistic", tuple(_STATISTICS))
    smoothed, name = _smooth(forecast, smoother)
    gaps, weight = np.abs(smoothed - probability(forecast)), forecast.total
    if statistic == "ici":
        value = float(gaps @ weight) / float(weight.sum())
    elif statistic == "emax":
        value = float(gaps.max())
    else:
        order, share = np.argsort(gaps), np.array([0.5 if statistic == "e50" else 0.9])
        value = float(quantiles(gaps[order], weight[order], share, squared_weight(forecast)[order])[0])
    return Figure(value, f"{_STATISTICS[statistic]} of |smoothed - P|; smoother: {name}")


@register_measure
@measure(null="calibrated")
def e90(forecast: ScoreTable) -> Figure:
    """Return the 90th percentile of |isotonic regression − P| over rows: `integrated_calibration_index` of "e90".

    See Also
    --------
    integrated_calibration_index : The mean instead of a percentile.

    Examples
    --------
    >>> round(e90([0, 1, 1], [0.2, 0.6, 0.7]), 6)
    0.38
    """
    return integrated_calibration_index.of(forecast, statistic="e90")


def _smooth(forecast: ScoreTable, smoother: str) -> tuple[Floats, str]:
    name = _SMOOTHERS[smoother]
    if smoother == "isotonic":
        starts, means = _kernels.pool_violators(forecast.pos, forecast.neg)
        return np.repeat(means, np.diff(starts, append=len(forecast))), name
    if smoother == "logistic":
        slope, intercept = recalibration_line(forecast)
        return np.asarray(expit(slope * forecast.scores + intercept)), name
    prob = probability(forecast)
    counted = forecast.kind == "count"
    # Importance weights count as much as as many rows of equal weight.
    unit = 1.0 if counted else size(forecast) / float(squared_weight(forecast).sum())
    pos, neg = (np.asarray(side, dtype=np.float64) * unit for side in (forecast.pos, forecast.neg))
    if smoother in ("lowess", "loess"):
        curve = lowess if smoother == "lowess" else loess
        return curve(prob, pos / (pos + neg), pos + neg), name
    if smoother == "spline":
        finite = np.isfinite(forecast.scores)
        fitted = spline_log_odds(without_certain(forecast).scores, pos[finite], neg[finite])
        smoothed = np.where(forecast.scores > 0, 1.0, 0.0)
        smoothed[finite] = expit(fitted)
        return smoothed, name
    sigma = _fixed_point(np.asarray(dct(_in_cells(prob, residuals(forecast)), type=2)), size(forecast))
    wide = max(sigma, 1 / _CELLS)
    pos, total = (_spread(_in_cells(prob, column), wide) for column in (forecast.pos, forecast.total))
    place = (np.arange(_CELLS) + 0.5) / _CELLS
    # Far from all rows both densities vanish; no forecast lies there.
    rate = np.clip(pos, 0.0, None) / np.maximum(total, 1e-300)
    return np.clip(np.interp(prob, place, rate), 0.0, 1.0), name.format(bandwidth=wide)


def _in_cells(prob: Floats, mass: Weights) -> Floats:
    return _lattice(np.clip(prob * _CELLS - 0.5, 0.0, _CELLS - 1), mass, _CELLS)


def _lattice(at: Floats, mass: Weights, points: int) -> Floats:
    """Share each mass between the two points nearest to its place, so that the place is kept."""
    left = np.minimum(at.astype(np.int64), points - 2)
    right_share = at - left
    return sum_by(left, mass * (1 - right_share), points) + sum_by(left + 1, mass * right_share, points)


def _kernel(sigma: float) -> Floats:
    """Return the cosine transform of the reflected Gaussian kernel."""
    frequency = np.pi * np.arange(_CELLS)
    return np.asarray(np.exp(-0.5 * np.minimum(sigma * frequency, 100.0) ** 2))


def _spread(mass: Floats, sigma: float) -> Floats:
    return np.asarray(idct(np.asarray(dct(mass, type=2)) * _kernel(sigma), type=2))


def _absolute_mass(spectrum: Floats, sigma: float) -> float:
    return float(np.abs(idct(spectrum * _kernel(sigma), type=2)).sum())


def _fixed_point(spectrum: Floats, total: float) -> float:
    """Return the σ with smECE_σ = σ, which is unique: smECE_σ never rises with σ."""

    def excess(sigma: float) -> float:
        return _absolute_mass(spectrum, sigma) / total - sigma

    above = excess(_SMALLEST)
    # As smECE never rises, σ cannot exceed the error at the smallest σ.
    return float(brentq(excess, _SMALLEST, 2 * _SMALLEST + above, xtol=1e-10)) if above > 0 else _SMALLEST
