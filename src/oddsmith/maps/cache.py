"""Long arrays a piece at a time, so that temporaries stay in the second-level cache."""

from collections.abc import Callable

import numpy as np

from oddsmith._types import Floats

#: Values handled at a time.
_PIECE = 16_384


def in_pieces(function: Callable[[Floats], Floats], values: Floats) -> Floats:
    """Return an elementwise function of an array of any shape."""
    if values.size <= _PIECE:
        return np.asarray(function(values))
    flat = values.ravel()
    result = np.empty(flat.size)
    for start in range(0, flat.size, _PIECE):
        result[start : start + _PIECE] = function(flat[start : start + _PIECE])
    return result.reshape(values.shape)
