"""Calibrate whole vectors of logits: temperature, vector, matrix and Dirichlet scaling.

One column per class, one row per case; probabilities are the softmax of rescaled logits. A constant added to a
row of logits never changes anything: logits are read up to that constant. A single column (or shape (n,)) is
the log-odds of the second of two classes. Rows of probabilities are recognized, and read by their logarithms.

A logit of −inf masks its class in that row: P = 0. One that is at least 700, and 200 times the typical margin, below
the largest of its row, such as −1e9, is read as a mask too, with a tiny P: it takes no part in means and matrices.

Logits far below the largest of their row, such as those of naive Bayes, are clipped if that raises the log-likelihood
of temperature scaling, on cases held out, by more than 4 nats in all and, unless the logits as given seem reversed,
0.02 per case. The limit is that of the highest likelihood; it is saved and exported with the scaling. Nothing is
clipped where all logits are within 37 of the largest.

The richer methods are pulled towards temperature scaling by an L2 penalty, worth less and less as rows are
added: they stay finite with few rows, separable rows and classes that never occur. Finite is not better: with
fewer than some hundred rows prefer temperature scaling.
"""

import os
import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from oddsmith import _check
from oddsmith._types import Bools, Floats, Ints
from oddsmith.calibrators._base import method_name
from oddsmith.calibrators._masked_logits import Logits, center, read_masks, refuse_masked_truth, unmask
from oddsmith.calibrators._sorted_cases import Sorted, deal, sort_cases
from oddsmith.data import LEAST, ScoreTable
from oddsmith.errors import (
    ConstantScoreWarning,
    NonConvergenceWarning,
    ReversedScoreWarning,
    SeparableWarning,
    SingleClassWarning,
)
from oddsmith.fitting import BoundReason, Cases, fit_linear, fit_temperature, structured_penalty
from oddsmith.maps import Input, LogitReading, ScalingMap, ScalingPart
from oddsmith.model import save

__all__ = ["DirichletScaling", "MatrixScaling", "TemperatureScaling", "VectorScaling"]

DeclaredInput = Literal["auto", "logits", "probabilities"]

#: Log-loss per case that may be left to gain.
_TOLERANCE = 1e-16

#: Nats of log-likelihood, over all cases and per case, by which clipped logits must be better to be used: ordinary
#: overconfidence, of networks for instance, is not meant.
_EVIDENCE, _EVIDENCE_PER_CASE = 4.0, 0.02

#: The largest slope that a saved map may hold: logits below the smallest doubles cannot be told apart.
STEEPEST = 1e300

#: Logits that are worked on at a time.
_BLOCK = 2**18

WHY_ON_BOUND: dict[type[Warning], str] = {
    ConstantScoreWarning: "All logits of a row are equal: the temperature stays at 1.",
    SeparableWarning: "The true class has the largest logit in every row, so no temperature is best: T = 1.",
    ReversedScoreWarning: "Logits do not favor the true class: no temperature is better than uniform probabilities.",
    NonConvergenceWarning: "The best temperature is beyond its bounds.",
}


