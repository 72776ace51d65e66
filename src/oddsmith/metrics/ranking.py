"""Ranking measures: what depends on the order of forecasts only, and what a threshold gives."""

from typing import Literal

import numpy as np

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.data import ScoreTable
from oddsmith.metrics.measure import Forecast, measure, register_measure, require_classes, size
from oddsmith.metrics.proper import zero_one_error


@register_measure
@measure("area under the ROC curve, ties count ½", "both", formula="area")
def roc_auc(forecast: Forecast, *, multi_class: Literal["ovr", "ovo"] = "ovr") -> float:
    """Return the area under the ROC curve: how often a positive outranks a negative, ties counting ½.

    The names are scikit-learn's, and so are the definitions (``roc_auc_score``).

    Parameters
    ----------
    multi_class : {"ovr", "ovo"}, default "ovr"
        With several classes, the mean over classes of the area of each class against the rest, or over pairs of classes
        of the area among their rows, once by the probability of either class. All classes, or pairs, count the same.

    See Also
    --------
    delong_test : Compares two areas.
    gini : 2·AUC − 1.
    average_precision : For rare positives.

    References
    ----------
    D. Hand and R. Till, A simple generalisation of the area under the ROC curve for multiple class classification
    problems, Machine Learning 2001.

    Examples
    --------
    >>> roc_auc([0, 1, 0, 1], [0.2, 0.4, 0.4, 0.9])
    0.875
    >>> round(roc_auc([0, 1, 2], [[0.6, 0.3, 0.1], [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]], multi_class="ovo"), 4)
    0.8333
    """
    _check.one_of(multi_class, "multi_class", ("ovr", "ovo"))
    if isinstance(forecast, ScoreTable):
        return _area(forecast)
    if multi_class == "ovr":
        return float(np.mean([_area(table) for table in forecast.of_classes()]))
    k = len(forecast.labels)
    return float(np.mean([_area(forecast.of_pair(i, j)) for i in range(k) for j in range(k) if i != j]))


def _area(forecast: ScoreTable) -> float:
    require_classes(forecast)
    below = np.cumsum(forecast.neg, dtype=np.float64) - forecast.neg / 2
    return float(forecast.pos @ below) / (forecast.n_pos * forecast.n_neg)


@register_measure
@measure("without interpolation")
def average_precision(forecast: ScoreTable) -> float:
    """Return Σ (Rₖ − Rₖ₋₁)Pₖ over thresholds from the highest forecast down, without interpolation.

    See Also
    --------
    roc_auc : Insensitive to the share of positives.
    lift : Among the highest forecasts only.

    Examples
    --------
    >>> round(average_precision([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9]), 4)
    0.8333
    """
    require_classes(forecast, negatives=False)
    hits, taken = _from_the_top(forecast)
    return float(np.diff(hits, prepend=0.0) @ (hits / taken)) / forecast.n_pos


@register_measure
@measure("share of positives among the highest 10 %, relative to all")
def lift(forecast: ScoreTable, *, q: float = 0.1) -> float:
    """Return the share of positives among the top share ``q`` of rows, relative to their share of all rows.

    A tie across the boundary counts in proportion, as if broken at random.

    Parameters
    ----------
    q : float, default 0.1
        The share of rows with the largest P.

    See Also
    --------
    average_precision : Over all cut-offs.

    Examples
    --------
    >>> lift([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9], q=0.25)
    2.0
    """
    require_classes(forecast, negatives=False)
    share = _check.number(q, "q", low=0, strict=True)
    if share > 1:
        _check.fail("q must be at most 1", f"q={q!r}", "pass a share such as 0.1")
    return _hits_among(forecast, share * size(forecast)) / (share * forecast.n_pos)


@register_measure
@measure("precision where it equals recall")
def break_even(forecast: ScoreTable) -> float:
    """Return the precision among the n₊ highest forecasts, where n₊ positives make it equal to recall.

    A tie across the boundary counts in proportion, as if broken at random.

    See Also
    --------
    average_precision : A mean over all cut-offs.

    Examples
    --------
    >>> break_even([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9])
    0.5
    """
    require_classes(forecast, negatives=False)
    return _hits_among(forecast, forecast.n_pos) / forecast.n_pos


@measure("share of right decisions at P = ½", "both", formula="accuracy")
def accuracy(forecast: Forecast) -> float:
    """Return the share of right decisions at P = ½; P exactly ½ decides negative.

    See Also
    --------
    zero_one_error : The share of wrong decisions.

    Examples
    --------
    >>> accuracy([1, 0, 1, 1], [0.9, 0.7, 0.6, 0.8])
    0.75
    """
    return 1.0 - zero_one_error.of(forecast)


@register_measure
@measure("number of distinct forecasts", resampled=False)
def distinct_outputs(forecast: ScoreTable) -> int:
    """Return the number of distinct forecasts: few of them mean that ranks were lost to ties.

    See Also
    --------
    roc_auc : Lowered by ties.

    Examples
    --------
    >>> distinct_outputs([1, 0, 1], [0.9, 0.9, 0.6])
    2.0
    """
    return len(forecast)


def _from_the_top(forecast: ScoreTable) -> tuple[Floats, Floats]:
    """Return positives and rows at or above each forecast, from the highest down."""
    hits, taken = (np.cumsum(column[::-1], dtype=np.float64) for column in (forecast.pos, forecast.total))
    return hits, taken


def _hits_among(forecast: ScoreTable, rows: float) -> float:
    """Return the number of positives among the highest forecasts, given how many of these."""
    hits, taken = _from_the_top(forecast)
    return float(np.interp(rows, np.append(0.0, taken), np.append(0.0, hits)))
