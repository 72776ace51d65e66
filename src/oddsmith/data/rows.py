"""Scores and labels as rows: read once, checked once, not yet sorted."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oddsmith import _check, _kernels
from oddsmith._types import Bools, Floats, Weights
from oddsmith.data.row_hash import mark_sums

#: What scores are: any real numbers, probabilities, or log-odds (of several classes logits).
Meaning = Literal["score", "probability", "log_odds"]


@dataclass(frozen=True, eq=False, repr=False)
class LabeledScores:
    """Scores and labels before any sort: enough for methods that need no order.

    Calibrators with ``_needs_order = False`` are fitted to them, or to a `ScoreTable`.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Finite scores, in any order.
    positive : ndarray of bool of shape (n,)
        Which rows are positive.
    weight : ndarray of shape (n,) or None
        Integers are counts, floats importance weights; None: each row counts once.
    extremes : tuple of float, optional
        The smallest and the largest score, where they are known.
    meaning : {"score", "probability", "log_odds"}, default "score"
        What the scores are.

    See Also
    --------
    ScoreTable.from_rows : Makes a table of them.
    """

    scores: Floats
    positive: Bools
    weight: Weights | None
    extremes: tuple[float, float] | None = None
    meaning: Meaning = "score"

    @cached_property
    def n_pos(self) -> float:
        """Positive weight."""
        if self.weight is None:
            return int(np.count_nonzero(self.positive))
        return total_weight(self.weight[self.positive])

    @cached_property
    def n_neg(self) -> float:
        """Negative weight."""
        if self.weight is None:
            return len(self.scores) - self.n_pos
        return total_weight(self.weight[~self.positive])

    @property
    def n_rows(self) -> int:
        """Number of rows, a count of 2 being two."""
        return len(self.scores) if self.weight is None or self.kind == "weight" else int(self.weight.sum())

    @property
    def kind(self) -> Literal["count", "weight"]:
        """Either "count" for integer counts or "weight" for float importance weights."""
        return "count" if self.weight is None or self.weight.dtype.kind == "i" else "weight"

    def span(self) -> tuple[float, float]:
        """Return the smallest and the largest score.

        Returns
        -------
        tuple of float
        """
        return self._span

    @cached_property
    def _span(self) -> tuple[float, float]:
        return self.extremes or (float(self.scores.min()), float(self.scores.max()))

    def map(self, function: Callable[[Floats], Floats]) -> "LabeledScores":
        """Replace every score by ``function(scores)``.

        Parameters
        ----------
        function : callable
            From an array to an array of the same length.

        Returns
        -------
        LabeledScores
        """
        return LabeledScores(function(self.scores), self.positive, self.weight)

    def positive_weight(self, part: slice) -> Floats:
        """Return the positive weight of some rows.

        Parameters
        ----------
        part : slice

        Returns
        -------
        ndarray
        """
        marks = self.positive[part].astype(np.float64)
        return marks if self.weight is None else marks * self.weight[part]

    def marginal(self) -> tuple[Floats, Weights | None]:
        """Return the scores of both classes with their weights (None: all ones).

        Returns
        -------
        tuple of ndarray and ndarray or None
        """
        return self.scores, self.weight

    def chunks(self) -> Iterator[tuple[Floats, Bools, Bools]]:
        """Iterate over scores with marks of positive and negative weight.

        Yields
        ------
        tuple of three ndarray
        """
        for part in slices(len(self.scores)):
            yield self.scores[part], self.positive[part], ~self.positive[part]

    def of_class(self, positive: bool) -> tuple[Floats, Weights | None]:
        """Return the scores of one class with their weights (None: all ones).

        Parameters
        ----------
        positive : bool
            Which class.

        Returns
        -------
        tuple of ndarray and ndarray or None
        """
        chosen = self.positive if positive else ~self.positive
        return self.scores[chosen], None if self.weight is None else self.weight[chosen]

    def mark_sums(self) -> tuple[float, float]:
        """Sum the marks of the scores over the positive weight and over all.

        Returns
        -------
        tuple of float
        """
        positive = self.positive if self.weight is None else self.weight * self.positive
        return mark_sums(self.scores, positive, self.weight)

    def class_sums(self, scale: float, shift: float) -> tuple[float, float]:
        """Sum s/scale − shift over the weight of the positive and of the negative class.

        Parameters
        ----------
        scale, shift : float

        Returns
        -------
        tuple of float
        """
        loops = _kernels.load_compiled(len(self.scores)) if self.weight is None else None
        if loops is not None:
            sums: tuple[float, float] = loops.class_sums(self.scores, self.positive, 1 / scale, shift)
            return sums
        positive = total = 0.0
        for part in slices(len(self.scores)):
            x = self.scores[part] * (1 / scale)
            if shift:
                x -= shift
            positive += float(self.positive_weight(part).dot(x))
            total += float(x.sum() if self.weight is None else self.weight[part].dot(x))
        return positive, total - positive


def read_rows(
    scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, pos_label: Any
) -> tuple[LabeledScores, NDArray[Any]]:
    """Validate arrays; return the rows that carry weight, and the names of the two classes."""
    checked, span = _check.as_spanned_scores(scores)
    labels = _check.as_labels(y, len(checked), pos_label)
    weight = _check.as_weights(sample_weight, len(checked))
    positive = labels.positive
    if weight is not None and weight.min() == 0:
        present = weight > 0
        checked, positive, weight = checked[present], positive[present], weight[present]
        return LabeledScores(checked, positive, weight), labels.classes
    return LabeledScores(checked, positive, weight, span), labels.classes


def binary_scale(low: float, high: float) -> float:
    """Return a power of two that is not smaller than high − low, or nearly so, and whose inverse is finite too."""
    reach = high - low
    exponent = math.frexp(reach)[1] if math.isfinite(reach) else math.frexp(high / 2 - low / 2)[1] + 1
    return math.ldexp(1.0, max(min(exponent, 1023), -1020))


def slices(n: int, size: int = _kernels.CHUNK) -> Iterator[slice]:
    """Walk over n rows in pieces whose temporaries stay in the cache."""
    return (slice(start, start + size) for start in range(0, n, size))


def total_weight(weights: Weights) -> float:
    """Return the sum of weights, an int for counts."""
    return int(weights.sum()) if weights.dtype.kind == "i" else float(weights.sum())
