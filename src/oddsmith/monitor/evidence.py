"""The evidence that calibration was lost: a mixture of likelihood ratios that grows only by chance while it holds.

Batches enter by their table of log-odds and labels, in the order of their arrival. The state is one number for each of
25 alternatives, and for a fitted map the likelihood of 81 supposed errors of the map; its size does not depend on rows.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import betaln

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.data import ScoreTable
from oddsmith.maps import SUREST

__all__ = ["ALTERNATIVES", "PRIOR", "Evidence", "MapError", "StepErrors", "start_prior"]

#: Lines of the true log-odds over those of the map: offset at the center, and slope about it.
OFFSETS, SLOPES = (-1.0, -0.5, 0.0, 0.5, 1.0), (0.5, 0.7, 1.0, 1.4, 2.0)
ALTERNATIVES: Floats = np.array(list(product(OFFSETS, SLOPES)))

#: Prior probability of each, given a loss: a third each for offsets alone, for slopes alone, and for both.
PRIOR: Floats = np.array(
    [0 if line == (0, 1) else 1 / 12 if line[0] == 0 or line[1] == 1 else 1 / 48 for line in product(OFFSETS, SLOPES)]
)
with np.errstate(divide="ignore"):
    _LOG_PRIOR: Floats = np.log(PRIOR)

#: Prior probability of a loss before the first row, and the rows in which few others are expected: those are nearly
#: losses at the start.
_FROM_THE_START, _SOON = 0.3, 200

#: Standard errors of the map within which its error is supposed to lie, and supposed errors on each axis.
_REACH, _NODES = 4.0, 9

#: Points on each axis at which the likelihood of supposed errors is integrated, and how far, in standard deviations.
_POINTS, _FAR = 33, 6.0
_MOST_ZOOMS = 30

#: Rows handled at a time.
_CHUNK = 4096

#: Standard deviations by which log-odds of new rows may be tilted to look like those of the fit.
_MOST_TILT = 2.0

#: Rows whose scores say how much the calibration rows knew of the map.
_FEWEST = 20


def start_prior(rows: int) -> float:
    """Return the prior probability that calibration is lost later than after a number of rows.

    The prior of a loss at row j is 30 % at the start, and else about proportional to 1/(j log² j), with j counted in
    units of 200 rows: it sums to 1 over an endless run.

    Examples
    --------
    >>> round(start_prior(0), 12), round(start_prior(10**6), 3)
    (0.7, 0.082)
    """
    return (1 - _FROM_THE_START) / math.log(rows / _SOON + math.e)


@dataclass(frozen=True)
class MapError:
    """The sampling error of a fitted map, as that of a line through its log-odds.

    Parameters
    ----------
    root : ndarray of shape (2, 2)
        Root of the covariance of (offset at the center, slope): errors are ``root @ z`` with standard normal z.
    """

    root: Floats

    @staticmethod
    def like(log_odds: Floats, weight: Floats, center: float, rows: float, prevalence: float) -> "MapError":
        """Return the error of a map that was fitted to a number of rows with this share of positives.

        Their log-odds are taken to be distributed as these, but for an exponential tilt that gives the share.
        """
        z = np.clip(log_odds, -SUREST, SUREST)
        prob = 1 / (1 + np.exp(-z))
        middle = float(weight @ z) / max(float(weight.sum()), 1.0)
        spread = math.sqrt(float(weight @ (z - middle) ** 2) / max(float(weight.sum()), 1.0))

        def tilt(by: float) -> Floats:
            found = weight * np.exp(by / spread * (z - middle) - (by / spread * (z - middle)).max())
            return np.asarray(found * weight.sum() / found.sum())

        def excess(by: float) -> float:
            return float(tilt(by) @ prob) / float(weight.sum()) - prevalence

        if spread > 0 and len(z) > 1:
            ends = np.array([-_MOST_TILT, _MOST_TILT])
            by = ends[0] if excess(ends[0]) > 0 else ends[1] if excess(ends[1]) < 0 else brentq(excess, *ends)
            weight = tilt(float(by))
        return MapError.of(log_odds, weight, center, rows)

    @staticmethod
    def of(log_odds: Floats, weight: Floats, center: float, rows: float | None = None) -> "MapError":
        """Return the error of a map that was fitted to rows with these log-odds, or to a number of rows like these.

        The covariance is the inverse of the information Σ p(1 − p) (1, x)(1, x)ᵀ of a logistic fit, with x the distance
        of the log-odds from the center.
        """
        z = np.clip(log_odds, -SUREST, SUREST)
        informative = weight / (2 + np.exp(z) + np.exp(-z))
        x = z - center
        sums = [float(informative @ x**k) for k in range(3)]
        n = float(weight.sum())
        information = np.array([sums[:2], sums[1:]]) * (1.0 if rows is None else rows / max(n, 1.0))
        level, turn = information[0, 0], information[1, 1]
        if n < _FEWEST or not level > 0:
            _check.fail(
                f"the error of the map needs {_FEWEST} rows whose P is not 0 or 1",
                f"{int(n)} rows, P(1 − P) of {level:.3g} in all",
                "pass calibration=, the table of the rows of the fit, or begin with a larger batch",
            )
        if np.linalg.det(information) > 1e-9 * level * turn:
            return MapError(np.linalg.cholesky(np.linalg.inv(information)))
        # All log-odds are nearly equal, and only that one has an error.
        mean = information[0, 1] / level
        direction = np.array([1.0, mean]) / (1 + mean**2)
        return MapError(np.column_stack([direction / math.sqrt(level), np.zeros(2)]))

    def lines(self) -> Floats:
        """Return the supposed errors as lines: offset and slope, shape (81, 2)."""
        nodes = _REACH * _nodes()
        return np.array([0.0, 1.0]) + np.array(list(product(nodes, nodes))) @ self.root.T


@dataclass(frozen=True)
class StepErrors:
    """The sampling errors of a map with steps: each step has its own, beta-distributed as the rows of the fit imply.

    Parameters
    ----------
    log_odds : ndarray of shape (steps,)
        Ascending log-odds of the steps. Rows with other log-odds, between two steps, are taken to have no such error.
    fit : ndarray of shape (2, steps)
        Positive and negative rows of the fit on each step.
    seen : ndarray of shape (2, steps)
        Those counted since.
    """

    log_odds: Floats
    fit: Floats
    seen: Floats

    @staticmethod
    def of(steps: Floats, log_odds: Floats, weight: Floats, rows: float | None = None) -> "StepErrors":
        """Return the errors of steps that were fitted to rows with these log-odds, or to so many rows like these.

        Parameters
        ----------
        steps : ndarray
            Ascending log-odds of the steps.
        log_odds, weight : ndarray of shape (n,)
            Of the rows.
        rows : float, optional
            The number of rows of the fit, where it is not the sum of the weights.
        """
        on, place = _places(steps, log_odds)
        total = np.bincount(place[on], weight[on], len(steps)) * (1.0 if rows is None else rows / weight.sum())
        prob = 1 / (1 + np.exp(-steps))
        return StepErrors(steps, np.array([total * prob, total * (1 - prob)]), np.zeros((2, len(steps))))

    def after(self, forecast: ScoreTable) -> "StepErrors":
        """Return the errors after a batch."""
        on, place = _places(self.log_odds, forecast.scores)
        sides = [np.bincount(place[on], side[on], len(self.log_odds)) for side in (forecast.pos, forecast.neg)]
        return replace(self, seen=self.seen + np.array(sides))

    @property
    def log_likelihood(self) -> Any:
        """Log-likelihood of the rows on steps, averaged over the errors, less that of the map.

        The counts seen may have leading axes, of several times.
        """
        (pos, neg), seen_pos, seen_neg = self.fit + 0.5, self.seen[..., 0, :], self.seen[..., 1, :]
        averaged = betaln(pos + seen_pos, neg + seen_neg) - betaln(pos, neg)
        of_map = seen_pos * np.logaddexp(0, -self.log_odds) + seen_neg * np.logaddexp(0, self.log_odds)
        return (averaged + of_map).sum(axis=-1)


def _places(steps: Floats, log_odds: Floats) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Return which log-odds are those of a step, and of which."""
    below = np.searchsorted(steps, log_odds).clip(1, len(steps) - 1) if len(steps) > 1 else np.ones(len(log_odds), int)
    place = below - 1 + (log_odds > (steps[below - 1] + steps[np.minimum(below, len(steps) - 1)]) / 2)
    place = np.minimum(place, len(steps) - 1)
    return np.isclose(log_odds, steps[place], rtol=1e-12, atol=1e-12), place


