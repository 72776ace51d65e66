"""Joint maps: from all columns of a row to the probabilities of all classes.

A map is data. What it computes is written once, as a vector formula, which NumPy, exports and engines read.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from oddsmith._types import Bools, Floats
from oddsmith.formula import LIMIT, SCORE, clip, exp, log, vectors
from oddsmith.formula.vector_steps import evaluate_vector
from oddsmith.formula.vectors import FAR, Affine, Each, Vector
from oddsmith.maps.base import CalibrationMap, ShapedMap

__all__ = ["JointMap", "OneVsRestMap", "ScalingMap", "ScalingPart"]

Input = Literal["logits", "probabilities"]
LogitReading = Literal["logits", "log_probabilities", "floored_log_probabilities"]

#: Smaller probabilities are read as this one.
LEAST = 1e-16

#: Logarithms of probabilities that are floored are held above this.
FLOOR = -700.0

#: Shifts that differ by more are added to logarithms: probabilities may have vanished that they would raise.
_MOST_SHIFT = -100.0


@dataclass(frozen=True, eq=False)
class JointMap(ShapedMap):
    """A function from the columns of a row to the probabilities of all classes.

    Parameters
    ----------
    columns : int
        Number of columns: one per class, or one for two classes, which is the log-odds or the probability of the
        second.
    input : {"logits", "probabilities"}
        What the columns hold.
    """

    _shapes: ClassVar[dict[str, type["JointMap"]]] = {}

    columns: int
    input: Input

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """Number of classes."""

    @abstractmethod
    def formula(self) -> Vector:
        """Return the logs of the probabilities of all classes as a vector formula of the columns."""

    @abstractmethod
    def probability_formula(self) -> Vector:
        """Return the probabilities of all classes as a vector formula of the columns, for exports and engines."""

    def log_probability(self, rows: ArrayLike) -> Floats:
        """Return log P of each class, shape (n, k), from rows of shape (n, columns); NaN where a value is missing."""
        return evaluate_vector(self.formula(), rows)

    def probability(self, rows: ArrayLike) -> Floats:
        """Return P of each class, shape (n, k), from rows of shape (n, columns); NaN where a value is missing."""
        return evaluate_vector(self.probability_formula(), rows)

    def _logits(self) -> Vector:
        """Return one logit per class: what columns hold, probabilities by their logarithms."""
        rows = vectors.held(self.columns)
        if self.columns == 1:
            apart = self.input == "probabilities"
            rows = Affine(
                np.array([[-1.0], [1.0]]) if apart else np.array([[0.0], [1.0]]), np.array([apart, 0.0]), rows
            )
        return Each((log(clip(SCORE, LEAST, 1.0)),), rows) if self.input == "probabilities" else rows


class ScalingPart(NamedTuple):
    """softmax(coef · x + intercept).

    Attributes
    ----------
    name : str
    reading : {"logits", "log_probabilities", "floored_log_probabilities"}
        What x is: logits less their mean; log(k·p), p being the softmax of the logits; or the same with log p held
        above −700 and ``softening`` added to p, less its mean where ``coef`` is a diagonal.
    softening : float
        ≥ 0, and 0 but for floored log-probabilities.
    coef : ndarray of shape (), (k,) or (k, k)
        A number, a diagonal or a matrix.
    intercept : ndarray of shape (k,)
    """

    name: str
    reading: LogitReading
    softening: float
    coef: Floats
    intercept: Floats

    def read(self, logits: Vector, prob: Vector, log_prob: Vector) -> Vector:
        """Return x as a vector formula of the logits, their softmax, or its logs."""
        if self.reading == "logits":
            # Less their largest is the same for the softmax where all are multiplied by one number.
            return vectors.centered(logits) if self.coef.ndim else vectors.below_largest(logits)
        k = float(np.log(logits.width))
        if self.reading == "log_probabilities":
            return Each((SCORE + k,), log_prob)
        if self.softening > 0:
            x = Each((log(clip(SCORE, float(np.exp(FLOOR)), FAR) + self.softening) + k,), prob)
        else:
            x = Each((clip(SCORE, FLOOR, FAR) + k,), log_prob)
        return vectors.centered(x) if self.coef.ndim == 1 else x


@dataclass(frozen=True, eq=False)
class ScalingMap(JointMap):
    """A blend of scalings of the logits: P = softmax(log Σ wₘ softmax(Aₘxₘ + bₘ) + shift).

    Parameters
    ----------
    columns, input
        As in `JointMap`.
    parts : tuple of ScalingPart
        One for a single scaling.
    weights : ndarray of shape (m,)
        > 0, of sum 1.
    shift : ndarray of shape (k,)
        Added to the logs of the blend.
    """

    shape: ClassVar[str] = "scaling"

    parts: tuple[ScalingPart, ...]
    weights: Floats
    shift: Floats

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.shift)

    def formula(self) -> Vector:
        """Return the logs of the probabilities of all classes as a vector formula of the columns."""
        return vectors.log_softmax(self._shifted()) if self.shift.any() else self._blended()

    def probability_formula(self) -> Vector:
        """Return the probabilities of all classes as a vector formula of the columns, for exports and engines."""
        low = float(self.shift.min() - self.shift.max())
        if low < _MOST_SHIFT:
            return vectors.softmax(self._shifted())
        weights, scaled, constant = self._scaled()
        blend = vectors.mixture(weights, scaled) if len(self.parts) > 1 else vectors.softmax(*scaled)
        level = np.zeros(self.n_classes) if constant is None else np.exp(constant)
        if low < 0:
            raising = np.exp(self.shift - self.shift.max())
            return vectors.shares(Affine(raising, raising * level, blend), float(np.exp(low)) / 2, 2.0)
        return blend if constant is None else Affine(np.array(1.0), level, blend)

    def _scaled(self) -> tuple[Floats, list[Vector], Floats | None]:
        """Return weights and Aₘxₘ + bₘ of parts, and the logs of what those add that are the same for all rows."""
        varies = np.array([bool(part.coef.any()) for part in self.parts])
        constant = None
        if varies.any() and not varies.all():
            shares = ((w, part.intercept) for w, part in self._weighted(~varies))
            constant = np.logaddexp.reduce([np.log(w) + (b - np.logaddexp.reduce(b)) for w, b in shares])
        else:
            varies[:] = True
        logits, read, scaled = self._logits(), dict[tuple[str, float, int], Vector](), list[Vector]()
        prob, log_prob = vectors.softmax_with_log(logits)
        for _, part in self._weighted(varies):
            key = part.reading, part.softening, part.coef.ndim
            if key not in read:
                read[key] = part.read(logits, prob, log_prob)
            scaled.append(Affine(part.coef, part.intercept, read[key]))
        return self.weights[varies], scaled, constant

    def _weighted(self, which: Bools) -> list[tuple[float, ScalingPart]]:
        return [(w, part) for w, part, one in zip(self.weights.tolist(), self.parts, which, strict=True) if one]

    def _blended(self) -> Vector:
        weights, scaled, constant = self._scaled()
        parts = [vectors.log_softmax(x) for x in scaled]
        if constant is not None:
            share = np.exp(np.logaddexp.reduce(constant))
            weights = np.append(weights, share)
            parts.append(Affine(np.array(0.0), constant - np.log(share), scaled[0]))
        return vectors.log_mixture(weights, parts) if len(parts) > 1 else parts[0]

    def _shifted(self) -> Vector:
        return Affine(np.array(1.0), self.shift, self._blended())

    @classmethod
    def _read(cls, content: dict[str, Any]) -> Self:
        parts = (
            {**part, **{name: np.asarray(part[name], dtype=np.float64) for name in ("coef", "intercept")}}
            for part in content["parts"]
        )
        return super()._read({**content, "parts": tuple(ScalingPart(**part) for part in parts)})


@dataclass(frozen=True, eq=False)
class OneVsRestMap(JointMap):
    """One map per class, each of that class against the rest; their probabilities are divided by their sum.

    Where all are 0, classes are equally probable.

    Parameters
    ----------
    columns, input
        As in `JointMap`.
    maps : tuple of CalibrationMap
        One per class.
    against_rest : bool
        Whether maps read the log-odds of their class against all others, softmax(logits) being the probabilities; else
        they read their own column.
    """

    shape: ClassVar[str] = "one_vs_rest"

    maps: tuple[CalibrationMap, ...]
    against_rest: bool

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.maps)

    def formula(self) -> Vector:
        """Return the logs of the probabilities of all classes as a vector formula of the columns."""
        log_probs = tuple(-log(1.0 + exp(-clip(each.log_odds_formula(), -LIMIT, LIMIT))) for each in self.maps)
        return vectors.log_softmax(Each(log_probs, self._scores()))

    def probability_formula(self) -> Vector:
        """Return the probabilities of all classes as a vector formula of the columns, for exports and engines."""
        least = float(np.exp(-LIMIT))
        probs = tuple(clip(each.probability_formula(), least, 1.0) for each in self.maps)
        return vectors.shares(Each(probs, self._scores()), least, float(len(probs)))

    def _scores(self) -> Vector:
        return vectors.against_rest(self._logits()) if self.against_rest else vectors.held(self.columns)
