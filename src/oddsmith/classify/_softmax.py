"""The solvers behind joint scaling: the best temperature, and the best penalised linear map of logits."""

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import log_softmax

from oddsmith._check import Floats
from oddsmith.errors import (
    ConstantScoreWarning,
    NonConvergenceWarning,
    OddsmithWarning,
    ReversedScoreWarning,
    SeparableWarning,
)

Index = NDArray[np.int64]
Trouble = type[OddsmithWarning] | None

# Two blocks of this many numbers stay in the second-level cache.
_BLOCK = 32768
_BRACKET = 1e6
_MAX_STEPS = 100


class _Rows(NamedTuple):
    """Logits and what every Newton step needs: the largest and the true logit of each row, and its weight."""

    z: Floats
    top: Floats
    chosen: Floats
    weight: Floats


def fit_temperature(z: Floats, index: Index, weight: Floats) -> tuple[float, float, Trouble]:
    """Return the temperature of least log-loss, the size of the logits, and why T sits on a bound, if so."""
    rows = _Rows(z, z.max(axis=1), z[np.arange(len(z)), index], weight)
    mean = np.einsum("ij->i", z) / z.shape[1]
    size = float(weight @ (rows.top - mean) / weight.sum())
    # The mean of equal logits may be off in its last bit: where that could matter, look at the logits.
    if size <= 1e-9 * np.abs(rows.top).max() and (size <= 0 or np.array_equal(rows.top, z.min(axis=1))):
        return 1.0, 1.0, ConstantScoreWarning
    if np.array_equal(rows.top, rows.chosen):
        return size / _BRACKET, size, SeparableWarning
    if weight @ (rows.chosen - mean) <= 0:
        return size * _BRACKET, size, ReversedScoreWarning
    beta, count = 1.0, 512
    # Few rows find the neighbourhood, more rows narrow it; the whole then needs two or three passes.
    while count < len(z) // 8:
        beta = _newton(_Rows(*(column[:: len(z) // count] for column in rows)), size, beta, 1e-3)
        count *= 16
    beta = _newton(rows, size, beta, 1e-9)
    return size / beta, size, None if 2.0 / _BRACKET < beta < _BRACKET / 2.0 else NonConvergenceWarning


def _newton(rows: _Rows, size: float, beta: float, tolerance: float) -> float:
    """Find the root of the slope in β by Newton steps, halving the bracket (in log β) where they fail."""
    low, high = 1.0 / _BRACKET, _BRACKET
    last_slope = last_step = np.inf
    for _ in range(_MAX_STEPS):
        slope, curvature = _derivatives(rows, size, beta)
        low, high = (beta, high) if slope < 0 else (low, beta)
        step = -slope / (curvature * beta) if curvature > 0 else np.inf
        # Newton squares the error, so the last two steps foretell the next one; ten times it is the margin.
        error = min(abs(step), 10.0 * abs(step) ** 3 / last_step**2) if last_step < 0.1 else abs(step)
        good = low <= beta * (1.0 + step) <= high and abs(slope) <= last_slope / 2
        last_slope, last_step = abs(slope), abs(step) if good else np.inf
        beta = beta * (1.0 + step) if good or error <= tolerance else float(np.sqrt(low * high))
        if error <= tolerance or high - low <= tolerance * low:
            break
    return beta


def _derivatives(rows: _Rows, size: float, beta: float) -> tuple[float, float]:
    """Return slope and curvature of the log-loss in β: one exponential an element, in blocks."""
    height = max(1, _BLOCK // rows.z.shape[1])
    slope = curvature = 0.0
    for start in range(0, len(rows.z), height):
        z, top, chosen, weight = (column[start : start + height] for column in rows)
        below = z - top[:, None]
        below *= 1.0 / size
        terms = beta * below
        np.exp(terms, out=terms)
        total = np.einsum("ij->i", terms)
        mean = np.einsum("ij,ij->i", terms, below) / total
        terms *= below
        square = np.einsum("ij,ij->i", terms, below) / total
        slope += float(weight @ (mean - (chosen - top) / size))
        curvature += float(weight @ (square - mean * mean))
    return slope, curvature


def fit_linear(v: Floats, index: Index, weight: Floats, penalty: Floats, l2: float) -> tuple[Floats, Floats]:
    """Minimise the penalised log-loss of (I + D) v + b by Newton steps with conjugate gradients."""
    k, each = v.shape[1], np.arange(len(v))
    ridge = np.append(penalty.ravel(), np.full(k, l2))

    def split(flat: Floats) -> tuple[Floats, Floats]:
        return flat[:-k].reshape(penalty.shape), flat[-k:]

    def moves(flat: Floats) -> Floats:
        change, shift = split(flat)
        return apply_scaling(change, v) + shift

    def pull(rows: Floats) -> Floats:
        rows = weight[:, None] * rows
        change = np.einsum("ij,ij->j", rows, v) if penalty.ndim == 1 else rows.T @ v
        return np.append(change.ravel(), rows.sum(axis=0))

    def loss(flat: Floats) -> tuple[float, Floats]:
        log_p = np.asarray(log_softmax(v + moves(flat), axis=1))
        return float(0.5 * ridge @ flat**2 - weight @ log_p[each, index]), log_p

    theta, longest = np.zeros(ridge.size), np.inf
    value, log_p = loss(theta)
    for _ in range(_MAX_STEPS):
        p = np.exp(log_p)
        excess = p.copy()
        excess[each, index] -= 1.0
        gradient = pull(excess) + ridge * theta

        def curve(flat: Floats, p: Floats = p) -> Floats:
            moved = moves(flat)
            return pull(p * (moved - np.einsum("ij,ij->i", p, moved)[:, None])) + ridge * flat

        # Far from the optimum an exact step is wasted: solve as precisely as the last step was short.
        precision = min(0.01, max(longest, 1e-6))
        step, _ = cg(LinearOperator((theta.size,) * 2, matvec=curve), -gradient, rtol=precision, maxiter=500)
        length, gain, longest = 1.0, -gradient @ step, float(np.abs(step).max())
        while (trial := loss(theta + length * step))[0] > value - 1e-4 * length * gain + 1e-12 * abs(value):
            length /= 2.0
        theta, (value, log_p) = theta + length * step, trial
        if longest <= 1e-8 and precision <= 1e-4:
            return split(theta)
    warnings.warn("Scaling stopped before its tolerance.", NonConvergenceWarning, stacklevel=4)
    return split(theta)


def apply_scaling(matrix: Floats, rows: Floats) -> Floats:
    """Multiply each row by a diagonal (shape (k,)) or a full matrix."""
    return rows * matrix if matrix.ndim == 1 else np.asarray(rows @ matrix.T)
