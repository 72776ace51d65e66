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
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from oddsmith._check import Floats, as_array, as_weights, distinct_labels, fail, label_column, number
from oddsmith.classify._softmax import Index, apply_scaling, fit_linear, fit_temperature
from oddsmith.errors import (
    ConstantScoreWarning,
    NonConvergenceWarning,
    ReversedScoreWarning,
    SeparableWarning,
    SingleClassWarning,
)

__all__ = ["DirichletScaling", "MatrixScaling", "TemperatureScaling", "VectorScaling"]

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
        self.temperature_, _, trouble = fit_temperature(z, index, weight)
        if trouble is not None:
            warnings.warn(_WHY_ON_BOUND[trouble], trouble, stacklevel=3)

    def _rescale(self, z: Floats) -> Floats:
        return np.asarray((z - z.max(axis=1, keepdims=True)) / self.temperature_)

    @property
    def beta_(self) -> float:
        """1/T, by which scikit-learn's temperature scaling goes."""
        check_is_fitted(self, "temperature_")
        return 1 / self.temperature_


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
        best, size, trouble = fit_temperature(z, index, weight)
        self.temperature_ = best if trouble is None else size
        v = self._features(z) / self.temperature_
        change, self.intercept_ = fit_linear(v, index, weight, penalty, float(self.l2))
        unchanged = np.ones(len(change)) if change.ndim == 1 else np.eye(len(change))
        self.coef_ = (unchanged + change) / self.temperature_

    def _rescale(self, z: Floats) -> Floats:
        return apply_scaling(self.coef_, self._features(z)) + self.intercept_


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

    def __init__(self, *, l2: float = 10.0, l2_off_diagonal: float = 100.0, classes: ArrayLike | None = None) -> None:
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


def _as_logits(logits: ArrayLike) -> tuple[Floats, int]:
    """Return logits with one column a class, and how many columns came; one column means log-odds."""
    z = as_array(logits, "logits", (1, 2))
    if z.ndim == 1 or z.shape[1] == 1:
        return np.column_stack([np.zeros(len(z)), z.ravel()]), 1
    return z, z.shape[1]


def _read_classes(y: ArrayLike, shape: tuple[int, ...], classes: ArrayLike | None) -> tuple[NDArray[Any], Index]:
    """Return the labels of the columns and, for each row, the column of its label."""
    labels = label_column(y, shape[0])
    present = distinct_labels(labels)
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
