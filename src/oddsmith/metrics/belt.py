"""The calibration belt: where the share of positives may lie at each probability, and a test of calibration."""

import math
import warnings
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtrc, chdtri, expit

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.data import ScoreTable, is_separable, limit_cells
from oddsmith.errors import NonConvergenceWarning
from oddsmith.fitting import Design
from oddsmith.metrics.measure import ForecastFunction, checked_level, require_classes, size, squared_weight
from oddsmith.metrics.provenance import is_in_sample
from oddsmith.metrics.result import Result
from oddsmith.metrics.slope import require_several, without_certain

#: The largest degree of the polynomial, and the level at which a higher one must be better.
_MOST, _FORWARD = 4, 0.95

#: Places at which the belt is computed, and cells that the labels are summed in.
_PLACES, _CELLS = 101, 2000

#: Share of the rows outside the places on each side.
_OUTSIDE = 0.001

#: The quantile that the likelihood ratio of one more degree must exceed.
_LARGE = float(chdtri(1, 1 - _FORWARD))

#: Nodes of Gauss' rule, and steps of a search.
_NODES, _STEPS = 40, 60


@dataclass(frozen=True, eq=False)
class CalibrationBelt(Result):
    """Bounds of the true share of positives at each probability, and a test of calibration.

    Attributes
    ----------
    at : ndarray
        Probabilities.
    observed : ndarray
        The fitted share of positives at each.
    levels : tuple of float
    low, high : tuple of ndarray
        For each level the belt.
    degree : int
        Degree of the polynomial in the log-odds.
    statistic, p_value : float
        Likelihood ratio of the fit against perfect calibration.

    See Also
    --------
    calibration_belt : Returns it.
    oddsmith.plots.CalibrationBeltDisplay : Draws it.
    """

    at: Floats
    observed: Floats
    levels: tuple[float, ...]
    low: tuple[Floats, ...]
    high: tuple[Floats, ...]
    degree: int
    statistic: float
    p_value: float

    def outside(self, level: float) -> str:
        """Return where the diagonal leaves the belt of a level, in words; empty where it does not.

        Parameters
        ----------
        level : float
            One of ``levels``.

        Returns
        -------
        str
        """
        place = self.levels.index(level)
        parts = []
        for off, words in ((self.low[place] > self.at, "too low"), (self.high[place] < self.at, "too high")):
            edges = np.flatnonzero(np.diff(np.concatenate([[0], off.astype(int), [0]])))
            for first, last in zip(edges[::2].tolist(), (edges[1::2] - 1).tolist(), strict=True):
                parts.append((first, f"{words} from {self.at[first]:.2g} to {self.at[last]:.2g}"))
        return ", ".join(text for _, text in sorted(parts))


@ForecastFunction
def calibration_belt(forecast: ScoreTable, *, levels: tuple[float, ...] = (0.8, 0.95)) -> CalibrationBelt:
    r"""Fit a polynomial in the log-odds to the labels, and bound it for all probabilities together.

    Logistic regression on 1, L, …, Lᵐ. The degree m grows from 1 to at most 4 while the likelihood ratio of one more is
    significant at 5 %. The belt of a level contains at each probability the values of all polynomials of degree m
    whose likelihood ratio to the best is at most the quantile of the test statistic; so, if the forecast is calibrated,
    the diagonal lies in the belt everywhere with about this probability.

    Parameters
    ----------
    levels : tuple of float, default (0.8, 0.95)

    See Also
    --------
    cox_test : A test against lines only.
    oddsmith.plots.CalibrationBeltDisplay : Draws it.

    Notes
    -----
    T = 2(ℓ(fit) − ℓ(forecast)). Given degree m, T is distributed as χ²₂ plus m − 1 variables χ²₁, each conditional on
    exceeding its 95 % quantile. Certain forecasts (0 or 1) that were right are left out.

    References
    ----------
    G. Nattino, S. Finazzi and G. Bertolini, A new calibration test and a reappraisal of the calibration belt for the
    assessment of prediction models based on dichotomous outcomes, Statistics in Medicine 2014.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(1, 3, 2000)
    >>> y = rng.random(2000) < p**1.4
    >>> belt = calibration_belt(y, p)
    >>> belt.degree, bool(belt.p_value < 0.001), belt.outside(0.95)
    (1, True, 'too high from 0.0002 to 0.52, too low from 0.87 to 0.91')
    """
    shares = tuple(checked_level(level) for level in levels)
    if is_in_sample(forecast):
        hint = "judge it on other rows"
        _check.fail("a belt needs a forecast that was not fitted to these rows", "an in-sample forecast", hint)
    table = without_certain(forecast)
    require_classes(table)
    require_several(table)
    if is_separable(table):
        got = "a threshold that separates them"
        _check.fail("a belt needs forecasts whose classes overlap", got, "collect more rows")
    span = _span(table)
    table = limit_cells(table, _CELLS)
    # Importance weights count as much as as many rows of equal weight.
    unit = 1.0 if table.kind == "count" else size(table) / float(squared_weight(table).sum())
    pos, neg = (np.asarray(side, dtype=np.float64) * unit for side in (table.pos, table.neg))
    center = float(table.scores @ table.total / table.total.sum())
    spread = math.sqrt(float((table.scores - center) ** 2 @ table.total / table.total.sum()))
    x = (table.scores - center) / spread
    best, columns = _choose_degree(x, pos, neg)
    degree = len(best) - 1
    seen = 2 * (_log_likelihood(columns @ best, pos, neg) - _log_likelihood(table.scores, pos, neg))
    at = np.linspace(*span, _PLACES)
    wanted = np.vander((at - center) / spread, degree + 1, increasing=True)
    ends = [_bounds(columns, pos, neg, best, wanted, _quantile(share, degree)) for share in shares]
    return CalibrationBelt(
        expit(at),
        expit(wanted @ best),
        shares,
        tuple(expit(low) for low, _ in ends),
        tuple(expit(high) for _, high in ends),
        degree,
        seen,
        belt_tail(seen, degree),
    )


