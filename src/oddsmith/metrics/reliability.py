"""Calibration error with every choice explicit: "ECE" is not one number.

The defaults of seven libraries gave from 0.040 to 0.174 on the same forecasts. Here a result carries its definition,
and the definitions of papers have names.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from oddsmith import _check
from oddsmith.data import ScoreTable
from oddsmith.metrics.bins import BinRule, Bins, Edge, Ends, bin_cells
from oddsmith.metrics.classes import ClassForecast
from oddsmith.metrics.measure import Figure, measure, register_measure, size

Norm = Literal["l1", "l2", "squared", "max", "mean"]
_NORMS = {
    "l1": "L1: mean of |gap| by weight",
    "l2": "L2: root of the mean of gap² by weight",
    "squared": "mean of gap² by weight",
    "max": "largest |gap|",
    "mean": "plain mean of |gap| over bins",
}
_BINS = {
    "width": "bins of equal width",
    "mass": "bins of equal mass, ties kept together",
    "quantile": "bins between interpolated quantiles",
    "split": "bins of equal mass, larger ones first, ties kept below",
    "distinct": "one bin per distinct forecast",
    "split_or_distinct": (
        "bins of equal mass, larger ones first, ties kept below, or one bin per distinct forecast if fewer than a "
        "quarter of the rows"
    ),
}
_EDGES = {"left": "[a, b)", "right": "(a, b]"}
_OPEN_END = {"left": "highest end", "right": "lowest end"}
_ENDS = {"closed": "closed", "apart": "in a bin of its own", "dropped": "left out"}
_AVERAGES = {"mean": "mean", "prevalence": "mean by prevalence", "max": "largest"}
_DEBIAS = {
    "none": "biased upwards",
    "total": "debiased by the variance of the bins' shares",
    "bin": "debiased and cut at 0 in every bin",
}


@dataclass(frozen=True)
class ErrorDefinition:
    """The definition of a binned calibration error; the gap of a bin is |share of positives − mean forecast|.

    Parameters
    ----------
    n_bins : int
        Number of bins; with ``sweep`` the largest number tried.
    bins : {"width", "mass", "quantile", "split", "distinct", "split_or_distinct"}
        Equal intervals of [0, 1]; equal weight, ties kept together; between the interpolated quantiles of rows; rows
        dealt out in order, the larger bins first, a tie going below; one bin per distinct forecast, however many; or
        that if they are fewer than a quarter of the rows, else "split".
    edge : {"left", "right"}
        Of intervals: [a, b) or (a, b].
    ends : {"closed", "apart", "dropped"}
        What becomes of forecasts at the open end of all intervals, the top of [a, b) or the bottom of (a, b]: they
        belong to the adjacent interval, to a bin of their own, or to none.
    norm : {"l1", "l2", "squared", "max", "mean"}
        How gaps become one number.
    debias : {"none", "total", "bin"}
        "total" subtracts Σ_b w_b ȳ_b(1 − ȳ_b)/(n_b − 1) from the mean of gap² (a bin of one row counts nothing), for
        "l2" and "squared" only; "bin" does so bin by bin, cutting at 0 (a bin of one row keeps its gap).
    classes : {"positive", "top"}
        The positive class, or whichever class the forecast favors.
    sweep : bool
        Take the largest number of bins up to which the shares of positives rise from bin to bin, for every smaller
        number too.

    See Also
    --------
    calibration_error : Takes it.
    """

    n_bins: int = 15
    bins: BinRule = "mass"
    edge: Edge = "left"
    ends: Ends = "closed"
    norm: Norm = "l1"
    debias: Literal["none", "total", "bin"] = "none"
    classes: Literal["positive", "top"] = "positive"
    sweep: bool = False

    def __post_init__(self) -> None:
        _check.whole_number(self.n_bins, "n_bins", low=1)
        known = {"bins": _BINS, "edge": _EDGES, "ends": _ENDS, "norm": _NORMS, "debias": _DEBIAS}
        for name, options in {**known, "classes": ("positive", "top")}.items():
            _check.one_of(getattr(self, name), name, tuple(options))
        if self.debias == "total" and self.norm not in ("l2", "squared"):
            _check.fail('debias="total" needs norm="l2" or "squared"', f"norm={self.norm!r}", 'use debias="bin"')

    def __str__(self) -> str:
        count, edge = f"{self.n_bins} ", ""
        if self.sweep:
            count = f"up to {self.n_bins} by monotone sweep, "
        elif self.bins == "distinct":
            count = ""
        if self.bins in ("width", "quantile"):
            edge = f" {_EDGES[self.edge]}, {_OPEN_END[self.edge]} {_ENDS[self.ends]}"
        return f"{_NORMS[self.norm]}; {count}{_BINS[self.bins]}{edge}; {_DEBIAS[self.debias]}; {self.classes} class"


#: Definitions by name. A forecast within 1e-12 of an edge of equal width lies on it.
DEFINITIONS: dict[str, ErrorDefinition] = {
    "quantile_bins": ErrorDefinition(15, "quantile"),
    # Guo et al. 2017.
    "ece": ErrorDefinition(15, "width", "right"),
    "mce": ErrorDefinition(15, "width", "right", norm="max"),
    # Kumar et al. 2019.
    "debiased_l2": ErrorDefinition(15, "mass", norm="l2", debias="total"),
    # Roelofs et al. 2022.
    "sweep": ErrorDefinition(100, "quantile", sweep=True),
}


@register_measure
@measure(null="calibrated")
def calibration_error(forecast: ScoreTable, *, definition: ErrorDefinition | str = "quantile_bins") -> Figure:
    """Return a binned calibration error, with its definition.

    Binned errors depend on the bins and are biased upwards for few rows: see `oddsmith.metrics.interval` for an
    interval, and prefer `log_loss_miscalibration` to compare calibrators.

    Parameters
    ----------
    definition : ErrorDefinition or str, default "quantile_bins"
        All choices, or a name: "quantile_bins" is the L1 error of 15 bins between quantiles, "ece" and "mce" are the
        mean and the largest gap of 15 bins of equal width, "debiased_l2" is the debiased root mean square of 15 bins
        of equal mass, and "sweep" takes as many bins as keep the shares of positives in order.

    See Also
    --------
    top_label_calibration_error : Of the predicted class.
    classwise_calibration_error : A mean over several classes.
    smooth_calibration_error : Without bins.
    cox_test : A test of calibration.

    Notes
    -----
    Debiased squared error: Σ_b w_b[(ȳ_b − p̄_b)² − ȳ_b(1 − ȳ_b)/(n_b − 1)]; negative values are kept by "squared" and
    become 0 in "l2". For float weights n_b is (Σw)²/Σw².

    References
    ----------
    C. Guo, G. Pleiss, Y. Sun and K. Weinberger, On calibration of modern neural networks, ICML 2017.
    A. Kumar, P. Liang and T. Ma, Verified uncertainty calibration, NeurIPS 2019.
    R. Roelofs et al., Mitigating bias in calibration error estimation, AISTATS 2022.

    Examples
    --------
    >>> round(calibration_error([0, 1, 1, 1], [0.2, 0.4, 0.7, 0.7], definition="ece"), 4)
    0.35
    >>> from oddsmith.metrics import forecast_from_arrays
    >>> print(calibration_error.of(forecast_from_arrays([0, 1, 1, 1], [0.2, 0.4, 0.7, 0.7]), definition="ece"))
    0.35 (L1: mean of |gap| by weight; 15 bins of equal width (a, b], lowest end closed; biased upwards; ...)
    """
    chosen = find_definition(definition)
    if chosen.classes == "top":
        forecast = _confidence_forecast(forecast)
    bins = _sweep(forecast, chosen) if chosen.sweep else _bins(forecast, chosen, chosen.n_bins)
    return Figure(_combine(bins, chosen), str(chosen))


@measure(takes="classes", null="calibrated")
def top_label_calibration_error(
    forecast: ClassForecast, *, definition: ErrorDefinition | str = "quantile_bins"
) -> Figure:
    """Return the calibration error of the forecast that the most probable class is the true one.

    Parameters
    ----------
    definition : ErrorDefinition or str, default "quantile_bins"
        Bins, norm and correction; the names are those of `calibration_error`.

    See Also
    --------
    calibration_error : For two classes.
    classwise_calibration_error : A mean over all classes.

    Examples
    --------
    >>> round(top_label_calibration_error([0, 1], [[0.8, 0.2], [0.3, 0.7]]), 9)
    0.25
    """
    return calibration_error.of(forecast.of_top_label(), definition=definition)


@measure(takes="classes", null="calibrated")
def classwise_calibration_error(
    forecast: ClassForecast,
    *,
    definition: ErrorDefinition | str = "quantile_bins",
    average: Literal["mean", "prevalence", "max"] = "mean",
) -> Figure:
    """Return the calibration error of each class against the rest, averaged over classes.

    Parameters
    ----------
    definition : ErrorDefinition or str, default "quantile_bins"
        Bins, norm and correction; the names are those of `calibration_error`.
    average : {"mean", "prevalence", "max"}, default "mean"
        The mean over classes, the mean weighted by their share of cases, or the worst class.

    See Also
    --------
    top_label_calibration_error : The predicted class alone.
    classwise_test : Which class is miscalibrated.

    Examples
    --------
    >>> classwise_calibration_error([0, 1], [[1.0, 0.0], [0.0, 1.0]], definition="ece")
    0.0
    """
    _check.one_of(average, "average", tuple(_AVERAGES))
    chosen = find_definition(definition)
    errors = np.array([float(calibration_error.of(table, definition=chosen)) for table in forecast.of_classes()])
    means = {"mean": errors.mean(), "prevalence": errors @ forecast.base_rates, "max": errors.max()}
    return Figure(float(means[average]), f"{_AVERAGES[average]} of {len(errors)} classes against the rest; {chosen}")


def find_definition(definition: ErrorDefinition | str) -> ErrorDefinition:
    """Return a definition, by name or as it is."""
    if isinstance(definition, ErrorDefinition):
        return definition
    _check.one_of(definition, "definition", tuple(DEFINITIONS))
    return DEFINITIONS[definition]


def _bins(forecast: ScoreTable, chosen: ErrorDefinition, n_bins: int) -> Bins:
    bins = bin_cells(forecast, n_bins, chosen.bins, chosen.edge, chosen.ends)
    if len(bins.weight) == 0:
        _check.fail("some forecasts must lie inside the outer edge that is left out", "none", 'use ends="closed"')
    return bins


def _combine(bins: Bins, chosen: ErrorDefinition) -> float:
    gaps, shares = np.abs(bins.fraction_positive - bins.mean_predicted), bins.weight / bins.weight.sum()
    if chosen.debias != "none":
        # Of the variance of a bin's share one row alone tells nothing.
        several, rate = bins.effective > 1 + 1e-9, bins.fraction_positive
        variance = rate * (1 - rate) / np.where(several, bins.effective - 1, 1.0)
        squares = gaps**2 - np.where(several, variance, 0.0)
        if chosen.debias == "total":
            mean = float(shares[several] @ squares[several])
            return mean if chosen.norm == "squared" else float(np.sqrt(max(mean, 0.0)))
        gaps = np.sqrt(np.maximum(squares, 0.0))
    if chosen.norm in ("max", "mean"):
        return float(gaps.max() if chosen.norm == "max" else gaps.mean())
    power = 1 if chosen.norm == "l1" else 2
    mean = float(shares @ gaps**power)
    return float(np.sqrt(mean)) if chosen.norm == "l2" else mean


def _sweep(forecast: ScoreTable, chosen: ErrorDefinition) -> Bins:
    best = _bins(forecast, chosen, 1)
    for n_bins in range(2, int(min(chosen.n_bins, size(forecast))) + 1):
        bins = _bins(forecast, chosen, n_bins)
        if np.any(np.diff(bins.fraction_positive) < 0):
            break
        best = bins
    return best


def _confidence_forecast(forecast: ScoreTable) -> ScoreTable:
    """Return the forecast that the class at P ≥ ½ is the true one; of L = 0 the negative one."""
    up = forecast.scores > 0

    def turn(yes: np.ndarray | None, no: np.ndarray | None) -> np.ndarray | None:
        return None if yes is None or no is None else np.where(up, yes, no)

    pos, neg = np.where(up, forecast.pos, forecast.neg), np.where(up, forecast.neg, forecast.pos)
    squares = turn(forecast.pos_sq, forecast.neg_sq), turn(forecast.neg_sq, forecast.pos_sq)
    turned = ScoreTable(forecast.scores, pos, neg, *squares, rows=forecast.rows, in_sample=forecast.in_sample)
    return turned.map(np.abs)
