"""How rows, weights and groups are dealt to folds."""

from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from oddsmith._types import Floats, Ints, Weights

__all__ = ["Fold", "deal_by_class", "deal_counts", "deal_groups", "deal_weight", "equal_rows"]

Data = TypeVar("Data")

RandomState = int | np.random.Generator | None

#: Above this number of units per fold the order in which they are dealt repeats itself.
_PERIOD = 13_107

#: From this number of rows on every fold has an even share of each kind: NumPy's hypergeometric law ends here.
_HYPERGEOMETRIC = 10**9


class Fold(NamedTuple, Generic[Data]):
    """A held-out part of data, and the rest."""

    rest: Data
    part: Data


def deal_counts(counts: tuple[Ints, ...], n_folds: int, rng: np.random.Generator) -> list[Ints]:
    """Deal rows of several classes, given as counts of kinds, to folds whose sizes differ by one row at most.

    The law is the multivariate hypergeometric one, that of a stratified split of shuffled rows.

    Returns
    -------
    list of ndarray of shape (n_folds, kinds)
        What each fold gets, one array per class.
    """
    order, dealt, hands = rng.permutation(n_folds), 0, []
    for kinds in counts:
        n = int(kinds.sum())
        sizes = np.full(n_folds, n // n_folds)
        # Rows left over continue where the last class stopped.
        sizes[np.roll(order, -dealt)[: n % n_folds]] += 1
        dealt += n % n_folds
        hands.append(_deal_class(kinds, sizes, rng))
    return hands


def _deal_class(counts: Ints, sizes: Ints, rng: np.random.Generator) -> Ints:
    even = counts // len(sizes) if counts.sum() >= _HYPERGEOMETRIC else np.zeros_like(counts)
    left = counts - len(sizes) * even
    hands = np.empty((len(sizes), len(counts)), np.int64)
    for hand, size in enumerate(sizes):
        hands[hand] = rng.multivariate_hypergeometric(left, int(size - even.sum()), method="marginals")
        left -= hands[hand]
    return hands + even


def equal_rows(weight: Weights, squared: Weights) -> tuple[Ints, Floats]:
    """Return the number of equal rows that vary as each weight does, (Σw)²/Σw², and the weight of one of them."""
    held = weight > 0
    rows = np.zeros(len(weight), np.int64)
    ratio = weight[held] / np.maximum(squared[held], np.finfo(np.float64).tiny) * weight[held]
    rows[held] = np.maximum(np.rint(ratio), 1).astype(np.int64)
    return rows, weight / np.maximum(rows, 1)


def deal_weight(weight: Floats, n_folds: int, rng: np.random.Generator) -> Floats:
    """Deal weight to folds unit by unit along its cells, and return what each fold gets, shape (n_folds, cells).

    Which fold gets a unit depends on its number only: a row of weight 2 is dealt as two rows are.
    """
    ends = np.cumsum(np.append(0.0, weight))
    period = min(max(round(float(ends[-1])), 1), n_folds * _PERIOD)
    turn = rng.permutation(period) % n_folds
    rounds, rest = np.divmod(ends, period)
    amounts = np.empty((n_folds, len(weight)))
    for fold in range(n_folds):
        reached = np.append(0, np.cumsum(turn == fold))
        upto = rounds * reached[-1] + np.interp(rest, np.arange(period + 1), reached)
        amounts[fold] = np.clip(np.diff(upto), 0, weight)
    return amounts


def deal_by_class(weight: Floats, truth: Ints, n_classes: int, n_folds: int, random_state: RandomState) -> Floats:
    """Deal the weight of each class to folds, and return what each fold gets of each row, shape (n_folds, n).

    Parameters
    ----------
    weight : ndarray of shape (n,)
    truth : ndarray of shape (n,)
        The class of each row, ascending.
    n_classes, n_folds : int
    random_state : int, Generator or None
        A number is the seed of every class, so that no class depends on the others.

    Examples
    --------
    >>> deal_by_class(np.ones(4), np.array([0, 0, 1, 1]), 2, 2, 0).sum(axis=1).tolist()
    [2.0, 2.0]
    """
    amounts, turn = np.zeros((n_folds, len(weight))), 0.0
    for c, total in enumerate(np.bincount(truth, weight, n_classes)):
        rows = slice(*np.searchsorted(truth, (c, c + 1)))
        mine = deal_weight(weight[rows], n_folds, np.random.default_rng(random_state))
        # Each class begins where the last one ended: folds are of one size however small the classes are.
        amounts[:, rows] = np.roll(mine, int(turn) % n_folds, axis=0)
        turn += total
    return amounts


def deal_groups(amounts: Floats, n_folds: int, seed: int) -> NDArray[np.intp]:
    """Assign groups to folds so that each fold gets about the same amount of every class.

    Groups are taken from the largest to the smallest, equal ones in random order, and each goes to the fold that has
    the smallest share of its classes.

    Parameters
    ----------
    amounts : ndarray of shape (n_groups, n_classes)
        Weight of each class in each group.
    n_folds : int
    seed : int

    Examples
    --------
    >>> np.bincount(deal_groups(np.ones((10, 2)), 5, 0)).tolist()
    [2, 2, 2, 2, 2]
    """
    order = np.random.default_rng(seed).permutation(len(amounts))
    order = order[np.argsort(-amounts[order].sum(axis=1), kind="stable")]
    shares = amounts / np.maximum(amounts.sum(axis=0), np.finfo(np.float64).tiny)
    filled, fold = np.zeros((n_folds, amounts.shape[1])), np.empty(len(amounts), np.intp)
    for group in order:
        least = np.argmin((filled * shares[group]).sum(axis=1) + 1e-9 * filled.sum(axis=1))
        fold[group] = least
        filled[least] += shares[group]
    return fold
