"""Scalings of logits, and blends of them."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from oddsmith._types import Bools, Floats
from oddsmith.formula import (
    FAR,
    SCORE,
    Affine,
    Beside,
    Each,
    Vector,
    affine_of_many,
    clip,
    exp,
    log,
    rebuilt,
    vectors,
    where,
)
from oddsmith.maps.base import class_shift
from oddsmith.maps.rows import JointMap

__all__ = ["ScalingMap", "ScalingPart"]

LogitReading = Literal["logits", "log_probabilities", "floored_log_probabilities"]

#: Logarithms of probabilities that are floored are held above this.
FLOOR = -700.0

#: Shifts that differ by more are added to logarithms: probabilities may have vanished that they would raise.
_MOST_SHIFT = -100.0


class ScalingPart(NamedTuple):
    """softmax(coef · x + intercept).

    Attributes
    ----------
    name : str
    reading : {"logits", "log_probabilities", "floored_log_probabilities"}
        What x is: logits less their mean; log(k·p), p being the softmax of the logits; or the same with log
        p clipped at −700 and ``softening`` added to p, less its mean where ``coef`` is a diagonal.
    softening : float
        ≥ 0, and 0 but for floored log-probabilities.
    coef : ndarray of shape (), (k,) or (k, k)
        A number, a diagonal or a matrix.
    intercept : ndarray of shape (k,)
    floor : float or None
        Logits this far, or further, below the largest of their row carry no other information than that. Their x is 0,
        the mean of x is that of the others, and ``drop`` is subtracted from the result. None if it
        has none.
    drop : float or None
        ≥ 0. None where logits below the floor are clipped, read as −floor, as they always are with a single number as
        ``coef``.

    See Also
    --------
    ScalingMap : Contains one or several.
    """

    name: str
    reading: LogitReading
    softening: float
    coef: Floats
    intercept: Floats
    floor: float | None = None
    drop: float | None = None

    @property
    def clip_at(self) -> float | None:
        """How far below the largest of their row logits are clipped, if they are."""
        return self.floor if self.drop is None or self.coef.ndim == 0 else None

    @property
    def mask_at(self) -> float | None:
        """How far below the largest of their row logits take no part in x, if any do: only −inf where this clips."""
        return self.floor if self.clip_at is None else -vectors.MASKED

    def read(self, logits: Vector, below: Vector, prob: Vector, log_prob: Vector) -> Vector:
        """Return x as a vector formula of the logits, what they are below the largest, their softmax, or its logs.

        All but ``below`` are those of logits that are clipped where this part clips.

        Parameters
        ----------
        logits : Vector
            Rows of logits.
        below : Vector
            Logits less the largest of their row.
        prob : Vector
            Their softmax.
        log_prob : Vector
            Its logarithm.

        Returns
        -------
        Vector
        """
        if self.clip_at is None and (self.floor is not None or self.coef.ndim == 0):
            logits = below  # which is the same for the softmax where all are multiplied by one number
        if self.reading == "logits":
            return self._center(logits, below) if self.coef.ndim else logits
        k = float(np.log(logits.width))
        if self.reading == "log_probabilities":
            return self._above(Each((SCORE + k,), log_prob), below)
        if self.softening > 0:
            x = Each((log(clip(SCORE, float(np.exp(FLOOR)), FAR) + self.softening) + k,), prob)
        else:
            x = Each((clip(SCORE, FLOOR, FAR) + k,), log_prob)
        return self._center(x, below) if self.coef.ndim == 1 else self._above(x, below)

    def _center(self, x: Vector, below: Vector) -> Vector:
        """Return x less its mean, and 0 for masked classes."""
        return vectors.center(x) if self.mask_at is None else vectors.center_above(x, below, self.mask_at)

    def _above(self, x: Vector, below: Vector) -> Vector:
        """Return x with 0 for masked classes."""
        if self.mask_at is None:
            return x
        return Each((where(Beside(1), -self.mask_at, 0.0, SCORE),), x, (below,))

    def scale(self, x: Vector, below: Vector, masks: bool) -> Vector:
        """Return coef · x + intercept, less ``drop`` at the floor, and far below the others for masked classes.

        Parameters
        ----------
        x : Vector
            What the part reads.
        below : Vector
            Logits less the largest of their row.
        masks : bool
            Whether some logits are masks.

        Returns
        -------
        Vector
        """
        result: Vector = Affine(self.coef, self.intercept, x)
        if self.floor is not None and self.drop:
            result = Each((where(Beside(1), -self.floor, SCORE - self.drop, SCORE),), result, (below,))
        return vectors.where_masked(below, vectors.CLOSED, result) if masks else result


@dataclass(frozen=True, eq=False, repr=False)
class ScalingMap(JointMap):
    """A blend of scalings of the logits: P = softmax(log Σ wₘ softmax(Aₘxₘ + bₘ) + shift).

    Parameters
    ----------
    columns : int
        Number of columns: one per class, or one for two classes, which is the log-odds or the probability of the
        second.
    input : {"logits", "probabilities"}
        What the columns contain.
    parts : tuple of ScalingPart
        One for a single scaling.
    weights : ndarray of shape (m,)
        > 0, of sum 1.
    shift : ndarray of shape (k,)
        Added to the logs of the blend.

    See Also
    --------
    oddsmith.maps.one_vs_rest.OneVsRestMap : One map per class.
    """

    shape: ClassVar[str] = "scaling"

    parts: tuple[ScalingPart, ...]
    weights: Floats
    shift: Floats

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.shift)

    def shifted(self, shift: ArrayLike) -> "ScalingMap":
        """Return the map with logs of probabilities that are larger by ``shift``.

        Parameters
        ----------
        shift : array of shape (k,)
            What is added to the log of each class's probability.

        Returns
        -------
        ScalingMap
        """
        return replace(self, shift=self.shift + class_shift(shift, self.n_classes))

    def formula(self) -> Vector:
        """Return the logs of the probabilities of all classes as a vector formula of the columns.

        Returns
        -------
        Vector
        """
        return self._of_probabilities(self._logs(self._below()))

    def probability_formula(self) -> Vector:
        """Return the probabilities of all classes as a vector formula of the columns, for exports and engines.

        Returns
        -------
        Vector
        """
        return self._of_probabilities(self._probability())

    def _probability(self) -> Vector:
        low, (logits, below) = float(self.shift.min() - self.shift.max()), self._below()
        if low < _MOST_SHIFT:
            return self._open(Each((exp(SCORE),), self._logs((logits, below)), (), 0.0, 1.0), below)
        weights, scaled, constant = self._scale_parts(logits, below)
        blend = vectors.mixture(weights, scaled) if len(self.parts) > 1 else vectors.softmax(*scaled)
        level = np.zeros(self.n_classes) if constant is None else np.exp(constant)
        # What varies is a distribution over classes that are not masked, whatever share of the blend it has.
        least = float(np.exp(low) * weights.sum()) / 2
        if low < 0:
            raising = np.exp(self.shift - self.shift.max())
            return vectors.known_shares(self._open(Affine(raising, raising * level, blend), below), least, 2.0)
        if constant is None:
            return self._open(blend, below)
        blend = Affine(np.array(1.0), level, blend)
        return vectors.known_shares(self._open(blend, below), least, 2.0) if self._masks else blend

    @property
    def quick_shape(self) -> Hashable | None:
        """What maps have in common that `probability_of_many` makes at once; None for others."""
        part, *others = self.parts
        if others or self.shift.any() or not part.coef.any():
            return None
        signs = part.coef.ndim or bool(part.coef >= 0), bool(part.intercept.any())
        same = part.reading, part.softening, part.coef.shape, part.floor, part.drop
        return self.shape, self.columns, self.input, self.n_classes, signs, same

    def probability_of_many(self, maps: Sequence["ScalingMap"]) -> Vector:
        """Return the probabilities of maps of one quick shape; columns of formulas have a row per map.

        Parameters
        ----------
        maps : sequence of maps
            Maps of one shape.

        Returns
        -------
        Vector
        """
        coef, intercept = (np.array([getattr(one.parts[0], name) for one in maps]) for name in ("coef", "intercept"))
        own = self.parts[0].coef

        def many(node: Vector, made: Vector) -> Vector:
            if isinstance(node, Affine) and node.coef is own:
                return affine_of_many(coef, intercept, made.of)  # type: ignore[attr-defined]
            return made

        return rebuilt(self.probability_formula(), many)

    @property
    def _masks(self) -> bool:
        """Whether classes may be masked: probabilities of 0 are read as small ones."""
        return self.input == "logits"

    def _open(self, prob: Vector, below: Vector) -> Vector:
        """Return probabilities with 0 for masked classes."""
        return vectors.where_masked(below, 0.0, prob) if self._masks else prob

    def _below(self) -> tuple[Vector, Vector]:
        """Return logits, and how far they are below the largest of their row."""
        logits = self._logits()
        tempered = any(part.reading == "logits" and part.coef.ndim == 0 for part in self.parts)
        exact = tempered or any(part.clip_at is not None for part in self.parts)
        return logits, vectors.below_largest(logits, rough=not exact)

    def _scale_parts(self, logits: Vector, below: Vector) -> tuple[Floats, list[Vector], Floats | None]:
        """Return weights and Aₘxₘ + bₘ of parts, and the logs of what those add that are the same for all rows."""
        varies = np.array([bool(part.coef.any()) for part in self.parts])
        constant = None
        if varies.any() and not varies.all():
            shares = ((w, part.intercept) for w, part in self._select_parts(~varies))
            constant = np.logaddexp.reduce([np.log(w) + (b - np.logaddexp.reduce(b)) for w, b in shares])
        else:
            varies[:] = True
        read, scaled = dict[tuple[Any, ...], Vector](), list[Vector]()
        seen: dict[float | None, tuple[Vector, Vector, Vector, Vector]]
        seen = {None: (logits, below, *vectors.softmax_with_log(below))}
        for _, part in self._select_parts(varies):
            if (at := part.clip_at) is not None and at not in seen:
                clipped = Each((clip(SCORE, -at, 0.0),), below, (), -at, 0.0)
                seen[at] = clipped, below, *vectors.softmax_with_log(clipped)
            key = part.reading, part.softening, part.coef.ndim, part.floor, at
            if key not in read:
                read[key] = part.read(*seen[at])
            scaled.append(part.scale(read[key], below, self._masks))
        return self.weights[varies], scaled, constant

    def _select_parts(self, which: Bools) -> list[tuple[float, ScalingPart]]:
        return [(w, part) for w, part, one in zip(self.weights.tolist(), self.parts, which, strict=True) if one]

    def _logs(self, rows: tuple[Vector, Vector]) -> Vector:
        """Return logs of the probabilities of all classes, given what `_below` returns."""
        weights, scaled, constant = self._scale_parts(*rows)
        parts = [vectors.log_softmax(x) for x in scaled]
        if constant is not None:
            share = np.exp(np.logaddexp.reduce(constant))
            weights = np.append(weights, share)
            parts.append(Affine(np.array(0.0), constant - np.log(share), scaled[0]))
        logs = vectors.log_mixture(weights, parts) if len(parts) > 1 else parts[0]
        if constant is not None and self._masks:
            logs = vectors.where_masked(rows[1], vectors.CLOSED, logs)
        elif not self.shift.any():
            return logs
        return vectors.log_softmax(Affine(np.array(1.0), self.shift, logs) if self.shift.any() else logs)

    def to_dict(self) -> dict[str, Any]:
        """Return the map as plain lists and numbers; parts without a floor do not mention it.

        Returns
        -------
        dict
        """
        content = super().to_dict()
        for part in content["parts"]:
            if part["floor"] is None:
                del part["floor"], part["drop"]
        return content

    @classmethod
    def _read(cls, content: dict[str, Any]) -> Self:
        parts = (
            {**part, **{name: np.asarray(part[name], dtype=np.float64) for name in ("coef", "intercept")}}
            for part in content["parts"]
        )
        return super()._read({**content, "parts": tuple(ScalingPart(**part) for part in parts)})
