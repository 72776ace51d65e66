"""Reliability diagrams of bins: as points or as horizontal lines."""

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from scipy.special import betaincinv

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.data import ScoreTable
from oddsmith.metrics import (
    Bins,
    ReliabilityCurve,
    as_forecast,
    bin_cells,
    checked_level,
    reliability_curve,
)
from oddsmith.plots._reliability_axes import ReliabilityPicture
from oddsmith.plots._sources import ForecastDisplay, name_forecast
from oddsmith.plots.histogram import PredictionHistogramDisplay
from oddsmith.plots.theme import Ink


@dataclass(eq=False, repr=False)
class ReliabilityDisplay(ReliabilityPicture, ForecastDisplay):
    """Reliability diagram of bins, each with an interval of its share of positives and with its count.

    Make it with `from_table`, `from_predictions` or `from_estimator`; `plot` draws it. Bins hide what happens
    inside them and depend on their edges: `CorpDisplay` and `SmoothReliabilityDisplay` have none.

    Parameters
    ----------
    curve : ReliabilityCurve
        Edges, mean forecast, share of positives and weight of each non-empty bin.
    low, high : ndarray
        Interval of each share of positives.
    level : float
        Its nominal coverage.
    histogram : PredictionHistogramDisplay
    name : str, default ""

    See Also
    --------
    CorpDisplay : Without bins.
    oddsmith.metrics.reliability_curve : The numbers.

    Notes
    -----
    Intervals are Jeffreys': quantiles of Beta(k + ½, n − k + ½), from 0 if k = 0 and to 1 if k = n; for float weights n
    is (Σw)²/Σw² and k = n·share.

    References
    ----------
    A. Niculescu-Mizil and R. Caruana, Obtaining calibrated probabilities from boosting, UAI 2005.
    L. Brown, T. Cai and A. DasGupta, Interval estimation for a binomial proportion, Statistical Science 2001.

    Examples
    --------
    >>> display = ReliabilityDisplay.from_predictions([0, 1, 1], [0.3, 0.35, 1.0])
    >>> display.curve.fraction_positive.tolist()
    [0.5, 1.0]
    >>> ax = display.plot(theme="dark").ax_  # again, in other colors
    """

    curve: ReliabilityCurve
    low: Floats
    high: Floats
    level: float
    histogram: PredictionHistogramDisplay
    name: str = ""

    @classmethod
    def from_table(
        cls,
        forecast: ScoreTable,
        *,
        n_bins: int = 10,
        bins: Literal["width", "mass"] = "width",
        level: float = 0.95,
        name: str = "",
    ) -> Self:
        """Compute the diagram of a forecast table.

        Parameters
        ----------
        forecast : ScoreTable
            Scores are log-odds.
        n_bins : int, default 10
        bins : {"width", "mass"}, default "width"
            Equal intervals [a, b), the last closed; or equal weight, ties never split.
        level : float, default 0.95
            Coverage of the intervals.
        name : str, default ""
            What the legend calls it.

        Returns
        -------
        display
        """
        table, share = as_forecast(forecast), checked_level(level)
        curve = reliability_curve.of(table, n_bins=n_bins, bins=bins)
        low, high = _jeffreys(bin_cells(table, n_bins, bins), share)
        histogram = PredictionHistogramDisplay.from_table(table, n_bins=n_bins if bins == "width" else 20)
        return cls(curve, low, high, share, histogram, name_forecast(name, table))

    def _draw(
        self, ink: Ink, series: int, style: Literal["points", "lines"] = "points", attributes: bool = False
    ) -> Any:
        _check.one_of(style, "style", ("points", "lines"))
        if attributes and series == 0:
            self._attributes()
        return (self._points if style == "points" else self._lines)(ink, series)

    def _attributes(self) -> None:
        """Draw the base rate, and where bins improve on it: nearer to the observed share than the base rate is."""
        curve = self.curve
        rate = float(curve.weight @ curve.fraction_positive / curve.weight.sum())
        gray: dict[str, Any] = {"color": "gray", "linewidth": 0.8, "zorder": 1.4}
        self.ax_.axhline(rate, linestyle=":", label="no resolution", **gray)
        self.ax_.axvline(rate, linestyle=":", **gray)
        ends = np.array([0.0, 1.0])
        middle = (ends + rate) / 2
        self.ax_.plot(ends, middle, linestyle=(0, (5, 2)), label="no skill", **gray)
        self.ax_.fill_between([0, rate], [0, 0], [rate / 2, rate], color="gray", alpha=0.12, linewidth=0)
        self.ax_.fill_between([rate, 1], [rate, (1 + rate) / 2], [1, 1], color="gray", alpha=0.12, linewidth=0)

    def _points(self, ink: Ink, series: int) -> Any:
        x, y = self.curve.mean_predicted, self.curve.fraction_positive
        reach = np.abs([y - self.low, self.high - y])
        self.ax_.errorbar(x, y, reach, label=self._note(series), **ink.bars())
        style = ink.dots() | ink.line(1.2)
        return self.ax_.plot(x, y, label=self.name or "observed", gid=f"series-{series}", zorder=4, **style)[0]

    def _lines(self, ink: Ink, series: int) -> Any:
        left, right, y = self.curve.low, self.curve.high, self.curve.fraction_positive
        spots = self.ax_.bar(left, self.high - self.low, right - left, self.low, align="edge", zorder=2)
        for spot in spots:
            spot.set(color=ink.color, alpha=0.22, linewidth=0)
        spots.set_label(self._note(series) or "_")
        lines = self.ax_.hlines(y, left, right, color=ink.color, linewidth=2, linestyle=ink.dashes, zorder=4)
        lines.set(label=self.name or "observed", gid=f"series-{series}")
        return lines

    def _note(self, series: int) -> str | None:
        return f"{100 * self.level:g} % intervals" if series == 0 else None


def _jeffreys(bins: Bins, level: float) -> tuple[Floats, Floats]:
    """Return the interval of each bin's share of positives."""
    n, rate = bins.effective, bins.fraction_positive
    yes, no = n * rate + 0.5, n * (1 - rate) + 0.5
    low = np.where(rate > 0, betaincinv(yes, no, (1 - level) / 2), 0.0)
    high = np.where(rate < 1, betaincinv(yes, no, (1 + level) / 2), 1.0)
    return low, high
