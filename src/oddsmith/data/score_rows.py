"""Scored rows of several classes: what a file of logits or probabilities holds, read once."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from oddsmith import _check
from oddsmith._types import Floats, Ints, Weights
from oddsmith.data.folds import Fold, RandomState, deal_by_class
from oddsmith.data.rows import LabeledScores, Meaning, read_rows
from oddsmith.data.table import ScoreTable

__all__ = ["LEAST", "ScoreRows"]

#: Smaller probabilities are read as this one.
LEAST = 1e-16


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
    meaning : {"log_odds", "probability"}
        What the columns contain: logits, or probabilities whose rows sum to 1.
    in_sample : bool
        Whether the values are forecasts of a map that was fitted on some of these rows.

    See Also
    --------
    oddsmith.ScoreTable : Scores of two classes, by distinct score.

    Examples
    --------
    >>> values = np.array([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [2.0, 0.0, 1.0]])
    >>> rows = ScoreRows(values, np.array([0, 1, 2]), ("a", "b", "c"), None, ("a", "b", "c"), "log_odds")
    >>> rows, rows.one_vs_rest(1).scores.round(3)
    (ScoreRows(rows=3, classes=3, meaning=log_odds), array([-2.313, -2.127,  1.307]))
    """

    values: Floats
    truth: Ints
    labels: tuple[Any, ...]
    weight: Weights | None
    column_names: tuple[str, ...]
    meaning: Meaning
    in_sample: bool = False

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.labels)

    @property
    def kind(self) -> Literal["count", "weight"]:
        """Either "count" for rows and integer counts or "weight" for float importance weights."""
        return "count" if self.weight is None or self.weight.dtype.kind == "i" else "weight"

    @property
    def class_weights(self) -> Floats:
        """Number of cases, or weight, of each class."""
        return np.bincount(self.truth, self.weight, len(self.labels)).astype(np.float64)

    @property
    def input(self) -> Literal["logits", "probabilities"]:
        """The meaning in the words of joint scalings and their maps."""
        return "logits" if self.meaning == "log_odds" else "probabilities"

    def logits(self) -> Floats:
        """Return one logit per class: logs of probabilities.

        Returns
        -------
        ndarray
        """
        return self.values if self.meaning == "log_odds" else np.log(np.maximum(self.values, LEAST))

    def against_rest(self, index: int, logits: Floats | None = None) -> LabeledScores:
        """Return the log-odds of one class against all others, from logits, if they are known already.

        Rows in which the class, or all others, are masked are left out: their P is 0 or 1. A class that is masked in
        all rows is never possible: it gets a score of 0 everywhere.

        Parameters
        ----------
        index : int
            The place of the class among the labels.
        logits : array of shape (n, k), optional
            Logits to use instead of the rows' own.

        Returns
        -------
        LabeledScores
        """
        z = self.logits() if logits is None else logits
        scores = np.asarray(z[:, index] - logsumexp(np.delete(z, index, axis=1), axis=1))
        possible = np.isfinite(scores)
        if not possible.any():
            scores, possible = np.zeros(len(scores)), np.ones(len(scores), dtype=bool)
        weight = None if self.weight is None else self.weight[possible]
        rows, _ = read_rows(scores[possible], (self.truth == index)[possible], weight, None)
        return replace(rows, meaning="log_odds")

    def one_vs_rest(self, index: int) -> ScoreTable:
        """Return the table of the log-odds of one class against all others; see `against_rest`.

        Parameters
        ----------
        index : int
            The place of the class among the labels.

        Returns
        -------
        ScoreTable
        """
        return replace(ScoreTable.from_rows(self.against_rest(index)), in_sample=self.in_sample)

    def take(self, at: NDArray[np.intp], weight: Weights | None = None) -> "ScoreRows":
        """Return some of the rows, with other weights where given, one for each of all rows.

        Parameters
        ----------
        at : array of bool or int
            Which rows.
        weight : array, optional
            Other weights for them.

        Returns
        -------
        ScoreRows
        """
        given = self.weight if weight is None else weight
        kept = None if given is None else given[at]
        return replace(self, values=self.values[at], truth=self.truth[at], weight=kept)

    def join(self, *others: "ScoreRows") -> "ScoreRows":
        """Return the rows of several parts together.

        Parameters
        ----------
        *others : ScoreRows
            Rows of the same classes and columns.

        Returns
        -------
        ScoreRows
        """
        parts = [self, *others]
        values, truth = (np.concatenate([getattr(part, name) for part in parts]) for name in ("values", "truth"))
        weight: Any = None
        if any(part.weight is not None for part in parts):
            given = (np.ones(part.n_rows, np.int64) if part.weight is None else part.weight for part in parts)
            weight = np.concatenate(list(given))
        return replace(self, values=values, truth=truth, weight=weight, in_sample=any(one.in_sample for one in parts))

    def folds(self, n_folds: int = 5, random_state: RandomState = None) -> "list[Fold[ScoreRows]]":
        """Split at random in parts of equal size, each with its share of every class.

        A row of weight 2 is dealt as two rows are, one of float weight whole.

        Parameters
        ----------
        n_folds : int, default 5
        random_state : int, Generator or None

        Returns
        -------
        list of Fold
            ``part``, and ``rest`` of the other parts.
        """
        k = _check.whole_number(n_folds, "n_folds", low=2)
        order = np.argsort(self.truth, kind="stable")
        given = np.ones(self.n_rows, np.int64) if self.weight is None else self.weight
        units = (given if self.kind == "count" else np.ones(self.n_rows, np.int64))[order].astype(np.int64)
        each = np.ones(self.n_rows, np.int64) if self.kind == "count" else given[order]
        rows, truth = self.take(order), self.truth[order]
        rng = np.random.default_rng(random_state)
        amounts = deal_by_class(units.astype(np.float64), truth, self.n_classes, k, rng)
        parts = np.rint(amounts).astype(np.int64)
        return [Fold(*(rows.take(np.flatnonzero(n), n * each) for n in (units - part, part))) for part in parts]

    def __repr__(self) -> str:
        sample = ", in_sample=True" if self.in_sample else ""
        return f"ScoreRows(rows={self.n_rows}, classes={self.n_classes}, meaning={self.meaning}{sample})"
