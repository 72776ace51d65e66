"""Marks of scores: numbers that look random, the same for equal scores, whose sums tell sets of rows apart.

Sums of the scores themselves would not: beside a score of 1e300, or a million from 0, all others weigh nothing.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oddsmith import _kernels
from oddsmith._types import Floats

#: An odd number without pattern.
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_MOST = 2**64


def mark_sums(scores: Floats, positive: NDArray[Any], weight: NDArray[Any] | None) -> tuple[float, float]:
    """Sum marks over the positive weight and over all: exact modulo 2⁶⁴ for counts, else shares of 2⁶⁴.

    Parameters
    ----------
    scores : ndarray of shape (n,)
    positive : ndarray of shape (n,)
        Positive weight at each score, or which rows are positive.
    weight : ndarray of shape (n,) or None
        Weight of both classes, all ones if None.
    """
    if weight is None and (loops := _kernels.load_compiled(len(scores))) is not None:
        of_positive, of_all = loops.mark_sums(scores, positive if positive.dtype == bool else positive > 0)
        return int(of_positive), int(of_all)
    counts = positive.dtype.kind != "f"
    sums: list[float] = [0, 0]
    for start in range(0, len(scores), _kernels.CHUNK):
        part = slice(start, start + _kernels.CHUNK)
        of_part = marks(scores[part])
        for side, amount in enumerate((positive[part], None if weight is None else weight[part])):
            if counts:
                added = of_part if amount is None else of_part * amount.astype(np.uint64)
                sums[side] = (sums[side] + int(added.sum())) % _MOST
            else:
                shares = of_part / float(_MOST)
                sums[side] += float(shares.sum() if amount is None else shares @ amount)
    return sums[0], sums[1]


def marks(scores: Floats) -> NDArray[np.uint64]:
    """Return one mark per score."""
    bits = (scores + 0.0).view(np.uint64)  # −0.0 becomes 0.0
    bits ^= bits >> _HALF
    bits *= _FACTOR
    bits ^= bits >> _HALF
    return bits
