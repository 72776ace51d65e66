"""The calibration belt, drawn."""

from dataclasses import dataclass
from typing import Any, Self

from oddsmith.data import ScoreTable
from oddsmith.metrics import CalibrationBelt, as_forecast, calibration_belt
from oddsmith.plots._reliability_axes import ReliabilityPicture
from oddsmith.plots._sources import ForecastDisplay
from oddsmith.plots.histogram import PredictionHistogramDisplay
from oddsmith.plots.theme import Ink


@dataclass(eq=False, repr=False)
class CalibrationBeltDisplay(ReliabilityPicture, ForecastDisplay):
    """Where the true share of positives may lie at each probability, for all probabilities together.

    Where the diagonal leaves a belt, the forecast is significantly off. Make it with `from_table`, `from_predictions`
    or `from_estimator`; `plot` draws it.

    Parameters
    ----------
    belt : CalibrationBelt
    histogram : PredictionHistogramDisplay
    name : str, default ""

    See Also
    --------
    oddsmith.metrics.calibration_belt : The belt and its test.
    CorpDisplay : Isotonic regression.

    References
    ----------
    G. Nattino, S. Finazzi and G. Bertolini, A new calibration test and a reappraisal of the calibration belt for the
    assessment of prediction models based on dichotomous outcomes, Statistics in Medicine 2014.

    Examples
    --------
    >>> display = CalibrationBeltDisplay.from_predictions([0, 1, 0, 1] * 20, [0.2, 0.4, 0.6, 0.9] * 20)
    >>> display.belt.degree
    1
    """

    belt: CalibrationBelt
    histogram: PredictionHistogramDisplay
    name: str = ""

    @classmethod
    def from_table(cls, forecast: ScoreTable, *, levels: tuple[float, ...] = (0.8, 0.95), name: str = "") -> Self:
        """Compute the belt of a forecast table.

        Parameters
        ----------
        forecast : ScoreTable
            Scores are log-odds; not fitted to these rows.
        levels : tuple of float, default (0.8, 0.95)
        name : str, default ""
            What the legend calls it.

        Returns
        -------
        self
        """
        table = as_forecast(forecast)
        belt = calibration_belt.of(table, levels=levels)
        return cls(belt, PredictionHistogramDisplay.from_table(table), name)

    def _draw(self, ink: Ink, series: int) -> Any:
        belt = self.belt
        for level, low, high in zip(belt.levels, belt.low, belt.high, strict=True):
            label = f"{100 * level:g} % belt" if series == 0 else None
            self.ax_.fill_between(belt.at, low, high, color=ink.color, alpha=0.18, linewidth=0, label=label)
        label = f"{self.name or 'fitted'}, degree {belt.degree}\np {_p_value_text(belt.p_value)}"
        return self.ax_.plot(belt.at, belt.observed, label=label, gid=f"series-{series}", zorder=4, **ink.line())[0]


def _p_value_text(p_value: float) -> str:
    return "< 0.001" if p_value < 0.001 else f"= {p_value:.3f}"
