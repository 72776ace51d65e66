"""Calibrate whole vectors of logits: temperature, vector, matrix and Dirichlet scaling.

One column a class, one row an item; probabilities are the softmax of rescaled logits. A constant added to a
row of logits never changes anything: logits are read up to that constant. A single column (or shape (n,)) is
the log-odds of the second of two classes. To calibrate probabilities pass their logarithms.

The richer methods are pulled towards temperature scaling by an L2 penalty, worth less and less as rows are
added: they stay finite with few rows, separable rows and classes that never occur. Finite is not better: with
fewer than some hundred rows prefer temperature scaling.
"""

import warnings
from abc import abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted

from oddsmith._check import Floats, _distinct_labels, as_weights, fail, number
from oddsmith.decide import as_array
from oddsmith.errors import (
    ConstantScoreWarning,
    NonConvergenceWarning,
    OddsmithWarning,
    ReversedScoreWarning,
    SeparableWarning,
    SingleClassWarning,
)

__all__ = ["DirichletScaling", "MatrixScaling", "TemperatureScaling", "VectorScaling"]

Index = NDArray[np.int64]
Trouble = type[OddsmithWarning] | None

# Two blocks of this many numbers stay in the second-level cache.
_BLOCK = 32768
_BRACKET = 1e6
_MAX_STEPS = 100
_WHY_ON_BOUND = {
    ConstantScoreWarning: "All logits of a row are equal: the temperature stays at 1.",
    SeparableWarning: "The true class is on top in every row: the temperature is at its lower bound.",
    ReversedScoreWarning: "Logits do not favour the true class: the temperature is at its upper bound.",
    NonConvergenceWarning: "The best temperature lies beyond its bounds.",
}