@dataclass
class Evidence:
    """The e-process of one stream of rows.

    While the log-odds are right (or, with ``error``, off by a line whose error has that law), the evidence exceeds 1/α
    at any time of an endless run with probability α at most: it is the likelihood of a mixture of losses, over that of
    no loss.

    Parameters
    ----------
    center : float
        Log-odds about which slopes turn.
    error : MapError or None
        None: probabilities are supposed to be exact.
    rows : int
        Rows so far.
    grown : ndarray of shape (25,)
        For each alternative the log of its prior times its likelihood ratio, mixed over the times of the loss so far.
    surface : ndarray of shape (81,)
        Log-likelihood of each supposed error of the map, less that of the map.
    null : float
        Log-likelihood of no loss, averaged over the supposed errors of the map, less that of the map.
    steps : StepErrors or None
        Of a map with steps, their errors: with probability ½ these are what is wrong with the map, else ``error`` is.

    Several streams whose batches have the same numbers of rows are one, where all arrays have a leading axis.
    """

    center: float
    error: MapError | None = None
    rows: int = 0
    grown: Floats = field(default_factory=lambda: np.full(len(ALTERNATIVES), -np.inf))
    surface: Floats = field(default_factory=lambda: np.zeros(_NODES**2))
    null: Any = 0.0
    steps: StepErrors | None = None

    def add(self, forecast: ScoreTable) -> Floats:
        """Count a batch, whose scores are log-odds; return the log-likelihood ratio of each alternative on it."""
        found = np.zeros(len(self._lines()))
        for at in range(0, len(forecast), _CHUNK):
            part = slice(at, at + _CHUNK)
            found += self.ratios(forecast.scores[part], forecast.pos[part], forecast.total[part])
        if self.steps is not None:
            self.steps = self.steps.after(forecast)
        self.count(found, forecast.rows, None if self.steps is None else self.steps.log_likelihood)
        return found[: len(ALTERNATIVES)]

    def ratios(self, log_odds: Floats, pos: Any, total: Any) -> Floats:
        """Return the log-likelihood of all alternatives, then of all supposed errors, less that of the map.

        Counts may be of many batches, with one column for each of the log-odds.
        """
        lines = self._lines()
        z = np.clip(log_odds, -SUREST, SUREST)
        moved = self.center + lines[:, :1] + lines[:, 1:] * (z - self.center)
        excess = np.logaddexp(0, moved) - np.logaddexp(0, z)
        return np.asarray(np.asarray(pos, float) @ (moved - z).T - np.asarray(total, float) @ excess.T)

    def count(self, ratios: Floats, rows: int, of_steps: Any = None) -> None:
        """Count a batch by its ratios, and by the log-likelihood of all steps after it where the map has steps.

        With leading axes, these are of one batch with this number of rows of each of several streams.
        """
        after = self.rows + rows
        begins = start_prior(self.rows) - start_prior(after) + (_FROM_THE_START if self.rows == 0 else 0.0)
        null = np.asarray(self.null)[..., None]
        begun = math.log(begins) + _LOG_PRIOR + null
        self.grown = np.logaddexp(self.grown, begun) + ratios[..., : len(ALTERNATIVES)]
        if self.error is not None:
            self.surface = self.surface + ratios[..., len(ALTERNATIVES) :]
            self.null = log_average(self.surface)
        if of_steps is not None:
            self.null = np.logaddexp(self.null, of_steps) - math.log(2)
        self.rows = after

    def _lines(self) -> Floats:
        return ALTERNATIVES if self.error is None else np.vstack([ALTERNATIVES, self.error.lines()])

    @property
    def log_evidence(self) -> Any:
        """Natural logarithm of the evidence."""
        if not self.rows:
            return 0.0  # before the first row nothing is known
        mixed = np.logaddexp.reduce(self.grown, axis=-1)
        found = np.logaddexp(mixed, math.log(start_prior(self.rows)) + self.null) - self.null
        return found if np.ndim(found) else float(found)

    @property
    def belief(self) -> Floats:
        """How probable each alternative is, given that calibration was lost."""
        if not self.rows:
            return PRIOR
        return np.asarray(np.exp(self.grown - np.logaddexp.reduce(self.grown)))


