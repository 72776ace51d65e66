"""Newton's method for regularised logistic loss, over features or over a kernel matrix."""

import warnings
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from oddsmith._check import Bools, Floats
from oddsmith.errors import NonConvergenceWarning

# Below this squared decrement the objective changes by less than its own rounding, and full steps are safe.
_TOO_SMALL_TO_MEASURE = 1e-13

_MOST_INNER_STEPS = 2000


class Features(Protocol):
    """A matrix Φ, rows by features, that may exist only as its products."""

    size: int

    def forward(self, coef: Floats) -> Floats:
        """Return Φ·coef."""

    def adjoint(self, by_row: Floats) -> Floats:
        """Return Φᵀ·by_row."""

    def squares(self, by_row: Floats) -> Floats:
        """Return (Φ∘Φ)ᵀ·by_row."""


class Fit(NamedTuple):
    """Coefficients (of features or of rows), the free intercept, the scores of the rows and the Newton steps taken."""

    coef: Floats
    intercept: float
    scores: Floats
    n_iter: int


class LogisticLoss:
    """Mean weighted logistic loss of scores, and its first two derivatives."""

    def __init__(self, positive: Bools, weight: Floats) -> None:
        self.target = positive.astype(np.float64)
        self.sign = np.where(positive, 1.0, -1.0)
        self.share = weight / weight.sum()
        plus = float(self.share @ self.target)
        self.prior_log_odds = float(np.log(plus) - np.log1p(-plus))

    def value(self, scores: Floats) -> float:
        """Return −Σ share·log P(y|score)."""
        return float(self.share @ np.logaddexp(0, -self.sign * scores))

    def slope(self, scores: Floats) -> Floats:
        """Return share·(p − t) by row."""
        # −y·σ(−y·score) keeps its digits where p − t would cancel.
        return -self.share * self.sign * expit(-self.sign * scores)

    def curvature(self, scores: Floats) -> Floats:
        """Return share·p(1 − p) by row, p(1 − p) being at least 1e−12."""
        return self.share * np.maximum(expit(scores) * expit(-scores), 1e-12)


def solve_features(features: Features, loss: LogisticLoss, lam: float, tol: float, max_iter: int) -> Fit:
    """Minimise loss(Φw + b) + λ‖w‖² by Newton steps whose systems are solved by conjugate gradients.

    Stops after a step whose Newton decrement is at most ``tol``.
    """
    # The last coordinate is the intercept.
    point = np.zeros(features.size + 1)
    point[-1] = loss.prior_log_odds
    ridge = np.full(len(point), 2 * lam)
    ridge[-1] = 0.0
    scores = np.full(len(loss.share), loss.prior_log_odds)

    def forward(vector: Floats) -> Floats:
        return features.forward(vector[:-1]) + vector[-1]

    def adjoint(by_row: Floats) -> Floats:
        return np.append(features.adjoint(by_row), by_row.sum())

    for step in range(1, max_iter + 1):
        gradient = adjoint(loss.slope(scores)) + ridge * point
        curvature = loss.curvature(scores)
        diagonal = np.append(features.squares(curvature), curvature.sum()) + ridge

        def hessian(vector: Floats, curvature: Floats = curvature) -> Floats:
            return adjoint(curvature * forward(vector)) + ridge * vector

        move = _conjugate_gradients(hessian, -gradient, diagonal)
        decrement = -float(gradient @ move)
        moved_scores = forward(move)
        penalty = float(ridge @ (point * move)), float(ridge @ move**2)
        length = _backtrack(loss, scores, moved_scores, penalty, decrement)
        point += length * move
        scores += length * moved_scores
        if decrement <= tol**2:
            return Fit(point[:-1], float(point[-1]), forward(point), step)
    _warn(max_iter, decrement)
    return Fit(point[:-1], float(point[-1]), forward(point), max_iter)


def solve_kernel(kernel: Floats, loss: LogisticLoss, lam: float, tol: float, max_iter: int) -> Fit:
    """Minimise loss(Kc + b) + λcᵀKc by Newton steps, each one Cholesky factorisation.

    A step solves (K + 2λD⁻¹)c + b = f + D⁻¹(share·(t − p)) with Σc = 0, D the curvature, after scaling rows
    and columns by √D: so K may be singular.
    """
    n = len(loss.share)
    coef, intercept = np.zeros(n), loss.prior_log_odds
    smooth = np.zeros(n)
    for step in range(1, max_iter + 1):
        scores = smooth + intercept
        slope = loss.slope(scores)
        root = np.sqrt(loss.curvature(scores))
        system = root[:, None] * kernel
        system *= root
        system[np.diag_indices(n)] += 2 * lam
        factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        of_target = root * cho_solve(factor, root * scores - slope / root, check_finite=False)
        of_one = root * cho_solve(factor, root, check_finite=False)
        new_intercept = float(of_target.sum() / of_one.sum())
        move = of_target - new_intercept * of_one - coef
        lift = new_intercept - intercept
        moved_smooth = kernel @ move
        decrement = -float(moved_smooth @ (slope + 2 * lam * coef) + lift * slope.sum())
        penalty = 2 * lam * float(coef @ moved_smooth), 2 * lam * float(move @ moved_smooth)
        length = _backtrack(loss, scores, moved_smooth + lift, penalty, decrement)
        coef += length * move
        intercept += length * lift
        smooth += length * moved_smooth
        if decrement <= tol**2:
            return Fit(coef, intercept, smooth + intercept, step)
    _warn(max_iter, decrement)
    return Fit(coef, intercept, smooth + intercept, max_iter)


def _backtrack(
    loss: LogisticLoss, scores: Floats, moved: Floats, penalty: tuple[float, float], decrement: float
) -> float:
    """Halve the step until the objective falls enough; ``penalty`` holds the ridge term's change in length, length²/2."""
    length = 1.0
    if decrement <= _TOO_SMALL_TO_MEASURE:
        return length
    before = loss.value(scores)
    while length > 1e-10:
        change = (
            loss.value(scores + length * moved) - before + length * penalty[0] + length**2 / 2 * penalty[1]
        )
        if change <= -1e-4 * length * decrement:
            break
        length /= 2
    return length


def _conjugate_gradients(hessian: Callable[[Floats], Floats], target: Floats, diagonal: Floats) -> Floats:
    """Solve H·x = target, scaled by the diagonal, the more exactly the closer Newton's method is to its end."""
    x = np.zeros_like(target)
    residual = target.copy()
    scaled = residual / diagonal
    size = float(residual @ scaled)
    goal = min(0.01, size) * size
    direction = scaled
    for _ in range(_MOST_INNER_STEPS):
        if size <= goal:
            break
        image = hessian(direction)
        length = size / float(direction @ image)
        x += length * direction
        residual -= length * image
        scaled = residual / diagonal
        size, previous = float(residual @ scaled), size
        direction = scaled + size / previous * direction
    return x


def _warn(max_iter: int, decrement: float) -> None:
    warnings.warn(
        f"Newton's method stopped after max_iter={max_iter} steps with decrement² {decrement:.2g}; "
        "raise max_iter, or lam if the classes are separable",
        NonConvergenceWarning,
        stacklevel=4,
    )