class _JointScaling(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What all joint calibrators share: reading logits and labels, softmax, decisions."""

    classes: ArrayLike | None

    def fit(self, logits: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit on logits of shape (n, k), labels and optional weights; integer weights are repetitions."""
        z, self.n_features_in_ = _as_logits(logits)
        given = as_weights(sample_weight, len(z))
        self.classes_, index = _read_classes(y, z.shape, self.classes)
        weight = np.ones(len(z)) if given is None else given.astype(np.float64)
        if given is not None:
            z, index, weight = z[weight > 0], index[weight > 0], weight[weight > 0]
        if np.all(index == index[0]):
            warnings.warn("Only one class carries weight.", SingleClassWarning, stacklevel=2)
        self._fit(z, index, weight)
        return self

    def predict_log_proba(self, logits: ArrayLike) -> Floats:
        """Return log P of each class, shape (n, k): finite where P itself rounds to 0."""
        check_is_fitted(self)
        z, columns = _as_logits(logits)
        if columns != self.n_features_in_:
            fail(
                "logits must have the columns of fit",
                f"X has {columns} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input",
                "Reshape your data to one column a class, in the same order",
            )
        return np.asarray(log_softmax(self._rescale(z), axis=1))

    def predict_proba(self, logits: ArrayLike) -> Floats:
        """Return P of each class, shape (n, k), in the order of ``classes_``."""
        return np.exp(self.predict_log_proba(logits))

    def predict(self, logits: ArrayLike) -> NDArray[Any]:
        """Return the most probable label of each row; ties go to the earlier column."""
        best = np.argmax(self.predict_log_proba(logits), axis=1)
        return np.asarray(self.classes_[best])

    @abstractmethod
    def _fit(self, z: Floats, index: Index, weight: Floats) -> None: ...

    @abstractmethod
    def _rescale(self, z: Floats) -> Floats: ...


class TemperatureScaling(_JointScaling):
    """Divide all logits by one number, the temperature T.

    P = softmax(z/T), T minimises the log-loss: a convex problem in β = 1/T, solved by guarded Newton steps to
    1e-8 or better. Cures a network that is over- or under-confident overall, never changes a decision, and
    needs few rows. It cannot repair single classes: see `VectorScaling`. T stays within a factor 10⁶ of the
    size of the logits, and a warning says when it sits on that bound.

    Parameters
    ----------
    classes : array of shape (k,), optional
        The labels of the columns, in their order; by default the sorted labels of y. Name them when a class
        may be missing from y.

    Attributes
    ----------
    temperature_ : float
        T, finite and > 0.
    classes_ : array of shape (k,)
        The labels of the columns.

    References
    ----------
    Guo et al. (2017), On calibration of modern neural networks.

    Examples
    --------
    >>> logits = [[4.0, 0.0, 0.0], [0.0, 4.0, 0.0], [4.0, 0.0, 0.0], [0.0, 0.0, 4.0]]
    >>> scaling = TemperatureScaling().fit(logits, ["a", "b", "c", "c"])
    >>> round(scaling.temperature_, 3), scaling.predict_proba(logits)[0].round(3).tolist()
    (2.232, [0.75, 0.125, 0.125])
    """

    temperature_: float

    def __init__(self, *, classes: ArrayLike | None = None) -> None:
        self.classes = classes

    def _fit(self, z: Floats, index: Index, weight: Floats) -> None:
        self.temperature_, _, trouble = _fit_temperature(z, index, weight)
        if trouble is not None:
            warnings.warn(_WHY_ON_BOUND[trouble], trouble, stacklevel=3)

    def _rescale(self, z: Floats) -> Floats:
        return np.asarray((z - z.max(axis=1, keepdims=True)) / self.temperature_)


class VectorScaling(_JointScaling):
    """Rescale and shift the logit of each class on its own.

    P = softmax(w∘x + b), x the logits less their row mean. Minimise the log-loss plus
    l2/2·Σ_c [(w_c T − 1)² + b_c²], T being the fitted temperature. Cures classes that are predicted too often
    or too surely; needs some tens of rows a class.

    Parameters
    ----------
    l2 : float, default=10
        Pull towards temperature scaling, > 0. Before any data is seen, 10 means a standard deviation of 0.3
        for each intercept and for the relative change of each slope.
    classes : array of shape (k,), optional
        The labels of the columns, in their order; by default the sorted labels of y.

    Attributes
    ----------
    coef_, intercept_ : array of shape (k,)
        w and b.
    temperature_ : float
        T; the size of the logits where no T is best.
    classes_ : array of shape (k,)
        The labels of the columns.

    References
    ----------
    Guo et al. (2017), On calibration of modern neural networks; the penalty is chosen here.

    Examples
    --------
    >>> logits = [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 2.0]]
    >>> VectorScaling().fit(logits, [0, 1, 2, 2]).intercept_.round(3).tolist()
    [-0.068, -0.013, 0.08]
    """

    coef_: Floats
    intercept_: Floats
    temperature_: float

    def __init__(self, *, l2: float = 10.0, classes: ArrayLike | None = None) -> None:
        self.l2 = l2
        self.classes = classes

    def _features(self, z: Floats) -> Floats:
        return np.asarray(z - z.mean(axis=1, keepdims=True))

    def _penalty(self, k: int) -> Floats:
        """Return the penalty of each change of the matrix: shape (k,) for a diagonal one, else (k, k)."""
        return np.full(k, number(self.l2, "l2", low=0, strict=True))

    def _fit(self, z: Floats, index: Index, weight: Floats) -> None:
        penalty = self._penalty(z.shape[1])
        best, size, trouble = _fit_temperature(z, index, weight)
        self.temperature_ = best if trouble is None else size
        v = self._features(z) / self.temperature_
        change, self.intercept_ = _fit_linear(v, index, weight, penalty, float(self.l2))
        unchanged = np.ones(len(change)) if change.ndim == 1 else np.eye(len(change))
        self.coef_ = (unchanged + change) / self.temperature_

    def _rescale(self, z: Floats) -> Floats:
        return _apply(self.coef_, self._features(z)) + self.intercept_


class MatrixScaling(VectorScaling):
    """Mix the logits of all classes: a full matrix and an intercept.

    P = softmax(W x + b), x the logits less their row mean. Minimise the log-loss plus
    l2/2·Σ_c [(w_cc T − 1)² + b_c²] + l2_off_diagonal/2·T²·Σ_{c≠d} w_cd². Can undo confusions between classes,
    at the price of k² + k parameters: for many rows and tens of classes, not for thousands of them.

    Parameters
    ----------
    l2 : float, default=10
        Pull of diagonal and intercept towards temperature scaling, > 0, as in `VectorScaling`.
    l2_off_diagonal : float, default=100
        Pull of the other entries towards 0, > 0.
    classes : array of shape (k,), optional
        The labels of the columns, in their order; by default the sorted labels of y.

    Attributes
    ----------
    coef_ : array of shape (k, k)
        W; the other attributes as in `VectorScaling`.

    References
    ----------
    Guo et al. (2017), On calibration of modern neural networks; the penalty after ODIR, off-diagonal and
    intercept regularisation, in Kull et al. (2019).

    Examples
    --------
    >>> logits = [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 2.0]]
    >>> MatrixScaling().fit(logits, [0, 1, 2, 2]).predict_proba(logits)[0].round(2).tolist()
    [0.72, 0.13, 0.15]
    """

    def __init__(
        self, *, l2: float = 10.0, l2_off_diagonal: float = 100.0, classes: ArrayLike | None = None
    ) -> None:
        super().__init__(l2=l2, classes=classes)
        self.l2_off_diagonal = l2_off_diagonal

    def _penalty(self, k: int) -> Floats:
        penalty = np.full((k, k), number(self.l2_off_diagonal, "l2_off_diagonal", low=0, strict=True))
        np.fill_diagonal(penalty, super()._penalty(k))
        return penalty


class DirichletScaling(MatrixScaling):
    """Matrix scaling of log-probabilities: exact when the vectors of each class follow a Dirichlet law.

    As `MatrixScaling`, same parameters and attributes, with x = log(k·softmax(z)), 0 where all classes are as
    probable. The log-normaliser of a row, which says how sure it is, becomes one more feature. With two
    classes this is beta calibration.

    References
    ----------
    Kull et al. (2019), Beyond temperature scaling: obtaining well-calibrated multi-class probabilities with
    Dirichlet calibration.

    Examples
    --------
    >>> logits = [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 2.0]]
    >>> DirichletScaling().fit(logits, [0, 1, 2, 2]).predict_proba(logits)[0].round(2).tolist()
    [0.73, 0.12, 0.15]
    """

    def _features(self, z: Floats) -> Floats:
        return np.asarray(log_softmax(z, axis=1) + np.log(z.shape[1]))


class _Rows(NamedTuple):
    """Logits and what every Newton step needs: the largest and the true logit of each row, and its weight."""

    z: Floats
    top: Floats
    chosen: Floats
    weight: Floats


def _fit_temperature(z: Floats, index: Index, weight: Floats) -> tuple[float, float, Trouble]:
    """Return the temperature of least log-loss, the size of the logits, and why T sits on a bound, if so."""
    rows = _Rows(z, z.max(axis=1), z[np.arange(len(z)), index], weight)
    mean = np.einsum("ij->i", z) / z.shape[1]
    size = float(weight @ (rows.top - mean) / weight.sum())
    # The mean of equal logits may be off in its last bit: where that could matter, look at the logits.
    if size <= 1e-9 * np.abs(rows.top).max() and (size <= 0 or np.array_equal(rows.top, z.min(axis=1))):
        return 1.0, 1.0, ConstantScoreWarning
    if np.array_equal(rows.top, rows.chosen):
        return size / _BRACKET, size, SeparableWarning
    if weight @ (rows.chosen - mean) <= 0:
        return size * _BRACKET, size, ReversedScoreWarning
    beta, count = 1.0, 512
    # Few rows find the neighbourhood, more rows narrow it; the whole then needs two or three passes.
    while count < len(z) // 8:
        beta = _newton(_Rows(*(column[:: len(z) // count] for column in rows)), size, beta, 1e-3)
        count *= 16
    beta = _newton(rows, size, beta, 1e-9)
    return size / beta, size, None if 2.0 / _BRACKET < beta < _BRACKET / 2.0 else NonConvergenceWarning


def _newton(rows: _Rows, size: float, beta: float, tolerance: float) -> float:
    """Find the root of the slope in β by Newton steps, halving the bracket (in log β) where they fail."""
    low, high = 1.0 / _BRACKET, _BRACKET
    last_slope = last_step = np.inf
    for _ in range(_MAX_STEPS):
        slope, curvature = _derivatives(rows, size, beta)
        low, high = (beta, high) if slope < 0 else (low, beta)
        step = -slope / (curvature * beta) if curvature > 0 else np.inf
        # Newton squares the error, so the last two steps foretell the next one; ten times it is the margin.
        error = min(abs(step), 10.0 * abs(step) ** 3 / last_step**2) if last_step < 0.1 else abs(step)
        good = low <= beta * (1.0 + step) <= high and abs(slope) <= last_slope / 2
        last_slope, last_step = abs(slope), abs(step) if good else np.inf
        beta = beta * (1.0 + step) if good or error <= tolerance else float(np.sqrt(low * high))
        if error <= tolerance or high - low <= tolerance * low:
            break
    return beta


def _derivatives(rows: _Rows, size: float, beta: float) -> tuple[float, float]:
    """Return slope and curvature of the log-loss in β: one exponential an element, in blocks."""
    height = max(1, _BLOCK // rows.z.shape[1])
    slope = curvature = 0.0
    for start in range(0, len(rows.z), height):
        z, top, chosen, weight = (column[start : start + height] for column in rows)
        below = z - top[:, None]
        below *= 1.0 / size
        terms = beta * below
        np.exp(terms, out=terms)
        total = np.einsum("ij->i", terms)
        mean = np.einsum("ij,ij->i", terms, below) / total
        terms *= below
        square = np.einsum("ij,ij->i", terms, below) / total
        slope += float(weight @ (mean - (chosen - top) / size))
        curvature += float(weight @ (square - mean * mean))
    return slope, curvature


def _fit_linear(v: Floats, index: Index, weight: Floats, penalty: Floats, l2: float) -> tuple[Floats, Floats]:
    """Minimise the penalised log-loss of (I + D) v + b by Newton steps with conjugate gradients."""
    k, each = v.shape[1], np.arange(len(v))
    ridge = np.append(penalty.ravel(), np.full(k, l2))

    def split(flat: Floats) -> tuple[Floats, Floats]:
        return flat[:-k].reshape(penalty.shape), flat[-k:]

    def moves(flat: Floats) -> Floats:
        change, shift = split(flat)
        return _apply(change, v) + shift

    def pull(rows: Floats) -> Floats:
        rows = weight[:, None] * rows
        change = np.einsum("ij,ij->j", rows, v) if penalty.ndim == 1 else rows.T @ v
        return np.append(change.ravel(), rows.sum(axis=0))

    def loss(flat: Floats) -> tuple[float, Floats]:
        log_p = np.asarray(log_softmax(v + moves(flat), axis=1))
        return float(0.5 * ridge @ flat**2 - weight @ log_p[each, index]), log_p

    theta, longest = np.zeros(ridge.size), np.inf
    value, log_p = loss(theta)
    for _ in range(_MAX_STEPS):
        p = np.exp(log_p)
        excess = p.copy()
        excess[each, index] -= 1.0
        gradient = pull(excess) + ridge * theta

        def curve(flat: Floats, p: Floats = p) -> Floats:
            moved = moves(flat)
            return pull(p * (moved - np.einsum("ij,ij->i", p, moved)[:, None])) + ridge * flat

        # Far from the optimum an exact step is wasted: solve as precisely as the last step was short.
        precision = min(0.01, max(longest, 1e-6))
        step, _ = cg(LinearOperator((theta.size,) * 2, matvec=curve), -gradient, rtol=precision, maxiter=500)
        length, gain, longest = 1.0, -gradient @ step, float(np.abs(step).max())
        while (trial := loss(theta + length * step))[0] > value - 1e-4 * length * gain + 1e-12 * abs(value):
            length /= 2.0
        theta, (value, log_p) = theta + length * step, trial
        if longest <= 1e-8 and precision <= 1e-4:
            return split(theta)
    warnings.warn("Scaling stopped before its tolerance.", NonConvergenceWarning, stacklevel=4)
    return split(theta)


def _apply(matrix: Floats, rows: Floats) -> Floats:
    return rows * matrix if matrix.ndim == 1 else np.asarray(rows @ matrix.T)


def _as_logits(logits: ArrayLike) -> tuple[Floats, int]:
    """Return logits with one column a class, and how many columns came; one column means log-odds."""
    z = as_array(logits, "logits", (1, 2))
    if z.ndim == 1 or z.shape[1] == 1:
        return np.column_stack([np.zeros(len(z)), z.ravel()]), 1
    return z, z.shape[1]


def _read_classes(
    y: ArrayLike, shape: tuple[int, ...], classes: ArrayLike | None
) -> tuple[NDArray[Any], Index]:
    """Return the labels of the columns and, for each row, the column of its label."""
    if y is None:
        fail(
            "the estimator requires y to be passed, but the target y is None", "None", "pass one label a row"
        )
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        message = "A column-vector y was passed when a 1d array was expected."
        warnings.warn(message, DataConversionWarning, stacklevel=3)
        labels = labels[:, 0]
    if labels.shape != shape[:1]:
        fail(
            "y must hold one label a row", f"shape {labels.shape} for {shape[0]} rows", "pass y of shape (n,)"
        )
    present = _distinct_labels(labels)
    if labels.dtype.kind == "f" and np.any(present % 1 != 0):
        fail("y must hold class labels", "continuous values", "pass integers, bool or text")
    columns = present if classes is None else np.asarray(classes)
    if columns.shape != shape[1:] or len(np.unique(columns)) != len(columns):
        fail(
            "logits must have one column a class",
            f"{shape[1]} columns for {columns.size} classes",
            "name the label of each column, once, with classes=",
        )
    if unknown := set(present.tolist()) - set(columns.tolist()):
        fail("y must hold labels from classes", f"labels {sorted(unknown)[:4]}", "add them to classes")
    order = np.argsort(columns)
    return columns, order[np.searchsorted(columns, labels, sorter=order)]
