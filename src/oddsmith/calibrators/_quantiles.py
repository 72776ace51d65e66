"""Weighted medians and percentiles of sorted scores, without an array of cumulative weights."""

import numpy as np

from oddsmith._types import Floats, Weights

_CHUNK = 8192


class Cumulative:
    """Cumulative weight over ascending scores, summed by pieces and looked into where it is needed."""

    def __init__(self, scores: Floats, weight: Weights) -> None:
        self.scores, self.weight = scores, weight
        sums = np.add.reduceat(weight, np.arange(0, len(weight), _CHUNK))
        self.before = np.cumsum(np.concatenate([[0], sums])).astype(weight.dtype)
        self.total = self.before[-1]

    def reaching(self, amount: float) -> float:
        """Return the smallest score up to which the weight is at least ``amount``, which must be positive."""
        return self._search(amount, "left")

    def beyond(self, amount: float) -> float:
        """Return the smallest score up to which the weight is more than ``amount``; at most the last with weight."""
        return self._search(amount, "right") if amount < self.total else self._search(self.total, "left")

    def _search(self, amount: float, side: str) -> float:
        piece = int(np.searchsorted(self.before, amount, side)) - 1  # type: ignore[call-overload]
        start = piece * _CHUNK
        ends = self.before[piece] + np.cumsum(self.weight[start : start + _CHUNK])
        # Float sums by pieces and one by one may differ in their last bits.
        place = min(int(np.searchsorted(ends, amount, side)), len(ends) - 1)  # type: ignore[call-overload]
        return float(self.scores[start + place])


def weighted_median(scores: Floats, weight: Weights) -> float:
    """Return the median: the midpoint of a gap with half of the weight on each side."""
    cumulative = Cumulative(scores, weight)
    half = float(cumulative.total) / 2
    return cumulative.reaching(half) / 2 + cumulative.beyond(half) / 2


def percentiles(scores: Floats, weight: Weights, shares: Floats) -> Floats:
    """Return weighted percentiles: linear interpolation at position (W − 1)q of the sample with repeated rows."""
    cumulative = Cumulative(scores, weight)
    places = max(float(cumulative.total) - 1, 0.0) * shares
    below = np.floor(places)
    low, high = (np.array([cumulative.beyond(float(place + k)) for place in below]) for k in (0, 1))
    return low * (1 - (places - below)) + high * (places - below)
