"""Whether scores separate the classes at all, and in the right direction: reported before anything else."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np

from oddsmith.data import ScoreTable, ranking_z
from oddsmith.metrics.classes import ClassForecast
from oddsmith.metrics.ranking import auc

__all__ = ["ClassSignal", "Signal"]

Kind = Literal["rising", "reversed", "none"]

#: Number of standard errors at which a difference counts as significant. A reversed score needs more evidence, because
#: most scores are not reversed.
_RISING, _REVERSED = 2.0, -3.0


class _Evidence:
    z: float

    @property
    def kind(self) -> Kind:
        """Whether positives, or true classes, have higher scores than others, lower ones, or neither."""
        return "reversed" if self.z < _REVERSED else "rising" if self.z > _RISING else "none"


@dataclass(frozen=True)
class Signal(_Evidence):
    """How well a score ranks.

    Attributes
    ----------
    auc : float
        Area under the ROC curve.
    z : float
        By how many standard errors it lies above ½.
    """

    auc: float
    z: float

    beyond_repair: ClassVar[str] = "Methods that keep the order cannot repair that."
    repaired: ClassVar[str] = "the score is negated"

    @classmethod
    def of(cls, table: ScoreTable) -> Self:
        """Look at a table of both classes.

        Examples
        --------
        >>> Signal.of(ScoreTable.from_arrays([0.1, 0.2, 0.8, 0.9], [1, 1, 0, 0], [9, 9, 9, 9])).kind
        'reversed'
        """
        return cls(float(auc.of(table)), ranking_z(table))

    def words(self, score: str = "score") -> str:
        """Return what is wrong with the score, or whatever it is called; empty where nothing is."""
        area = f"area under the ROC curve {self.auc:.3f}"
        return {
            "reversed": f"The {score} is reversed: it is lower for positives than for negatives ({area}).",
            "none": f"The {score} carries no signal: {area}, statistically indistinguishable from 0.5.",
            "rising": "",
        }[self.kind]


@dataclass(frozen=True)
class ClassSignal(_Evidence):
    """Whether rows of several classes favor the true class.

    Attributes
    ----------
    mean : float
        Mean probability of the true class.
    by_chance : float
        What it would be if the labels were shuffled.
    z : float
        By how many standard errors of shuffled labels the mean lies above that.
    """

    mean: float
    by_chance: float
    z: float

    beyond_repair: ClassVar[str] = "No method can be trusted with that."
    repaired: ClassVar[str] = "columns and labels belong together"

    @classmethod
    def of(cls, forecast: ClassForecast) -> Self:
        """Look at a forecast.

        Notes
        -----
        Over all permutations of the labels the sum of P(true class) has the mean Σ_i Σ_c π_c P_ic and the variance
        Σ_i Σ_c n_c A_ic²/(n − 1), where A is P less its means over the rows and, by π, over the classes. Float weights
        count by (Σw)²/Σw².

        Examples
        --------
        >>> from oddsmith.metrics import class_forecast
        >>> ClassSignal.of(class_forecast([0, 1, 2] * 9, [[0, 1, 0], [0, 0, 1], [1, 0, 0]] * 9)).kind
        'reversed'
        """
        weight = forecast.weight / forecast.weight.sum(dtype=np.float64)
        n = 1 / float(weight @ weight) if forecast.weight.dtype.kind == "f" else float(forecast.weight.sum())
        rates, means = forecast.base_rates, weight @ forecast.prob
        apart = forecast.prob - means
        apart -= (apart @ rates)[:, None]
        spread = math.sqrt(float(weight @ (apart**2 @ rates)) / max(n - 1, 1.0))
        mean, by_chance = float(weight @ forecast.of_truth), float(means @ rates)
        # Forecasts that are all alike say nothing.
        return cls(mean, by_chance, (mean - by_chance) / spread if spread > 1e-12 else 0.0)

    def words(self) -> str:
        """Return what is wrong with the rows; empty where nothing is."""
        seen = f"mean probability of the true class {self.mean:.3f}, with shuffled labels {self.by_chance:.3f}"
        return {
            "reversed": f"The true class gets less probability than by chance ({seen}): the columns are in another "
            "order than the labels, or the scores are reversed.",
            "none": f"The scores carry no signal: {seen}, statistically indistinguishable.",
            "rising": "",
        }[self.kind]
