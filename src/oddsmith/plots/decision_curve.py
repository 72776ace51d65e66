"""The decision curve: net benefit by threshold, next to treating all and none."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from oddsmith.data import ScoreTable
from oddsmith.metrics import (
    DecisionCurve,
    NetBenefitDifference,
    as_forecast,
    compare_net_benefit,
    decision_curve,
)
from oddsmith.plots._sources import ForecastDisplay, name_forecast
from oddsmith.plots.display import Display
from oddsmith.plots.theme import Theme, series_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class DecisionCurveDisplay(ForecastDisplay):
    """Net benefit of acting on P ≥ t for all thresholds t, with a pointwise interval.

    A forecast is useful at the thresholds at which its curve is above those of treating all cases and of treating none.

    Make it with `from_table`, `from_predictions` or `from_estimator`; `plot` draws it.

    Parameters
    ----------
    curve : DecisionCurve
    name : str, default ""

    See Also
    --------
    NetBenefitDifferenceDisplay : Two forecasts.
    oddsmith.metrics.decision_curve : The numbers.

    References
    ----------
    A. Vickers & E. Elkin, Decision curve analysis: a novel method for evaluating prediction models, Medical Decision
    Making 2006.

    Examples
    --------
    >>> display = DecisionCurveDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], thresholds=[0.2, 0.5])
    >>> display.curve.net_benefit.tolist()
    [0.4375, 0.0]
    """

    curve: DecisionCurve
    name: str = ""

    _height: ClassVar[float] = 2.9

    @classmethod
    def from_table(
        cls, forecast: ScoreTable, *, thresholds: ArrayLike | None = None, level: float = 0.95, name: str = ""
    ) -> Self:
        """Compute the curve of a forecast table.

        Parameters
        ----------
        forecast : ScoreTable
            Scores are log-odds.
        thresholds : array-like, optional
            Between 0 and 1; by default 0.01, 0.02, …, 0.99.
        level : float, default 0.95
            Coverage of the intervals.
        name : str, default ""
            What the legend calls it.

        Returns
        -------
        display
        """
        table = as_forecast(forecast)
        return cls(
            decision_curve.of(table, thresholds=thresholds, level=level),
            name_forecast(name, table),
        )

    def _draw_picture(self, look: Theme) -> None:
        curve, series = self.curve, len(series_of(self.ax_))
        ink = look.ink(series)
        if series == 0:
            gray: dict[str, Any] = {"color": look.muted, "linewidth": 1}
            self.ax_.plot(curve.thresholds, curve.treat_all, label="treat all", linestyle="--", **gray)
            self.ax_.axhline(0, label="treat none", linestyle=":", **gray)
        self.ax_.fill_between(curve.thresholds, curve.low, curve.high, color=ink.color, alpha=0.18, linewidth=0)
        self._draw_line(curve.thresholds, curve.net_benefit, self.name or "forecast", series, **ink.line(1.6))
        top = float(np.nanmax([*curve.high, *curve.net_benefit, curve.prevalence]))
        self.ax_.set_ylim(min(-0.1 * top, -1e-3), 1.1 * top if top > 0 else 1.0)
        self.ax_.set_xlim(0, 1)
        self.ax_.set(xlabel="threshold of P", ylabel="net benefit")
        look.legend(self.ax_)


@dataclass(eq=False, repr=False)
class NetBenefitDifferenceDisplay(Display):
    """Net benefit of one forecast less that of another, with a band for all thresholds together.

    Make it with `from_predictions`, or from the result of `compare_net_benefit`; `plot` draws it.

    Parameters
    ----------
    found : NetBenefitDifference
    name : str, default ""

    See Also
    --------
    DecisionCurveDisplay : Each forecast alone.

    References
    ----------
    A. Vickers, A. Cronin, E. Elkin & M. Gonen, Extensions to decision curve analysis, BMC Medical Informatics and
    Decision Making 2008.

    Examples
    --------
    >>> display = NetBenefitDifferenceDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], [0.5] * 4)
    >>> float(display.found.difference[19])
    0.0625
    """

    found: NetBenefitDifference
    name: str = ""

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        other: ArrayLike,
        *,
        name: str = "",
        ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:
        """Compute and draw the difference of two forecasts of the same cases.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels {0, 1}, {−1, +1}, bool, or any two values with ``pos_label``.
        y_prob, other : array-like of shape (n,)
            P(+) by both forecasts.
        name : str, default ""
            What the legend calls the difference, such as "new − old".
        ax : Axes, optional
            Where to draw; by default on a new figure.
        **options
            Keyword arguments of `oddsmith.metrics.compare_net_benefit`.

        Returns
        -------
        self
        """
        return cls(compare_net_benefit(y_true, y_prob, other, **options), name).plot(ax)

    def _draw_picture(self, look: Theme) -> None:
        found, series = self.found, len(series_of(self.ax_))
        ink = look.ink(series)
        if series == 0:
            self.ax_.axhline(0, color=look.muted, linewidth=0.8)
        label = f"{100 * found.level:g} % band" if series == 0 else None
        shade: dict[str, Any] = {"color": ink.color, "alpha": 0.18, "linewidth": 0}
        self.ax_.fill_between(found.thresholds, found.low, found.high, label=label, **shade)
        self._draw_line(found.thresholds, found.difference, self.name or "difference", series, **ink.line(1.6))
        self.ax_.set_xlim(0, 1)
        self.ax_.set(xlabel="threshold of P", ylabel="difference in net benefit")
        look.legend(self.ax_)
