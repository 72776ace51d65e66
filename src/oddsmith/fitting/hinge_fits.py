"""Logistic regression on hinge features, many knot sets at a time.

With knots θ₁ < … the log-odds f = a + bx + Σ cⱼ(x − θⱼ)₊ are continuous and piecewise linear; the penalty λΣcⱼ² is on
the changes of slope. Fits over the same points and the same number of knots run side by side.

Where the scores reach much farther up than down, hinges (θⱼ − x)₊ take the place of (x − θⱼ)₊: b is then the slope of
the last piece instead of the first, and cⱼ are the same. At far scores all hinges that open towards them are large and
nearly equal, so that slopes which differ by a factor of 10¹⁰ from piece to piece would cancel there.
"""

from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from oddsmith._types import Floats
from oddsmith.fitting.newton import ENOUGH, to_unit_diagonal
from oddsmith.fitting.sketches import Sketch

_MAX_STEPS = 100

#: How much farther up than down scores must reach, from the middle one, for hinges to open downwards.
_SKEWED = 1024.0

#: 1: hinges open upwards, (x − θ)₊. −1: they open downwards, (θ − x)₊.
HingeSide = Literal[1, -1]


def side_away_from(low: float, high: float) -> HingeSide:
    """Return to which side hinges open for points from ``low`` to ``high``, the middle one being 0."""
    return -1 if high > -_SKEWED * low else 1


def hinges(x: Floats, knots: Floats, side: HingeSide) -> Floats:
    """Return features 1, x, (x − θ₁)₊, … of shape (fits, points, K + 1), for knots of shape (fits, K − 1).

    Points are those of all fits, or of each, shape (fits, points).
    """
    features = np.empty((len(knots), x.shape[-1], 2 + knots.shape[1]))
    features[:, :, 0] = 1
    features[:, :, 1] = x
    bends = features[:, :, 2:]
    np.subtract(features[:, :, 1:2], knots[:, None, :], out=bends)
    bends *= side
    np.maximum(bends, 0.0, out=bends)
    return features


def slopes_of(theta: Floats, side: HingeSide) -> Floats:
    """Return the slopes of all pieces, shape (…, K), for parameters of shape (…, K + 1)."""
    if side == 1:
        return np.cumsum(theta[..., 1:], axis=-1)
    # From the last piece down, each change of slope is taken back.
    return np.cumsum(np.concatenate([theta[..., 1:2], -theta[..., :1:-1]], axis=-1), axis=-1)[..., ::-1]


def slope_basis(size: int, side: HingeSide) -> Floats:
    """Return the matrix from the level and all slopes to parameters."""
    basis = np.eye(size) - np.eye(size, k=-1)
    basis[1] = 0
    basis[1, side] = 1  # the slope of the first piece, or of the last
    return basis


