"""Cases in an order of their own, dealt to folds: neither the order of rows nor that of classes matters."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oddsmith._types import Floats, Ints
from oddsmith.calibrators._masked_logits import Logits
from oddsmith.data import Fold, deal_by_class, deal_weight

_FOLDS = 4

#: From this many cases per class on, each class is dealt to folds on its own.
_MANY = 50

#: Weights of a blend need no more cases to be judged by.
_ENOUGH = 20_000


class Sorted(NamedTuple):
    """Distinct cases in canonical order.

    Attributes
    ----------
    z : ndarray of shape (n, k)
        Logits, 0 for the largest of each case.
    truth : ndarray of shape (n,)
        The column of the true class.
    weight : ndarray of shape (n,)
        In cases.
    columns : ndarray of shape (k,)
        Where each column was before.
    floor : float
        How far below the largest logit masked ones are, at least.
    """

    z: Floats
    truth: Ints
    weight: Floats
    columns: NDArray[np.intp]
    floor: float

    @property
    def totals(self) -> Floats:
        """Weight of each class."""
        return np.bincount(self.truth, self.weight, minlength=self.z.shape[1]).astype(np.float64)

    def with_weight(self, weight: Floats) -> "Sorted":
        """Return the cases that have some of another weight."""
        held = weight > 0
        return self._replace(z=self.z[held], truth=self.truth[held], weight=weight[held])


def sort_cases(logits: Logits, index: Ints, weight: Floats) -> Sorted:
    """Order classes by frequency and size of their logits, rows by class and margin; add up equal rows."""
    z = logits.mark()
    columns = np.lexsort(((weight / weight.sum()) @ z, np.bincount(index, weight, minlength=z.shape[1])))
    z, index = np.ascontiguousarray(z[:, columns]), np.argsort(columns)[index]
    each = np.arange(len(z))
    chosen = z[each, index]
    # The largest logit of the others is exact, as is a sum of integers: no rounding can change the order.
    z[each, index] = -np.inf
    margin = chosen - z.max(axis=1)
    z[each, index] = chosen
    odd = np.random.default_rng(0).integers(0, 2**63, z.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    hashes = (z + 0.0).view(np.uint64) @ odd
    order = np.lexsort((hashes, margin, index))
    z, index, weight, hashes = z[order], index[order], weight[order], hashes[order]
    first = np.append(True, (np.diff(index) != 0) | (hashes[1:] != hashes[:-1]))
    starts = np.flatnonzero(first)
    return Sorted(z[first], index[first], np.add.reduceat(weight, starts), columns, logits.floor)


def deal(cases: Sorted, random_state: int | None) -> Iterator[Fold[Sorted]]:
    """Deal cases to folds at random until enough have been judged; no fold where there are few cases.

    A case of weight 2 is dealt as two cases are. Each class is dealt out evenly unless there are few cases per class:
    folds that all have the class frequencies of the sample reward fits that reproduce these, chance included.
    """
    totals = cases.totals
    few = totals.sum() < _MANY * np.count_nonzero(totals)
    n_folds = int(min(2 * _FOLDS if few else _FOLDS, totals.sum() // 1))
    if n_folds < 2 or np.count_nonzero(totals) < 2:
        return
    if few:
        amounts = deal_weight(cases.weight, n_folds, np.random.default_rng(random_state))
    else:
        amounts = deal_by_class(cases.weight, cases.truth, cases.z.shape[1], n_folds, random_state)
    judged = 0.0
    for amount in amounts:
        yield Fold(cases.with_weight(cases.weight - amount), cases.with_weight(amount))
        judged += float(amount.sum())
        if judged >= _ENOUGH:
            return
