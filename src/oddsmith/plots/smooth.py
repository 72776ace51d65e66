"""The smooth reliability diagram: a kernel instead of bins, with a bootstrap band."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from oddsmith import _check
from oddsmith._types import Bools, Floats, Weights
from oddsmith.data import RandomState, ScoreTable
from oddsmith.metrics import as_forecast, checked_level, equal_rows, rows_again
from oddsmith.plots._bands import Band, CellCounts, cells_of, envelope
from oddsmith.plots._reliability_axes import ReliabilityPicture
from oddsmith.plots._sources import ForecastDisplay, name_forecast
from oddsmith.plots.histogram import PredictionHistogramDisplay
from oddsmith.plots.theme import Ink

#: Steps of the grid, whose width is the finest bandwidth.
_GRID = 200

#: Bandwidths to choose from, the smoothest first, and cuts of long forecasts for the choice.
_BANDWIDTHS = 2.0 ** np.arange(6.5, -0.5, -0.5) / _GRID
_ROUGH_CUTS = 200

#: The curve goes no further than this from the nearest forecast.
_REACH = 0.05

#: What is left of a sum below this share of it is rounding.
_NOTHING = 1e-9


@dataclass(eq=False, repr=False)
class SmoothReliabilityDisplay(ReliabilityPicture, ForecastDisplay):
    """Reliability diagram by a Gaussian kernel on the prediction, with a bootstrap band.

    The bandwidth is the one that foretells left-out rows best, so nothing is chosen by hand. The curve ends one
    bandwidth, at most 0.05, from the nearest forecast. Make it with `from_table`, `from_predictions` or
    `from_estimator`; `plot` draws it.

    Parameters
    ----------
    prob, rate : ndarray
        Predictions on a grid and the smoothed share of positives there, NaN far from all forecasts.
    band : Band or None
    bandwidth : float
    histogram : PredictionHistogramDisplay
    name : str, default ""

    See Also
    --------
    CorpDisplay : Isotonic regression.
    oddsmith.metrics.smooth_calibration_error : The number.

    Notes
    -----
    rate(t) = Σ wᵢyᵢK(t, pᵢ) / Σ wᵢK(t, pᵢ), K Gaussian and reflected at 0 and 1. A row left out that has no
    neighbors is foretold by the base rate.

    References
    ----------
    J. Błasiok and P. Nakkiran, Smooth ECE: principled reliability diagrams via kernel smoothing, ICLR 2024.

    Examples
    --------
    >>> display = SmoothReliabilityDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.6, 0.6, 0.8], bandwidth=0.1)
    >>> np.interp([0.1, 0.6, 0.8], display.prob, display.rate).round(2)
    array([0.  , 0.53, 0.89])
    """

    prob: Floats
    rate: Floats
    band: Band | None
    bandwidth: float
    histogram: PredictionHistogramDisplay
    name: str = ""

    @classmethod
    def from_table(
        cls,
        forecast: ScoreTable,
        *,
        bandwidth: float | None = None,
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
        bandwidth : float, optional
            Standard deviation of the kernel, at least 0.005; by default of 0.005, 0.007, … 0.45 the one with the least
            leave-one-out squared error. `smooth_calibration_error` is that of Błasiok and Nakkiran, which
            smooths too much where forecasts keep to the middle.
        level : float or None, default 0.95
            Share of bootstrap samples that the band holds at each place; None for no band.
        n_resamples : int, default 400
            Samples for the band.
        random_state : int, Generator or None, default 0
        name : str, default ""
            What the legend calls it.

        Returns
        -------
        display
        """
        table, cells = as_forecast(forecast), CellCounts.of(as_forecast(forecast))
        wanted = _cross_validate(CellCounts.of(table, _ROUGH_CUTS)) if bandwidth is None else bandwidth
        sigma = max(_check.number(wanted, "bandwidth", low=0), 1 / _GRID)
        reach = min(sigma, _REACH)
        grid = np.linspace(max(cells.prob[0] - reach, 0.0), min(cells.prob[-1] + reach, 1.0), _GRID + 1)
        near = _distance(grid, cells.prob) <= reach * (1 + 1e-9)
        kernel = _kernel(grid[near], cells.prob, sigma)
        rate, band = _with_gaps(_rate(kernel, cells.table.pos, cells.table.neg), near), None
        if level is not None:
            share, count = checked_level(level), _check.whole_number(n_resamples, "n_resamples", low=20)
            found = envelope(grid[near], _rate(kernel, *_resample(cells, count, random_state)).T, share)
            band = Band(grid, _with_gaps(found.low, near), _with_gaps(found.high, near), share)
        histogram = PredictionHistogramDisplay.from_table(table)
        return cls(grid, rate, band, sigma, histogram, name_forecast(name, table))

    def _draw(self, ink: Ink, series: int) -> Any:
        if self.band is not None:
            self._shade(self.band, ink, "bootstrap band", series)
        label = f"{self.name or 'smoothed'} (σ = {self.bandwidth:.2g})"
        return self.ax_.plot(self.prob, self.rate, label=label, gid=f"series-{series}", zorder=4, **ink.line())[0]


