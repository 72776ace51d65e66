"""Cumulative calibration: differences between labels and forecasts, added up."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from oddsmith.data import ScoreTable
from oddsmith.metrics import CumulativeCalibration, as_forecast, cumulative_calibration, is_in_sample
from oddsmith.plots._sources import ForecastDisplay, mark_in_sample
from oddsmith.plots.theme import ThemeName, series_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Points that are drawn of a long walk.
_POINTS = 4000


@dataclass(eq=False, repr=False)
class CumulativeCalibrationDisplay(ForecastDisplay):
    """Cumulative differences between labels and forecasts (ECCE), the lowest forecasts first; no bins, no smoothing.

    Where the curve rises probabilities are too low, where it falls too high; the slope is the difference. A calibrated
    forecast stays within the dashed lines. Make it with `from_table`, `from_predictions` or `from_estimator`; `plot`
    draws it.

    Parameters
    ----------
    walk : CumulativeCalibration
    name : str, default ""

    See Also
    --------
    oddsmith.metrics.cumulative_calibration : The numbers.

    References
    ----------
    I. Arrieta-Ibarra, P. Gujral, J. Tannen, M. Tygert & C. Xu, Metrics of calibration for probabilistic predictions,
    JMLR 2022.

    Examples
    --------
    >>> display = CumulativeCalibrationDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9])
    >>> round(display.walk.ecce_range, 3)
    0.15
    """

    walk: CumulativeCalibration
    name: str = ""

    @classmethod
    def from_table(cls, forecast: ScoreTable, *, level: float = 0.95, name: str = "") -> Self:
        """Compute the differences of a forecast table.

        Parameters
        ----------
        forecast : ScoreTable
            Scores are log-odds.
        level : float, default 0.95
            Of the lines within which a calibrated forecast stays.
        name : str, default ""
            What the legend calls it.

        Returns
        -------
        self
        """
        table = as_forecast(forecast)
        return cls(cumulative_calibration.of(table, level=level), mark_in_sample(name, in_sample=is_in_sample(table)))

    def plot(self, ax: "Axes | None" = None, *, theme: ThemeName = "light") -> Self:
        """Draw the curve; a second one drawn into the same axes gets its own color and lines.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.
        theme : {"light", "dark"}, default "light"

        Returns
        -------
        self
        """
        look = self._start(ax, theme)
        series, walk = len(series_of(self.ax_)), self.walk
        ink = look.ink(series)
        if series == 0:
            self.ax_.axhline(0, color=look.muted, linewidth=0.8)
        for place, end in enumerate((-walk.reach, walk.reach)):
            label = f"{100 * walk.level:g} % if calibrated" if place == 0 else None
            self.ax_.axhline(end, color=ink.color, linewidth=0.9, linestyle=(0, (4, 3)), label=label)
        step = max(1, len(walk.share) // _POINTS)
        label = f"{self.name or 'forecast'}\nECCE {walk.ecce_range:.4f}"
        share, difference = (values[::step] for values in (walk.share, walk.difference))
        self.lines_ = {
            self.name or "forecast": self.ax_.plot(
                share, difference, label=label, gid=f"series-{series}", **ink.line()
            )[0]
        }
        self.ax_.set_xlim(0, 1)
        self.ax_.set(xlabel="share of cases, lowest P first", ylabel="cumulative observed − P")
        look.legend(self.ax_)
        return self
