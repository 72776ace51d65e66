"""The risk–coverage curve: which share of rows can be decided automatically, at which error rate."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from oddsmith._types import Floats
from oddsmith.bands import clopper_pearson
from oddsmith.metrics import ClassForecast, checked_level, probability
from oddsmith.plots._bands import Band
from oddsmith.plots._sources import ClassForecastDisplay
from oddsmith.plots.theme import Theme, series_of

#: Points of the curve, at most.
_POINTS = 500


@dataclass(eq=False, repr=False)
class RiskCoverageDisplay(ClassForecastDisplay):
    """Error rate among the rows whose most probable class is most certain, by as a function of their share of all rows.

    At coverage c, the share c of the rows with the largest probabilities is decided, and all others are left to people.
    The band is pointwise, by Clopper and Pearson. To choose a cut-off with a guarantee, pass
    ``forecast.of_top_label()`` to `oddsmith.cutoffs.threshold` with ``precision=``.

    Make it with `from_forecast`, `from_predictions` or `from_estimator`; `plot` draws it.

    Parameters
    ----------
    coverage, risk : ndarray
        Share of the rows that is decided, ascending, and the error rate among them. Equally certain rows are decided
        together.
    confidence : ndarray
        The least probability among the rows that are decided.
    band : Band or None
        None for float weights.
    name : str, default ""

    See Also
    --------
    ConfidenceDisplay : Whether confidences are right.

    References
    ----------
    R. El-Yaniv and Y. Wiener, On the foundations of noise-free selective classification, JMLR 2010.

    Examples
    --------
    >>> prob = [[0.9, 0.1], [0.2, 0.8], [0.3, 0.7], [0.55, 0.45]]
    >>> display = RiskCoverageDisplay.from_predictions([0, 1, 0, 1], prob)
    >>> display.coverage.tolist(), display.risk.round(2).tolist()
    ([0.25, 0.5, 0.75, 1.0], [0.0, 0.0, 0.33, 0.5])
    """

    coverage: Floats
    risk: Floats
    confidence: Floats
    band: Band | None
    name: str = ""

    @classmethod
    def from_forecast(cls, forecast: ClassForecast, *, level: float = 0.95, name: str = "") -> Self:
        """Compute the curve of a forecast of two or of several classes.

        Parameters
        ----------
        forecast : ClassForecast
            From `oddsmith.metrics.class_forecast`.
        level : float, default 0.95
            Of the band at each coverage.
        name : str, default ""
            What the legend calls it.

        Returns
        -------
        display
        """
        share, top = checked_level(level), forecast.of_top_label()
        wrong, decided = (np.cumsum(side[::-1], dtype=np.float64) for side in (top.neg, top.total))
        places = np.unique(np.searchsorted(decided, np.linspace(0, decided[-1], _POINTS)))
        wrong, decided = wrong[places], decided[places]
        coverage, risk = decided / decided[-1], wrong / decided
        band = None
        if top.kind == "count":
            band = Band(coverage, *clopper_pearson(wrong, decided, (1 - share) / 2), share)
        return cls(coverage, risk, probability(top)[::-1][places], band, name)

    def _draw_picture(self, look: Theme) -> None:
        series, top = len(series_of(self.ax_)), float(self.risk.max())
        ink = look.ink(series)
        if self.band is not None:
            self.ax_.fill_between(self.band.at, self.band.low, self.band.high, color=ink.color, alpha=0.18, linewidth=0)
            top = max(top, float(self.band.high[-1]))
        self._draw_line(self.coverage, self.risk, self.name or "decided rows", series, **ink.line(1.6))
        # The few most certain rows have a wide, uninformative band: the axis shows the rest.
        highest = min(1.4 * top if top > 0 else 1.0, 1.02)
        self.ax_.set_ylim(0, max(highest, self.ax_.get_ylim()[1]) if series else highest)
        self.ax_.set_xlim(0, 1)
        self.ax_.set(xlabel="share of rows decided", ylabel="error rate among them")
        look.legend(self.ax_)
