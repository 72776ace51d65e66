"""Cumulative calibration: differences between labels and forecasts, added up."""

from dataclasses import dataclass
from typing import Self

from oddsmith.data import ScoreTable
from oddsmith.metrics import CumulativeCalibration, as_forecast, cumulative_calibration
from oddsmith.plots._sources import ForecastDisplay, name_forecast
from oddsmith.plots.theme import Theme, series_of

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
        return cls(cumulative_calibration.of(table, level=level), name_forecast(name, table))

    def _draw_picture(self, look: Theme) -> None:
        series, walk = len(series_of(self.ax_)), self.walk
        ink = look.ink(series)
        if series == 0:
            self.ax_.axhline(0, color=look.muted, linewidth=0.8)
        for place, end in enumerate((-walk.reach, walk.reach)):
            label = f"{100 * walk.level:g} % if calibrated" if place == 0 else None
            self.ax_.axhline(end, color=ink.color, linewidth=0.9, linestyle=(0, (4, 3)), label=label)
        step = max(1, len(walk.share) // _POINTS)
        name = self.name or "forecast"
        share, difference = (values[::step] for values in (walk.share, walk.difference))
        label = f"{name}\nECCE {walk.ecce_range:.4f}"
        self._draw_line(share, difference, name, series, label=label, **ink.line())
        self.ax_.set_xlim(0, 1)
        self.ax_.set(xlabel="share of cases, lowest P first", ylabel="cumulative observed − P")
        look.legend(self.ax_)
