"""Newton's method for regularized logistic loss, over features or over a kernel matrix.

Apart from `oddsmith.fitting.newton.minimize`, which wants the Hessian as a matrix wherever it looks: thousands of
features have none, only products, and with a kernel a step is one factorization in which the loss alone is looked at
along the way. Up to a thousand features `minimize` would do as well; they share the loop of those that are more.
"""

import warnings
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import expit

from oddsmith._check import fail
from oddsmith._types import Bools, Floats
from oddsmith.errors import NonConvergenceWarning

# Below this squared decrement the objective changes by less than its own rounding, and full steps are safe.
_TOO_SMALL_TO_MEASURE = 1e-13

# Squared decrement, in nats per case, below which the optimum moves on with λ.
_SAFE_TO_FOLLOW = 0.1

# Up to so many features the Hessian is factorized: a second per step at 50,000 rows, whatever its condition.
_MOST_DIRECT = 1000

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

    def gram(self, by_row: Floats) -> Floats:
        """Return Φᵀ·diag(by_row)·Φ."""


class Fit(NamedTuple):
    """Coefficients (of features or of rows), the free intercept, the rows' scores, the Newton steps taken."""

    coef: Floats
    intercept: float
    scores: Floats
    n_iter: int


class LogisticLoss:
    """Mean weighted logistic loss of scores, and its first two derivatives."""

    def __init__(self, positive: Bools, weight: Floats) -> None:
        self.sign = np.where(positive, 1.0, -1.0)
        self.share: Floats = weight / weight.sum()
        self.prior_log_odds = float(np.log(self.share[positive].sum()) - np.log(self.share[~positive].sum()))

    def value(self, scores: Floats) -> float:
        """Return −Σ share·log P(y|score)."""
        return float(self.share @ np.logaddexp(0, -self.sign * scores))

    def slope(self, scores: Floats) -> Floats:
        """Return share·(p − t) by row."""
        # −y·σ(−y·score) keeps its digits where p − t would cancel.
        return np.asarray(-self.share * self.sign * expit(-self.sign * scores))

    def curvature(self, scores: Floats) -> Floats:
        """Return share·p(1 − p) by row, p(1 − p) being at least 1e−12."""
        return np.asarray(self.share * np.maximum(expit(scores) * expit(-scores), 1e-12))


def solve_features(features: Features, loss: LogisticLoss, lam: float, tol: float, max_iter: int) -> Fit:
    """Minimize loss(Φw + b) + λ‖w‖² by Newton steps, solved by Cholesky or, for many features, iteratively.

    λ comes down from a value that rules the problem, to a quarter whenever a full step was safe: for a small
    λ this takes half the work of starting there, as steps need not be shortened. Stops after a step whose
    Newton decrement is at most ``tol``.
    """
    # The last coordinate is the intercept.
    point = np.zeros(features.size + 1)
    point[-1] = loss.prior_log_odds
    scores = np.full(len(loss.share), loss.prior_log_odds)
    penalized = np.ones(len(point))
    penalized[-1] = 0.0

    def forward(vector: Floats) -> Floats:
        return np.asarray(features.forward(vector[:-1]) + vector[-1])

    def adjoint(by_row: Floats) -> Floats:
        return np.append(features.adjoint(by_row), by_row.sum())

    present_lam = max(float(features.squares(loss.curvature(scores)).sum()), lam)
    for step in range(1, max_iter + 1):
        ridge = 2 * present_lam * penalized
        gradient = adjoint(loss.slope(scores)) + ridge * point
        curvature = loss.curvature(scores)
        diagonal = np.append(features.squares(curvature), curvature.sum()) + ridge
        if features.size <= _MOST_DIRECT:
            move = _factorized_solution(features, curvature, diagonal, -gradient)
        else:

            def hessian(vector: Floats, curvature: Floats = curvature, ridge: Floats = ridge) -> Floats:
                return adjoint(curvature * forward(vector)) + ridge * vector

            move = _conjugate_gradients(hessian, -gradient, diagonal)
        decrement = -float(gradient @ move)
        moved_scores = forward(move)
        penalty = float(ridge @ (point * move)), float(ridge @ move**2)
        length = _backtrack(loss, scores, moved_scores, penalty, decrement)
        point += length * move
        scores += length * moved_scores
        if present_lam == lam and decrement <= tol**2:
            return Fit(point[:-1], float(point[-1]), forward(point), step)
        if length == 1 and decrement < _SAFE_TO_FOLLOW:
            present_lam = max(lam, present_lam / 4)
    _warn(max_iter, decrement)
    return Fit(point[:-1], float(point[-1]), forward(point), max_iter)


def solve_kernel(kernel: Floats, loss: LogisticLoss, lam: float, tol: float, max_iter: int) -> Fit:
    """Minimize loss(Kc + b) + λcᵀKc by Newton steps, each one Cholesky factorization.

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
        factor = _cholesky(system)
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
    """Halve the step until the objective falls enough.

    ``penalty`` holds the ridge term's coefficients of length and of length²/2.
    """
    length = 1.0
    if decrement <= _TOO_SMALL_TO_MEASURE:
        return length
    before = loss.value(scores)
    while length > 1e-10:
        change = loss.value(scores + length * moved) - before + length * penalty[0] + length**2 / 2 * penalty[1]
        if change <= -1e-4 * length * decrement:
            break
        length /= 2
    return length


def _factorized_solution(features: Features, curvature: Floats, diagonal: Floats, target: Floats) -> Floats:
    """Solve H·x = target exactly, the Hessian scaled to a unit diagonal."""
    hessian = np.zeros((len(target), len(target)))
    hessian[:-1, :-1] = features.gram(curvature)
    hessian[-1, :-1] = hessian[:-1, -1] = features.adjoint(curvature)
    scale = 1 / np.sqrt(diagonal)
    hessian *= scale[:, None] * scale
    # The diagonal is 1 by construction; a little more outweighs the rounding of a singular matrix.
    hessian[np.diag_indices(len(target))] = 1 + 1e-12
    return np.asarray(scale * cho_solve(_cholesky(hessian), scale * target, check_finite=False))


def _cholesky(matrix: Floats) -> tuple[Floats, bool]:
    """Factorize a positive definite matrix in its place."""
    try:
        factor: tuple[Floats, bool] = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError as error:
        fail(
            "the kernel must be positive semi-definite", str(error), "check the kernel, scale features or raise penalty"
        )
    return factor


def _conjugate_gradients(hessian: Callable[[Floats], Floats], target: Floats, diagonal: Floats) -> Floats:
    """Solve H·x = target, scaled by the diagonal, the more exactly the smaller the target is."""
    unit = 1 / np.sqrt(diagonal)
    scaled = LinearOperator((len(unit), len(unit)), lambda vector: unit * hessian(unit * vector), dtype=np.float64)
    size = float(np.linalg.norm(unit * target))
    found, _ = cg(scaled, unit * target, rtol=min(size, 0.1), maxiter=_MOST_INNER_STEPS)
    return np.asarray(unit * found)


def _warn(max_iter: int, decrement: float) -> None:
    warnings.warn(
        f"Newton's method stopped after max_iter={max_iter} steps with decrement² {decrement:.2g}; "
        "raise max_iter, or penalty if the classes are separable",
        NonConvergenceWarning,
        stacklevel=4,
    )
