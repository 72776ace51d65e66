"""Forecasts of several classes: rows of probabilities with their true class, and their tables of two classes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp

from oddsmith import _check
from oddsmith._types import Floats, Weights
from oddsmith.data import ScoreTable
from oddsmith.maps import logit

#: Probabilities below this are as good as impossible.
_POSSIBLE = 1e-300


@dataclass(frozen=True, eq=False, repr=False)
class ClassForecast:
    """Rows of class probabilities with the true class of each; make it with `class_forecast` or `forecast_of`.

    Attributes
    ----------
    prob : ndarray of shape (n, k)
        Probabilities of the classes.
    truth : ndarray of int, shape (n,)
        Column of the true class.
    weight : ndarray of shape (n,)
        Integers are counts, floats importance weights.
    labels : ndarray of shape (k,)
        Labels, in the order of the columns.
    log_prob : ndarray of shape (n, k) or None
        Logarithms of the probabilities where they are known more exactly, as from logits.
    in_sample : bool
        Whether the forecast was fitted on these rows.

    See Also
    --------
    class_forecast : Makes it from labels and probabilities.
    oddsmith.ScoreTable : The same for two classes.
    """

    prob: Floats
    truth: NDArray[np.intp]
    weight: Weights
    labels: NDArray[Any]
    log_prob: Floats | None = None
    in_sample: bool = False

    def at(
        self, rows: NDArray[np.intp], truth: NDArray[np.intp] | None = None, weight: Weights | None = None
    ) -> "ClassForecast":
        """Return the forecast of some rows, which may have another true class or weight.

        Parameters
        ----------
        rows : array of bool or int
            Which rows.
        truth : array of int, optional
            Other true classes for them.
        weight : array, optional
            Other weights for them.

        Returns
        -------
        ClassForecast
        """
        return replace(
            self,
            prob=self.prob[rows],
            truth=self.truth[rows] if truth is None else truth,
            weight=self.weight[rows] if weight is None else weight,
            log_prob=None if self.log_prob is None else self.log_prob[rows],
        )

    def clip(self, low: float, high: float = 1.0) -> "ClassForecast":
        """Return the forecast with probabilities within limits.

        Parameters
        ----------
        low : float
            The smallest probability.
        high : float, default 1
            The largest probability.

        Returns
        -------
        ClassForecast
        """
        return replace(self, prob=np.clip(self.prob, low, high), log_prob=None)

    def of_class(self, k: int) -> ScoreTable:
        """Return the forecast of one class against the rest.

        Parameters
        ----------
        k : int
            The place of the class among the labels.

        Returns
        -------
        ScoreTable
        """
        return self._table(self.truth == k, self.prob[:, k], self.weight)

    def of_classes(self) -> Iterator[ScoreTable]:
        """Iterate over the forecasts of each class against the rest, which are made once.

        Yields
        ------
        ScoreTable
        """
        return iter(self._tables)

    @cached_property
    def _tables(self) -> tuple[ScoreTable, ...]:
        return tuple(self.of_class(k) for k in range(len(self.labels)))

    def of_pair(self, k: int, other: int) -> ScoreTable:
        """Return the forecast of one class among the rows of two, by its probability.

        Parameters
        ----------
        k : int
            The place of the positive class.
        other : int
            The place of the negative class.

        Returns
        -------
        ScoreTable
        """
        held = (self.truth == k) | (self.truth == other)
        return self._table(self.truth[held] == k, self.prob[held, k], self.weight[held])

    def of_top_label(self) -> ScoreTable:
        """Return the forecast that the most probable class is the true one (ties: the first class).

        Its measures are those of the top label: accuracy is its prevalence, and any calibration error or test applies.

        Returns
        -------
        ScoreTable
        """
        return self._table(self.right, self.prob.max(axis=1), self.weight)

    def _table(self, positive: NDArray[np.bool_], prob: Floats, weight: Weights) -> ScoreTable:
        return replace(ScoreTable.from_arrays(prob, positive, weight).map(logit), in_sample=self.in_sample)

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether the most probable class is the true one."""
        return np.asarray(np.argmax(self.prob, axis=1) == self.truth)

    @property
    def log_of_truth(self) -> Floats:
        """Log P of the true class of each row; −inf where P is 0."""
        if self.log_prob is not None:
            return np.take_along_axis(self.log_prob, self.truth[:, None], axis=1)[:, 0]
        with np.errstate(divide="ignore"):
            return np.log(np.take_along_axis(self.prob, self.truth[:, None], axis=1)[:, 0])

    @property
    def squared_distance(self) -> Floats:
        """Σ_k (t_k − P_k)² of each row."""
        gaps = self.prob.copy()
        gaps[np.arange(len(gaps)), self.truth] -= 1
        return np.asarray(np.sum(gaps**2, axis=1))

    @property
    def squared_weight(self) -> Weights:
        """Square of the weight of each row, which is the count for counts."""
        return self.weight if self.weight.dtype.kind == "i" else self.weight**2

    @property
    def base_rates(self) -> Floats:
        """Share of each class."""
        counts = np.bincount(self.truth, self.weight, len(self.labels))
        return np.asarray(counts / counts.sum())

    def allot(self, amounts: Weights) -> "ClassForecast":
        """Return the forecast if so much of each row is of each class, shape (n, k); of equal rows one for each class.

        Parameters
        ----------
        amounts : array of shape (n,)
            An amount for each row.

        Returns
        -------
        ClassForecast

        Examples
        --------
        >>> class_forecast([0, 1], [[0.8, 0.2], [0.6, 0.4]]).allot(np.array([[5, 0], [2, 3]])).truth
        array([0, 0, 1])
        """
        row, truth = np.nonzero(amounts)
        return self.at(row, truth, amounts[row, truth])

    def __len__(self) -> int:
        return len(self.truth)

    def __repr__(self) -> str:
        sample = ", in_sample=True" if self.in_sample else ""
        return f"ClassForecast(rows={len(self)}, classes={len(self.labels)}{sample})"


