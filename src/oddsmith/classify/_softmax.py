"""The best temperature of logits."""

from typing import NamedTuple

import numpy as np

from oddsmith._types import Floats, Ints
from oddsmith.errors import (
    ConstantScoreWarning,
    NonConvergenceWarning,
    OddsmithWarning,
    ReversedScoreWarning,
    SeparableWarning,
)

BoundReason = type[OddsmithWarning] | None

# Two blocks of this many numbers stay in the second-level cache.
_BLOCK = 32768
_BRACKET = 1e6
_MAX_STEPS = 100

#: A slope whose products with logits of size 1 are finite.
_STEEPEST = 1e290


class _LogitRows(NamedTuple):
    """Logits and what every Newton step needs: the largest and the true logit of each row, and its weight."""

    z: Floats
    top: Floats
    chosen: Floats
    weight: Floats


def fit_temperature(z: Floats, index: Ints, weight: Floats, unknown: float = 0.0) -> tuple[float, float, BoundReason]:
    """Return the temperature of least log-loss, the size of the logits, and why T sits on a bound, if so.

    ``unknown`` cases more, which may be of any class, keep T away from 0 where every top class is the true one.
    """
    mean, total = np.einsum("ij->i", z) / z.shape[1], float(weight.sum())
    chosen = z[np.arange(len(z)), index]
    rows = _LogitRows(z, z.max(axis=1), chosen + unknown / (total + unknown) * (mean - chosen), weight)
    share = weight / total  # first, so that the largest logits and weights do not overflow together
    gap = rows.top - mean
    mean_gap, there = float(share @ gap), gap > 0
    # By the geometric mean: one logit may be far larger than the others, which ask for a temperature of their own size.
    logs = np.log(gap, out=np.zeros_like(gap), where=there)
    size = min(mean_gap, float(np.exp(share @ logs / (share @ there)))) if mean_gap > 0 else 0.0
    # The mean of equal logits may be off in its last bit: where that could matter, look at the logits.
    if size <= 1e-9 * np.abs(rows.top).max() and (size <= 0 or np.array_equal(rows.top, z.min(axis=1))):
        return 1.0, 1.0, ConstantScoreWarning
    if np.array_equal(rows.top, rows.chosen):
        return size / _BRACKET, size, SeparableWarning
    if share @ (rows.chosen - mean) <= 0:
        return mean_gap * _BRACKET, size, ReversedScoreWarning
    beta, count = 1.0, 512
    ends = size / mean_gap / _BRACKET, min(size / float(gap[there].min()) * _BRACKET, _STEEPEST)
    # Few rows find the neighborhood, more rows narrow it; the whole then needs two or three passes.
    while count < len(z) // 8:
        beta = _newton(_LogitRows(*(column[:: len(z) // count] for column in rows)), size, beta, ends, 1e-3)
        count *= 16
    beta = _newton(rows, size, beta, ends, 1e-9)
    return size / beta, size, None if 2.0 * ends[0] < beta < ends[1] / 2.0 else NonConvergenceWarning


def _newton(rows: _LogitRows, size: float, beta: float, ends: tuple[float, float], tolerance: float) -> float:
    """Find the root of the slope in β by Newton steps, halving the way between the ends (in log β) where they fail."""
    low, high = ends
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


def _derivatives(rows: _LogitRows, size: float, beta: float) -> tuple[float, float]:
    """Return slope and curvature of the log-loss in β: one exponential per element, in blocks."""
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
