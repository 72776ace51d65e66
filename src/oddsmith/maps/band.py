"""Limits of P at each score: two maps."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from oddsmith import _check
from oddsmith._short_repr import ShortRepr
from oddsmith._types import Floats
from oddsmith.maps.base import CalibrationMap

__all__ = ["Area", "Band"]


class Area(NamedTuple):
    """An interval of forecasts that contradict every increasing map within the band; ``str`` describes it.

    Parameters
    ----------
    low : float
        Where it begins.
    high : float
        Where it ends.
    gap : float
        The largest distance from the band in it.

    See Also
    --------
    oddsmith.bands.Band.areas : Returns them.
    """

    low: float
    high: float
    gap: float  # by how much the forecast is below (+) or above (−) the band, at most

    def __str__(self) -> str:
        forecast, truth = ("low", "higher") if self.gap > 0 else ("high", "lower")
        return (
            f"Forecasts from {self.low:.4g} to {self.high:.4g} are too {forecast}: somewhere between them P is at "
            f"least {abs(self.gap):.2g} {truth}."
        )


@dataclass(frozen=True, repr=False)
class Band(ShortRepr):
    """Limits of P at each score.

    Attributes
    ----------
    lower, upper : CalibrationMap
        Two maps, such as a `StepMap` each.
    level : float
    simultaneous : bool
        Whether the whole true map is within the limits with probability ``level``, or the true P at each score.
    rows : int

    See Also
    --------
    band : Makes one for all scores together.
    pointwise_band : Makes one for each score alone.
    """

    lower: CalibrationMap
    upper: CalibrationMap
    level: float
    simultaneous: bool
    rows: int

    def limits(self, scores: ArrayLike, level: float | None = None) -> Floats:
        """Return the lower and the upper limit of P at each score, shape (n, 2).

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new cases.
        level : float, optional
            That of the band, where it must be this one.

        Returns
        -------
        ndarray
        """
        if level is not None and level != self.level:
            hint = "leave level out, or make limits of that level: keep_band=level in the fit, or pointwise_band"
            _check.fail(f"level must be {self.level:g}, that of the limits", f"level={level!r}", hint)
        checked = _check.as_scores(scores)
        return np.column_stack([self.lower.probability(checked), self.upper.probability(checked)])

    def areas(self, prob: ArrayLike, scores: ArrayLike) -> list[Area]:
        """Return where forecasts are outside the limits: runs of neighboring scores, all too low or all too high.

        Parameters
        ----------
        prob : array-like of shape (n,)
            The forecast at each score.
        scores : array-like of shape (n,)

        Returns
        -------
        list[Area]
        """
        p, s = _check.as_array(prob, "prob", (1,), unit=True), _check.as_scores(scores)
        order = np.argsort(s, kind="stable")
        p, (low, high) = p[order], self.limits(s[order]).T
        gap = np.where(p < low, low - p, np.where(p > high, high - p, 0.0))
        side = np.sign(gap)
        starts = np.flatnonzero(np.append(True, side[1:] != side[:-1]))
        runs = np.split(np.arange(len(p)), starts[1:])
        return [
            Area(float(p[run].min()), float(p[run].max()), float(side[run[0]] * np.abs(gap[run]).max()))
            for run in runs
            if side[run[0]] != 0
        ]

    def shifted(self, shift: ArrayLike) -> "Band":
        """Return the limits at another base rate; see `CalibrationMap.shifted`.

        Parameters
        ----------
        shift : float
            What is added to the log-odds.

        Returns
        -------
        Band
        """
        return replace(self, lower=self.lower.shifted(shift), upper=self.upper.shifted(shift))

    def to_dict(self) -> dict[str, Any]:
        """Return the band as plain lists and numbers.

        Returns
        -------
        dict
        """
        sides = {"lower": self.lower.to_dict(), "upper": self.upper.to_dict()}
        return {**sides, "level": self.level, "simultaneous": self.simultaneous, "rows": self.rows}
