"""Newton's method for a convex loss of a few parameters.

A step is accepted only where the objective falls, and convergence is declared only where the gradient promises no more
gain. Neither a small step nor a slope that has halved tells that much: the gradient of a logistic loss is bounded, so
that a step may jump over the minimum to where all forecasts are certain, and nothing there has any curvature.

Four searches keep a loop of their own, because `minimize` in its place measured slower or worse: a line (`line`, 1.2 to
1.6 times as long, and no re-centering where scores lie far from 0), hinges (`hinges`, 8 to 10 times: they run side by
side), one temperature (`fitting.softmax`, 1.6 to 2.2 times: it looks at the slope alone) and matrices of logits
(`fitting.softmax_linear`: L-BFGS, as k² parameters have no Hessian that could be kept).
"""

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from scipy.optimize import nnls

from oddsmith._types import Floats

_MAX_STEPS = 200

#: Half a promised gain per case of the rarer class that ends the search; the last step leaves about its square.
_TINY = 1e-16

#: A gain per case that would not be missed, where the objective is too coarse to show it.
ENOUGH = 1e-10

#: The objective is known to about this share of its size.
_ROUNDING = 1e-14

#: The least curvature of a step that must not make coefficients negative, as a share of that of single ones.
_RIDGE = 1e-12

#: Curvature of a coefficient beside that of the last one, as a share of its own, that rounding may have made.
_ALIKE = 1e-15

#: A floor for curvature as a share of the diagonal: features that the data do not tell apart share their effect.
_FLOOR = 1e-13


class Quadratic(NamedTuple):
    """The value of a loss with its first and second derivatives."""

    value: float
    gradient: Floats
    hessian: Floats


class Minimum(NamedTuple):
    """Where a loss is least, how much it is there, and whether the search ended as it should."""

    theta: Floats
    value: float
    converged: bool


class Loss(Protocol):
    """A logistic loss: from parameters to value and derivatives."""

    def __call__(self, theta: Floats) -> Quadratic:
        """Return the value with its derivatives."""

    def reach(self, step: Floats) -> float:
        """Return how far the step moves a forecast's log-odds at most."""


#: From parameters and derivatives there to the step that a quadratic loss would call for.
Direction = Callable[[Floats, Quadratic], Floats]


def newton_step(_theta: Floats, at: Quadratic) -> Floats:
    """Return −H⁻¹g, indifferent to how differently parameters are scaled."""
    unit, scaled = to_unit_diagonal(at.hessian)
    pull = at.gradient * unit
    try:
        step = -unit * np.linalg.solve(scaled, pull)
        if np.isfinite(step).all() and at.gradient @ step <= 0:
            return np.asarray(step)
    except np.linalg.LinAlgError:
        pass
    if not np.isfinite(scaled).all():
        return np.full_like(unit, np.nan)
    # Rounding has left directions without curvature, or with less than none.
    curvature, ways = np.linalg.eigh(scaled)
    return np.asarray(-unit * (ways @ ((ways.T @ pull) / np.maximum(curvature, _FLOOR))))


def rising_step(theta: Floats, at: Quadratic) -> Floats:
    """Return the step to the minimum of the quadratic over coefficients ≥ 0, the last one being free."""
    curve, pull = at.hessian, at.hessian @ theta - at.gradient
    last, across = max(float(curve[-1, -1]), 1e-290), curve[:-1, -1]
    inner = curve[:-1, :-1] - np.outer(across, across) / last
    # Coefficients that rounding does not tell from the last one are 0.
    own, most = inner.diagonal(), curve.diagonal()[:-1]
    unit = np.divide(1.0, np.sqrt(np.abs(own)), out=np.zeros_like(own), where=own > _ALIKE * most)
    scaled = inner * unit[:, None] * unit
    if not (np.isfinite(scaled).all() and np.isfinite(pull).all()):
        return np.full_like(theta, np.nan)
    # Directions without curvature, or with less than none.
    curvature, ways = np.linalg.eigh(scaled)
    root = np.sqrt(np.maximum(curvature, _RIDGE))
    found, _ = nnls(root[:, None] * ways.T, ways.T @ (unit * (pull[:-1] - across * pull[-1] / last)) / root)
    slopes = unit * found
    return np.append(slopes, (pull[-1] - across @ slopes) / last) - theta


def sure_share(reach: float) -> float:
    """Return the share of a Newton step that lowers a logistic loss for certain: log(1 + r)/r for a reach of r.

    Its curvature changes by at most a factor of eʳ where no log-odds move by more than r [1]_.

    .. [1] F. Bach, Self-concordant analysis for logistic regression, Electronic Journal of Statistics 4, 2010.
    """
    return math.log1p(reach) / reach if reach > 0 else 0.5


def minimize(loss: Loss, start: Floats, cases: float, direction: Direction = newton_step) -> Minimum:
    """Minimize a convex loss by Newton's method with backtracking; bounded parameters want another ``direction``.

    Gains are measured by ``cases``, the weight of the rarer class.
    """
    theta, at = start, loss(start)
    for _ in range(_MAX_STEPS):
        step = direction(theta, at)
        gain, slack = -float(at.gradient @ step), _ROUNDING * abs(at.value)
        if not np.isfinite(gain):
            return Minimum(theta, at.value, False)
        if gain <= _TINY * (1 + cases):
            there = loss(theta + step)
            return (
                Minimum(theta + step, there.value, True)
                if there.value <= at.value + slack
                else Minimum(theta, at.value, True)
            )
        size = 1.0
        while not (there := loss(theta + size * step)).value <= at.value - 1e-4 * size * gain + slack:
            size /= 2
            if size < 1e-15 and not 2 * size >= sure_share(loss.reach(step)):
                return Minimum(theta, at.value, gain <= ENOUGH * (1 + cases))
        shown = there.value < at.value - slack
        theta, at = theta + size * step, there
        if not shown and gain <= ENOUGH * (1 + cases):
            break  # what is left to gain is less than the objective could show
    return Minimum(theta, at.value, gain <= ENOUGH * (1 + cases))


def to_unit_diagonal(hessian: Floats) -> tuple[Floats, Floats]:
    """Return the units that make the diagonal 1, and the Hessian in them; of several, shape (…, k, k), all at once."""
    diagonal = np.sqrt(np.maximum(np.einsum("...kk->...k", hessian), 0.0))
    unit = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)
    scaled = hessian * unit[..., :, None] * unit[..., None, :]
    scaled += _FLOOR * np.eye(hessian.shape[-1])
    return unit, scaled
