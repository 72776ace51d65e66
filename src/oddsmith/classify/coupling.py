"""Class probabilities from calibrated two-class answers: one vs rest, all pairs, any code matrix.

Every function works on arrays of probabilities and knows no classifier. A class that no two-class problem has
seen gets 0, never NaN. Multi-label problems, where an item may have several labels or none, need nothing from
here: their classes are independent two-class problems and must not be normalized.
"""

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls
from scipy.special import expit, softmax

from oddsmith._check import as_array, fail
from oddsmith._types import Floats
from oddsmith.errors import NonConvergenceWarning

__all__ = ["couple_code_matrix", "couple_pairwise", "normalize_one_vs_rest"]

_CLIP = 1e-6
_STOP = 1e-12
_MAX_SWEEPS = 100
_MAX_STEPS = 500
# Small enough to change no answer by 1e-9, large enough to make the bounded answer unique.
_PENALTY = 1e-6


def normalize_one_vs_rest(r: ArrayLike) -> Floats:
    """Divide the answers of k one-vs-rest problems by their sum.

    p_c = r_c/Σr; a row of zeros becomes uniform. Use it when the classes exclude each other and every r_c is
    calibrated. The result need not be calibrated class by class even then: compare with `couple_pairwise`.

    Parameters
    ----------
    r : array of shape (k,) or (n, k)
        r_c = P(class c against all others).

    Returns
    -------
    array of the same shape, rows sum to 1

    See Also
    --------
    couple_pairwise : One problem per pair of classes.

    References
    ----------
    Zadrozny & Elkan (2002), Transforming classifier scores into accurate multiclass probability estimates.

    Examples
    --------
    >>> normalize_one_vs_rest([[0.5, 0.25, 0.25], [0.0, 0.0, 0.0]]).round(3).tolist()
    [[0.5, 0.25, 0.25], [0.333, 0.333, 0.333]]
    """
    return _to_sum_one(as_array(r, "r", (1, 2), unit=True))


def couple_pairwise(r: ArrayLike, n: ArrayLike | None = None) -> Floats:
    """Couple the answers of all pairs of classes into one distribution.

    Minimize Σ_{i<j} n_ij KL(r_ij‖μ_ij), μ_ij = p_i/(p_i + p_j). Start at p_i = 2Σ_j r_ij/(k(k − 1)); then,
    class by class, p_i ← p_i·Σ_j n_ij r_ij/Σ_j n_ij μ_ij and normalize, until no p changes by 1e-12. Where a
    p is tiny this takes more than 10⁵ sweeps: rows not done after 100 are finished by Newton steps on the
    same objective in log p. Answers are clipped to [1e-6, 1 − 1e-6].

    Parameters
    ----------
    r : array of shape (k, k) or (rows, k, k)
        r[i, j] = P(class i, given that it is i or j), so r[i, j] + r[j, i] = 1. The diagonal is ignored.
    n : array of shape (k, k) or (rows, k, k), optional
        Symmetric numbers of cases behind each pair; 1 when absent. Where n[i, j] = 0 the answer is ignored; a
        class with nothing but 0 was never seen and gets probability 0.

    Returns
    -------
    array of shape (k,) or (rows, k), rows sum to 1

    See Also
    --------
    couple_code_matrix : Any set of two-class problems.
    normalize_one_vs_rest : One problem per class.

    References
    ----------
    Hastie & Tibshirani (1998), Classification by pairwise coupling.

    Examples
    --------
    >>> r = [[0, 0.7, 0.6], [0.3, 0, 0.35], [0.4, 0.65, 0]]
    >>> couple_pairwise(r).round(4).tolist()
    [0.4747, 0.1908, 0.3344]
    """
    answers = as_array(r, "r", (2, 3), unit=True)
    if answers.shape[-1] != answers.shape[-2] or answers.shape[-1] < 2:
        fail("r must contain k × k answers, k ≥ 2", f"shape {answers.shape}", "r[i, j] is P(i, given i or j)")
    counts = _pair_counts(n, answers)
    off = np.abs(answers + np.swapaxes(answers, -1, -2) - 1.0) * (counts > 0)
    if off.max() > _CLIP:
        at = np.unravel_index(int(np.argmax(off)), off.shape)
        fail("r[i, j] + r[j, i] must be 1", f"a sum off by {off[at]:.3g} at {tuple(map(int, at))}", "set r[j, i]")
    k = answers.shape[-1]
    stacked = np.where(counts > 0, np.clip(answers, _CLIP, 1.0 - _CLIP), 0.5).reshape(-1, k, k)
    counts = counts.reshape(-1, k, k)
    return _couple(stacked, counts).reshape(answers.shape[:-1])


