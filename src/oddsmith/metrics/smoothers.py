"""Smooth curves of the labels on the forecast: R's ``lowess`` and ``loess``, and restricted cubic splines.

They take distinct values with their weights, in which case the curves are those of the repeated rows.
"""

import numpy as np

from oddsmith._types import Floats, Weights
from oddsmith.fitting import Design

#: Of lowess: the share of the rows in each window, and the distance within which the curve is interpolated, as a share
#: of the range.
_LOWESS_SPAN, _DELTA = 2 / 3, 0.01

#: Of loess: the share of the rows in each window, the largest cell as a share of a window, and the margin of the range.
_LOESS_SPAN, _CELL, _MARGIN = 0.75, 0.2, 0.005

#: Shares of rows at which a spline has its knots, by their number (Harrell, Regression Modeling Strategies, 2015).
_KNOTS = {3: (0.1, 0.5, 0.9), 4: (0.05, 0.35, 0.65, 0.95), 5: (0.05, 0.275, 0.5, 0.725, 0.95)}

#: Shares of a window's reach: points beyond the first have no weight, those within the second have all of it.
_EDGE, _CENTER = 0.999, 0.001


def lowess(x: Floats, y: Floats, weight: Weights) -> Floats:
    """Return the locally linear fit at each x.

    At anchors, about a hundredth of the range apart, a line is fitted by least squares to the nearest two thirds of the
    rows with tricube weights; between anchors the fit is interpolated.

    Parameters
    ----------
    x : ndarray of shape (m,)
        Distinct values in ascending order.
    y : ndarray of shape (m,)
        Mean response at each.
    weight : ndarray of shape (m,)
        Number, or weight, of the rows there.

    References
    ----------
    W. Cleveland, Robust locally weighted regression and smoothing scatterplots, JASA 1979.
    """
    if len(x) < 2:
        return y.astype(np.float64)
    anchors = [0]
    while anchors[-1] < len(x) - 1:
        last = anchors[-1]
        reached = int(np.searchsorted(x, x[last] + _DELTA * (x[-1] - x[0]), side="right")) - 1
        anchors.append(max(last + 1, reached))
    upto = _upto(weight)
    return np.asarray(np.interp(x, x[anchors], [_fit(x, y, weight, upto, at) for at in anchors]))


def _upto(weight: Weights) -> Floats:
    """Return the number of rows up to each value; sums of equal float weights are whole again."""
    return np.asarray(np.round(np.cumsum(weight, dtype=np.float64), 6), dtype=np.float64)


def _fit(x: Floats, y: Floats, weight: Weights, upto: Floats, at: int) -> float:
    """Return the local fit at one of the values."""
    here, reach = float(x[at]), _reach(x, upto, at)
    distance = np.abs(x - here)
    inside = distance <= _EDGE * reach
    near, mass = distance[inside], weight[inside].astype(np.float64)
    if reach > 0:
        mass *= np.where(near <= _CENTER * reach, 1.0, (1 - (near / reach) ** 3) ** 3)
    mass /= mass.sum()
    center = float(mass @ x[inside])
    spread = float(mass @ (x[inside] - center) ** 2)
    if reach > 0 and np.sqrt(spread) > _CENTER * float(x[-1] - x[0]):
        mass *= (here - center) / spread * (x[inside] - center) + 1
    return float(mass @ y[inside])


def _reach(x: Floats, upto: Floats, at: int) -> float:
    """Return the distance within which the nearest rows of a window lie.

    Row r lies at the first value up to which there are more than r rows.
    """
    n = upto[-1]
    size = max(min(n, 2.0), min(n, np.floor(_LOWESS_SPAN * n + 1e-7) if n >= 3 else n))
    here = float(x[at])

    def row(r: float) -> float:
        return float(x[min(int(np.searchsorted(upto, r, side="right")), len(x) - 1)])

    # The window moves right while its first row is farther than the next row behind it.
    low, high = 0.0, n - size  # whole numbers for counts
    while high - low > 0.5:
        middle = np.floor((low + high) / 2)
        if here - row(middle) > row(middle + size) - here:
            low = middle + 1
        else:
            high = middle
    return max(here - row(low), row(low + size - 1) - here)


