"""Folds of whole groups of rows."""

import numpy as np
from numpy.typing import NDArray

from oddsmith._types import Floats

__all__ = ["deal_groups"]


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
