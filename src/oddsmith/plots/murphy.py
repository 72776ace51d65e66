"""Murphy diagrams: mean elementary scores by threshold."""

from dataclasses import dataclass
from typing import Self

from numpy.typing import ArrayLike

from oddsmith.data import ScoreTable
from oddsmith.metrics import MurphyCurve, as_forecast, murphy_curve
from oddsmith.plots._sources import ForecastDisplay, name_forecast
from oddsmith.plots.theme import Theme, series_of


@dataclass(eq=False, repr=False)
class MurphyDisplay(ForecastDisplay):
    """Mean elementary score at each threshold: a forecast with a lower curve everywhere is better by every measure.

    The area between a curve and that of its recalibration is the miscalibration of the Brier score. Make it with
    `from_table`, `from_predictions` or `from_estimator`; `plot` draws it.

    Parameters
    ----------
    curve : MurphyCurve
    name : str, default ""

    See Also
    --------
    oddsmith.metrics.murphy_curve : The numbers.

    References
    ----------
    W. Ehm, T. Gneiting, A. Jordan & F. Krüger, Of quantiles and expectiles, JRSS B 2016.

    Examples
    --------
    >>> display = MurphyDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], thresholds=[0.5])
    >>> display.curve.score.tolist()
    [0.5]
    """

    curve: MurphyCurve
    name: str = ""

    @classmethod
    def from_table(cls, forecast: ScoreTable, *, thresholds: ArrayLike | None = None, name: str = "") -> Self:
        """Compute the curve of a forecast table.

        Parameters
        ----------
        forecast : ScoreTable
            Scores are log-odds.
        thresholds : array-like, optional
            Within [0, 1]; by default 0.005, 0.015, …, 0.995.
        name : str, default ""
            What the legend calls it.

        Returns
        -------
        self
        """
        table = as_forecast(forecast)
        return cls(murphy_curve.of(table, thresholds=thresholds), name_forecast(name, table))

    def _draw_picture(self, look: Theme) -> None:
        series, curve = len(series_of(self.ax_)), self.curve
        ink = look.ink(series)
        if series == 0:
            self.ax_.plot(
                curve.thresholds, curve.base_rate, label="base rate", color=look.muted, linestyle=":", linewidth=1
            )
        name = self.name or "forecast"
        style = ink.line() | {"linewidth": 0.9, "alpha": 0.7}
        self.ax_.plot(curve.thresholds, curve.recalibrated, label=f"{name}, recalibrated", **style)
        self._draw_line(curve.thresholds, curve.score, name, series, **ink.line(1.6))
        self.ax_.set_xlim(0, 1)
        self.ax_.set_ylim(bottom=0)
        self.ax_.set(xlabel="threshold of P", ylabel="mean elementary score")
        look.legend(self.ax_)