def log_average(surface: Sequence[float] | Floats) -> Any:
    """Return the log of the mean of exp(surface) over standard normal errors, each within four standard errors.

    The surface is smooth: a polynomial through its nodes has all its digits. The mean is a sum over points that are
    drawn together until they resolve the peak. Leading axes are of several surfaces.
    """
    values = np.asarray(surface, float)
    coefficients = _to_coefficients() @ values.reshape(*values.shape[:-1], _NODES, _NODES) @ _to_coefficients().T
    low, high = (np.full((*values.shape[:-1], 2), end) for end in (-_REACH, _REACH))
    for _ in range(_MOST_ZOOMS):
        axes = np.linspace(low, high, _POINTS, axis=-1)  # (..., 2, points)
        basis = np.cos(np.arccos(axes / _REACH)[..., None] * np.arange(_NODES))  # Chebyshev's polynomials
        first, second = axes[..., 0, :, None], axes[..., 1, None, :]
        log_mass = basis[..., 0, :, :] @ coefficients @ np.swapaxes(basis[..., 1, :, :], -1, -2)
        log_mass = log_mass - (first**2 + second**2) / 2
        peak = log_mass.max(axis=(-2, -1))
        mass = np.exp(log_mass - peak[..., None, None])
        step = (high - low) / (_POINTS - 1)
        shares = np.stack([mass.sum(axis=-1), mass.sum(axis=-2)], axis=-2) / mass.sum(axis=(-2, -1))[..., None, None]
        mean = (shares * axes).sum(axis=-1)
        spread = np.sqrt((shares * (axes - mean[..., None]) ** 2).sum(axis=-1))
        coarse = ~np.all((spread > 2 * step) | (high - low >= 2 * _REACH) & (spread > step), axis=-1)[..., None]
        if not coarse.any():
            break
        reach = _FAR * np.maximum(spread, step)
        low = np.where(coarse, np.maximum(mean - reach, -_REACH), low)
        high = np.where(coarse, np.minimum(mean + reach, _REACH), high)
    edge = np.ones(_POINTS)
    edge[[0, -1]] = 0.5
    found = peak + np.log(mass @ edge @ edge * step.prod(axis=-1) / _prior_mass())
    return found if values.ndim > 1 else float(found)


@cache
def _prior_mass() -> float:
    """Integral of exp(−|z|²/2) over the square of supposed errors."""
    return 2 * math.pi * math.erf(_REACH / math.sqrt(2)) ** 2


@cache
def _nodes() -> Floats:
    return np.asarray(chebyshev.chebpts1(_NODES))


@cache
def _to_coefficients() -> Floats:
    return np.asarray(np.linalg.inv(chebyshev.chebvander(_nodes(), _NODES - 1)))
