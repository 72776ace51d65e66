"""One map per class, each of that class against the rest."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from oddsmith._types import Floats
from oddsmith.formula import (
    LIMIT,
    Each,
    Formula,
    Vector,
    clip,
    exp,
    log,
    sigmoid,
    vectors,
)
from oddsmith.maps.base import CalibrationMap, class_shift, refuse_large_shift
from oddsmith.maps.families import log_odds_of_many, quick_shape
from oddsmith.maps.rows import JointMap

__all__ = ["OneVsRestMap"]


@dataclass(frozen=True, eq=False, repr=False)
class OneVsRestMap(JointMap):
    """One map per class, each of that class against the rest; their probabilities are divided by their sum.

    Where all are 0, classes are equally probable.

    Parameters
    ----------
    columns : int
        Number of columns: one per class, or one for two classes, which is the log-odds or the probability of the
        second.
    input : {"logits", "probabilities"}
        What the columns contain.
    maps : tuple of CalibrationMap
        One per class.
    against_rest : bool
        Whether maps read the log-odds of their class against all others, softmax(logits) being the probabilities; else
        they read their own column.
    shift : ndarray of shape (k,), optional
        Added to the logs of the probabilities, whose sum is then 1 again.

    See Also
    --------
    oddsmith.maps.scaling.ScalingMap : One map of whole rows.
    """

    shape: ClassVar[str] = "one_vs_rest"

    maps: tuple[CalibrationMap, ...]
    against_rest: bool
    shift: Floats | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.maps)

    def shifted(self, shift: ArrayLike) -> "OneVsRestMap":
        """Return the map with logs of probabilities that are larger by ``shift``.

        Parameters
        ----------
        shift : array of shape (k,)
            What is added to the log of each class's probability.

        Returns
        -------
        OneVsRestMap
        """
        total = class_shift(shift, self.n_classes) + (0.0 if self.shift is None else self.shift)
        if not refuse_large_shift(float(total.max() - total.min())):
            return replace(self, shift=None)
        return replace(self, shift=total)

    def formula(self) -> Vector:
        """Return the logs of the probabilities of all classes as a vector formula of the columns.

        Returns
        -------
        Vector
        """
        return self._of_probabilities(vectors.log_softmax(self._logs(self._logits())))

    def probability_formula(self) -> Vector:
        """Return the probabilities of all classes as a vector formula of the columns, for exports and engines.

        Returns
        -------
        Vector
        """
        if self.shift is None:
            return self._shares([each.probability_formula() for each in self.maps])
        logits = self._logits()
        return self._of_probabilities(self._open(vectors.softmax(self._logs(logits)), 0.0, logits))

    @property
    def quick_shape(self) -> Hashable | None:
        """What maps have in common that `probability_of_many` makes at once; None for others."""
        shapes = tuple(quick_shape(one) for one in self.maps)
        if self.shift is not None or None in shapes:
            return None
        return self.shape, self.columns, self.input, self.against_rest, shapes

    def probability_of_many(self, maps: Sequence["OneVsRestMap"]) -> Vector:
        """Return the probabilities of maps of one quick shape; columns of formulas have a row per map.

        Parameters
        ----------
        maps : sequence of maps
            Maps of one shape.

        Returns
        -------
        Vector
        """
        return self._shares([sigmoid(log_odds_of_many([one.maps[i] for one in maps])) for i in range(self.n_classes)])

    def _shares(self, probs: Sequence[Formula]) -> Vector:
        """Return the probabilities of all classes from those of each class against the rest."""
        logits, least = self._logits(), float(np.exp(-LIMIT))
        prob: Vector = Each(tuple(clip(one, least, 1.0) for one in probs), self._scores(logits))
        return self._of_probabilities(vectors.shares(self._open(prob, 0.0, logits), least, float(self.n_classes)))

    def _logs(self, logits: Vector) -> Vector:
        """Return the logs of the probabilities, not yet divided by their sum."""
        shift = np.zeros(self.n_classes) if self.shift is None else self.shift
        log_probs = tuple(
            -log(1.0 + exp(-clip(each.log_odds_formula(), -LIMIT, LIMIT))) + move
            for each, move in zip(self.maps, shift.tolist(), strict=True)
        )
        return self._open(Each(log_probs, self._scores(logits)), vectors.CLOSED, logits)

    def _open(self, x: Vector, masked: float, logits: Vector) -> Vector:
        """Return x with another value for masked classes."""
        if self.input == "probabilities":
            return x
        return vectors.where_masked(vectors.below_largest(logits), masked, x)

    def _scores(self, logits: Vector) -> Vector:
        return vectors.against_rest(logits) if self.against_rest else vectors.row_columns(self.columns)
