"""The calibration map: what a fitted calibrator is, a small function from score to log-odds."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from oddsmith import _check
from oddsmith._short_repr import ShortRepr
from oddsmith._types import Floats
from oddsmith.formula import MAX as MAX
from oddsmith.formula import Formula, Number, Score, Where, by_piece, is_missing, sigmoid, walk
from oddsmith.formula import logit as log_odds_of

#: Log-odds beyond this bound are those of probabilities that doubles do not distinguish from 0 or 1.
SUREST = 37.0

#: Most that log-odds between two classes may be shifted by: a probability of exactly 0 or 1 stays what it is.
MOST_SHIFT = 600.0

#: The sum of a shift and a constant within this bound rounds by less than 1e-13.
_EXACT_SUM = 1000.0

#: Standardized scores are held within this bound, so that their cubes stay finite.
FAR = 1e100


@dataclass(frozen=True, eq=False, repr=False)
class ShapedMap(ShortRepr, ABC):
    """A map that is data: its fields, and a shape that tells which they are."""

    shape: ClassVar[str]
    _shapes: ClassVar[dict[str, type[Self]]]

    def __init_subclass__(cls: type[Self]) -> None:
        if "shape" in cls.__dict__:
            cls._shapes[cls.shape] = cls

    def to_dict(self) -> dict[str, Any]:
        """Return the map as plain lists and numbers; fields that may be absent, and are, are left out.

        Returns
        -------
        dict
        """
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        absent = {field.name for field in fields(self) if field.default is None and values[field.name] is None}
        return {"shape": self.shape, **{name: _plain(value) for name, value in values.items() if name not in absent}}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Rebuild the map that `to_dict` wrote.

        Parameters
        ----------
        content : mapping
            What ``to_dict`` wrote.

        Returns
        -------
        CalibrationMap
        """
        shape = content.get("shape")
        found = cls._shapes.get(shape) if isinstance(shape, str) else None
        if found is None:
            known = ", ".join(sorted(cls._shapes))
            _check.fail(f"shape must be one of {known}", f"{shape=}", "check the map")
        names = {field.name for field in fields(found)}
        needed = {field.name for field in fields(found) if field.default is MISSING}
        given = content.keys() - {"shape"}
        if not needed <= given <= names:
            must = f"a {found.shape} map must contain {', '.join(sorted(needed))}"
            _check.fail(must, ", ".join(sorted(map(str, given))) or "nothing", "check the map")
        return found._read({name: content[name] for name in given})

    @classmethod
    def _read(cls, content: dict[str, Any]) -> Self:
        return cls(**{name: _read(value) for name, value in content.items()})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapedMap) and self.to_dict() == other.to_dict()

    __hash__: ClassVar[None] = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationMap(ShapedMap):
    """A function from score to log-odds; a shape writes ``log_odds`` or ``probability``, and the formula of one.

    See Also
    --------
    oddsmith.maps.rows.JointMap : Of several classes.
    oddsmith.model.Model : A map with labels, segments and origin.
    """

    _shapes: ClassVar[dict[str, type["CalibrationMap"]]] = {}

    #: One score of two classes.
    input: ClassVar[str] = "scores"
    columns: ClassVar[int] = 1
    n_classes: ClassVar[int] = 2

    def log_odds(self, scores: ArrayLike) -> Floats:
        """Return log P(+|s)/P(−|s); infinite only where P is 0 or 1.

        A score of ±∞ has the value of the largest doubles, which is the limit of the map.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new cases.

        Returns
        -------
        ndarray
        """
        self._refuse_neither("log_odds", "probability")
        return logit(self.probability(scores))

    def probability(self, scores: ArrayLike) -> Floats:
        """Return P(+|s), in [0, 1].

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new cases.

        Returns
        -------
        ndarray
        """
        result: Floats = expit(self.log_odds(scores))
        return result

    def class_probability(self, scores: ArrayLike) -> Floats:
        """Return P(−|s) and P(+|s), shape (n, 2).

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new cases.

        Returns
        -------
        ndarray
        """
        positive = self.probability(scores)
        both = np.empty((*positive.shape, 2))
        np.subtract(1, positive, out=both[..., 0])
        both[..., 1] = positive
        return both

    def class_log_probability(self, scores: ArrayLike) -> Floats:
        """Return log P(−|s) and log P(+|s), shape (n, 2): finite where P rounds to 0, unless the map itself gives 0.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new cases.

        Returns
        -------
        ndarray
        """
        odds = self.log_odds(scores)
        return -np.logaddexp(0.0, np.stack([odds, -odds], axis=-1))

    def shifted(self, shift: ArrayLike) -> "CalibrationMap":
        """Return the map whose log-odds are larger by ``shift``, as another base rate makes them.

        Probabilities of exactly 0 and 1 stay. Where the shape has a constant term, the shape remains.

        Parameters
        ----------
        shift : float or array-like of shape (2,)
            What is added to the log-odds of the positive class, or to the logs of the probabilities of both classes.
            Within ±600.

        Returns
        -------
        CalibrationMap
        """
        negative, positive = class_shift(shift, 2).tolist()
        move = positive - negative
        return self if move == 0 else self._shifted(move)

    def _shifted(self, shift: float) -> "CalibrationMap":
        """Return the shifted map; a shape with a constant term adds to that."""
        return ShiftedMap(self, shift)

    def log_odds_formula(self) -> Formula:
        """Return the log-odds as a formula.

        Returns
        -------
        Formula
        """
        self._refuse_neither("log_odds_formula", "probability_formula")
        return log_odds_of(self.probability_formula())

    def probability_formula(self) -> Formula:
        """Return the probability as a formula, for exports and engines.

        Returns
        -------
        Formula
        """
        return sigmoid(self.log_odds_formula())

    def _refuse_neither(self, name: str, other: str) -> None:
        """Refuse a shape that writes neither of two methods, each of which is made from the other."""
        if getattr(type(self), other) is getattr(CalibrationMap, other):
            message = f"{type(self).__name__} must write {name} or {other}"
            raise NotImplementedError(message)

    @property
    def domain(self) -> tuple[float, float]:
        """The least and the largest score that the map takes; it refuses others, which are missing in engines."""
        low, high = -np.inf, np.inf
        for node in walk(self.probability_formula()):
            match node:
                case Where(left=Number(value=least), right=Score()) if is_missing(node.otherwise):
                    low = max(low, least)
                case Where(left=Score(), right=Number(value=most)) if is_missing(node.otherwise):
                    high = min(high, most)
        return low, high

    @property
    @abstractmethod
    def is_monotone(self) -> bool:
        """Whether a larger score never has a smaller probability."""


