"""Logistic regression on hinge features, many knot sets at a time.

With knots θ₁ < … the log-odds f = a + bx + Σ cⱼ(x − θⱼ)₊ are continuous and piecewise linear; the penalty λΣcⱼ² is on
the changes of slope. Fits over the same points and the same number of knots run side by side.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from oddsmith._check import Floats
from oddsmith.calibrators._sketch import Sketch

_MAX_STEPS = 100


def hinges(x: Floats, knots: Floats) -> Floats:
    """Return features 1, x, (x − θ₁)₊, … of shape (fits, points, K + 1), for knots of shape (fits, K − 1)."""
    bent = np.maximum(x[None, :, None] - knots[:, None, :], 0.0)
    flat = np.broadcast_to(np.stack([np.ones_like(x), x], axis=1), (len(knots), len(x), 2))
    return np.concatenate([flat, bent], axis=2)


@dataclass
class HingeFits:
    """Fits side by side: their features, targets and penalty, and where they stand.

    Attributes
    ----------
    theta : ndarray of shape (fits, parameters)
    converged : ndarray of bool, shape (fits,)
    """

    features: Floats
    weight: Floats
    target: Floats
    penalty: Floats
    theta: Floats
    converged: NDArray[np.bool_]

    @classmethod
    def over(cls, sketch: Sketch, knots: Floats, start: tuple[float, float]) -> Self:
        """Set up fits for ``knots`` of shape (fits, K − 1), without penalty, starting from the line (a, b)."""
        features = hinges(sketch.x.ravel(), knots)
        positive = hinges(sketch.pos_x, knots)
        theta = np.zeros((len(knots), features.shape[2]))
        theta[:, :2] = start
        target = np.einsum("b,fbp->fp", sketch.pos, positive)
        size = features.shape[2]
        penalty = np.zeros((len(knots), size, size))
        return cls(features, sketch.weight.ravel(), target, penalty, theta, np.zeros(len(knots), bool))

    def penalise(self, l2: float) -> None:
        """Set the penalty λΣc²."""
        self.penalty[:] = 0.0
        for j in range(2, self.penalty.shape[1]):
            self.penalty[:, j, j] = 2 * l2

    def within(self, basis: Floats) -> Self:
        """Return the fits with parameters restricted to the span of ``basis``, shape (parameters, fewer)."""
        return type(self)(
            self.features @ basis,
            self.weight,
            self.target @ basis,
            basis.T @ self.penalty @ basis,
            self.theta @ np.linalg.pinv(basis).T,
            np.zeros(len(self.theta), bool),
        )

    def log_likelihood(self) -> Floats:
        """Return the unpenalised log-likelihood of each fit."""
        z = np.einsum("fnp,fp->fn", self.features, self.theta)
        loss = np.log1p(np.exp(-np.abs(z))) + np.maximum(z, 0)
        return np.einsum("fp,fp->f", self.target, self.theta) - loss @ self.weight

    def run(self, tolerance: float) -> None:
        """Newton's method with backtracking until twice the possible gain of each fit is below ``tolerance``."""
        active = np.arange(len(self.theta))
        self.converged[:] = False
        theta = self.theta[active]
        loss, gradient, hessian = self._evaluate(active, theta)
        for _ in range(_MAX_STEPS):
            step = _solve(hessian, gradient)
            gain = -np.einsum("fp,fp->f", gradient, step)
            done = ~(gain > tolerance)
            if done.any():
                # The last step is taken unseen: it is as good as free and squares the error.
                final = np.where(np.isfinite(step[done]), step[done], 0.0)
                self.theta[active[done]] = theta[done] + final
                self.converged[active[done]] = True
                keep = ~done
                active, theta, loss, gain = active[keep], theta[keep], loss[keep], gain[keep]
                gradient, hessian, step = gradient[keep], hessian[keep], step[keep]
            if not len(active):
                return
            size = np.ones(len(active))
            for _ in range(40):
                trial = theta + size[:, None] * step
                trial_loss, trial_gradient, trial_hessian = self._evaluate(active, trial)
                worse = trial_loss > loss - 1e-4 * size * gain + 1e-13 * np.abs(loss)
                if not worse.any():
                    break
                size[worse] /= 2
            theta, loss, gradient, hessian = trial, trial_loss, trial_gradient, trial_hessian
            self.theta[active] = theta

    def _evaluate(self, fits: NDArray[np.intp], theta: Floats) -> tuple[Floats, Floats, Floats]:
        features = self.features[fits] if len(fits) < len(self.features) else self.features
        penalty, target = self.penalty[fits], self.target[fits]
        z = np.matmul(features, theta[:, :, None])[:, :, 0]
        e = np.exp(-np.abs(z))
        q = 1 / (1 + e)
        p = np.where(z >= 0, q, e * q) * self.weight
        h = e * q * q * self.weight
        pulled = np.matmul(penalty, theta[:, :, None])[:, :, 0]
        loss = (np.log1p(e) + np.maximum(z, 0)) @ self.weight
        loss += np.einsum("fp,fp->f", theta, pulled / 2 - target)
        gradient = np.matmul(p[:, None, :], features)[:, 0] + pulled - target
        hessian = np.matmul((features * h[:, :, None]).transpose(0, 2, 1), features) + penalty
        return loss, gradient, hessian


def _solve(hessian: Floats, gradient: Floats) -> Floats:
    """Return the Newton directions, scaled so that it does not matter how differently parameters are scaled."""
    diagonal = np.sqrt(np.einsum("fpp->fp", hessian))
    unit = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)
    scaled = hessian * unit[:, :, None] * unit[:, None, :]
    # A floor at the size of rounding: features that the data do not tell apart share their effect.
    scaled += 1e-13 * np.eye(hessian.shape[1])
    return -unit * np.linalg.solve(scaled, (gradient * unit)[:, :, None])[:, :, 0]
