"""Scored rows of several classes: what a file of logits or probabilities holds, read once."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from oddsmith._types import Floats, Ints, Weights

__all__ = ["ScoreRows"]


@dataclass(frozen=True, eq=False, repr=False)
class ScoreRows:
    """Rows with one column of scores per class, and their true classes.

    Parameters
    ----------
    values : ndarray of shape (n, k)
        Logits or probabilities, finite; a logit of −inf masks its class in that row.
    truth : ndarray of shape (n,)
        The column of the true class.
    labels : tuple
        The label of each column.
    weight : ndarray of shape (n,) or None
        Counts (integers) or importance weights; all ones if None.
    column_names : tuple of str
        Names of the columns where they came from.
    input : {"logits", "probabilities"}
        What the columns hold; rows of probabilities sum to 1.
    """

    values: Floats
    truth: Ints
    labels: tuple[Any, ...]
    weight: Weights | None
    column_names: tuple[str, ...]
    input: Literal["logits", "probabilities"]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    @property
    def class_weights(self) -> Floats:
        """Number of cases, or weight, of each class."""
        return np.bincount(self.truth, self.weight, len(self.labels)).astype(np.float64)

    def __repr__(self) -> str:
        return f"ScoreRows(rows={self.n_rows}, classes={len(self.labels)}, input={self.input})"