def _kernel(at: Floats, prob: Floats, sigma: float) -> Floats:
    """Return the Gaussian kernel between places and predictions, reflected at 0 and 1."""
    images = (sign * prob + shift for sign in (1, -1) for shift in (-2, 0, 2))
    return np.asarray(sum(np.exp(-0.5 * ((at[:, None] - image) / sigma) ** 2) for image in images))


def _cross_validate(cells: CellCounts) -> float:
    """Return the bandwidth with the least squared error of rows left out, the smoothest of equals."""
    table = cells.table
    pos, neg = table.pos.astype(np.float64), table.neg.astype(np.float64)
    base = float(pos.sum() / (pos.sum() + neg.sum()))
    # What one row of each class weighs, in each cell that holds the class; errors of others have no weight.
    one_pos, one_neg = (equal_rows(*side)[1] for side in zip((pos, neg), table.squares, strict=True))

    def error(sigma: float) -> float:
        kernel = _kernel(cells.prob, cells.prob, sigma)
        yes, all_, own = kernel @ pos, kernel @ (pos + neg), np.diag(kernel)
        left_pos, left_neg = all_ - own * one_pos, all_ - own * one_neg
        held_pos, held_neg = left_pos > _NOTHING * all_, left_neg > _NOTHING * all_
        if_pos = np.divide(yes - own * one_pos, left_pos, out=np.full(len(pos), base), where=held_pos)
        if_neg = np.divide(yes, left_neg, out=np.full(len(neg), base), where=held_neg)
        return float(pos @ (1 - if_pos) ** 2 + neg @ if_neg**2)

    errors = np.array([error(float(sigma)) for sigma in _BANDWIDTHS])
    return float(_BANDWIDTHS[np.argmax(errors <= errors.min() * (1 + 1e-9))])


def _rate(kernel: Floats, pos: Weights, neg: Weights) -> Floats:
    """Return smoothed shares of positives, NaN where there is no weight."""
    yes, no = kernel @ pos, kernel @ neg
    return np.asarray(np.divide(yes, yes + no, out=np.full(yes.shape, np.nan), where=yes + no > 0))


def _resample(cells: CellCounts, n_resamples: int, random_state: RandomState) -> tuple[Floats, Floats]:
    """Return the weights of both classes, one column per bootstrap sample."""
    pos, neg = (np.zeros((n_resamples, len(cells.prob))) for _ in range(2))
    for row, drawn in enumerate(rows_again(cells.table, n_resamples, np.random.default_rng(random_state))):
        at = cells_of(drawn)
        pos[row, at], neg[row, at] = drawn.pos, drawn.neg
    return pos.T, neg.T


def _distance(at: Floats, prob: Floats) -> Floats:
    """Return how far the nearest forecast is."""
    right = np.clip(np.searchsorted(prob, at), 0, len(prob) - 1)
    left = np.maximum(right - 1, 0)
    return np.asarray(np.minimum(np.abs(at - prob[left]), np.abs(at - prob[right])))


def _with_gaps(values: Floats, near: Bools) -> Floats:
    """Return values where there are some, NaN elsewhere."""
    spread = np.full(len(near), np.nan)
    spread[near] = values
    return spread
