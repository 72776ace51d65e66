"""The best temperature of logits."""

from typing import NamedTuple

import numpy as np

from oddsmith._types import Bools, Floats, Ints
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
    there: Floats | None  # 0 where a logit is masked, else 1

    def every(self, step: int) -> "_LogitRows":
        """Return every step-th row."""
        z, top, chosen, weight = (column[::step] for column in self[:4])
        return _LogitRows(z, top, chosen, weight, None if self.there is None else self.there[::step])


def fit_temperature(
    z: Floats, index: Ints, weight: Floats, unknown: float = 0.0, gone: Bools | None = None
) -> tuple[float, float, BoundReason]:
    """Return the temperature of least log-loss, the size of the logits, and why there is no best one, if so.

    Where the true class is on top in every row, T is 1: the lower it is, the less the log-loss, and the logits as given
    are all that is known. ``unknown`` cases more, which may be of any class, keep T away from 0 there. Logits that are
    ``gone`` are masked and take no part, unless they are those of the true class.
    """
    total = float(weight.sum())
    there = None
    if gone is None:
        mean = np.einsum("ij->i", z) / z.shape[1]
    else:
        there = np.where(gone, 0.0, 1.0)
        there[np.arange(len(z)), index] = 1.0
        mean = np.einsum("ij,ij->i", z, there) / there.sum(axis=1)
    chosen = z[np.arange(len(z)), index]
    rows = _LogitRows(z, z.max(axis=1), chosen + unknown / (total + unknown) * (mean - chosen), weight, there)
    share = weight / total  # first, so that the largest logits and weights do not overflow together
    gap = rows.top - mean
    mean_gap, there = float(share @ gap), gap > 0
    # By the geometric mean: one logit may be far larger than the others, which ask for a temperature of their own size.
    logs = np.log(gap, out=np.zeros_like(gap), where=there)
    size = min(mean_gap, float(np.exp(share @ logs / (share @ there)))) if mean_gap > 0 else 0.0
    # The mean of equal logits may be off in its last bit: where that could matter, look at the logits.
    if size <= 1e-9 * np.abs(rows.top).max() and (size <= 0 or _all_equal(rows)):
        return 1.0, 1.0, ConstantScoreWarning
    if np.array_equal(rows.top, rows.chosen):
        return 1.0, size, SeparableWarning
    if share @ (rows.chosen - mean) <= 0:
        return mean_gap * _BRACKET, size, ReversedScoreWarning
    beta, count = 1.0, 512
    ends = size / mean_gap / _BRACKET, min(size / float(gap[there].min()) * _BRACKET, _STEEPEST)
    # Few rows find the neighborhood, more rows narrow it; the whole then needs two or three passes.
    while count < len(z) // 8:
        beta = _newton(rows.every(len(z) // count), size, beta, ends, 1e-3)
        count *= 16
    beta = _newton(rows, size, beta, ends, 1e-9)
    return size / beta, size, None if 2.0 * ends[0] < beta < ends[1] / 2.0 else NonConvergenceWarning


def _all_equal(rows: _LogitRows) -> bool:
    """Whether all logits of each row are equal."""
    z = rows.z if rows.there is None else np.where(rows.there > 0, rows.z, rows.top[:, None])
    return np.array_equal(rows.top, z.min(axis=1))


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
        here = slice(start, start + height)
        z, top, chosen, weight = (column[here] for column in rows[:4])
        below = z - top[:, None]
        below *= 1.0 / size
        terms = beta * below
        np.exp(terms, out=terms)
        if rows.there is not None:
            terms *= rows.there[here]
        total = np.einsum("ij->i", terms)
        mean = np.einsum("ij,ij->i", terms, below) / total
        terms *= below
        square = np.einsum("ij,ij->i", terms, below) / total
        slope += float(weight @ (mean - (chosen - top) / size))
        curvature += float(weight @ (square - mean * mean))
    return slope, curvature
