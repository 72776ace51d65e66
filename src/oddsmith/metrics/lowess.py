"""Cleveland's lowess of a table, as R's ``lowess(p, y, iter=0)`` computes it."""

import numpy as np

from oddsmith._types import Floats, Weights

#: Share of the rows in each window, and the distance within which the curve is interpolated, as a share of the range.
SPAN, _DELTA = 2 / 3, 0.01

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
    upto = np.cumsum(weight, dtype=np.float64)
    return np.asarray(np.interp(x, x[anchors], [_fit(x, y, weight, upto, at) for at in anchors]))


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
    size = max(min(2.0, n), min(n, np.floor(SPAN * n + 1e-7) if n >= 3 else n))
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
