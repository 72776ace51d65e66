"""The best penalized linear map of logits, for tens of rows or for tens of thousands.

L-BFGS with the curvature of each parameter as its first guess, in blocks that stay in the cache. Convergence is
declared on the gradient: the penalty R makes the loss so convex that ½ gᵀR⁻¹g is the most that could still be gained.
SciPy's L-BFGS-B in the same units takes 1.1 to 1.2 times as long, and gives up where the loss is down to its rounding
before the gradient is small enough.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oddsmith._types import Bools, Floats, Ints

#: Logits of a block, which stay in the second-level cache with their exponentials.
_BLOCK = 65536
_MEMORY = 12
_MAX_STEPS = 500


class Cases(NamedTuple):
    """Logits with the class and the weight of each case.

    Attributes
    ----------
    v : ndarray of shape (k, n)
        One row per class, in float32 or float64; all sums are taken in float64.
    truth : ndarray of shape (n,)
        The row of the true class.
    weight : ndarray of shape (n,)
    offset : ndarray of shape (k, n) or None
        Added to scaled logits, whatever the parameters are.
    """

    v: NDArray[Any]
    truth: Ints
    weight: Floats
    offset: Floats | None = None


class LinearFit(NamedTuple):
    """(I + change) v + shift, and whether it is as good as was asked."""

    change: Floats
    shift: Floats
    converged: bool

    @property
    def matrix(self) -> Floats:
        """I + change, of which a diagonal one is a vector."""
        return (np.ones(len(self.change)) if self.change.ndim == 1 else np.eye(len(self.change))) + self.change


def structured_penalty(k: int) -> Floats:
    """Return k on the diagonal of a matrix and k(k − 1) elsewhere, where there are so many more entries."""
    penalty = np.full((k, k), k * (k - 1.0))
    np.fill_diagonal(penalty, k)
    return penalty


def fit_linear(
    cases: Cases,
    penalty: Floats,
    shift_penalty: float,
    *,
    tolerance: float,
    start: LinearFit | None = None,
    free: Bools | None = None,
    max_steps: int | None = None,
) -> LinearFit:
    """Minimize Σ w·log-loss + ½ Σ penalty·change² + ½ shift_penalty·Σ shift².

    Parameters
    ----------
    cases : Cases
    penalty : ndarray of shape (k,) or (k, k)
        For a diagonal or a full matrix, > 0.
    shift_penalty : float
        > 0.
    tolerance : float
        Log-loss per case that may be left to gain.
    start : LinearFit, optional
        Where to begin, such as the answer to a similar penalty; the identity by default.
    free : bool array of shape (k,), optional
        Classes that have parameters of their own; all by default.
    max_steps : int, optional
        Where to stop at the latest; 500 by default.
    """
    k = len(cases.v)
    total = float(cases.weight.sum())
    penalties = np.append(penalty.ravel(), np.full(k, shift_penalty)) / total
    rows = np.ones(k, dtype=bool) if free is None else free
    held = np.append(rows if penalty.ndim == 1 else np.repeat(rows, k), rows)
    problem = _PenalizedLoss(cases._replace(weight=cases.weight / total), penalties, held, penalty.shape)
    theta = np.zeros(penalties.size) if start is None else np.append(start.change.ravel(), start.shift)
    best, converged = _minimize(problem, theta, tolerance, max_steps or _MAX_STEPS)
    return LinearFit(best[:-k].reshape(penalty.shape), best[-k:], converged)


class _PenalizedLoss(NamedTuple):
    """A mean log-loss with its penalty."""

    cases: Cases
    penalties: Floats
    held: Bools
    shape: tuple[int, ...]

    def loss(self, theta: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient."""
        value, gradient = 0.5 * float(self.penalties @ theta**2), self.penalties * theta
        for v, truth, weight, below in self._blocks(theta):
            each = np.arange(v.shape[1])
            chosen = below[truth, each]
            np.exp(below, out=below)
            total = below.sum(axis=0)
            value += float(weight @ (np.log(total) - chosen))
            below *= (weight / total).astype(v.dtype)
            below[truth, each] -= weight.astype(v.dtype)
            gradient += self._pull_back(below, v)
        return value, np.where(self.held, gradient, 0.0)

    def curvature(self, theta: Floats) -> Floats:
        """Return the second derivative of the loss in each parameter."""
        result = self.penalties.copy()
        for v, _, weight, below in self._blocks(theta):
            prob = np.exp(below, out=below)
            prob /= prob.sum(axis=0)
            prob *= (1 - prob) * weight.astype(v.dtype)
            result += self._pull_back(prob, v * v)
        return result

    def _blocks(self, theta: Floats) -> Any:
        """Yield logits, classes, weights and scaled logits, less the largest of each case."""
        v, truth, weight, offset = self.cases
        k = len(v)
        change, shift = theta[:-k].reshape(self.shape), theta[-k:].astype(v.dtype)[:, None]
        full = change.ndim == 2
        matrix = (np.eye(k) + change if full else 1 + change).astype(v.dtype)
        width = max(_BLOCK // k, 64)
        for first in range(0, v.shape[1], width):
            here = slice(first, first + width)
            scaled = matrix @ v[:, here] if full else matrix[:, None] * v[:, here]
            scaled += shift
            if offset is not None:
                scaled += offset[:, here]
            scaled -= scaled.max(axis=0)
            yield v[:, here], truth[here], weight[here], scaled

    def _pull_back(self, of_logits: NDArray[Any], v: NDArray[Any]) -> Floats:
        """Carry derivatives in the logits over to the parameters."""
        change = of_logits @ v.T if len(self.shape) == 2 else np.einsum("ij,ij->i", of_logits, v)
        return np.append(change.ravel().astype(np.float64), of_logits.sum(axis=1, dtype=np.float64))


def _minimize(problem: _PenalizedLoss, theta: Floats, tolerance: float, max_steps: int) -> tuple[Floats, bool]:
    """Minimize by L-BFGS; steps lower the loss, as far as it is known, and the gradient tells when to stop."""
    value, gradient = problem.loss(theta)
    curvature, slack = problem.curvature(theta), float(np.finfo(problem.cases.v.dtype).eps)
    pairs: list[tuple[Floats, Floats, float]] = []
    for _ in range(max_steps):
        if 0.5 * float(gradient @ (gradient / problem.penalties)) <= tolerance:
            return theta, True
        step = _direction(gradient, curvature, pairs)
        slope, length = float(gradient @ step), 1.0
        while not (trial := problem.loss(theta + length * step))[0] <= (
            value + 1e-4 * length * slope + slack * abs(value)
        ):
            length /= 2
            if length < 1e-9:
                return theta, False
        moved, turned = length * step, trial[1] - gradient
        if (product := float(moved @ turned)) > 0:
            pairs = [*pairs[1 - _MEMORY :], (moved, turned, product)]
        theta, (value, gradient) = theta + moved, trial
    return theta, False


def _direction(gradient: Floats, curvature: Floats, pairs: list[tuple[Floats, Floats, float]]) -> Floats:
    """Return −H⁻¹g, H updated from the curvature by what was seen on the last steps."""
    rest, taken = gradient.copy(), []
    for moved, turned, product in reversed(pairs):
        taken.append(float(moved @ rest) / product)
        rest -= taken[-1] * turned
    rest /= curvature
    if pairs:
        _, turned, product = pairs[-1]
        rest *= product / float(turned @ (turned / curvature))  # what the last step saw of the curvature along it
    for (moved, turned, product), part in zip(pairs, reversed(taken), strict=True):
        rest += (part - float(turned @ rest) / product) * moved
    return -rest