def class_forecast(
    y_true: ArrayLike, prob: ArrayLike, sample_weight: ArrayLike | None = None, *, labels: ArrayLike | None = None
) -> ClassForecast:
    """Return the forecast of several classes.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of any kind.
    prob : array-like of shape (n, k)
        Probabilities of the classes; rows sum to 1.
    sample_weight : array-like of shape (n,), optional
        Integer-typed weights are counts, float weights importance weights.
    labels : array-like of shape (k,), optional
        Labels in the order of the columns; by default the sorted labels of ``y_true``, which must then all occur.

    Returns
    -------
    ClassForecast

    See Also
    --------
    forecast_from_arrays : The same for two classes.

    Examples
    --------
    >>> class_forecast(["b", "a"], [[0.2, 0.8], [0.6, 0.4]]).truth
    array([1, 0])
    """
    p = _check.as_distribution(prob)
    truth, known = class_columns(y_true, p.shape, labels)
    weight = _check.as_weights(sample_weight, len(p))
    if weight is None:
        return ClassForecast(p, truth, np.ones(len(p), np.int64), known)
    held = weight > 0
    return ClassForecast(p[held], truth[held], weight[held], known)


def class_columns(
    y_true: ArrayLike, shape: tuple[int, ...], labels: ArrayLike | None
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the column of the true class of each row, and the label of each column."""
    y = _check.label_column(y_true, shape[0])
    known = _check.distinct_labels(y) if labels is None else np.asarray(labels)
    if known.shape != (shape[1],):
        _check.fail(
            f"labels must name the {shape[1]} columns of prob",
            f"{known.size} {'labels in y_true' if labels is None else 'labels'}",
            "pass labels= in the order of the columns",
        )
    order = np.argsort(known, kind="stable")
    truth = order[np.minimum(np.searchsorted(known, y, sorter=order), len(known) - 1)]
    if np.any(wrong := known[truth] != y):
        _check.fail("y_true must contain labels= only", f"{y[wrong][0]!r}", "name every class in labels=")
    return truth, known


def recalibrate(forecast: ClassForecast) -> Floats:
    """Return log-probabilities of the best softmax(a·log P + b), with one slope and one intercept per class."""
    z = np.log(np.maximum(forecast.prob, _POSSIBLE))
    z -= z.max(axis=1, keepdims=True)
    rows, share = np.arange(len(z)), forecast.weight / forecast.weight.sum(dtype=np.float64)
    # The slope is scaled to the spread of log P, so that the first step is neither tiny nor huge.
    scale = max(float(z.std()), 1e-12)

    def log_prob(at: Floats) -> Floats:
        u = at[0] / scale * z + at[1:]
        return np.asarray(u - logsumexp(u, axis=1, keepdims=True))

    def loss(at: Floats) -> tuple[float, Floats]:
        logs = log_prob(at)
        gap = np.exp(logs)
        gap[rows, forecast.truth] -= 1
        gap *= share[:, None]
        return -float(share @ logs[rows, forecast.truth]), np.append(np.sum(gap * z) / scale, gap.sum(axis=0))

    start = np.append(scale, np.zeros(z.shape[1]))
    return log_prob(minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500, "gtol": 1e-8}).x)
