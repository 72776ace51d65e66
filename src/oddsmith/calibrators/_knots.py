"""Which knots and which penalty: the searches of piecewise logistic regression, over a sketch of the table."""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigvalsh

from oddsmith._types import Floats
from oddsmith.data import ScoreTable
from oddsmith.fitting import LABELS, HingeFits, LongDesign, ScoreScale, Sketch, hinges, sketch, slope_basis, slopes_of

#: Penalties tried on the hold-out, on scores scaled to unit standard deviation.
_GRID = 10.0 ** np.arange(3, -5, -1)


class GrowthStep(NamedTuple):
    """One step of hill climbing: pieces, log-likelihood, the knot added, and whether it was kept."""

    pieces: int
    log_likelihood: float
    knot: float | None
    kept: bool


@dataclass(frozen=True)
class PiecewiseFit:
    """One knot set with its fit; parameters are ``basis`` @ what was fitted, of which some may be held at 0."""

    #: Number of the knot set among those offered.
    choice: int
    #: Inner knots on the standardized scale.
    knots: Floats
    fits: HingeFits
    basis: Floats
    log_likelihood: float
    trace: tuple[GrowthStep, ...] = ()

    @property
    def theta(self) -> Floats:
        """Level at x = 0, first or last slope, and changes of slope."""
        return np.asarray(self.basis @ self.fits.theta[0])

    @property
    def slopes(self) -> Floats:
        """Slopes of all pieces."""
        return slopes_of(self.theta, self.fits.side)

    def log_odds(self, x: Floats) -> Floats:
        """Return the log-odds at points."""
        return np.asarray((hinges(x, self.knots[None], self.fits.side) @ self.theta)[0])

    @property
    def is_loose(self) -> bool:
        """Whether the data hold some feature, or sum of features, so weakly that its parameter may be anything."""
        features, curvature = self.fits.features[0], self.fits.evaluate(self.fits.theta)[2][0]
        gram = (features * (self.fits.pos + self.fits.neg)) @ features.T
        if self.fits.side == -1 and np.array_equal(self.basis, np.eye(len(self.basis))):
            # One criterion for all scores, that of hinges which open upwards: (x − θ)₊ = (θ − x)₊ + x − θ.
            upwards = np.eye(len(gram))
            upwards[2:, 0], upwards[2:, 1] = -self.knots, 1.0
            curvature, gram = (upwards @ matrix @ upwards.T for matrix in (curvature, gram))
        return _is_loose(curvature, gram)

    def polish(self, table: ScoreTable, frame: ScoreScale) -> tuple["PiecewiseFit", bool]:
        """Fit every score of the table, from here; return also whether that converged."""
        if len(self.fits.pos) == len(table):
            return self, bool(self.fits.converged[0])

        def features(x: Floats) -> Floats:
            return np.asarray(hinges(x, self.knots[None], self.fits.side)[0] @ self.basis)

        fine = sketch(table, frame, (self.knots + frame.shift) * frame.scale, fine=True)
        long = LongDesign.of_pieces(table, frame, features, LABELS, fine)
        found = long.fit(self.fits.penalty[0], self.fits.theta[0])
        return replace(self, fits=replace(self.fits, theta=found.theta[None])), found.converged


def _is_loose(curvature: Floats, gram: Floats) -> bool:
    """Whether the curvature of some feature, or sum of features, is next to nothing of what its squares would allow."""
    squares = np.diag(gram)
    if np.any(np.diag(curvature) <= 1e-9 * squares):
        return True
    # Features that nearly depend on each other are no reason: curvature is compared with what they would allow.
    # What the penalty holds is held, and squares too small to be precise tell nothing.
    free = (np.diag(curvature) < squares) & (squares > 1e-290)
    unit = 1 / np.sqrt(squares[free])
    held, possible = (matrix[np.ix_(free, free)] * unit[:, None] * unit for matrix in (curvature, gram))
    return len(unit) > 0 and bool(eigvalsh(held, possible + 1e-9 * np.eye(len(unit)))[0] <= 1e-12)