def _span(table: ScoreTable) -> tuple[float, float]:
    """Return the log-odds between which nearly all rows lie."""
    upto = np.cumsum(table.total) / table.total.sum()
    inside = table.scores[(upto >= _OUTSIDE) & (upto - table.total / table.total.sum() <= 1 - _OUTSIDE)]
    return float(inside[0]), float(inside[-1])


def _log_likelihood(odds: Floats, pos: Floats, neg: Floats) -> float:
    return -float(pos @ np.logaddexp(0, -odds) + neg @ np.logaddexp(0, odds))


def _choose_degree(x: Floats, pos: Floats, neg: Floats) -> tuple[Floats, Floats]:
    """Return coefficients and columns of the polynomial whose degree is chosen by forward steps."""
    found: tuple[Floats, Floats] | None = None
    reached = -math.inf
    for degree in range(1, min(_MOST, len(x) - 1) + 1):
        columns = np.vander(x, degree + 1, increasing=True)
        points = Design(columns, pos, neg, np.zeros(degree + 1), float(min(pos.sum(), neg.sum())))
        fit = points.fit(np.zeros((degree + 1, degree + 1)))
        if found is not None and (not fit.converged or chdtrc(1, 2 * (-fit.value - reached)) >= 1 - _FORWARD):
            break
        if not fit.converged:
            message = "the polynomial did not reach its optimum; the belt may be off"
            warnings.warn(message, NonConvergenceWarning, stacklevel=2)
        found, reached = (fit.theta, columns), -fit.value
    assert found is not None
    return found


def _bounds(
    columns: Floats, pos: Floats, neg: Floats, best: Floats, wanted: Floats, quantile: float
) -> tuple[Floats, Floats]:
    """Return the least and largest log-odds at each place within the likelihood region.

    Each step solves the quadratic approximation exactly (Venzon and Moolgavkar, Applied Statistics 1988).
    """
    level = _log_likelihood(columns @ best, pos, neg) - quantile / 2
    side = np.repeat([-1.0, 1.0], len(wanted))
    way = np.vstack([wanted, wanted])
    theta = np.tile(best, (len(way), 1))
    total = (pos + neg)[:, None]
    done = np.zeros(len(way), dtype=bool)
    for _ in range(_STEPS):
        odds = columns @ theta[~done].T
        prob = expit(odds)
        value = -(pos @ np.logaddexp(0, -odds) + neg @ np.logaddexp(0, odds))
        gradient = (pos[:, None] - total * prob).T @ columns
        curve = np.einsum("ij,ik,il->jkl", total * prob * (1 - prob), columns, columns, optimize=True)
        pull = np.linalg.solve(curve, np.stack([gradient, way[~done]], axis=2))
        reach = np.einsum("ij,ij->i", way[~done], pull[:, :, 1])
        room = 2 * (value - level) + np.einsum("ij,ij->i", gradient, pull[:, :, 0])
        length = side[~done] * np.sqrt(np.maximum(room, 0.0) / reach)
        step = pull[:, :, 0] + length[:, None] * pull[:, :, 1]
        # A step that leaves the region far behind is taken in part: the region is convex and contains the best fit.
        for _ in range(8):
            far = _log_likelihoods(columns @ (theta[~done] + step).T, pos, neg) < level - quantile
            step[far] /= 2
            if not far.any():
                break
        moved = np.abs(np.einsum("ij,ij->i", way[~done], step))
        theta[~done] += step
        done[np.flatnonzero(~done)[moved < 1e-9]] = True
        if done.all():
            break
    ends = np.einsum("ij,ij->i", way, theta)
    return ends[: len(wanted)], ends[len(wanted) :]


def _log_likelihoods(odds: Floats, pos: Floats, neg: Floats) -> Floats:
    return np.asarray(-(pos @ np.logaddexp(0, -odds) + neg @ np.logaddexp(0, odds)))


def belt_tail(statistic: float, degree: int) -> float:
    """Return the chance of a larger statistic given the degree, if the forecast is calibrated."""
    return float(_tail(np.array([statistic]), degree)[0])


def _tail(statistic: Floats, degree: int) -> Floats:
    """Return the chance that χ²₂ and degree − 1 variables χ²₁, each conditional on being large, exceed together."""
    if degree == 1:
        return np.exp(-np.maximum(statistic, 0.0) / 2)
    # The one variable integrated over; beyond ``top`` it exceeds without the others, which have a least sum.
    top = np.maximum(statistic - _LARGE * (degree - 2), _LARGE)
    low, high = math.sqrt(_LARGE), np.sqrt(top)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    root = low + (high - low)[:, None] * (nodes + 1) / 2  # in units of the root the density of χ²₁ is 2φ
    density = np.exp(-(root**2) / 2) * math.sqrt(2 / math.pi)
    rest = _tail((statistic[:, None] - root**2).ravel(), degree - 1).reshape(root.shape)
    beyond = np.where(statistic > _LARGE * (degree - 1), chdtrc(1, top), 1 - _FORWARD)
    return np.asarray((beyond + (density * rest) @ weights * (high - low) / 2) / (1 - _FORWARD))


def _quantile(level: float, degree: int) -> float:
    """Return the quantile of the test statistic given the degree."""
    low = _LARGE * (degree - 1)
    return float(brentq(lambda t: belt_tail(t, degree) - (1 - level), low, low + 200.0))