def loess(x: Floats, y: Floats, weight: Weights) -> Floats:
    """Return the locally quadratic fit at each x, as R's ``loess(y ~ x)`` computes it.

    At the ends of cells of some hundredths of the rows a parabola is fitted by least squares to the nearest three
    quarters of the rows with tricube weights; within cells the fit is the cubic with these values and slopes.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Ascending.
    y : ndarray of shape (n,)
    weight : ndarray of shape (n,)

    References
    ----------
    W. Cleveland and S. Devlin, Locally weighted regression, JASA 1988.
    W. Cleveland and E. Grosse, Computational methods for local regression, Statistics and Computing 1991.
    """
    if len(x) < 2:
        return y.astype(np.float64)
    upto = _upto(weight)
    margin = _MARGIN * max(float(x[-1] - x[0]), 1e-3 * float(np.abs(x).max()))
    cuts = _cuts(x, upto, 0.0, float(upto[-1]), float(np.floor(upto[-1] * _LOESS_SPAN * _CELL)))
    ends = np.array([x[0] - margin, *sorted(cuts), x[-1] + margin])
    value, slope = np.transpose([_parabola(x, y, weight, float(end)) for end in ends])
    left = np.clip(np.searchsorted(ends, x, side="right") - 1, 0, len(ends) - 2)
    width = np.diff(ends)[left]
    t = (x - ends[left]) / width
    return np.asarray(
        (1 + 2 * t) * (1 - t) ** 2 * value[left]
        + t**2 * (3 - 2 * t) * value[left + 1]
        + width * t * (1 - t) * ((1 - t) * slope[left] - t * slope[left + 1])
    )


def _cuts(x: Floats, upto: Floats, first: float, last: float, most: float) -> list[float]:
    """Return where cells are halved until they have few rows; rows of one value are not divided."""
    if last - first <= most:
        return []
    middle = np.floor((first + 1 + last) / 2)
    inner = np.flatnonzero((upto > first) & (upto < last))
    if not len(inner):
        return []
    at = int(inner[np.argmin(np.abs(upto[inner] - middle) - 1e-9 * (upto[inner] > middle))])
    halves = _cuts(x, upto, first, float(upto[at]), most), _cuts(x, upto, float(upto[at]), last, most)
    return [float(x[at]), *halves[0], *halves[1]]


def _parabola(x: Floats, y: Floats, weight: Weights, at: float) -> tuple[float, float]:
    """Return value and slope of the local fit at a place."""
    distance = np.abs(x - at)
    order = np.argsort(distance, kind="stable")
    upto = _upto(weight[order])
    near = int(np.searchsorted(upto, np.floor(_LOESS_SPAN * upto[-1] + 1e-5), side="left"))
    # Three values inside the window are needed for a parabola; tied rows may leave fewer.
    reach = float(distance[order[min(max(near, 3), len(x) - 1)]])
    if near >= 3:
        reach = float(distance[order[near]])
    elif len(x) <= 3:
        reach *= 1 + 1e-6
    inside = distance < reach
    mass = np.sqrt(weight[inside] * (1 - (distance[inside] / reach) ** 3) ** 3)
    step = (x[inside] - at) / reach
    columns = np.vander(step, 3, increasing=True) * mass[:, None]
    found = np.linalg.lstsq(columns, mass * y[inside], rcond=1e-12)[0]
    return float(found[0]), float(found[1]) / reach


def spline_log_odds(log_odds: Floats, pos: Weights, neg: Weights) -> Floats:
    """Return the logistic regression of the labels on a restricted cubic spline of the log-odds.

    R's ``lrm(y ~ rcs(qlogis(p), 5))``, with four or three knots where quantiles are tied, and a line where these are.

    Parameters
    ----------
    log_odds : ndarray of shape (m,)
        Distinct finite values in ascending order.
    pos, neg : ndarray of shape (m,)
        Weight of the positives and of the negatives there.

    References
    ----------
    C. Stone and C.-Y. Koo, Additive splines in statistics, Proceedings of the Statistical Computing Section, ASA 1985.
    """
    total = (pos + neg).astype(np.float64)
    center, spread = float(log_odds @ total / total.sum()), float(log_odds[-1] - log_odds[0])
    x = (log_odds - center) / spread if spread > 0 else np.zeros(1)
    columns = [np.ones_like(x), x] if spread > 0 else [np.ones_like(x)]
    columns += _bent(x, total)
    design = Design(
        np.column_stack(columns),
        pos.astype(np.float64),
        neg.astype(np.float64),
        np.zeros(len(columns)),
        float(min(pos.sum(), neg.sum())),
    )
    fit = design.fit(np.zeros((len(columns), len(columns))))
    return np.asarray(design.columns @ fit.theta)


def _bent(x: Floats, weight: Floats) -> list[Floats]:
    """Return the cubic terms of a restricted spline."""
    upto = np.cumsum(weight)
    for shares in (_KNOTS[5], _KNOTS[4], _KNOTS[3]):
        place = (upto[-1] - 1) * np.array(shares)
        low, high = (x[np.searchsorted(upto, np.floor(place) + k, side="right").clip(0, len(x) - 1)] for k in (0, 1))
        knots = low + (place - np.floor(place)) * (high - low)
        if np.all(np.diff(knots) > 1e-9):
            break
    else:
        return []

    def cube(knot: float) -> Floats:
        return np.asarray(np.clip(x - knot, 0.0, None) ** 3)

    before, last = knots[-2:]
    unit = (last - knots[0]) ** 2
    return [
        (cube(k) - ((last - k) * cube(before) - (before - k) * cube(last)) / (last - before)) / unit
        for k in knots[:-2].tolist()
    ]
