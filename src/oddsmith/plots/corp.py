"""The CORP reliability diagram: isotonic regression, with the band of a perfectly calibrated forecast."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from oddsmith import _check, _kernels
from oddsmith._types import Floats, Weights
from oddsmith.data import RandomState, ScoreTable
from oddsmith.metrics import (
    Decomposition,
    as_forecast,
    checked_level,
    decompose,
    labels_again,
    probability,
)
from oddsmith.plots._bands import Band, CellCounts, cells_of, envelope
from oddsmith.plots._reliability_axes import ReliabilityPicture
from oddsmith.plots._sources import ForecastDisplay, name_forecast
from oddsmith.plots.histogram import PredictionHistogramDisplay
from oddsmith.plots.theme import Ink

#: Places where a band is computed: evenly spaced, and as many at forecasts.
_PLACES = 200


@dataclass(eq=False, repr=False)
class CorpPicture(ReliabilityPicture):
    """Isotonic regression of what happened on what was forecast, with the band of a perfectly calibrated forecast."""

    prob: Floats
    rate: Floats
    band: Band | None
    decomposition: Decomposition
    histogram: PredictionHistogramDisplay
    name: str = ""

    @classmethod
    def from_table(
        cls,
        forecast: ScoreTable,
        *,
        level: float | None = 0.95,
        n_resamples: int = 400,
        random_state: RandomState = 0,
        name: str = "",
    ) -> Self:
        """Compute the diagram of a forecast table.

        Parameters
        ----------
        forecast : ScoreTable
            Scores are log-odds.
        level : float or None, default 0.95
            Share of perfectly calibrated forecasts that the band contains at each place; None for no band.
        n_resamples : int, default 400
            Samples for the band.
        random_state : int, Generator or None, default 0
        name : str, default ""
            What the legend calls it.

        Returns
        -------
        display
        """
        table = as_forecast(forecast)
        prob = probability(table)
        x, y = _pool(prob, table.pos, table.neg)
        band = None
        if level is not None:
            share, at, cells = checked_level(level), _places(prob), CellCounts.of(table)
            count = _check.whole_number(n_resamples, "n_resamples", low=20)
            draws = labels_again(cells.table, cells.prob, count, np.random.default_rng(random_state))
            curves = [np.interp(at, *_pool(cells.prob[cells_of(drawn)], drawn.pos, drawn.neg)) for drawn in draws]
            band = envelope(at, np.array(curves), share)
        histogram = PredictionHistogramDisplay.from_table(table)
        label = name_forecast(name, table)
        return cls(x, y, band, decompose.of(table, score="squared"), histogram, label)

    def _draw(self, ink: Ink, series: int) -> Any:
        if self.band is not None:
            self._shade(self.band, ink, "band if calibrated", series)
        parts = self.decomposition
        label = f"{self.name or 'isotonic'}\nBrier: MCB {parts.miscalibration:.4f} DSC {parts.discrimination:.4f}"
        style: dict[str, Any] = {"marker": ".", "markersize": 3.5, "gid": f"series-{series}", "zorder": 4} | ink.line()
        return self.ax_.plot(self.prob, self.rate, label=label, **style)[0]


@dataclass(eq=False, repr=False)
class CorpDisplay(CorpPicture, ForecastDisplay):
    """Reliability diagram without bins to choose: isotonic regression of the labels on the forecast.

    The band contains the curve of a perfectly calibrated forecast with the same predictions: where the curve leaves it,
    the forecast is off. Make it with `from_table`, `from_predictions` or `from_estimator`; `plot` draws it.

    Parameters
    ----------
    prob, rate : ndarray
        Ends of the pooled blocks of forecasts, and the share of positives of each block.
    band : Band or None
    decomposition : Decomposition
        Of the Brier score: the legend shows its miscalibration (MCB) and discrimination (DSC).
    histogram : PredictionHistogramDisplay
    name : str, default ""

    See Also
    --------
    ReliabilityDisplay : By bins.
    SmoothReliabilityDisplay : By a kernel.

    References
    ----------
    T. Dimitriadis, T. Gneiting and A. Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.
    J. Bröcker and L. Smith, Increasing the reliability of reliability diagrams, Weather and Forecasting 2007.

    Examples
    --------
    >>> display = CorpDisplay.from_predictions([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9])
    >>> display.prob.round(3).tolist(), display.rate.tolist()
    ([0.2, 0.2, 0.4, 0.6, 0.9, 0.9], [0.0, 0.0, 0.5, 0.5, 1.0, 1.0])
    """


def _pool(prob: Floats, pos: Weights, neg: Weights) -> tuple[Floats, Floats]:
    """Return both ends of every block of isotonic regression, and its share of positives."""
    starts, rates = _kernels.pool_violators(pos, neg)
    ends = np.append(starts[1:], len(prob)) - 1
    return np.column_stack([prob[starts], prob[ends]]).ravel(), np.repeat(rates, 2)


def _places(prob: Floats) -> Floats:
    even = np.linspace(prob[0], prob[-1], _PLACES)
    ranks = np.linspace(0, len(prob) - 1, min(_PLACES, len(prob))).astype(np.intp)
    return np.unique(np.concatenate([even, prob[ranks]]))