@dataclass(frozen=True)
class HingeFits:
    """Fits side by side: their features, targets and penalties, and where they stand."""

    knots: Floats  # (fits, K − 1)
    ends: tuple[float, float]  # smallest and largest point
    features: Floats  # (fits, parameters, points)
    pos: Floats  # weight of each class, (points,)
    neg: Floats
    aside: Floats  # sums of the features over the positive class beyond those over its points, (fits, parameters)
    cases: float  # weight of the rarer class
    penalty: Floats  # (fits, parameters, parameters)
    theta: Floats  # (fits, parameters)
    converged: NDArray[np.bool_]  # (fits,)

    @classmethod
    def over(cls, sketch: Sketch, knots: Floats, start: tuple[float, float]) -> Self:
        """Set up fits without penalty, starting from the line (a, b)."""
        x = sketch.x.ravel()
        ends = float(x.min()), float(x.max())
        side = side_away_from(*ends)
        at_points = hinges(x, knots, side)
        features = np.ascontiguousarray(at_points.transpose(0, 2, 1))
        size = features.shape[1]
        theta = np.zeros((len(knots), size))
        theta[:, :2] = start
        pos, neg = sketch.share(sketch.pos), sketch.share(sketch.neg)
        # Differences first: sums over 10¹² cases would differ by their rounding, times slopes as large.
        apart = np.tile(hinges(sketch.pos_x, knots, side), (1, len(sketch.x), 1)) - at_points
        aside = np.einsum("i,fip->fp", pos, apart)
        penalty, converged = np.zeros((len(knots), size, size)), np.zeros(len(knots), bool)
        return cls(knots, ends, features, pos, neg, aside, sketch.cases, penalty, theta, converged)

    @property
    def side(self) -> HingeSide:
        """To which side hinges open."""
        return side_away_from(*self.ends)

    def penalize(self, penalty: float, ridge: float) -> None:
        """Set the penalty λΣc² + ridge·Σf(θ)², the latter over all knots and both ends."""
        self.penalty[:] = 0.0
        inner = np.arange(2, self.penalty.shape[1])
        self.penalty[:, inner, inner] = 2 * penalty
        if ridge:
            low, high = (np.full((len(self.knots), 1), end) for end in self.ends)
            at = hinges(np.hstack([low, self.knots, high]), self.knots, self.side)
            self.penalty[:] += 2 * ridge * np.matmul(at.transpose(0, 2, 1), at)

    def only(self, i: int) -> Self:
        """Return one of the fits."""
        names = ("knots", "features", "aside", "penalty", "theta", "converged")
        return replace(self, **{name: getattr(self, name)[i : i + 1].copy() for name in names})

    def within(self, basis: Floats) -> Self:
        """Return the fits with parameters restricted to the span of ``basis``, shape (parameters, fewer)."""
        return replace(
            self,
            features=basis.T @ self.features,
            aside=self.aside @ basis,
            penalty=basis.T @ self.penalty @ basis,
            theta=self.theta @ np.linalg.pinv(basis).T,
            converged=self.converged.copy(),
        )

    def log_likelihood(self) -> Floats:
        """Return the unpenalized log-likelihood of each fit."""
        return -self._loss(*_forecast(self.features, self.theta), self.aside, self.theta)

    def run(self, tolerance: float) -> None:
        """Newton's method with backtracking until twice the possible gain of each fit is below ``tolerance``."""
        active = np.arange(len(self.theta))
        theta = self.theta.copy()
        self.converged[:] = False
        loss, gradient, hessian = self.evaluate(theta)
        for _ in range(_MAX_STEPS):
            unit, scaled = to_unit_diagonal(hessian)
            step = -unit * np.linalg.solve(scaled, (gradient * unit)[:, :, None])[:, :, 0]
            gain = -np.einsum("fp,fp->f", gradient, step)
            done = gain <= tolerance
            # The last step is taken unseen: it costs nothing and squares the error.
            self.theta[active[done]] = theta[done] + step[done]
            self.converged[active[done]] = True
            keep = gain > tolerance
            if not keep.any():
                return
            active, theta, loss, gain, step = active[keep], theta[keep], loss[keep], gain[keep], step[keep]
            size, slack = np.ones(len(active)), 1e-14 * np.abs(loss)
            for _ in range(50):
                trial = theta + size[:, None] * step
                trial_loss, gradient, hessian = self.evaluate(trial, active)
                # Near the optimum the objective changes by less than its own rounding.
                worse = ~(trial_loss <= loss - 1e-4 * size * gain + slack)
                if not worse.any():
                    break
                size[worse] /= 2
            self.theta[active[~worse]] = trial[~worse]
            near = gain <= ENOUGH * (1 + self.cases)
            # No step lowers the objective by anything that it could show.
            ended = worse | (near & (trial_loss >= loss - slack))
            self.converged[active[ended]] = near[ended]
            active, theta, loss, gradient, hessian = (
                each[~ended] for each in (active, trial, trial_loss, gradient, hessian)
            )
            if not len(active):
                return

    def _loss(self, z: Floats, e: Floats, aside: Floats, theta: Floats) -> Floats:
        """Return the log-loss of each fit, in a form that does not cancel, less what is set aside."""
        wrong = np.where(z >= 0, self.neg, self.pos) * np.abs(z)
        # Not by BLAS, which may start threads for so many points.
        sure = np.einsum("fi,i->f", np.log1p(e), self.pos + self.neg)
        return np.asarray(sure + wrong.sum(axis=1) - np.einsum("fp,fp->f", aside, theta))

    def evaluate(self, theta: Floats, fits: NDArray[np.intp] | None = None) -> tuple[Floats, Floats, Floats]:
        """Return penalized objective, gradient and Hessian of some of the fits, or of all."""
        some = slice(None) if fits is None or len(fits) == len(self.features) else fits
        features, penalty, aside = self.features[some], self.penalty[some], self.aside[some]
        z, e = _forecast(features, theta)
        q = 1 / (1 + e)
        pull = np.where(z >= 0, self.neg - self.pos * e, self.neg * e - self.pos) * q
        h = e * q * q * (self.pos + self.neg)
        pulled = np.matmul(penalty, theta[:, :, None])[:, :, 0]
        loss = self._loss(z, e, aside, theta) + np.einsum("fp,fp->f", theta, pulled) / 2
        gradient = np.matmul(features, pull[:, :, None])[:, :, 0] + pulled - aside
        hessian = np.matmul(features * h[:, None, :], features.transpose(0, 2, 1)) + penalty
        return loss, gradient, hessian


def _forecast(features: Floats, theta: Floats) -> tuple[Floats, Floats]:
    """Return the log-odds z of each fit, and e^−|z|."""
    z = np.matmul(theta[:, None, :], features)[:, 0]
    return z, np.exp(-np.abs(z))
