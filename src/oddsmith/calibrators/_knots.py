"""Which knots and which penalty: the searches of piecewise logistic regression, over a sketch of the table."""

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigvalsh

from oddsmith._check import Floats, Weights
from oddsmith.calibrators._hinges import HingeFits, hinges, softplus
from oddsmith.calibrators._line import exact_pass
from oddsmith.calibrators._sketch import Sketch
from oddsmith.maps import FAR
from oddsmith.rows import binary_scale
from oddsmith.table import ScoreTable

#: Of Newton's method over all scores, which begins near its end.
_MOST_STEPS = 20

#: Penalties tried on the hold-out, on scores scaled to unit standard deviation.
_GRID = 10.0 ** np.arange(3, -5, -1)


class Frame(NamedTuple):
    """The standardised scale of a table: x = s/scale − shift."""

    scale: float
    shift: float

    @classmethod
    def of(cls, table: ScoreTable) -> "Frame":
        """Return a scale, a power of two, that brings all scores within [−1, 1] of one in their middle."""
        low, high = table.span()
        scale = binary_scale(low, high)
        return cls(scale, float(table.scores[len(table) // 2]) / scale)

    def x(self, scores: Floats) -> Floats:
        """Return scores on the standardised scale, at most so far out that their cubes are finite."""
        return np.clip(scores / self.scale - self.shift, -FAR, FAR)


class GrowthStep(NamedTuple):
    """One step of hill climbing: pieces, log-likelihood, the knot added, and whether it was kept."""

    pieces: int
    log_likelihood: float
    knot: float | None
    kept: bool


@dataclass(frozen=True)
class PiecewiseFit:
    """One knot set with its fit; parameters are ``basis`` @ what was fitted, of which some may be held at 0.

    Attributes
    ----------
    choice : int
        Number of the knot set among those offered.
    knots : ndarray of shape (K − 1,)
        On the standardised scale.
    theta : ndarray of shape (K + 1,)
        Level at x = 0, first slope, and changes of slope.
    """

    choice: int
    knots: Floats
    fits: HingeFits
    basis: Floats
    log_likelihood: float
    trace: tuple[GrowthStep, ...] = ()

    @property
    def theta(self) -> Floats:
        """Return the parameters of all features."""
        return np.asarray(self.basis @ self.fits.theta[0])

    @property
    def is_loose(self) -> bool:
        """Whether the data hold some feature, or sum of features, so weakly that its parameter may be anything."""
        features, curvature = self.fits.features[0], self.fits.curvature()[0]
        gram = features.T @ (features * self.fits.weight[:, None])
        squares = np.diag(gram)
        if np.any(np.diag(curvature) <= 1e-9 * squares):
            return True
        # Features that nearly depend on each other are no reason: curvature is compared with what they would allow.
        # What the penalty holds is held, and squares too small to be precise tell nothing.
        free = (np.diag(curvature) < squares) & (squares > 1e-290)
        unit = 1 / np.sqrt(squares[free])
        held, possible = (matrix[np.ix_(free, free)] * unit[:, None] * unit for matrix in (curvature, gram))
        return len(unit) > 0 and bool(eigvalsh(held, possible + 1e-9 * np.eye(len(unit)))[0] <= 1e-12)

    def polished(self, table: ScoreTable, frame: Frame) -> tuple["PiecewiseFit", bool]:
        """Repeat Newton's step on the table itself until it no longer matters; return whether it did end so."""
        theta = self.fits.theta[0].copy()
        result = replace(self, fits=replace(self.fits, theta=theta[None]))
        if len(self.fits.weight) == len(table):
            return result, bool(self.fits.converged[0])
        marginal = table.marginal()
        slope, curvature = self._derivatives(theta, marginal, frame)
        for _ in range(_MOST_STEPS):
            step = np.linalg.solve(curvature, -slope)
            if np.max(np.abs(step)) <= 3e-6 * np.max(np.abs(theta + step)):  # the error that is left is its square
                theta += step
                return result, True
            rise = -float(slope @ step)
            slope, curvature = self._derivatives(theta + step, marginal, frame)
            # A step too far climbs the other side; so far that all is certain there, nothing would lead back.
            while float(slope @ step) > 0.5 * rise and np.max(np.abs(step)) > 0:
                step, rise = step / 2, rise / 2
                slope, curvature = self._derivatives(theta + step, marginal, frame)
            theta += step
        return result, False

    def _derivatives(
        self, theta: Floats, marginal: tuple[Floats, Weights | None], frame: Frame
    ) -> tuple[Floats, Floats]:
        """Return gradient and curvature of what is minimised, over scores and their weights."""
        scores, weight = marginal
        edges = np.searchsorted(scores, (self.knots + frame.shift) * frame.scale, side="right")
        parameters = self.basis @ theta
        gradient, hessian = np.zeros(len(self.basis)), np.zeros((len(self.basis),) * 2)
        for j, (start, stop) in enumerate(pairwise([0, *edges.tolist(), len(scores)])):
            # Slope and intercept of piece j as functions of the parameters.
            line = np.zeros((2, len(self.basis)))
            line[0, 1 : j + 2] = 1
            line[1, 0] = 1
            line[1, 2 : j + 2] = -self.knots[:j]
            w = None if weight is None else weight[start:stop]
            at = exact_pass(scores[start:stop], w, frame.scale, frame.shift, *(line @ parameters))
            gradient += line.T @ [at.ga, at.gb]
            hessian += line.T @ [[at.haa, at.hab], [at.hab, at.hbb]] @ line
        slope = self.basis.T @ gradient - self.fits.target[0] + self.fits.penalty[0] @ theta
        return slope, self.basis.T @ hessian @ self.basis + self.fits.penalty[0]


@dataclass(frozen=True)
class KnotSearch:
    """Knot sets to choose from, and the rules of the choice.

    Attributes
    ----------
    data : Sketch
    sets : ndarray of shape (sets, K − 1)
        Inner knots on the standardised scale; for hill climbing, one candidate a row.
    grow : str or None
        None: the likeliest set. Otherwise climb until "gain", "aic" or "bic" says stop.
    monotone : bool
        Whether slopes must not be negative.
    ridge : float
        Penalty on the squared log-odds at the knots, for data that have no finite fit without.
    """

    data: Sketch
    sets: Floats
    grow: str | None
    monotone: bool
    ridge: float

    def held_out_penalty(self) -> float:
        """Return the penalty whose fit to the training part is likeliest on the part held out."""
        unit = self.data.variance
        if min(self.data.pos.sum(), self.data.neg.sum()) < 10:
            return unit
        training, held = self.data.hold_out()
        # The training part may be separable where the whole is not.
        search = replace(self, data=training, ridge=self.ridge or 1e-8 * training.n)
        # From the stiffest penalty on, each fit starts where the one before ended.
        warm = None if self.grow else search._set_up(self.sets)
        grid = _GRID * unit
        scores = np.array(
            [_likelihood(held, search._climb(l2) if warm is None else search._likeliest(warm, l2)) for l2 in grid]
        )
        # Of penalties that differ by rounding only, the stiffest: else the last bits of the scores would decide.
        return float(grid[int(np.argmax(scores >= scores.max() - 1e-7 * (1 + abs(scores.max()))))])

    def fit(self, l2: float) -> PiecewiseFit:
        """Return the chosen fit with one penalty."""
        return self._climb(l2) if self.grow else self._likeliest(self._set_up(self.sets), l2)

    def _set_up(self, sets: Floats) -> HingeFits:
        level = math.log((self.data.pos.sum() + 1) / (self.data.neg.sum() + 1))
        return HingeFits.over(self.data, sets, (level, 0.0))

    def _likeliest(self, fits: HingeFits, l2: float) -> PiecewiseFit:
        """Fit all knot sets and return the one of greatest likelihood; the first wins ties."""
        fits.penalise(l2, self.ridge)
        fits.run(1e-12 * (1 + self.data.n))
        likelihood = fits.log_likelihood()
        constrained = {}
        if self.monotone:
            for i in np.flatnonzero(np.any(np.cumsum(fits.theta[:, 1:], axis=1) < 0, axis=1)):
                constrained[int(i)] = rising(fits.only(int(i)))
                likelihood[i] = constrained[int(i)][0].log_likelihood()[0]
        tied = likelihood.max() - 1e-9 * (1 + self.data.n)
        best = int(np.argmax(likelihood >= tied))
        chosen, basis = constrained.get(best, (fits.only(best), np.eye(fits.theta.shape[1])))
        chosen.run(1e-20 * (1 + self.data.n))
        return PiecewiseFit(best, fits.knots[best], chosen, basis, float(chosen.log_likelihood()[0]))

    def _climb(self, l2: float) -> PiecewiseFit:
        """Add the candidate that helps most while the rule says that it is worth it."""
        left = list(range(len(self.sets)))
        current = self._likeliest(self._set_up(np.empty((1, 0))), l2)
        trace = [GrowthStep(1, current.log_likelihood, None, True)]
        while left:
            sets = np.sort([[*current.knots, *self.sets[i]] for i in left], axis=1)
            trial = self._likeliest(self._set_up(sets), l2)
            added = left[trial.choice]
            kept = self._worth(trial.log_likelihood - current.log_likelihood, current.log_likelihood)
            trace.append(GrowthStep(len(trial.knots) + 1, trial.log_likelihood, float(self.sets[added, 0]), kept))
            if not kept:
                break
            current = trial
            left.remove(added)
        return replace(current, trace=tuple(trace))

    def _worth(self, gain: float, likelihood: float) -> bool:
        if self.grow == "gain":
            return gain >= 0.01 * abs(likelihood)
        return gain > (1.0 if self.grow == "aic" else 0.5 * math.log(self.data.n))


def _likelihood(data: Sketch, fit: PiecewiseFit) -> float:
    z, positive = ((hinges(x, fit.knots[None]) @ fit.theta)[0] for x in (data.x.ravel(), data.pos_x))
    return float(positive @ data.pos - softplus(z) @ data.weight.ravel())


def rising(fits: HingeFits) -> tuple[HingeFits, Floats]:
    """Fit with slopes ≥ 0 by an active set: hold slopes at 0 where they fall, release them where that costs likelihood.

    Returns the fit and the basis that its parameters refer to.
    """
    size = fits.theta.shape[1]
    # Columns: the level, then each slope, which enters as a change of +1 at its start and −1 at its end.
    slopes = np.eye(size) - np.eye(size, k=-1)
    slopes[1, 0] = 0
    held: set[int] = set()
    for _ in range(4 * size):
        basis = slopes[:, [j for j in range(size) if j not in held]]
        trial = fits.within(basis)
        trial.run(1e-12)
        theta = basis @ trial.theta[0]
        values = np.cumsum(theta[1:])
        falling = [j for j in range(1, size) if j not in held and values[j - 1] < 0]
        if falling:
            held.add(min(falling, key=lambda j: values[j - 1]))
            continue
        pull = slopes.T @ fits.gradient(theta[None])[0]
        release = [j for j in held if pull[j] < -1e-9 * np.abs(fits.target).max()]
        if not release:
            break
        held.remove(min(release, key=lambda j: pull[j]))
    return trial, basis
