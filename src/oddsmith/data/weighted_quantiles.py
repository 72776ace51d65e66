"""Weighted quantiles of sorted scores, and bins of equal weight."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oddsmith._types import Floats, Weights

_CHUNK = 8192

#: Shares that are met but for rounding are met, for counts and for weights alike.
_SLACK = 1e-12


class Cumulative:
    """Cumulative weight over ascending scores, summed by pieces and looked into where it is needed."""

    def __init__(self, scores: Floats, weight: Weights) -> None:
        self.scores: Floats = scores
        self.weight: Weights = weight
        sums = np.add.reduceat(weight, np.arange(0, len(weight), _CHUNK))
        self.before: NDArray[np.int64 | np.float64] = np.cumsum(np.concatenate([[0], sums])).astype(weight.dtype)
        self.total: float = self.before[-1]

    def reaching(self, amounts: Floats) -> Floats:
        """Return the smallest scores up to which the weight is at least each amount, which must be positive."""
        return self._search(amounts, "left")

    def beyond(self, amounts: Floats) -> Floats:
        """Return the smallest scores up to which the weight is more than each amount; at most the last with weight."""
        inside = amounts < self.total
        if inside.all():
            return self._search(amounts, "right")
        last = self._search(np.array([self.total], dtype=np.float64), "left")
        return np.where(inside, self._search(np.where(inside, amounts, 0.0), "right"), last)

    def _search(self, amounts: Floats, side: str) -> Floats:
        pieces = np.searchsorted(self.before, amounts, side) - 1  # type: ignore[call-overload]
        found = np.empty(len(amounts))
        for piece in set(pieces.tolist()):
            start, wanted = piece * _CHUNK, pieces == piece
            ends = self.before[piece] + np.cumsum(self.weight[start : start + _CHUNK])
            # Float sums by pieces and one by one may differ in their last bits.
            places = np.minimum(np.searchsorted(ends, amounts[wanted], side), len(ends) - 1)  # type: ignore[call-overload]
            found[wanted] = self.scores[start + places]
        return found


def weighted_median(scores: Floats, weight: Weights) -> float:
    """Return the median: the midpoint of a gap with half of the weight on each side."""
    cumulative = Cumulative(scores, weight)
    half = np.array([float(cumulative.total) / 2])
    return float(cumulative.reaching(half)[0] / 2 + cumulative.beyond(half)[0] / 2)


def quantiles(scores: Floats, weight: Weights, shares: Floats, squares: Weights | None = None) -> Floats:
    """Return weighted quantiles: linear at position (W − 1)q of the repeated rows, as NumPy's and with its rounding.

    With squared sums of float weights, W is (Σw)²/Σw², the number of equal rows that would vary as much.
    """
    cumulative = Cumulative(scores, weight)
    total = float(cumulative.total)
    unit = 1.0 if squares is None else float(squares.sum()) / total
    places = max(total / unit - 1, 0.0) * shares
    below = np.floor(places)
    low, high = (cumulative.beyond((below + k) * unit + _SLACK * total) for k in (0, 1))
    part, gap = places - below, high - low
    return np.asarray(np.where(part < 0.5, low + gap * part, high - gap * (1 - part)))


def equal_mass_starts(weight: Weights, n_bins: int, upto: Weights | None = None) -> NDArray[np.intp]:
    """Return where each of at most ``n_bins`` bins starts; a score is in the bin of the middle of its weight.

    ``upto`` is the cumulative weight, where it is at hand.
    """
    cumulative: NDArray[Any] = np.cumsum(weight) if upto is None else upto
    shares = (np.arange(1, n_bins) / n_bins - _SLACK) * float(cumulative[-1])
    # Whole numbers are searched for whole numbers, so that none of them is converted.
    place = np.searchsorted(cumulative, shares if cumulative.dtype.kind == "f" else np.ceil(shares).astype(np.int64))
    place += cumulative[place] - weight[place] / 2 < shares
    starts = np.unique(np.append(0, place))
    return starts[starts < len(weight)]
