"""Masked classes among logits: −inf, or a number so low that nothing else is meant by it."""

from typing import NamedTuple

import numpy as np

from oddsmith import _check
from oddsmith._types import Bools, Floats, Ints
from oddsmith.formula import CLOSED, FAR, MASKED
from oddsmith.maps import SUREST

#: Logits this far below the largest of their row always count as logits.
_LEAST_FLOOR = 700.0

#: Others do too unless they are this many times as far below it as the second largest typically is.
_TIMES = 200.0

#: Times that the floor is halved to find a limit for logits that are exaggerated: down to below typical margins.
_HALVINGS = 14

#: Share of rows by which that is judged: rows in which only one class is not masked must be fewer than the others.
_SHARE = 0.25


class Logits(NamedTuple):
    """Logits, less the largest of each row, with what is known about their masks.

    Attributes
    ----------
    z : ndarray of shape (n, k)
        Finite; masked logits are at −floor, and those of −inf too.
    gone : bool array of shape (n, k) or None
        Where logits are masked; None where none is.
    closed : bool array of shape (n, k) or None
        Where they are −inf.
    floor : float
        How far below the largest of its row a masked logit is.
    clips : bool
        Whether logits below the floor are read as being there; else they are masks.
    """

    z: Floats
    gone: Bools | None
    closed: Bools | None
    floor: float
    clips: bool = False

    def mark(self) -> Floats:
        """Return logits of which those that were −inf are recognized by their size."""
        return self.z if self.closed is None else np.where(self.closed, CLOSED, self.z)

    @classmethod
    def from_marks(cls, z: Floats, floor: float) -> "Logits":
        """Return what `mark` was made from."""
        return _from_floor(z, z <= MASKED, floor)

    def clip(self, limit: float) -> "Logits":
        """Return logits that are within a limit of the largest of their row, of which only those of −inf are masked."""
        return Logits(np.maximum(self.z, -limit), self.closed, self.closed, limit, clips=True)

    def limits(self) -> list[float]:
        """Return limits at which clipping may help, from wide to narrow; none where all logits are within 37."""
        lowest = -float(self.z.min())
        limits = (self.floor / 2.0**halvings for halvings in range(1, _HALVINGS + 1))
        return [limit for limit in limits if limit < lowest] if lowest > SUREST else []

    def impossible_weight(self, index: Ints, weight: Floats) -> float:
        """Return the weight of rows whose true class is masked."""
        return 0.0 if self.gone is None else float(weight[self.gone[np.arange(len(index)), index]].sum())

    def drop(self, unit: float, index: Ints, weight: Floats) -> float | None:
        """Return by how much masked classes are lowered, None where logits are clipped instead.

        To the floor; where some were true, by the log of how much more often other classes of the same rows are.
        """
        if self.clips:
            return None
        most = min(self.floor / unit, FAR)
        wrong = self.impossible_weight(index, weight)
        if self.gone is None or wrong == 0:
            return most
        masked = self.gone.sum(axis=1)
        rows = masked > 0
        right = float(weight[rows].sum()) - wrong
        if right <= 0:
            return 0.0
        others = float(weight[rows] @ (self.gone.shape[1] - masked[rows]))
        return float(np.clip(np.log(right / others) - np.log(wrong / (weight @ masked)), 0.0, most))

    def offsets(self, drop: float | None) -> Floats | None:
        """Return what is added to scaled logits of shape (k, n): nothing but for masked classes."""
        if self.gone is None:
            return None
        result = np.where(self.gone, -(drop or 0.0), 0.0)
        if self.closed is not None:
            result[self.closed] = -FAR
        return np.ascontiguousarray(result.T)


def refuse_masked_truth(z: Floats, index: Ints) -> None:
    """Refuse rows whose true class is masked by −inf."""
    wrong = np.flatnonzero(np.isneginf(z[np.arange(len(z)), index]))
    if len(wrong):
        _check.fail(
            "the true class of a row must not have a logit of −inf, which means that it is impossible",
            f"{len(wrong)} such rows, the first at row {wrong[0]}",
            "check the masks of those rows, or give classes that are unlikely but possible a finite logit",
        )


def read_masks(z: Floats, weight: Floats) -> Logits:
    """Return logits with masked ones brought to a floor that depends on how far apart the others are."""
    closed = np.isneginf(z)
    z = np.maximum(z, -FAR)
    top = z.max(axis=1, keepdims=True)
    below = z - top
    floor = min(max(_LEAST_FLOOR, _TIMES * _typical_gap(below, weight)), FAR / 2)
    return _from_floor(below, closed, floor)


def _from_floor(below: Floats, closed: Bools, floor: float) -> Logits:
    gone = below <= -floor
    if not gone.any():
        return Logits(below, None, None, floor)
    return Logits(np.where(gone, -floor, below), gone, closed if closed.any() else None, floor)


def center(x: Floats, gone: Bools | None) -> Floats:
    """Return values less the mean of their row; masked ones take no part in it, and become 0."""
    if gone is None:
        return np.asarray(x - x.mean(axis=1, keepdims=True))
    kept = ~gone
    mean = np.where(kept, x, 0.0).sum(axis=1, keepdims=True) / kept.sum(axis=1, keepdims=True)
    return np.where(kept, x - mean, 0.0)


def unmask(x: Floats, gone: Bools | None) -> Floats:
    """Return values, 0 for masked ones."""
    return x if gone is None else np.where(gone, 0.0, x)


def _typical_gap(below: Floats, weight: Floats) -> float:
    """Return the lower quartile, over rows in which they differ, of how far the second largest logit is below."""
    gap = -np.partition(below, -2, axis=1)[:, -2]
    there = gap > 0
    if not there.any():
        return 0.0
    order = np.argsort(gap[there])
    share = np.cumsum(weight[there][order])
    return float(gap[there][order][np.searchsorted(share, _SHARE * share[-1])])
