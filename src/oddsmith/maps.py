"""Calibration maps: what a fitted calibrator is, a small function from score to log-odds.

Methods are many, shapes are few; saving, plotting, applying and exporting are written once a shape.

=================  ==============================================================================
shape              methods
=================  ==============================================================================
`PolynomialMap`    everything polynomial by pieces in log-odds: logistic, Platt, densities, piecewise
                   logistic, splines, constants
`LinearMap`        linear interpolation in probability: isotonic, min–max
`StepMap`          steps in probability, with separate values at and between the knots
`CosineMap`        a cosine series in probability
`LogBasisMap`      beta calibration (``log_basis``)
`LogitInputMap`    any other map, after the log-odds of a probability (``input_maps``)
`UnitInputMap`     the same for scores that turned out to be probabilities (``input_maps``)
=================  ==============================================================================
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from oddsmith import _check
from oddsmith._check import Floats
from oddsmith._locate import Places, by_interval
from oddsmith.formula import SCORE, Formula, as_formula, below, clip, cos, pieces, sigmoid
from oddsmith.formula import logit as log_odds_of

__all__ = ["CalibrationMap", "CosineMap", "LinearMap", "PolynomialMap", "StepMap", "constant_map"]

MAX = float(np.finfo(np.float64).max)

#: Standardised scores are held within this bound, so that their cubes stay finite.
FAR = 1e100


@dataclass(frozen=True, eq=False)
class CalibrationMap(ABC):
    """A function from score to log-odds."""

    shape: ClassVar[str]
    _shapes: ClassVar[dict[str, type["CalibrationMap"]]] = {}

    def __init_subclass__(cls) -> None:
        if "shape" in cls.__dict__:
            CalibrationMap._shapes[cls.shape] = cls

    @abstractmethod
    def log_odds(self, scores: ArrayLike) -> Floats:
        """Return log P(+|s)/P(−|s); infinite only where the map itself says that P is 0 or 1."""

    def probability(self, scores: ArrayLike) -> Floats:
        """Return P(+|s), in [0, 1]."""
        result: Floats = expit(self.log_odds(scores))
        return result

    def log_odds_formula(self) -> Formula:
        """Return the log-odds as a formula; a shape writes this one or `probability_formula`."""
        return log_odds_of(self.probability_formula())

    def probability_formula(self) -> Formula:
        """Return the probability as a formula, for exports and engines."""
        return sigmoid(self.log_odds_formula())

    @property
    @abstractmethod
    def is_monotone(self) -> bool:
        """Whether a larger score never has a smaller probability."""

    def to_dict(self) -> dict[str, Any]:
        """Return the map as plain lists and numbers."""
        content = {field.name: _plain(getattr(self, field.name)) for field in fields(self)}
        return {"shape": self.shape, **content}

    @staticmethod
    def from_dict(content: Mapping[str, Any]) -> "CalibrationMap":
        """Rebuild the map that `to_dict` wrote."""
        cls = CalibrationMap._shapes.get(content.get("shape", ""))
        if cls is None:
            known = ", ".join(sorted(CalibrationMap._shapes))
            _check.fail(f"shape must be one of {known}", f"shape={content.get('shape')!r}", "check the map")
        names = {field.name for field in fields(cls)}
        if content.keys() - {"shape"} != names:
            got = ", ".join(sorted(content.keys() - {"shape"}))
            _check.fail(f"a {cls.shape} map must hold {', '.join(sorted(names))}", got or "nothing", "check the map")
        return cls._read({name: content[name] for name in names})

    @classmethod
    def _read(cls, content: dict[str, Any]) -> "CalibrationMap":
        arrays = {name: np.asarray(v, dtype=np.float64) if isinstance(v, list) else v for name, v in content.items()}
        return cls(**arrays)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CalibrationMap) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class PolynomialMap(CalibrationMap):
    """Piecewise polynomial of degree ≤ 3 in log-odds.

    Piece j holds for knots[j−1] < s ≤ knots[j] and is Σ cᵢuⁱ with u = (s − origins[j])/scale: an expansion about a
    point near the data, since one about 0 loses everything at scores near 1e8.

    Parameters
    ----------
    knots : ndarray, shape (K,)
    origins : ndarray, shape (K + 1,)
    coefficients : ndarray, shape (K + 1, degree + 1)
    scale : float
        A power of two, so that s/scale is exact.
    """

    shape: ClassVar[str] = "polynomial"

    knots: Floats
    origins: Floats
    coefficients: Floats
    scale: float

    def log_odds(self, scores: ArrayLike) -> Floats:
        """Return log P(+|s)/P(−|s), finite for every finite score."""
        s = np.asarray(scores, dtype=np.float64)
        if len(self.knots) == 0:
            return self._piece(s, 0)
        return by_interval(self.knots, s, self._piece)

    def _piece(self, scores: Floats, piece: Places | int) -> Floats:
        *lower, value = self.coefficients[piece].T
        with np.errstate(all="ignore"):
            u = np.clip(scores / self.scale - self.origins[piece] / self.scale, -FAR, FAR)
            for coefficient in reversed(lower):
                value = coefficient + value * u
            return np.asarray(np.clip(value, -MAX, MAX))

    def log_odds_formula(self) -> Formula:
        """Return the log-odds as a formula."""
        with np.errstate(all="ignore"):
            u = SCORE / self.scale - np.clip(self.origins / self.scale, -MAX, MAX)
        if not self._is_steep_line:
            u = clip(u, -FAR, FAR)
        *lower, value = (as_formula(column) for column in self.coefficients.T)
        for coefficient in reversed(lower):
            value = coefficient + value * u
        return pieces(self.knots, value)

    @property
    def _is_steep_line(self) -> bool:
        """Whether this is one line, and P is 0 or 1 long before u would be held."""
        slope = np.abs(self.coefficients[0, 1:2])
        return len(self.knots) == 0 and not self.coefficients[0, 2:].any() and bool(np.all(slope > 1e10 / FAR))

    @property
    def is_monotone(self) -> bool:
        """Whether the log-odds never fall, by the least slope of each piece and the steps between pieces."""
        with np.errstate(all="ignore"):
            return self._never_falls()

    def _never_falls(self) -> bool:
        _, c1, c2, c3 = np.pad(self.coefficients, ((0, 0), (0, 4 - self.coefficients.shape[1]))).T
        bounds = np.concatenate([[-np.inf], self.knots, [np.inf]])
        left, right = (
            np.clip(end / self.scale - self.origins / self.scale, -FAR, FAR) for end in (bounds[:-1], bounds[1:])
        )
        turn = np.clip(np.divide(-c2, 3 * c3, out=left.copy(), where=c3 != 0), left, right)
        length = np.where(right - left < FAR, right - left, 0.0)
        for u in (left, right, turn):
            slope = c1 + (2 * c2 + 3 * c3 * u) * u
            # Slopes that are 0 but for rounding do not make a map fall, unless their piece is long.
            if np.any((slope < -1e-12 * np.abs(c1).max()) | (slope * length < -1e-9)):
                return False
        at = self.log_odds(self.knots)
        after = self.log_odds(np.minimum(self.knots + np.spacing(np.abs(self.knots)), MAX))
        return bool(np.all(after >= at - 1e-9 * np.maximum(1.0, np.abs(at))))


@dataclass(frozen=True, eq=False)
class LinearMap(CalibrationMap):
    """Linear interpolation in probability between knots, constant outside.

    Parameters
    ----------
    knots, values : ndarray, shape (K,)
        Ascending scores and the probability at each.
    """

    shape: ClassVar[str] = "linear"

    knots: Floats
    values: Floats

    def probability(self, scores: ArrayLike) -> Floats:
        """Return P(+|s), in [0, 1]."""
        s, knots = np.asarray(scores, dtype=np.float64), self.knots
        if s.size and max(-s.min(), s.max()) > 1e307:
            # So far out differences overflow; beyond the last knot nothing changes.
            s = np.clip(s, knots[0], knots[-1])
        if max(-knots[0], knots[-1]) > 1e307:
            s, knots = s / 2, knots / 2
        anchors, slopes, values = self._ramps(knots)

        def value(part: Floats, j: Places) -> Floats:
            rise = part - anchors.take(j, mode="clip")
            rise *= slopes.take(j, mode="clip")
            rise += values.take(j, mode="clip")
            return np.asarray(rise)

        return by_interval(knots, s, value, "right")

    def _ramps(self, knots: Floats) -> tuple[Floats, Floats, Floats]:
        """Return anchors, slopes and values: interval j starts at anchor j with value j and rises by slope j."""
        # The ends are flat. Slopes are cut by the size of rounding, so that no value passes the next one.
        slopes, gaps = np.zeros(len(knots) + 1), np.diff(knots)
        # Gaps without room for a fraction are jumps.
        np.divide(np.diff(self.values) * (1 - 1e-15), gaps, out=slopes[1:-1], where=gaps > 1e-290)
        return np.append(knots[:1], knots), slopes, np.append(self.values[:1], self.values)

    def probability_formula(self) -> Formula:
        """Return the probability as a formula."""
        s, knots = SCORE, self.knots
        if np.abs(knots[[0, -1]]).max() > 1e290:  # further out the difference from the largest double overflows
            s, knots = clip(SCORE, knots[0], knots[-1]) / 2.0, knots / 2
        anchors, slopes, values = self._ramps(knots)
        return pieces(below(self.knots), (s - anchors) * slopes + values)

    def log_odds(self, scores: ArrayLike) -> Floats:
        """Return log P(+|s)/P(−|s)."""
        return logit(self.probability(scores))

    @property
    def is_monotone(self) -> bool:
        """Whether the values never fall."""
        return bool(np.all(np.diff(self.values) >= 0))


@dataclass(frozen=True, eq=False)
class StepMap(CalibrationMap):
    """Steps in probability: one value at each knot and one in each interval between and outside knots.

    Parameters
    ----------
    knots, at : ndarray, shape (K,)
        Ascending scores and the probability at exactly each of them.
    between : ndarray, shape (K + 1,)
        The probability below the first knot, between neighbours, and above the last.
    """

    shape: ClassVar[str] = "step"

    knots: Floats
    at: Floats
    between: Floats

    def probability(self, scores: ArrayLike) -> Floats:
        """Return P(+|s), in [0, 1]."""
        s = np.asarray(scores, dtype=np.float64)
        sides: tuple[tuple[Literal["left", "right"], Floats], ...]
        sides = (("right", self.between[1:]), ("left", self.between[:-1]))
        for side, values in sides:
            if np.array_equal(self.at, values):  # knots belong to an interval beside them, as those of bins do
                return by_interval(self.knots, s, lambda _, place: self.between.take(place), side)

        def value(part: Floats, place: Places) -> Floats:
            nearest = np.minimum(place, len(self.knots) - 1)
            return np.where(self.knots[nearest] == part, self.at[nearest], self.between[place])

        return by_interval(self.knots, s, value)

    def probability_formula(self) -> Formula:
        """Return the probability as a formula."""
        ends = np.column_stack([below(self.knots), self.knots]).ravel()
        return pieces(ends, as_formula(self._in_order()))

    def _in_order(self) -> Floats:
        """Return all values from the lowest score to the highest."""
        values = np.empty(2 * len(self.knots) + 1)
        values[0::2], values[1::2] = self.between, self.at
        return values

    def log_odds(self, scores: ArrayLike) -> Floats:
        """Return log P(+|s)/P(−|s)."""
        return logit(self.probability(scores))

    @property
    def is_monotone(self) -> bool:
        """Whether the values never fall."""
        return bool(np.all(np.diff(self._in_order()) >= 0))


@dataclass(frozen=True, eq=False)
class CosineMap(CalibrationMap):
    """Cosine series in probability, P = Σ aₙ cos(nt), t = π(s − low)/(high − low), both clipped to their range."""

    shape: ClassVar[str] = "cosine"

    low: float
    high: float
    coefficients: Floats

    def probability(self, scores: ArrayLike) -> Floats:
        """Return P(+|s), in [0, 1]."""
        s = np.asarray(scores, dtype=np.float64)
        t = np.pi * share_of_way(s, self.low, self.high)
        return np.clip(np.polynomial.chebyshev.chebval(np.cos(t), self.coefficients), 0.0, 1.0)

    def probability_formula(self) -> Formula:
        """Return the probability as a formula."""
        low, high = float(self.low), float(self.high)
        # Halved where their distance is infinite.
        unit = 1.0 if np.isfinite(high - low) else 2.0
        way = clip(SCORE, low, high) / unit - low / unit
        t = way / (high / unit - low / unit) * np.pi
        first, *others = (float(a) for a in self.coefficients)
        series = as_formula(first)
        for n, coefficient in enumerate(others, start=1):
            series = series + coefficient * cos(float(n) * t)
        return clip(series, 0.0, 1.0)

    def log_odds(self, scores: ArrayLike) -> Floats:
        """Return log P(+|s)/P(−|s)."""
        return logit(self.probability(scores))

    @property
    def is_monotone(self) -> bool:
        """Whether the clipped series never falls; exact, by the extrema of the polynomial in cos t."""
        derivative = np.polynomial.chebyshev.chebder(self.coefficients)
        turns = np.polynomial.chebyshev.chebroots(derivative) if len(derivative) > 1 else np.empty(0)
        inside = np.real(turns[(np.abs(np.imag(turns)) < 1e-9) & (np.abs(np.real(turns)) < 1)])
        places = np.sort(np.concatenate([[-1.0], inside, [1.0]]))[::-1]
        values = np.clip(np.polynomial.chebyshev.chebval(places, self.coefficients), 0.0, 1.0)
        return bool(np.all(np.diff(values) >= -1e-12))


def constant_map(log_odds: float) -> PolynomialMap:
    """Return the map that says the same for every score."""
    return PolynomialMap(np.empty(0), np.zeros(1), np.array([[log_odds, 0.0, 0.0]]), 1.0)


def share_of_way(scores: Floats, low: Floats | float, high: Floats | float) -> Floats:
    """Return where scores lie on the way from ``low`` (0) to ``high`` (1), clipped."""
    with np.errstate(over="ignore"):
        way = np.subtract(high, low)
        if np.all(np.isfinite(way)):
            return np.asarray(np.clip((scores - low) / way, 0.0, 1.0))
        # Halved, so that the distance of the two most distant doubles is finite.
        half_low, half_high = np.divide(low, 2), np.divide(high, 2)
        return np.asarray(np.clip((scores / 2 - half_low) / (half_high - half_low), 0.0, 1.0))


def logit(prob: Floats) -> Floats:
    """Return log(p/(1 − p)), infinite at 0 and 1."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(prob) - np.log1p(-prob))


def _plain(value: Any) -> Any:
    if isinstance(value, CalibrationMap):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value
