"""The calibration map: what a fitted calibrator is, a small function from score to log-odds."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.formula import Formula, sigmoid
from oddsmith.formula import logit as log_odds_of

MAX = float(np.finfo(np.float64).max)

#: Standardized scores are held within this bound, so that their cubes stay finite.
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

    __hash__: ClassVar[None] = None  # type: ignore[assignment]


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
