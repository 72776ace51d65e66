"""Random effects on log-odds: offsets and slopes of groups, shrunk by variances of highest marginal likelihood."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit

from oddsmith._types import Floats

__all__ = ["GroupEffects", "LabeledOdds", "fit_groups", "held_out_gain"]

#: Standard deviations of effects that are tried, in log-odds.
_LARGEST_SD = 5.0

#: Precision of a standard deviation, and of modes.
_SD_TOLERANCE, _MODE_TOLERANCE = 0.01, 1e-7

_NEWTON_STEPS = 50

#: The least slope of a group, so that no order of scores is turned round.
_LEAST_SLOPE = 0.01

#: A standard deviation is one more parameter: the log marginal likelihood must rise by as much (Akaike).
_LEAST_GAIN = 1.0

#: Rounds in which the standard deviations of offsets and slopes are estimated in turn.
_ROUNDS = 3


class LabeledOdds(NamedTuple):
    """Cells of rows: their log-odds so far, the variable of slopes, the weight of both classes, and the slope so far.

    Slopes that are added must leave a positive one.
    """

    odds: Floats
    x: Floats
    pos: Floats
    neg: Floats
    slope: Floats | float = 1.0

    def with_odds(self, odds: Floats) -> "LabeledOdds":
        """Return the same rows with other log-odds."""
        return self._replace(odds=odds)

    def least_slopes(self, group: NDArray[np.intp], n_groups: int) -> Floats:
        """Return the least slope that may be added to the rows of each group."""
        least = np.full(n_groups, -np.inf)
        np.maximum.at(least, group, np.minimum(_LEAST_SLOPE - np.broadcast_to(self.slope, group.shape), 0.0))
        return least

    def log_likelihood(self) -> Floats:
        """Return the log-likelihood of each cell."""
        return np.asarray(-self.pos * np.logaddexp(0, -self.odds) - self.neg * np.logaddexp(0, self.odds))


@dataclass(frozen=True, eq=False)
class GroupEffects:
    """Effects of groups, with their standard deviations.

    Attributes
    ----------
    offset_sd, slope_sd : float
        0 unless it raises the log marginal likelihood by more than 1, as Akaike's criterion has it.
    offsets, slopes : ndarray
        Of each group, what is added to the log-odds: offset + slope · x.
    evidence : float
        Logarithm of the marginal likelihood.
    """

    offset_sd: float
    slope_sd: float
    offsets: Floats
    slopes: Floats
    evidence: float

    def contribution(self, x: Floats, group: NDArray[np.intp]) -> Floats:
        """Return what is added to the log-odds of rows."""
        return np.asarray(self.offsets[group] + self.slopes[group] * x)


def fit_groups(
    rows: LabeledOdds, group: NDArray[np.intp], n_groups: int, *, slopes: bool, start: GroupEffects | None = None
) -> GroupEffects:
    r"""Estimate effects of groups, normal with mean 0, and their standard deviations.

    log-odds = odds + uᵍ + vᵍ·x with u ~ N(0, τ²), v ~ N(0, ω²). τ and ω have the highest marginal likelihood, by
    Laplace's approximation in each group, and u, v are the modes at these values.

    Parameters
    ----------
    rows : LabeledOdds
    group : ndarray of int
        Number of the group of each cell.
    n_groups : int
    slopes : bool
        Whether there are slopes.
    start : GroupEffects, optional
        From an earlier fit.

    References
    ----------
    N. Breslow & D. Clayton, Approximate inference in generalized linear mixed models, JASA 1993.
    """
    modes = np.zeros((2, n_groups)) if start is None else np.array([start.offsets, start.slopes])
    sds = np.array([0.3, 0.0]) if start is None else np.array([start.offset_sd, start.slope_sd])
    best = modes

    def evidence(place: int, value: float) -> float:
        nonlocal best
        tried = sds.copy()
        tried[place] = value
        best, found = _modes(rows, group, tried, best)
        return found

    for _ in range(_ROUNDS if slopes else 1):
        before = sds.copy()
        for place in range(2 if slopes else 1):

            def cost(value: float, place: int = place) -> float:
                return -evidence(place, value)

            # Small values first: the marginal likelihood of few groups is flat far out.
            found = minimize_scalar(cost, bounds=(0.0, 1.0), method="bounded", options={"xatol": _SD_TOLERANCE})
            if found.x > 0.9:
                wide = (0.5, _LARGEST_SD)
                found = minimize_scalar(cost, bounds=wide, method="bounded", options={"xatol": _SD_TOLERANCE})
            sds[place] = float(found.x) if -found.fun > evidence(place, 0.0) + _LEAST_GAIN else 0.0
        if np.all(np.abs(sds - before) <= 2 * _SD_TOLERANCE):
            break
    return _at(rows, group, sds, best)


def _at(rows: LabeledOdds, group: NDArray[np.intp], sds: Floats, start: Floats) -> GroupEffects:
    modes, evidence = _modes(rows, group, sds, start)
    return GroupEffects(float(sds[0]), float(sds[1]), modes[0], modes[1], evidence)


def _modes(rows: LabeledOdds, group: NDArray[np.intp], sds: Floats, start: Floats) -> tuple[Floats, float]:
    """Return the modes of all groups at standard deviations, and the logarithm of the marginal likelihood.

    Newton steps for c = (u/τ, v/ω), whose law is N(0, I): nothing is divided by a standard deviation of 0.
    """
    n_groups = start.shape[1]
    tau, omega = sds
    scale = sds[:, None]
    least = rows.least_slopes(group, n_groups) / omega if omega > 0 else np.full(n_groups, -np.inf)

    def limit(at: Floats) -> Floats:
        return np.array([at[0], np.maximum(at[1], least)])

    c = limit(np.divide(start, scale, out=np.zeros_like(start), where=scale > 0))
    size = rows.pos + rows.neg

    def add(values: Floats) -> Floats:
        return np.asarray(np.bincount(group, values, n_groups), dtype=np.float64)

    def objective(at: Floats) -> Floats:
        moved = rows.with_odds(rows.odds + tau * at[0][group] + omega * at[1][group] * rows.x)
        return np.asarray(add(moved.log_likelihood()) - (at**2).sum(axis=0) / 2)

    value = objective(c)
    for _ in range(_NEWTON_STEPS):
        prob = expit(rows.odds + tau * c[0][group] + omega * c[1][group] * rows.x)
        miss, spread = rows.pos - size * prob, size * prob * (1 - prob)
        gradient = np.array([tau * add(miss), omega * add(miss * rows.x)]) - c
        h00 = 1 + tau**2 * add(spread)
        h01 = tau * omega * add(spread * rows.x) if tau * omega > 0 else np.zeros(n_groups)
        h11 = 1 + omega**2 * add(spread * rows.x**2) if omega > 0 else np.ones(n_groups)
        stuck = (c[1] <= least) & (gradient[1] < 0)
        gradient[1], h01 = np.where(stuck, 0.0, gradient[1]), np.where(stuck, 0.0, h01)
        determinant = h00 * h11 - h01**2
        step = np.array([h11 * gradient[0] - h01 * gradient[1], h00 * gradient[1] - h01 * gradient[0]]) / determinant
        if (step * gradient).sum(axis=0).max(initial=0.0) <= _MODE_TOLERANCE:
            break
        length = np.ones(n_groups)
        while True:  # steps that lower the objective are halved, group by group
            moved = limit(c + length * step)
            after = objective(moved)
            worse = after < value - 1e-12 * (1 + np.abs(value))
            if not worse.any() or length.min() < 1e-8:
                break
            length = np.where(worse, length / 2, length)
        c, value = np.where(worse, c, moved), np.where(worse, value, after)
    return c * scale, float((value - np.log(determinant) / 2).sum())


def held_out_gain(
    rows: LabeledOdds,
    hands: Sequence[tuple[Floats, Floats]],
    group: NDArray[np.intp],
    with_slopes: GroupEffects,
    without: GroupEffects,
) -> tuple[float, float]:
    """Return by how much slopes raise the log-likelihood of held-out rows, and the standard error over folds.

    Standard deviations are those of all rows; effects are fitted without the fold.

    Parameters
    ----------
    rows : LabeledOdds
    hands : sequence of tuple of ndarray
        Weights of both classes in each fold.
    group : ndarray of int
    with_slopes, without : GroupEffects
        Fits to all rows.
    """
    gains = []
    for pos, neg in hands:
        rest = rows._replace(pos=rows.pos - pos, neg=rows.neg - neg)
        held = []
        for fit in (with_slopes, without):
            sds = np.array([fit.offset_sd, fit.slope_sd])
            own = _at(rest, group, sds, np.zeros((2, len(fit.offsets))))
            part = rows._replace(odds=rows.odds + own.contribution(rows.x, group), pos=pos, neg=neg)
            held.append(part.log_likelihood().sum())
        gains.append(held[0] - held[1])
    return float(np.sum(gains)), float(np.std(gains, ddof=1) * np.sqrt(len(gains)))