@dataclass(frozen=True, eq=False, repr=False)
class ShiftedMap(CalibrationMap):
    """Another map with log-odds that are larger by a constant.

    Parameters
    ----------
    inner : CalibrationMap
    shift : float
        Within ±600.

    See Also
    --------
    oddsmith.CalibrationMap.shifted : Makes one.
    """

    shape: ClassVar[str] = "shifted"

    inner: CalibrationMap
    shift: float

    def log_odds(self, scores: ArrayLike) -> Floats:
        """Return log P(+|s)/P(−|s); infinite only where P is 0 or 1.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new cases.

        Returns
        -------
        ndarray
        """
        return np.asarray(self.inner.log_odds(scores) + self.shift)

    def log_odds_formula(self) -> Formula:
        """Return the log-odds as a formula.

        Returns
        -------
        Formula
        """
        return by_piece(self.inner.log_odds_formula(), lambda log_odds: log_odds + self.shift)

    def probability_formula(self) -> Formula:
        """Return the probability as a formula.

        Returns
        -------
        Formula
        """
        return by_piece(self.log_odds_formula(), sigmoid)

    @property
    def is_monotone(self) -> bool:
        """Whether the inner map is monotone."""
        return self.inner.is_monotone

    def _shifted(self, shift: float) -> CalibrationMap:
        total = self.shift + shift
        return self.inner if total == 0 else ShiftedMap(self.inner, refuse_large_shift(total))


def class_shift(shift: ArrayLike, n_classes: int) -> Floats:
    """Return what is added to the log of the probability of each class, shape (k,), or refuse it.

    Examples
    --------
    >>> class_shift(0.5, 2), class_shift([0.1, -0.2, 0.0], 3)
    (array([0. , 0.5]), array([ 0.1, -0.2,  0. ]))
    """
    found = _check.as_array(np.atleast_1d(shift), "shift", (1,))
    if n_classes == 2 and np.ndim(shift) == 0:
        found = np.append(0.0, found)
    if len(found) != n_classes:
        hint = "pass one number, for the second class" if n_classes == 2 else "pass one number per class"
        _check.fail(f"shift must have {n_classes} values", f"{len(found)}", f"{hint}, in the order of labels")
    refuse_large_shift(float(found.max()) - float(found.min()))
    return found


def refuse_large_shift(shift: float) -> float:
    """Return the shift between two classes unless it is too large."""
    if not abs(shift) <= MOST_SHIFT:
        must = f"log-odds between two classes must be shifted by at most {MOST_SHIFT:g}"
        _check.fail(must, f"shift={shift:g}", "pass log-odds, as of a base rate")
    return shift


def adds_exactly(constants: Floats | float, shift: float) -> bool:
    """Whether a shift may be added to constant terms without a loss of digits of the probability."""
    return bool(np.all(np.abs(constants) + abs(shift) <= _EXACT_SUM))


def within_doubles(scores: Floats, scale: float) -> Floats:
    """Return scores with ±∞ at the largest doubles, where a scale is so large that these are not far out.

    Elsewhere standardized scores are clipped at `FAR`, and a map has its limits at the largest doubles already.
    """
    return scores if scale < MAX / FAR / 8 else np.clip(scores, -MAX, MAX)


def logit(prob: Floats) -> Floats:
    """Return log(p/(1 − p)), infinite at 0 and 1."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(prob) - np.log1p(-prob))


def _plain(value: Any) -> Any:
    if isinstance(value, ShapedMap):
        return value.to_dict()
    if hasattr(value, "_asdict"):
        return {name: _plain(one) for name, one in value._asdict().items()}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def _read(value: Any) -> Any:
    if isinstance(value, Mapping):
        return CalibrationMap.from_dict(value)
    if isinstance(value, list):
        whole = bool(value) and isinstance(value[0], Mapping)
        return tuple(map(_read, value)) if whole else np.asarray(value, dtype=np.float64)
    return value