def couple_code_matrix(r: ArrayLike, code: ArrayLike) -> Floats:
    """Find the distribution nearest, in least squares, to the answers of any set of two-class problems.

    Problem b with positive classes I and negative classes J has the answer r_b = Σ_I p/Σ_{I∪J} p. Minimize
    Σ_b (Σ_I p − r_b Σ_{I∪J} p)² over p ≥ 0, Σp = 1. Pairs, one vs rest and error-correcting codes are special
    cases. Classes that the code does not separate share their probability equally.

    Parameters
    ----------
    r : array of shape (b,) or (rows, b)
        The calibrated answer of each problem: P(positive classes, given positive or negative classes).
    code : array of shape (b, k)
        +1: class is positive in this problem; −1: negative; 0: takes no part. A column of zeros is a class
        never seen: it gets probability 0.

    Returns
    -------
    array of shape (k,) or (rows, k), rows sum to 1

    See Also
    --------
    couple_pairwise : One problem per pair of classes.
    normalize_one_vs_rest : One problem per class.

    References
    ----------
    Zadrozny & Elkan (2002), Transforming classifier scores into accurate multiclass probability estimates.

    Examples
    --------
    >>> couple_code_matrix([0.7, 0.6, 0.35], [[1, -1, 0], [1, 0, -1], [0, 1, -1]]).round(4).tolist()
    [0.4785, 0.1924, 0.3291]
    """
    answers = as_array(r, "r", (1, 2), unit=True)
    signs = as_array(code, "code", (2,))
    if not np.isin(signs, (-1, 0, 1)).all() or (signs.max(axis=1) < 1).any() or (signs.min(axis=1) > -1).any():
        fail(
            "code must contain +1, −1 and 0, with at least one +1 and one −1 per row",
            f"values {np.unique(signs)[:5].tolist()} and rows such as {signs[0].tolist()}",
            "give each problem both sides",
        )
    if answers.shape[-1] != len(signs):
        fail(
            "r must have one answer per row of code", f"{answers.shape[-1]} for {len(signs)} rows", "check their order"
        )
    seen = np.any(signs != 0, axis=0)
    equations = (signs[:, seen] > 0) - answers.reshape(-1, len(signs), 1) * (signs[:, seen] != 0)
    p = np.zeros((len(equations), len(seen)))
    p[:, seen] = _least_squares_on_simplex(equations)
    return p.reshape(*answers.shape[:-1], len(seen))


def _to_sum_one(values: Floats) -> Floats:
    total = values.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(total > 0, values / np.where(total > 0, total, 1.0), 1.0 / values.shape[-1]))


def _pair_counts(n: ArrayLike | None, answers: Floats) -> Floats:
    """Return the cases behind each pair, in the shape of the answers, 0 on the diagonal."""
    counts = np.ones(answers.shape[-2:]) if n is None else as_array(n, "n", (2, 3))
    if counts.shape not in (answers.shape, answers.shape[-2:]):
        fail("n must be k × k or shaped like r", f"shape {counts.shape} for r of {answers.shape}", "one count per pair")
    if counts.min() < 0 or not np.array_equal(counts, np.swapaxes(counts, -1, -2)):
        fail("n must be ≥ 0 and symmetric", f"smallest {counts.min():g}", "n[i, j] counts the cases of i and of j")
    return np.broadcast_to(np.where(np.eye(counts.shape[-1], dtype=bool), 0.0, counts), answers.shape)


def _couple(r: Floats, n: Floats) -> Floats:
    """Run the sweeps on all rows at once; rows that are done leave the batch."""
    seen = np.any(n > 0, axis=2)
    won = (n * r).sum(axis=2)
    off_diagonal = 1.0 - np.eye(r.shape[-1])
    p = _to_sum_one((r * off_diagonal).sum(axis=2) * seen)
    result = p.copy()
    active = np.flatnonzero(seen.any(axis=1))
    for _ in range(_MAX_SWEEPS):
        p = result[active]
        for i in range(p.shape[1]):
            pair = p[:, i, None] + p
            expected = (n[active, i] * (p[:, i, None] / np.where(pair > 0, pair, 1.0))).sum(axis=1)
            p[:, i] *= won[active, i] / np.where(expected > 0, expected, 1.0)
            p /= p.sum(axis=1, keepdims=True)
        moving = np.abs(p - result[active]).max(axis=1) >= _STOP
        result[active] = p
        active = active[moving]
        if not active.size:
            return result
    result[active] = _finish(result[active], r[active], n[active])
    return result


def _finish(p: Floats, r: Floats, n: Floats) -> Floats:
    """Minimize the same objective by Newton steps in θ = log p."""
    seen: NDArray[np.bool_] = p > 0
    theta = np.log(np.where(seen, p, 1.0))
    for _ in range(_MAX_STEPS):
        mu = expit(theta[:, :, None] - theta[:, None, :])
        curvature = n * mu * (1.0 - mu)
        hessian = np.eye(p.shape[1]) * curvature.sum(axis=2)[:, :, None] - curvature
        gradient = (n * (mu - r)).sum(axis=2)
        # θ is free up to a constant for each group of classes that were compared: hence a pseudo-inverse.
        step = -np.einsum("aij,aj->ai", np.linalg.pinv(hessian, hermitian=True), gradient)
        # The third derivative is at most the spread times the second: this length always goes downhill.
        spread = np.ptp(step, axis=1, keepdims=True)
        theta += step * np.where(spread > 0, np.log1p(spread) / np.where(spread > 0, spread, 1.0), 1.0)
        before, p = p, softmax(np.where(seen, theta, -np.inf), axis=1)
        if np.abs(p - before).max() < _STOP:
            return p
    warnings.warn("Pairwise coupling stopped before its tolerance.", NonConvergenceWarning, stacklevel=4)
    return p


def _least_squares_on_simplex(equations: Floats) -> Floats:
    """Minimize ‖A p‖² over p ≥ 0, Σp = 1, for a stack of matrices A.

    With q = t p the free problem min ‖A q‖² + (Σq − 1)², q ≥ 0, has the value a/(1 + a), a = ‖A p‖², at the
    best t: it has the same p, so q need only be divided by its sum.
    """
    k = equations.shape[2]
    normal: Floats = np.swapaxes(equations, 1, 2) @ equations + 1.0
    # The shortest of several solutions shares equally between classes that no problem tells apart.
    q = np.linalg.pinv(normal, rcond=1e-14, hermitian=True).sum(axis=2)
    # Where no bound is active the linear solution is the answer.
    for row in np.flatnonzero((q < 0).any(axis=1)):
        stack = np.vstack([equations[row], np.ones(k), _PENALTY * np.eye(k)])
        q[row] = nnls(stack, np.r_[np.zeros(len(equations[row])), 1.0, np.zeros(k)])[0]
    return _to_sum_one(q)
