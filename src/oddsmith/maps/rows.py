"""Maps of rows: from all columns of a row to the probabilities of all classes.

A map is data. What it computes is written once, as a vector formula, which NumPy, exports and engines read.

A logit of −inf masks its class: P = 0 there, and the other classes are read as if it were not there. In a row of
which all logits are −inf none is masked. One column is the log-odds of two classes: ±∞ have the limits of the map.
"""

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from oddsmith._types import Floats
from oddsmith.data import LEAST
from oddsmith.formula import (
    SCORE,
    Affine,
    Beside,
    Each,
    Largest,
    Vector,
    clip,
    evaluate_vector,
    log,
    vectors,
)
from oddsmith.maps.base import ShapedMap
from oddsmith.maps.inputs import missing_outside

__all__ = ["JointMap"]

Input = Literal["logits", "probabilities"]


@dataclass(frozen=True, eq=False, repr=False)
class JointMap(ShapedMap):
    """A function from the columns of a row to the probabilities of all classes.

    Parameters
    ----------
    columns : int
        Number of columns: one per class, or one for two classes, which is the log-odds or the probability of the
        second.
    input : {"logits", "probabilities"}
        What the columns contain.

    See Also
    --------
    oddsmith.CalibrationMap : Of one score.
    """

    _shapes: ClassVar[dict[str, type["JointMap"]]] = {}

    columns: int
    input: Input

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """Number of classes."""

    @property
    @abstractmethod
    def quick_shape(self) -> Hashable | None:
        """What maps have in common that `probability_of_many` makes at once; None for others."""

    @abstractmethod
    def probability_of_many(self, maps: Sequence[Any]) -> Vector:
        """Return the probabilities of maps of one quick shape; columns of formulas have a row per map.

        Parameters
        ----------
        maps : sequence of maps
            Maps of one shape.

        Returns
        -------
        Vector
        """

    @abstractmethod
    def formula(self) -> Vector:
        """Return the logs of the probabilities of all classes as a vector formula of the columns.

        Returns
        -------
        Vector
        """

    @abstractmethod
    def probability_formula(self) -> Vector:
        """Return the probabilities of all classes as a vector formula of the columns, for exports and engines.

        Returns
        -------
        Vector
        """

    @abstractmethod
    def shifted(self, shift: ArrayLike) -> "JointMap":
        """Return the map whose logs of probabilities are larger by ``shift``, and made to sum to 1 again.

        Parameters
        ----------
        shift : array-like of shape (k,), or float
            What is added to the log of the probability of each class; of two classes also one number, for the second.
            Values differ by at most 600.

        Returns
        -------
        JointMap
        """

    def class_log_probability(self, rows: ArrayLike) -> Floats:
        """Return log P of each class, shape (n, k), from rows of shape (n, columns); NaN where a value is missing.

        −inf for masked classes.

        Parameters
        ----------
        rows : array-like of shape (n, k)
            Rows of scores.

        Returns
        -------
        ndarray
        """
        result = evaluate_vector(self.formula(), rows)
        if self.input == "logits":
            result[result <= vectors.MASKED] = -np.inf
        return result

    def class_probability(self, rows: ArrayLike) -> Floats:
        """Return P of each class, shape (n, k), from rows of shape (n, columns); NaN where a value is missing.

        Parameters
        ----------
        rows : array-like of shape (n, k)
            Rows of scores.

        Returns
        -------
        ndarray
        """
        return evaluate_vector(self.probability_formula(), rows)

    def _logits(self) -> Vector:
        """Return one logit per class: what columns hold, probabilities by their logarithms."""
        rows = vectors.row_columns(self.columns)
        if self.columns == 1:
            apart = self.input == "probabilities"
            rows = rows if apart else vectors.finite()
            rows = Affine(
                np.array([[-1.0], [1.0]]) if apart else np.array([[0.0], [1.0]]), np.array([apart, 0.0]), rows
            )
        return Each((log(clip(SCORE, LEAST, 1.0)),), rows) if self.input == "probabilities" else rows

    def _of_probabilities(self, result: Vector) -> Vector:
        """Return a result that is missing where columns should hold probabilities and one of them does not.

        Bounds and maxima leave out what is missing in some engines: only the result can be.
        """
        if self.input == "logits":
            return result
        columns = vectors.row_columns(self.columns)
        ends = Largest(Each((-SCORE,), columns)), Largest(columns)
        return Each((missing_outside(SCORE, least=-Beside(1), most=Beside(2)),), result, ends)
