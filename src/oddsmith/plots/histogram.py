"""The histogram of predictions: where the forecasts are, alone or in the margin of a reliability diagram."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.data import ScoreTable
from oddsmith.metrics import as_forecast, bin_index, probability, sum_by
from oddsmith.plots._sources import ForecastDisplay, name_forecast
from oddsmith.plots.theme import LABEL_SIZE, SMALL_SIZE, Ink, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class PredictionHistogramDisplay(ForecastDisplay):
    """Histogram of predicted probabilities, positives stacked on negatives.

    Make it with `from_table`, `from_predictions` or `from_estimator`; `plot` draws it.

    Parameters
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Equal intervals [a, b) of [0, 1], the last closed.
    pos, neg : ndarray of shape (n_bins,)
        Weight of the positive and of the negative rows in each.
    counted : bool
        Whether weights are counts of rows.
    name : str, default ""

    See Also
    --------
    ReliabilityDisplay : Draws it below the diagram.

    Examples
    --------
    >>> display = PredictionHistogramDisplay.from_predictions([0, 1, 1], [0.1, 0.3, 1.0], n_bins=10)
    >>> display.total.tolist()
    [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    """

    edges: Floats
    pos: Floats
    neg: Floats
    counted: bool
    name: str = ""

    @property
    def total(self) -> Floats:
        """Weight of both classes in each bin."""
        return self.pos + self.neg

    @classmethod
    def from_table(cls, forecast: ScoreTable, *, n_bins: int = 20, name: str = "") -> Self:
        """Compute the histogram of a forecast table.

        Parameters
        ----------
        forecast : ScoreTable
            Scores are log-odds.
        n_bins : int, default 20
            Equal intervals of [0, 1].
        name : str, default ""
            What the legend calls it.

        Returns
        -------
        display
        """
        table, bins = as_forecast(forecast), _check.whole_number(n_bins, "n_bins", low=1)
        index = bin_index(table, probability(table), bins, "width", "left")
        pos, neg = (sum_by(index, column, bins) for column in (table.pos, table.neg))
        label = name_forecast(name, table)
        return cls(np.arange(bins + 1) / bins, pos, neg, table.kind == "count", label)

    def _draw_picture(self, look: Theme) -> None:
        left, width, nothing = self.edges[:-1], np.diff(self.edges), np.zeros_like(self.neg)
        # Pale under full: two classes in gray too.
        for series, (label, height, bottom, alpha) in enumerate(
            (("negative", self.neg, nothing, 0.35), ("positive", self.pos, self.neg, 1.0))
        ):
            color = look.ink(series).color
            bars = self.ax_.bar(left, height, width, bottom, align="edge", label=label)
            for bar in bars:
                bar.set(facecolor=(color, alpha), edgecolor=color, linewidth=0.6)
        self.ax_.set(xlim=(-0.005, 1.005), xlabel="predicted probability", ylabel=self.unit)
        self.ax_.set_title(self.name, size=LABEL_SIZE, color=look.text)
        self.ax_.grid(visible=False, axis="x")
        look.legend(self.ax_)

    @property
    def unit(self) -> str:
        """What is counted."""
        return "cases" if self.counted else "weight"

    def _draw_margin(self, ax: "Axes", look: Theme, ink: Ink, *, numbered: bool) -> None:
        """Draw the total as one series in the margin of another picture, with the weight of each bin over it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        look : Look
            The theme.
        ink : str
            The color.
        numbered : bool
            Whether the axis has numbers.
        """
        ax.stairs(self.total, self.edges, color=ink.color, alpha=0.35, fill=True)
        ax.stairs(self.total, self.edges, color=ink.color, linewidth=0.8)
        if not numbered:
            return
        for center, weight in zip((self.edges[:-1] + self.edges[1:]) / 2, self.total.tolist(), strict=True):
            if weight > 0:
                text = ax.annotate(short_number(weight), (center, weight), (0, 1), textcoords="offset points")
                text.set(ha="center", va="bottom", size=SMALL_SIZE, color=look.text)


def short_number(value: float) -> str:
    """Return a weight in at most four places: 950, 1200, 12k, 1.2M."""
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= unit:
            scaled = value / (1e3 if letter == "k" else unit)
            return f"{scaled:.2g}{letter}" if scaled < 10 else f"{scaled:.0f}{letter}"
    return f"{value:.0f}" if value >= 100 or value == int(value) else f"{value:.2g}"
