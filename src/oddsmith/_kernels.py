"""The loops that decide the speed: NumPy here, compiled twins in ``_compiled`` for large inputs.

A compiled twin is used when numba is installed and the input is long enough to pay for the call; NumPy wins below
about 20,000 rows. ``ODDSMITH_COMPILED=0`` switches the twins off.
"""

import functools
import importlib.util
import os
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from oddsmith._types import Bools, Floats, Ints

#: Below this many rows NumPy is faster than the compiled loops.
COMPILED_FROM = 20_000

#: Rows handled at a time by passes over long arrays: their temporaries stay in the second-level cache.
CHUNK = 8192

#: BLAS starts threads for longer products: dot products, products of matrices with a vector (entries of the matrix) and
#: of two matrices (multiplications), by the limits of OpenBLAS, which comes with NumPy. On a loaded machine waiting for
#: the threads takes many times as long as the product.
DOT_ALONE = 10_000
_ENTRIES_ALONE = 9_216
_PRODUCTS_ALONE = 262_144

_SIGN = np.int64(np.iinfo(np.int64).max)


def rows_alone(columns: int) -> int:
    """Return how many rows of features are handled at a time so that BLAS takes one thread for CᵀC and Cv."""
    return max(min(CHUNK, _ENTRIES_ALONE // columns, _PRODUCTS_ALONE // columns**2), 1)


def load_compiled(n: int) -> ModuleType | None:
    """Return the compiled twins when they are available and worth their call for ``n`` rows."""
    if n < COMPILED_FROM or os.environ.get("ODDSMITH_COMPILED") == "0" or not _has_numba():
        return None
    from oddsmith import _compiled

    return _compiled


@functools.cache
def _has_numba() -> bool:
    return importlib.util.find_spec("numba") is not None


def count_table(scores: Floats, positive: Bools) -> tuple[Floats, Ints, Ints]:
    """Sort and pool: distinct scores with the number of positives and negatives at each."""
    if len(scores) < COMPILED_FROM:
        return _count_by_argsort(scores, positive)
    direction = _direction(scores)
    if direction:
        return _count_ordered(scores[::direction] + 0.0, positive[::direction])
    scores = np.ascontiguousarray(scores)
    if scores.view(np.int64).min() == np.iinfo(np.int64).min:
        scores = scores + 0.0  # −0.0, the smallest of all doubles when read as a signed integer, becomes 0.0
    limits = _key_limits(scores)
    if limits is None:
        return _count_by_argsort(scores, positive)
    fast = load_compiled(len(scores))
    if fast is not None:
        table: tuple[Floats, Ints, Ints] = fast.count_table(scores, np.ascontiguousarray(positive), *limits)
        return table
    return _count_by_packing(scores, positive, *limits[:3])


def _count_by_argsort(scores: Floats, positive: Bools) -> tuple[Floats, Ints, Ints]:
    order = np.argsort(scores)
    return _count_ordered(scores[order] + 0.0, positive[order])  # −0.0 becomes 0.0


def _direction(scores: Floats) -> int:
    """Return 1 for scores that never fall, −1 for scores that never rise, else 0: mostly known after a few rows."""
    for direction in (1, -1):
        for start in range(0, len(scores), CHUNK):
            part = scores[start : start + CHUNK + 1]
            if np.any(part[1:] < part[:-1] if direction == 1 else part[1:] > part[:-1]):
                break
        else:
            return direction
    return 0


def _count_ordered(ordered: Floats, labels: Bools) -> tuple[Floats, Ints, Ints]:
    starts = run_starts(ordered)
    if len(starts) == len(ordered):
        pos = labels.astype(np.int64)
        return ordered, pos, 1 - pos
    pos = np.add.reduceat(labels, starts, dtype=np.int64)
    return ordered[starts], pos, np.diff(starts, append=len(ordered)) - pos


def run_starts(ordered: NDArray[np.generic]) -> Ints:
    """Return where each run of equal values begins in a sorted array."""
    first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return np.arange(len(ordered)) if first.all() else np.flatnonzero(first)


def _key_limits(scores: Floats) -> tuple[int, int, int, int] | None:
    """Return what closes the gap around zero in the integer order of doubles, or None when no bit is left.

    Doubles read as signed integers (negative ones with their magnitude bits flipped) sort like the numbers. The
    integers between the largest negative and the smallest non-negative score are unused; closing that gap leaves room
    for one more bit, the label, in all but absurd data (1e−300 and 1e300 on both sides of zero). Returned are what to
    subtract from negative and from other scores, the number of integers below the latter, and the largest.
    """
    low, high = _key(scores.min()), _key(scores.max())
    base_negative = negative_span = base_positive = 0
    if low < 0:
        base_negative = low
        # Among doubles with the sign bit set the largest number is the smallest signed integer.
        negative_span = (_key(scores.view(np.int64).min().view(np.float64)) if high >= 0 else high) - low + 1
    top = negative_span
    if high >= 0:
        base_positive = int(scores.view(np.uint64).min()) - negative_span
        top = high - base_positive
    return (base_negative, base_positive, negative_span, top) if top < 2**63 - 1 else None


def _key(value: np.float64) -> int:
    bits = int(value.view(np.int64))
    return bits if bits >= 0 else bits ^ int(_SIGN)


def _count_by_packing(
    scores: Floats, positive: Bools, base_negative: int, base_positive: int, negative_span: int
) -> tuple[Floats, Ints, Ints]:
    """Sort score and label as one integer: half the time of an argsort, and nothing to gather."""
    one = np.uint64(1)
    packed = np.empty(len(scores), np.uint64)
    for start in range(0, len(scores), CHUNK):
        bits = scores[start : start + CHUNK].view(np.int64)
        key = np.where(bits < 0, (bits ^ _SIGN) - base_negative, bits - base_positive)
        packed[start : start + CHUNK] = (key.view(np.uint64) << one) | positive[start : start + CHUNK]
    packed.sort()
    first = np.ones(len(packed), bool)
    np.greater(packed[1:] ^ packed[:-1], one, out=first[1:])
    if first.all():
        keys, pos = packed >> one, (packed & one).view(np.int64)
        neg = 1 - pos
    else:
        starts = np.flatnonzero(first)
        sizes = np.diff(starts, append=len(packed))
        keys = packed[starts] >> one
        pos = np.add.reduceat((packed & one).view(np.int64), starts)
        neg = sizes - pos
    signed = keys.view(np.int64)
    negative = int(np.searchsorted(keys, np.uint64(negative_span)))
    signed[:negative] = (signed[:negative] + base_negative) ^ _SIGN
    signed[negative:] += base_positive
    return keys.view(np.float64), pos, neg


def pool_violators(pos: Ints | Floats, neg: Ints | Floats) -> tuple[Ints, Floats]:
    """Isotonic regression of pos/(pos + neg): where each block starts, and its mean."""
    fast = load_compiled(len(pos)) if pos.dtype.kind == "i" else None
    if fast is not None:
        blocks: tuple[Ints, Floats] = fast.pool_violators(pos, neg)
        return blocks
    from scipy.optimize import isotonic_regression

    total = pos + neg
    starts = isotonic_regression(pos / total, weights=total).blocks[:-1].astype(np.int64)
    # Means anew from the sums: equal blocks compare equal, and counts divide exactly.
    return starts, np.add.reduceat(pos, starts) / np.add.reduceat(total, starts)


def gauss_points(centers: Floats, widths: Floats, sums: Floats) -> tuple[Floats, Floats]:
    """Replace each cell by two weighted points with the same count and first three moments.

    This is the Gauss rule of the points in the cell: sums of any smooth function over it are exact to the fourth order
    of the width, and the weights are positive, so nothing that holds for data fails for the rule.

    Parameters
    ----------
    centers, widths : ndarray of shape (cells,)
    sums : ndarray of shape (4, cells)
        Σw, Σwu, Σwu², Σwu³ of the distances u = (x − center)/width; Σw > 0.
    """
    count, first, second, third = sums
    mean = first / count
    spread = np.maximum(second / count - mean * mean, 0.0)
    skew = third / count - 3 * mean * second / count + 2 * mean**3
    one = spread <= 1e-14  # a single distinct score, to rounding
    safe = np.where(one, 1.0, spread)
    half = np.where(one, 0.0, skew / (2 * safe))
    reach = np.sqrt(half * half + np.where(one, 0.0, spread))
    left, right = half - reach, half + reach
    share = np.where(one, 0.5, right / np.where(one, 1.0, right - left))
    points = np.concatenate([mean + left, mean + right]) * np.tile(widths, 2) + np.tile(centers, 2)
    return points, np.concatenate([count * share, count * (1 - share)])
