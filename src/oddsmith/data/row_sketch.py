"""Rows remembered by a few of their hashes: enough to tell how many of other rows are among them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

#: So many hashes stand for all rows: 8 kB, whatever their number.
_KEPT = 1024

#: A larger share of rows in common is no accident: rows that happen to be equal are few.
MANY_SHARED = 0.1


@dataclass(frozen=True)
class RowSketch:
    """The smallest distinct hashes of some rows, sorted."""

    hashes: Hashes

    @classmethod
    def of(cls, hashes: Hashes) -> "RowSketch":
        """Remember rows."""
        enough = 8 * _KEPT
        if len(hashes) > enough:
            smallest = np.unique(np.partition(hashes, enough)[:enough])
            if len(smallest) >= _KEPT:
                return cls(smallest[:_KEPT])
        return cls(np.unique(hashes)[:_KEPT])

    def __len__(self) -> int:
        return len(self.hashes)

    def overlap(self, hashes: Hashes) -> float:
        """Estimate the share of rows that are among those remembered; exact below 1024 distinct rows."""
        # Only hashes up to the largest one kept can be compared, unless all were kept.
        if len(self) == _KEPT:
            hashes = hashes[hashes <= self.hashes[-1]]
        return float(np.isin(hashes, self.hashes).mean()) if len(hashes) else 0.0