@dataclass(eq=False, repr=False, kw_only=True)
class JointScaling(ClassifierMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base of all joint scalings: logits and labels in, class probabilities out.

    Parameters
    ----------
    classes : array of shape (k,), optional
        The labels of the columns, in their order; by default the sorted labels of y.
    input : {"auto", "logits", "probabilities"}, default "auto"
        "auto" reads rows that are ≥ 0 and sum to 1 as probabilities, others as logits.

    See Also
    --------
    oddsmith.Calibrator : The same for two classes.
    register_calibrator : Makes a scaling known by name.
    """

    classes: ArrayLike | None = None
    input: DeclaredInput = "auto"

    def fit(self, logits: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit on logits of shape (n, k), labels and optional weights; integer weights are repetitions.

        Arrays, data frames and tensors (anything with ``__array__`` or ``__dlpack__``) are taken as they are.

        Parameters
        ----------
        logits : array-like of shape (n, k)
            Logits or class probabilities, a column per class.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), optional
            Integer-typed weights are counts, float weights importance weights.

        Returns
        -------
        self
        """
        rows, kind = read_rows(logits, self.input)
        return self._learn(rows, kind, y, sample_weight, self.classes)

    def fit_table(self, table: ScoreTable) -> Self:
        """Fit to a score table of two classes: its score is the log-odds, or the probability, of the second class.

        Scores of unknown meaning that all lie in [0, 1] are read as probabilities, as calibrators do.

        Parameters
        ----------
        table : ScoreTable
            Counts of positives and negatives by score.

        Returns
        -------
        self
        """
        low, high = table.span()
        guessed = table.meaning == "score" and 0 <= low and high <= 1 and self.input == "auto"
        kind: Input = "probabilities" if guessed or table.meaning == "probability" else "logits"
        scores, y, weight = table.to_arrays()
        classes = [0, 1] if self.classes is None else self.classes
        rows, kind = read_rows(scores, kind if self.input == "auto" else self.input)
        self._learn(rows, kind, np.asarray(classes)[y], weight, classes)
        self.n_rows_: int = table.rows
        return self

    def _learn(
        self, rows: Floats, kind: Input, y: ArrayLike, sample_weight: ArrayLike | None, classes: ArrayLike | None
    ) -> Self:
        self.input_: Input = kind
        self.n_features_in_: int = rows.shape[1]
        z = logits_of(rows, kind)
        given = _check.as_weights(sample_weight, len(z))
        self.classes_: NDArray[Any]
        self.classes_, index = _read_classes(y, z.shape, classes)
        weight = np.ones(len(z)) if given is None else given.astype(np.float64)
        if given is not None:
            z, index, weight = z[weight > 0], index[weight > 0], weight[weight > 0]
        refuse_masked_truth(z, index)
        self.class_weight_: Floats = np.bincount(index, weight, len(self.classes_)).astype(np.float64)
        self.n_rows_ = len(z)
        self.weighted_: bool = given is not None and given.dtype.kind == "f"
        if np.all(index == index[0]):
            warnings.warn("Only one class carries weight.", SingleClassWarning, stacklevel=3)
        self._fit(read_masks(z, weight), index, weight)
        return self

    def predict_log_proba(self, logits: ArrayLike) -> Floats:
        """Return log P of each class, shape (n, k): finite where P itself rounds to 0.

        Parameters
        ----------
        logits : array-like of shape (n, k)
            Logits or class probabilities, a column per class.

        Returns
        -------
        ndarray
        """
        rows = self._rows(logits)
        return self.map_.class_log_probability(rows)

    def predict_proba(self, logits: ArrayLike) -> Floats:
        """Return P of each class, shape (n, k), in the order of ``classes_``.

        Parameters
        ----------
        logits : array-like of shape (n, k)
            Logits or class probabilities, a column per class.

        Returns
        -------
        ndarray
        """
        rows = self._rows(logits)
        return self.map_.class_probability(rows)

    def log_odds(self, logits: ArrayLike) -> Floats:
        """Return log P(second)/P(first) of two classes, shape (n,): finite where P rounds to 0 or 1.

        Parameters
        ----------
        logits : array-like of shape (n, k)
            Logits or class probabilities, a column per class.

        Returns
        -------
        ndarray
        """
        rows = self._rows(logits)
        if len(self.classes_) != 2:
            _check.fail("log_odds needs two classes", f"{len(self.classes_)}", "use predict_log_proba")
        logs = self.map_.class_log_probability(rows)
        return np.asarray(logs[:, 1] - logs[:, 0])

    def transform(self, logits: ArrayLike) -> Floats:
        """Return P of each class, shape (n, k), for use inside a pipeline.

        Parameters
        ----------
        logits : array-like of shape (n, k)
            Logits or class probabilities, a column per class.

        Returns
        -------
        ndarray
        """
        return self.predict_proba(logits)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Name the output columns, for ``set_output``."""
        del input_features
        check_is_fitted(self)
        name = type(self).__name__.lower()
        return np.array([f"{name}{k}" for k in range(len(self.classes_))], dtype=object)

    def _rows(self, logits: ArrayLike) -> Floats:
        """Return the columns of rows, as many as there were in fit."""
        check_is_fitted(self)
        rows, _ = read_rows(logits, self.input_)
        hint = "Reshape your data to one column per class, in the same order"
        _check.refuse_other_columns(rows, "logits", self, hint)
        return rows

    def predict(self, logits: ArrayLike) -> NDArray[Any]:
        """Return the most probable label of each row; ties go to the earlier column.

        Parameters
        ----------
        logits : array-like of shape (n, k)
            Logits or class probabilities, a column per class.

        Returns
        -------
        ndarray
        """
        best = np.argmax(self.predict_log_proba(logits), axis=1)
        return np.asarray(self.classes_[best])

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the fitted scaling to a JSON file that `oddsmith.load` reads; ``force`` replaces one that exists.

        Parameters
        ----------
        path : str or Path
            The file.
        force : bool, default False
            Whether to replace a file of this name.
        """
        check_is_fitted(self)
        save(self, path, force=force)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Return the parameters, and what a fitted scaling took its input for."""
        plain = str(super().__repr__(N_CHAR_MAX))
        return f"{plain} fitted to {self.input_}" if hasattr(self, "input_") else plain

    @abstractmethod
    def _fit(self, logits: Logits, index: Ints, weight: Floats) -> None: ...

    @property
    @abstractmethod
    def map_(self) -> ScalingMap:
        """The fitted map, from columns to probabilities."""

    def _single(
        self, reading: LogitReading, coef: Floats, intercept: Floats, floor: float | None, drop: float | None
    ) -> ScalingMap:
        """Return the map of a scaling that is not a blend."""
        part = ScalingPart(method_name(type(self)), reading, 0.0, coef, intercept, floor, drop)
        return ScalingMap(self.n_features_in_, self.input_, (part,), np.ones(1), np.zeros(len(self.classes_)))


@dataclass(eq=False, repr=False, kw_only=True)
class TemperatureScaling(JointScaling):
    """Divide all logits by one number, the temperature T.

    P = softmax(z/T), T minimizes the log-loss: a convex problem in β = 1/T, solved by guarded Newton steps to
    1e-8 or better. Repairs a network that is over- or underconfident overall, never changes a decision, and
    needs few rows. It cannot repair single classes: see `VectorScaling`. T stays within a factor 10⁶ of the
    size of the logits, with a warning where it is on that bound. Where the true class is on top in every row the
    log-loss has no minimum: T = 1, the logits as given, with a warning.

    If some logits are more than 37 below the largest of their row, as those of naive Bayes are, logits are clipped at
    the limit of the highest likelihood, provided that clipping raises the log-likelihood of cases held out by more than
    4 nats in all and, unless the logits as given seem reversed, 0.02 per case. Decisions stay the same, and the limit
    is saved and exported with T; all joint scalings use it.

    Parameters
    ----------
    classes : array of shape (k,), optional
        The labels of the columns, in their order; by default the sorted labels of y. Name them when a class
        may be missing from y.
    input : {"auto", "logits", "probabilities"}, default "auto"
        "auto" reads rows that are ≥ 0 and sum to 1 as probabilities, others as logits.

    Attributes
    ----------
    temperature_ : float
        T, finite and > 0.
    classes_ : array of shape (k,)
        The labels of the columns.

    See Also
    --------
    TemperatureCalibrator : The same for two classes.
    VectorScaling : Repairs single classes.
    AutoScaling : Chooses among scalings out of sample.

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

    def _fit(self, logits: Logits, index: Ints, weight: Floats) -> None:
        self.temperature_: float
        logits, (self.temperature_, _, reason) = clip_where_better(logits, index, weight)
        # Where a class that seemed masked was the true one, logits are read from the floor upwards.
        self._floor = logits.floor if logits.clips or logits.impossible_weight(index, weight) > 0 else None
        if reason is not None:
            warnings.warn(WHY_ON_BOUND[reason], reason, stacklevel=4)

    @property
    def map_(self) -> ScalingMap:
        """The fitted map, from columns to probabilities."""
        coef, intercept = np.array(min(self.beta_, STEEPEST)), np.zeros(len(self.classes_))
        return self._single("logits", coef, intercept, self._floor, 0.0)

    @property
    def beta_(self) -> float:
        """1/T, by which scikit-learn's temperature scaling goes."""
        check_is_fitted(self, "temperature_")
        return 1 / self.temperature_


@dataclass(eq=False, repr=False, kw_only=True)
class VectorScaling(JointScaling):
    """Rescale and shift the logit of each class separately.

    P = softmax(w∘x + b), x the logits less their row mean. Minimize the log-loss plus
    penalty/2·Σ_c [(w_c T − 1)² + b_c²], T being the fitted temperature. Repairs classes that are predicted too often or
    with too much confidence; needs some tens of rows per class.

    Parameters
    ----------
    penalty : float, optional
        Pull towards temperature scaling, > 0; by default k. Before any data is seen, 10 means a standard deviation of
        0.3 for each intercept and for the relative change of each slope.
    classes : array of shape (k,), optional
        The labels of the columns, in their order; by default the sorted labels of y.
    input : {"auto", "logits", "probabilities"}, default "auto"
        "auto" reads rows that are ≥ 0 and sum to 1 as probabilities, others as logits.

    Attributes
    ----------
    coef_, intercept_ : array of shape (k,)
        w and b.
    temperature_ : float
        T; 1 where the true class is on top in every row, so that the penalty pulls towards the logits as given; the
        size of the logits where no other T is best. Where logits do not favor the true class, with a warning, the
        penalty is on (w_c T)² instead of (w_c T − 1)², and pulls towards uniform probabilities.
    classes_ : array of shape (k,)
        The labels of the columns.

    See Also
    --------
    TemperatureScaling : One parameter.
    MatrixScaling : Mixes the logits of all classes.

    References
    ----------
    Guo et al. (2017), On calibration of modern neural networks; the penalty is chosen here.

    Examples
    --------
    >>> logits = [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 2.0]]
    >>> VectorScaling().fit(logits, [0, 1, 2, 2]).intercept_.round(3).tolist()
    [-0.182, -0.042, 0.223]
    """

    penalty: float | None = None

    _reading: ClassVar[LogitReading] = "logits"

    def _features(self, z: Floats, gone: Bools | None = None) -> Floats:
        """Return what the matrix is applied to, 0 for masked classes."""
        return center(z, gone)

    def _penalty(self, k: int) -> Floats:
        """Return the penalty of each change of the matrix: shape (k,) for a diagonal one, else (k, k)."""
        return np.full(
            k,
            k if self.penalty is None else _check.number(self.penalty, "penalty", low=0, strict=True),
            dtype=np.float64,
        )

    def _fit(self, logits: Logits, index: Ints, weight: Floats) -> None:
        penalty = self._penalty(logits.z.shape[1])
        logits, (best, size, reason) = clip_where_better(logits, index, weight)
        z, gone = logits.z, logits.gone
        self.temperature_: float = best if reason in (None, SeparableWarning) else size
        flat = reason is ReversedScoreWarning or (reason is NonConvergenceWarning and best > size)
        if reason is not None and (flat or reason is SeparableWarning):
            warnings.warn(WHY_ON_BOUND[reason], reason, stacklevel=4)
        v = np.empty(z.shape[::-1])
        for rows in gen_batches(len(z), max(_BLOCK // z.shape[1], 1)):  # large logits are copied once
            v[:, rows] = self._features(z[rows], None if gone is None else gone[rows]).T / self.temperature_
        self._floor, self._drop = logits.floor, logits.drop(self.temperature_, index, weight)
        offset = logits.offsets(self._drop)
        if flat:  # less the identity, so that a change of 0 gives uniform probabilities
            offset = -v if offset is None else offset - v
        cases = Cases(v, index, weight, offset)
        fitted = fit_linear(cases, penalty, float(penalty.flat[0]), tolerance=_TOLERANCE)
        if not fitted.converged:
            warnings.warn("Scaling stopped before its tolerance.", NonConvergenceWarning, stacklevel=4)
        matrix = fitted.change if flat else fitted.matrix
        self.coef_, self.intercept_ = matrix / self.temperature_, fitted.shift

    @property
    def map_(self) -> ScalingMap:
        """The fitted map, from columns to probabilities."""
        coef = np.clip(self.coef_, -STEEPEST, STEEPEST)
        return self._single(self._reading, coef, self.intercept_, self._floor, self._drop)


@dataclass(eq=False, repr=False, kw_only=True)
class MatrixScaling(VectorScaling):
    """Mix the logits of all classes: a full matrix and an intercept.

    P = softmax(W x + b), x the logits less their row mean. Minimize the log-loss plus
    penalty/2·Σ_c [(w_cc T − 1)² + b_c²] + penalty_off_diagonal/2·T²·Σ_{c≠d} w_cd². Can undo confusions between classes,
    at the price of k² + k parameters: for many rows and tens of classes, not for thousands of them.

    Parameters
    ----------
    penalty : float, optional
        Pull of diagonal and intercept towards temperature scaling, > 0; by default k, as in `VectorScaling`.
    penalty_off_diagonal : float, optional
        Pull of the other entries towards 0, > 0; by default k(k − 1), as many as there are.
    classes : array of shape (k,), optional
        The labels of the columns, in their order; by default the sorted labels of y.
    input : {"auto", "logits", "probabilities"}, default "auto"
        "auto" reads rows that are ≥ 0 and sum to 1 as probabilities, others as logits.

    Attributes
    ----------
    coef_ : array of shape (k, k)
        W; the other attributes as in `VectorScaling`.

    See Also
    --------
    VectorScaling : Fewer parameters, for fewer rows.
    DirichletScaling : The same of log-probabilities.

    References
    ----------
    Guo et al. (2017), On calibration of modern neural networks.
    Berta et al. (2026), Structured matrix scaling for multi-class calibration: the shape of the penalty.

    Examples
    --------
    >>> logits = [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 2.0]]
    >>> MatrixScaling().fit(logits, [0, 1, 2, 2]).predict_proba(logits)[0].round(2).tolist()
    [0.66, 0.12, 0.22]
    """

    penalty_off_diagonal: float | None = None

    def _penalty(self, k: int) -> Floats:
        penalty = structured_penalty(k)
        if self.penalty_off_diagonal is not None:
            penalty[:] = _check.number(self.penalty_off_diagonal, "penalty_off_diagonal", low=0, strict=True)
        np.fill_diagonal(penalty, super()._penalty(k))
        return penalty


@dataclass(eq=False, repr=False, kw_only=True)
class DirichletScaling(MatrixScaling):
    """Matrix scaling of log-probabilities: exact when the vectors of each class have a Dirichlet distribution.

    This is `MatrixScaling` with x = log(k·softmax(z)), which is 0 where all classes are equally probable. The
    log-normalizer of a row, which measures its certainty, becomes one more feature. With two classes this is beta
    calibration.

    Parameters
    ----------
    penalty : float, optional
        Pull of diagonal and intercept towards temperature scaling, > 0; by default k.
    penalty_off_diagonal : float, optional
        Pull of the other entries towards 0, > 0; by default k(k − 1), as many as there are.
    classes : array of shape (k,), optional
        The labels of the columns, in their order; by default the sorted labels of y.
    input : {"auto", "logits", "probabilities"}, default "auto"
        "auto" reads rows that are ≥ 0 and sum to 1 as probabilities, others as logits.

    Attributes
    ----------
    coef_ : array of shape (k, k)
        W, applied to x; the other attributes are those of `MatrixScaling`.

    See Also
    --------
    MatrixScaling : The same of the logits themselves.
    BetaCalibrator : The same for two classes.

    References
    ----------
    Kull et al. (2019), Beyond temperature scaling: obtaining well-calibrated multi-class probabilities with
    Dirichlet calibration.

    Examples
    --------
    >>> logits = [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 2.0]]
    >>> DirichletScaling().fit(logits, [0, 1, 2, 2]).predict_proba(logits)[0].round(2).tolist()
    [0.65, 0.11, 0.23]
    """

    _reading: ClassVar[LogitReading] = "log_probabilities"

    def _features(self, z: Floats, gone: Bools | None = None) -> Floats:
        return unmask(np.asarray(log_softmax(z, axis=1) + np.log(z.shape[1])), gone)


def clip_where_better(logits: Logits, index: Ints, weight: Floats) -> tuple[Logits, tuple[float, float, BoundReason]]:
    """Return logits, clipped where temperature scaling is clearly better so, and what `fit_temperature` finds."""
    found = fit_temperature(logits.z, index, weight, gone=logits.gone)
    if found[2] is SeparableWarning:
        return logits, found
    # Where there is no best temperature for the logits as given, there is less to lose.
    enough = max(_EVIDENCE, _EVIDENCE_PER_CASE * float(weight.sum())) if found[2] is None else _EVIDENCE
    if (limit := _best_limit(logits, index, weight, enough)) is None:
        return logits, found
    clipped = logits.clip(limit)
    return clipped, fit_temperature(clipped.z, index, weight, gone=clipped.gone)


def _best_limit(logits: Logits, index: Ints, weight: Floats, enough: float) -> float | None:
    """Return where to clip for the best temperature scaling, None unless it gains enough, on cases held out too."""
    limits = logits.limits()
    if not limits:
        return None
    whole = _LabeledLogits(logits, index, weight)
    as_given = highest = whole.likelihood()
    best = None
    for limit in limits:
        likelihood = whole.clip(limit).likelihood()
        if likelihood < highest - enough:
            break
        if likelihood > highest:
            highest, best = likelihood, limit
    if best is None or highest <= as_given + enough:
        return None
    gain = 0.0
    for fold in deal(sort_cases(logits, index, weight), random_state=0):
        seen, new = map(_LabeledLogits.of, fold)
        gain += new.clip(best).likelihood(seen.clip(best)) - new.likelihood(seen)
    return best if gain > enough else None


class _LabeledLogits(NamedTuple):
    """Logits with the true class and the weight of each row."""

    logits: Logits
    truth: Ints
    weight: Floats

    @classmethod
    def of(cls, cases: Sorted) -> "_LabeledLogits":
        return cls(Logits.from_marks(cases.z, cases.floor), cases.truth, cases.weight)

    def clip(self, limit: float) -> "_LabeledLogits":
        return self._replace(logits=self.logits.clip(limit))

    def likelihood(self, seen: "_LabeledLogits | None" = None) -> float:
        """Return the log-likelihood of the labels by temperature scaling, fitted to these rows or to others."""
        fitted, truth, weight = self if seen is None else seen
        temperature = fit_temperature(fitted.z, truth, weight, gone=fitted.gone)[0]
        with np.errstate(over="ignore"):  # −inf is what is meant
            scaled = self.logits.z / temperature
        if self.logits.closed is not None:
            scaled[self.logits.closed] = -np.inf
        return float(self.weight @ log_softmax(scaled, axis=1)[np.arange(len(scaled)), self.truth])


def _read_classes(y: ArrayLike, shape: tuple[int, ...], classes: ArrayLike | None) -> tuple[NDArray[Any], Ints]:
    """Return the labels of the columns and, for each row, the column of its label."""
    labels, present = _check.class_labels(y, shape[0])
    columns = present if classes is None else np.asarray(classes)
    if columns.shape != shape[1:] or len(np.unique(columns)) != len(columns):
        _check.fail(
            "logits must have one column per class",
            f"{shape[1]} columns for {columns.size} classes",
            "name the label of each column, once, with classes=",
        )
    if unknown := set(present.tolist()) - set(columns.tolist()):
        _check.fail("y must contain labels from classes", f"labels {sorted(unknown)[:4]}", "add them to classes")
    order = np.argsort(columns)
    return columns, order[np.searchsorted(columns, labels, sorter=order)]


def read_rows(values: ArrayLike, given: DeclaredInput) -> tuple[Floats, Input]:
    """Return the columns that came, shape (n, c), and what they were taken for.

    One column is the log-odds, or the probability, of the second of two classes.
    """
    _check.one_of(given, "input", ("auto", "logits", "probabilities"))
    unit = given == "probabilities"
    array = _check.as_array(_on_this_machine(values), "logits", (1, 2), unit=unit, masked=not unit)
    rows = array[:, None] if array.ndim == 1 else array
    _check.refuse_masked_rows(rows, "logits")
    if given == "probabilities":
        _check.as_distribution(rows[:, 0] if rows.shape[1] == 1 else rows)
        return rows, given
    return rows, "probabilities" if given == "auto" and rows.shape[1] > 1 and _check.are_distributions(
        rows
    ) else "logits"


def logits_of(rows: Floats, kind: Input) -> Floats:
    """Return one logit per class."""
    if rows.shape[1] == 1:
        p = rows[:, 0]
        rows = np.column_stack([1 - p, p] if kind == "probabilities" else [np.zeros(len(p)), p])
    return np.log(np.maximum(rows, LEAST)) if kind == "probabilities" else rows


def _on_this_machine(values: Any) -> Any:
    """Take a tensor out of its graph and off its device, whatever library it is from."""
    for step in ("detach", "cpu"):
        if callable(take := getattr(values, step, None)):
            values = take()
    if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
        values = np.from_dlpack(values)
    return values