@dataclass(frozen=True)
class KnotSearch:
    """Knot sets to choose from, and the rules of the choice."""

    data: Sketch
    #: Inner knots on the standardized scale, shape (sets, K − 1); for hill climbing, one candidate per row.
    sets: Floats
    #: None: the likeliest set. Otherwise climb until "gain", "aic" or "bic" says stop.
    grow: str | None
    #: Whether slopes must not be negative.
    monotone: bool
    #: Penalty on the squared log-odds at the knots, for data that have no finite fit without.
    ridge: float

    def held_out_penalty(self) -> float:
        """Return the penalty whose fit to the training part is likeliest on the part held out."""
        unit = self.data.variance
        if self.data.cases < 10:
            return unit
        training, held = self.data.hold_out()
        # The training part may be separable where the whole is not.
        search = replace(self, data=training, ridge=self.ridge or 1e-8 * training.cases)
        # From the stiffest penalty on, each fit starts where the one before ended.
        warm = None if self.grow else search._set_up(self.sets)
        grid = _GRID * unit
        scores = np.array(
            [
                _likelihood(held, search._climb(penalty) if warm is None else search._likeliest(warm, penalty))
                for penalty in grid
            ]
        )
        # Of penalties that differ by rounding only, the stiffest: else the last bits of the scores would decide.
        return float(grid[int(np.argmax(scores >= scores.max() - 1e-7 * (1 + abs(scores.max()))))])

    def fit(self, penalty: float) -> PiecewiseFit:
        """Return the chosen fit with one penalty."""
        return self._climb(penalty) if self.grow else self._likeliest(self._set_up(self.sets), penalty)

    def _set_up(self, sets: Floats) -> HingeFits:
        level = math.log((self.data.pos.sum() + 1) / (self.data.neg.sum() + 1))
        return HingeFits.over(self.data, sets, (level, 0.0))

    def _likeliest(self, fits: HingeFits, penalty: float) -> PiecewiseFit:
        """Fit all knot sets and return the one of greatest likelihood; the first wins ties."""
        fits.penalize(penalty, self.ridge)
        fits.run(1e-9 * (1 + self.data.cases))
        likelihood = fits.log_likelihood()
        constrained = {}
        if self.monotone:
            for i in np.flatnonzero(np.any(slopes_of(fits.theta, fits.side) < 0, axis=1)):
                constrained[int(i)] = rising(fits.only(int(i)))
                likelihood[i] = constrained[int(i)][0].log_likelihood()[0]
        tied = likelihood.max() - 1e-9 * (1 + self.data.cases)
        best = int(np.argmax(likelihood >= tied))
        chosen, basis = constrained.get(best, (fits.only(best), np.eye(fits.theta.shape[1])))
        chosen.run(1e-18 * (1 + self.data.cases))
        return PiecewiseFit(best, fits.knots[best], chosen, basis, float(chosen.log_likelihood()[0]))

    def _climb(self, penalty: float) -> PiecewiseFit:
        """Add the candidate that helps most while the rule says that it is worth it."""
        left = list(range(len(self.sets)))
        current = self._likeliest(self._set_up(np.empty((1, 0))), penalty)
        trace = [GrowthStep(1, current.log_likelihood, None, True)]
        while left:
            sets = np.sort([[*current.knots, *self.sets[i]] for i in left], axis=1)
            trial = self._likeliest(self._set_up(sets), penalty)
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
        return gain > (1.0 if self.grow == "aic" else 0.5 * math.log(self.data.pos.sum() + self.data.neg.sum()))


def _likelihood(data: Sketch, fit: PiecewiseFit) -> float:
    z, positive = fit.log_odds(data.x.ravel()), fit.log_odds(data.pos_x)
    return float(positive @ data.pos - np.logaddexp(0, z) @ data.weight.ravel())


def rising(fits: HingeFits) -> tuple[HingeFits, Floats]:
    """Fit with slopes ≥ 0 by an active set: hold slopes at 0 where they fall, release them where that costs likelihood.

    Returns the fit and the basis that its parameters refer to.
    """
    size = fits.theta.shape[1]
    slopes = slope_basis(size, fits.side)
    reach = np.abs(slopes.T @ fits.features[0]) @ fits.pos
    held: set[int] = set()
    for _ in range(4 * size):
        basis = slopes[:, [j for j in range(size) if j not in held]]
        trial = fits.within(basis)
        trial.run(1e-12 * (1 + fits.cases))
        theta = basis @ trial.theta[0]
        values = slopes_of(theta, fits.side)
        falling = [j for j in range(1, size) if j not in held and values[j - 1] < 0]
        if falling:
            held.add(min(falling, key=lambda j: values[j - 1]))
            continue
        pull = slopes.T @ fits.evaluate(theta[None])[1][0]
        release = [j for j in held if pull[j] < -1e-9 * reach[j]]
        if not release:
            break
        held.remove(min(release, key=lambda j: pull[j]))
    return trial, basis
