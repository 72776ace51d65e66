"""Tests of perfect calibration, under which each P is the probability of a positive; of several classes, one by one.

All take forecasts that were not fitted on these rows; p-values of a forecast that was are refused. Float weights enter
by their squares. p-values are those of large samples; where samples are not large, by rare events, few distinct
forecasts or unequal weights, the exact law or one of simulated labels takes their place.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import chdtrc, expit, ndtr

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.data import ScoreTable
from oddsmith.errors import InvalidInputError
from oddsmith.metrics._group_law import Group, tail
from oddsmith.metrics._simulated_law import CalibratedCells
from oddsmith.metrics.bins import bin_index, sum_by
from oddsmith.metrics.classes import ClassForecast
from oddsmith.metrics.measure import (
    Figure,
    ForecastFunction,
    forecast_function,
    probability,
    residuals,
    size,
    squared_weight,
)
from oddsmith.metrics.proper import log_loss
from oddsmith.metrics.provenance import is_in_sample
from oddsmith.metrics.result import Result
from oddsmith.metrics.significance import holm_of_known
from oddsmith.metrics.slope import recalibration_line, require_several, without_certain

#: Events whose excess is normal enough; of fewer the law is simulated.
_INFORMATIVE = 100.0

#: Distinct forecasts up to which a cumulative excess is not yet a Brownian motion.
_FEW_STEPS = 256

#: Simulated statistics beyond what was seen that make a p-value of their own.
_ENOUGH_BEYOND = 10

_SIMULATED = "law simulated"


@dataclass(frozen=True)
class CalibrationTest(Figure):
    """A test statistic with its p-value; ``float(test)`` is the statistic.

    Parameters
    ----------
    value : float
        The statistic.
    definition : str
        What was computed.
    p_value : float
        Probability of a statistic as extreme for calibrated forecasts.
    df : float, optional
        Degrees of freedom, where the law has them.
    in_sample : bool
        Whether the forecast was fitted on its rows.

    See Also
    --------
    cox_test : One of the functions that return it.
    """

    p_value: float
    df: int | None = None

    def __str__(self) -> str:
        degrees = "" if self.df is None else f", df {self.df}"
        return f"{self.value:.6g}{degrees}, p = {self.p_value:.4g} ({self.description})"


@ForecastFunction
def spiegelhalter_test(forecast: ScoreTable) -> CalibrationTest:
    """Test calibration by Spiegelhalter's Z, the standardized squared error.

    Blind to errors that leave Σ(y − p)(1 − 2p) unchanged.

    See Also
    --------
    cox_test : Tests slope and intercept.
    kuiper_test : Sensitive to any shape.

    Notes
    -----
    Z = Σ w(y − p)(1 − 2p) / √(Σ w²(1 − 2p)²p(1 − p)), standard normal, two-sided.

    References
    ----------
    D. Spiegelhalter, Probabilistic prediction in patient management, Statistics in Medicine 1986.

    Examples
    --------
    >>> print(spiegelhalter_test([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9]))
    0.109109, p = 0.9131 (Spiegelhalter's Z)
    """
    tilt = 1 - 2 * probability(forecast)
    excess, variance = float(residuals(forecast) @ tilt), float(null_variance(forecast) @ tilt**2)
    return _z_test(forecast, excess, variance, "Spiegelhalter's Z")


def _z_test(forecast: ScoreTable, excess: float, variance: float, name: str) -> CalibrationTest:
    """Compare an excess of positives, in whatever sense, with the normal law, two-sided."""
    _refuse_in_sample(forecast)
    z = excess / math.sqrt(variance) if variance > 0 else 0.0
    z = math.inf if _is_refuted(forecast) else z
    return CalibrationTest(z, name, float(2 * ndtr(-abs(z))))


@ForecastFunction
def calibration_in_the_large_test(forecast: ScoreTable) -> CalibrationTest:
    """Test calibration in the large: whether the mean forecast is the share of positives.

    See Also
    --------
    calibration_intercept : The size of the error.
    cox_test : Tests the slope, too.

    Notes
    -----
    Z = Σ w(y − p) / √(Σ w²p(1 − p)), standard normal, two-sided.

    Examples
    --------
    >>> print(calibration_in_the_large_test([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9]))
    -0.117041, p = 0.9068 (excess of positives, calibration in the large)
    """
    name = "excess of positives, calibration in the large"
    return _z_test(forecast, float(residuals(forecast).sum()), float(null_variance(forecast).sum()), name)


@ForecastFunction
def hosmer_lemeshow_test(forecast: ScoreTable, *, n_bins: int = 10) -> CalibrationTest:
    """Test calibration by groups of equal weight (Hosmer and Lemeshow).

    The law is χ² with as many degrees of freedom as groups: the usual "groups − 2" is for rows that the model was
    fitted on; for other rows it rejects twice too often. Where P is near 0 or 1 in a group, χ² does too; there the
    exact law of the number of positives takes its place, for counts.

    Parameters
    ----------
    n_bins : int, default 10
        Number of groups; ties are never split, so there may be fewer.

    See Also
    --------
    cox_test : Without bins.
    calibration_error : The size of the error.

    Notes
    -----
    Σ_g (O − E)²/(E(1 − E/n_g)); with float weights the variance is multiplied by Σw²/Σw. Groups without variance
    (all P are 0 or 1) are left out. Groups of counts with ΣP(1 − P) < 25 enter the p-value by the law of a sum of
    independent cases, the others by χ²; with none below, the p-value is that of χ². With float weights, groups with
    (Σw²P(1 − P))²/Σw⁴P(1 − P) < 100 have no such law: labels are then drawn again, with the weights, up to 5,000 times.

    References
    ----------
    D. Hosmer, S. Lemeshow and R. Sturdivant, Applied Logistic Regression, 2013.

    Examples
    --------
    >>> hosmer_lemeshow_test([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9], n_bins=2).df
    2
    """
    _refuse_in_sample(forecast)
    prob = probability(forecast)
    index = bin_index(forecast, prob, _check.whole_number(n_bins, "n_bins", low=1), "mass", "left")
    columns = (forecast.total, squared_weight(forecast), forecast.total * prob, residuals(forecast))
    held = np.flatnonzero(sum_by(index, forecast.total))
    weight, squares, expected, excess = (sum_by(index, column)[held] for column in columns)
    variance = expected * (1 - expected / weight) * squares / weight
    varied = variance > 0
    statistic = math.inf if _is_refuted(forecast) else float(np.sum(excess[varied] ** 2 / variance[varied]))
    df = int(varied.sum())
    name = f"Hosmer-Lemeshow, {len(held)} groups of equal weight"
    by_chi_square = float(chdtrc(df, statistic)) if df else float(statistic == 0)
    if math.isinf(statistic) or not df:
        return CalibrationTest(statistic, name, by_chi_square, df)
    if forecast.kind == "weight":
        place = np.searchsorted(held, index)
        cells = CalibratedCells.of(forecast, place)
        group = place[cells.first]
        if cells.informative(group)[varied].min() >= _INFORMATIVE:
            return CalibrationTest(statistic, name, by_chi_square, df)
        sizes = np.where(varied, variance, np.inf)
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        p_value, _ = cells.tail(
            lambda excess: np.sum(np.add.reduceat(excess, starts, axis=1) ** 2 / sizes, axis=1), statistic
        )
        return CalibrationTest(statistic, f"{name}, {_SIMULATED}", _by_mean(p_value, df, statistic), df)
    groups = [
        Group(prob[cells], expit(-forecast.scores[cells]), forecast.total[cells].astype(np.int64), *numbers)
        for cells, numbers in (
            (index == held[g], (float(expected[g]), float(variance[g]), float(excess[g] ** 2 / variance[g])))
            for g in np.flatnonzero(varied)
        )
    ]
    if any(group.is_small for group in groups):
        name += ", exact law of small ones"
    return CalibrationTest(statistic, name, tail(groups), df)


@ForecastFunction
def cox_test(forecast: ScoreTable) -> CalibrationTest:
    """Test slope 1 and intercept 0 jointly, in the logistic regression on the log-odds.

    Powerful against forecasts that are too extreme, too timid, too high or too low; blind to other shapes. Needs
    log-odds that are finite, or right where they are not, and for counts of both classes that these overlap.

    See Also
    --------
    spiegelhalter_test : Needs no regression.
    hosmer_lemeshow_test : By bins.
    calibration_slope : The slope alone.

    Notes
    -----
    For counts the likelihood ratio. Float weights have no likelihood, and rows of one class no best line: for them the
    score test UᵀV⁻¹U with U = Σ w(y − p)(L, 1)ᵀ and V = Σ w²p(1 − p)(L, 1)ᵀ(L, 1). Both are χ² with 2 degrees of
    freedom; the law of the score test is simulated where (Σw²p(1 − p))²/Σw⁴p(1 − p) < 100.

    Examples
    --------
    >>> cox_test([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9]).df
    2
    """
    _refuse_in_sample(forecast)
    if forecast.kind == "weight" or not (forecast.n_pos and forecast.n_neg):
        return _score_test(forecast)
    slope, intercept = recalibration_line(forecast)
    best = forecast.map(lambda scores: slope * scores + intercept)
    ratio = 2 * max(log_loss.of(forecast, total=True) - log_loss.of(best, total=True), 0.0)
    name = f"likelihood ratio of slope {slope:.4g} and intercept {intercept:.4g} against 1 and 0"
    return CalibrationTest(ratio, name, float(chdtrc(2, ratio)), 2)


def _score_test(forecast: ScoreTable) -> CalibrationTest:
    forecast = without_certain(forecast)
    require_several(forecast)
    excess, variance = residuals(forecast), null_variance(forecast)
    # About their mean by variance, slope and intercept are uncorrelated; differences to the cell that varies most lose
    # no digits where the others hardly vary.
    centered = forecast.scores - forecast.scores[np.argmax(variance)]
    if variance.any():
        centered -= float(variance @ centered) / float(variance.sum())
    parts = [(float(excess @ x), float(variance @ x**2)) for x in (centered, np.ones(len(centered)))]
    statistic = math.fsum(_squared_ratio(*part) for part in parts)
    name, cells = "score test of slope 1 and intercept 0", CalibratedCells.of(forecast)
    slope, shift = (1 / part[1] if part[1] > 0 else 0.0 for part in parts)
    if math.isinf(statistic) or cells.informative().min() >= _INFORMATIVE:
        return CalibrationTest(statistic, name, float(chdtrc(2, statistic)), 2)
    at = cells.means(centered)
    p_value, _ = cells.tail(lambda drawn: (drawn @ at) ** 2 * slope + drawn.sum(axis=1) ** 2 * shift, statistic)
    return CalibrationTest(statistic, f"{name}, {_SIMULATED}", _by_mean(p_value, 2, statistic), 2)


def _by_mean(p_value: float, mean: float, statistic: float) -> float:
    """Return a p-value by draws, or by the statistic's mean under calibration, which goes further (Markov's bound)."""
    return min(p_value, mean / statistic) if statistic > 0 else 1.0


def _squared_ratio(excess: float, variance: float) -> float:
    """Return excess²/variance; a variance that rounds to 0 allows only an excess that does."""
    square = excess * excess
    if variance > 0:
        return square / variance
    return math.inf if square > 0 else 0.0


@ForecastFunction
def kolmogorov_smirnov_test(forecast: ScoreTable) -> CalibrationTest:
    """Test calibration by the largest cumulative excess of positives, from the lowest forecast up.

    Without bins or smoothers, and sensitive to any shape of error.

    See Also
    --------
    kuiper_test : Largest over intervals.
    cumulative_calibration : The curve.

    Notes
    -----
    S_k = Σ_{i≤k} w(y − p)/√(Σ w²p(1 − p)), ties added first; max|S| under calibration is that of a Brownian motion,
    not of a bridge: P(max|B| ≤ x) = (4/π) Σ_k (−1)^k/(2k + 1) exp(−π²(2k + 1)²/(8x²)). With up to 256 distinct
    forecasts, where S has few steps, or (Σw²p(1 − p))²/Σw⁴p(1 − p) < 100, labels are drawn again up to 5,000 times.

    References
    ----------
    I. Arrieta-Ibarra et al., Metrics of calibration for probabilistic predictions, JMLR 2022.

    Examples
    --------
    >>> print(kolmogorov_smirnov_test([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9]))
    0.468165, p = 1 (cumulative excess, Kolmogorov-Smirnov, law simulated)
    """
    return _walk_test(forecast, "Kolmogorov-Smirnov", _largest, largest_of_brownian_motion)


@ForecastFunction
def kuiper_test(forecast: ScoreTable) -> CalibrationTest:
    """Test calibration by the largest excess of positives over any interval of forecasts.

    See Also
    --------
    kolmogorov_smirnov_test : Largest from the lowest forecast on.
    cumulative_calibration : The curve.

    Notes
    -----
    The range of S in `kolmogorov_smirnov_test`, S₀ = 0 included; under calibration that of a Brownian motion:
    P(range > r) = 8 Σ_k (−1)^(k−1) k(1 − Φ(kr)). Simulated in the same cases.

    References
    ----------
    W. Feller, The asymptotic distribution of the range of sums of independent random variables, 1951.

    Examples
    --------
    >>> print(kuiper_test([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9]))
    0.702247, p = 1 (cumulative excess, Kuiper, law simulated)
    """
    return _walk_test(forecast, "Kuiper", _range, range_of_brownian_motion)


def _largest(walks: Floats) -> Floats:
    return np.asarray(np.abs(walks).max(axis=1))


def _range(walks: Floats) -> Floats:
    return np.asarray(np.maximum(walks.max(axis=1), 0.0) - np.minimum(walks.min(axis=1), 0.0))


def _walk_test(
    forecast: ScoreTable, name: str, statistic: Callable[[Floats], Floats], law: Callable[[float], float]
) -> CalibrationTest:
    """Compare a statistic of the cumulative excess with its law for Brownian motion, or for drawn labels."""
    _refuse_in_sample(forecast)
    variance = null_variance(forecast)
    spread = math.sqrt(float(variance.sum()))
    definition = f"cumulative excess, {name}"
    if _is_refuted(forecast) or spread == 0:
        seen = math.inf if _is_refuted(forecast) else 0.0
        return CalibrationTest(seen, f"{definition}, Brownian motion", law(seen))
    seen = float(statistic(np.cumsum(residuals(forecast))[None, :] / spread)[0])
    cells = CalibratedCells.of(forecast)
    normal = cells.informative().min() >= _INFORMATIVE
    if normal and np.count_nonzero(variance) > _FEW_STEPS:
        return CalibrationTest(seen, f"{definition}, Brownian motion", law(seen))
    p_value, beyond = cells.tail(lambda excess: statistic(np.cumsum(excess, axis=1) / spread), seen)
    if normal and beyond < _ENOUGH_BEYOND:
        # A walk of few steps stays within a Brownian motion, so its law is a bound, and reaches further than the draws.
        p_value = min(p_value, law(seen))
    return CalibrationTest(seen, f"{definition}, {_SIMULATED}", p_value)


@dataclass(frozen=True, eq=False)
class ClassTests(Result):
    """A test of each class against the rest.

    Attributes
    ----------
    labels : tuple
        Labels of the classes.
    mean_predicted, prevalence : ndarray of shape (k,)
        Mean forecast and share of each class: their difference is its calibration in the large.
    tests : tuple of CalibrationTest or str
        The test of each class, or the reason why it is missing.
    p_values, p_holm : ndarray of shape (k,)
        Uncorrected, and by Holm's correction for the number of classes tested; NaN where there is no test.

    See Also
    --------
    classwise_test : Returns it.
    """

    labels: tuple[Any, ...]
    mean_predicted: Floats
    prevalence: Floats
    tests: tuple[CalibrationTest | str, ...]
    p_values: Floats
    p_holm: Floats

    def __str__(self) -> str:
        rows = zip(self.labels, self.mean_predicted, self.prevalence, self.p_values, self.p_holm, strict=True)
        return "\n".join(
            f"{label}: predicted {mean:.4g}, observed {share:.4g}, p = {p:.4g}, after Holm {corrected:.4g}"
            for label, mean, share, p, corrected in rows
        )


@forecast_function("classes")
def classwise_test(
    forecast: ClassForecast,
    /,
    *,
    test: ForecastFunction[..., CalibrationTest] = calibration_in_the_large_test,
    **options: Any,
) -> ClassTests:
    """Test the calibration of each class against the rest.

    Parameters
    ----------
    test : default `calibration_in_the_large_test`
        Any test of calibration of two classes, such as `spiegelhalter_test`.
    **options
        Keyword arguments of the test.

    See Also
    --------
    classwise_calibration_error : The size of the error.
    cox_test : For two classes.

    Examples
    --------
    >>> print(classwise_test(["a", "b", "c"], [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]]))
    a: predicted 0.3667, observed 0.3333, p = 0.8759, after Holm 1
    b: predicted 0.3, observed 0.3333, p = 0.8728, after Holm 1
    c: predicted 0.3333, observed 0.3333, p = 1, after Holm 1
    """
    tests = tuple(_run_test(test, table, options) for table in forecast.of_classes())
    p = np.array([np.nan if isinstance(one, str) else one.p_value for one in tests])
    mean = forecast.weight @ forecast.prob / size(forecast)
    return ClassTests(tuple(forecast.labels.tolist()), mean, forecast.base_rates, tests, p, holm_of_known(p))


def _run_test(
    test: ForecastFunction[..., CalibrationTest], table: ScoreTable, options: dict[str, Any]
) -> CalibrationTest | str:
    try:
        return test.of(table, **options)
    except InvalidInputError as reason:
        return str(reason)


def largest_of_brownian_motion(x: float) -> float:
    """Return P(max|B| > x) of a Brownian motion on [0, 1]."""
    if x < 0.2:
        return 1.0
    odd = 2 * np.arange(100) + 1
    inside = np.exp(-((np.pi * odd) ** 2) / (8 * x * x)) / odd
    if x > 2:
        # The tail by reflection; the other series would be a difference of numbers near 1.
        return float(4 * np.sum((-1.0) ** np.arange(4) * ndtr(-x * odd[:4])))
    return float(1 - 4 / np.pi * np.sum((-1.0) ** np.arange(100) * inside))


def range_of_brownian_motion(r: float) -> float:
    """Return P(max B − min B > r) of a Brownian motion on [0, 1]."""
    if r < 0.4:
        return 1.0
    k = np.arange(1, 101)
    return float(np.clip(8 * np.sum((-1.0) ** (k - 1) * k * ndtr(-k * r)), 0.0, 1.0))


def _refuse_in_sample(forecast: ScoreTable) -> None:
    """Refuse a p-value of a forecast that knows that it was fitted on these rows (see `forecast_of`)."""
    if is_in_sample(forecast):
        _check.fail(
            "p-values on a table that the map was fitted on are refused",
            "a forecast that was fitted on these rows",
            "evaluate on held-out rows or cross-fitted forecasts",
        )


def null_variance(forecast: ScoreTable) -> Floats:
    """Return Σw² P(1 − P) of each cell: the variance of its excess if P is right."""
    return np.asarray(squared_weight(forecast) * expit(forecast.scores) * expit(-forecast.scores))


def _is_refuted(forecast: ScoreTable) -> bool:
    """Whether a forecast of exactly 0 or 1 was wrong, which calibration rules out."""
    ends = np.isinf(forecast.scores)
    wrong = np.where(forecast.scores > 0, forecast.neg, forecast.pos)
    return bool(np.any(wrong[ends] > 0))
