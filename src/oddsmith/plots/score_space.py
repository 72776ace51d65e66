"""Score space: empirical log-odds at each score, with every fitted map over them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, ndtri

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.data import ScoreTable
from oddsmith.maps import Band, logit
from oddsmith.metrics import EmpiricalLogOdds, HasLogOdds, checked_level, empirical_log_odds, is_fitted_to
from oddsmith.plots._sources import ScoreDisplay, mark_in_sample, score_range
from oddsmith.plots.theme import Theme, ThemeName

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Scale = Literal["log_odds", "probability"]

_GRID = 600


@dataclass(frozen=True, eq=False)
class EmpiricalPoints:
    """Empirical log-odds of one table, with an interval of each.

    Parameters
    ----------
    empirical : EmpiricalLogOdds
        Log-odds in bins of scores.
    low : array of shape (m,)
        Lower ends of their intervals.
    high : array of shape (m,)
        Upper ends of their intervals.

    See Also
    --------
    ScoreSpaceDisplay : Draws them.
    """

    empirical: EmpiricalLogOdds
    low: Floats
    high: Floats

    @staticmethod
    def of(table: ScoreTable, n_bins: int, edges: ArrayLike | None, level: float) -> "EmpiricalPoints":
        """Bin a table.

        Parameters
        ----------
        table : ScoreTable
            What is drawn.
        n_bins : int
            The number of bins.
        edges : array-like, optional
            Edges of the bins; by default quantiles.
        level : float
            The level of intervals.

        Returns
        -------
        EmpiricalPoints
        """
        found = empirical_log_odds(table, n_bins=n_bins, edges=edges)
        reach = ndtri((1 + level) / 2) * found.standard_error
        return EmpiricalPoints(found, found.log_odds - reach, found.log_odds + reach)


@dataclass(eq=False, repr=False)
class ScoreSpaceDisplay(ScoreDisplay):
    """Empirical log-odds by score, and fitted maps over them.

    It shows which map from score to log-odds fits the data: a straight line is logistic regression, anything else is
    not. Make it with `from_table`, `from_tables`, `from_predictions` or `from_estimator`; `plot` draws it.

    Parameters
    ----------
    points : dict of str to EmpiricalPoints
        Empirical log-odds, by the name of their table.
    grid : ndarray
        Scores at which maps are drawn.
    maps : dict of str to ndarray
        Log-odds of each map on the grid.
    level : float
        Coverage of the intervals.
    in_sample : frozenset of str
        Maps that were fitted to the very rows shown, as far as known; the legend marks them.
    band : Band or None
        Limits of P, drawn in the background.

    See Also
    --------
    oddsmith.metrics.empirical_log_odds : The points.
    DensityDisplay : The scores of each class.

    Notes
    -----
    A point is log((n₊ + ½)/(n₋ + ½)) at the mean score of a bin. A bin of one class has infinite log-odds; it is drawn
    as an open triangle, pointing there, where the added halves put it.

    References
    ----------
    J. Zhang and Y. Yang, Probabilistic score estimation with piecewise logistic regression, ICML 2004.

    Examples
    --------
    >>> from oddsmith import PlattCalibrator
    >>> scores, y = [-2.0, -1.0, -0.5, 0.5, 1.0, 2.0], [0, 0, 1, 0, 1, 1]
    >>> maps = {"Platt": PlattCalibrator().fit(scores, y)}
    >>> display = ScoreSpaceDisplay.from_predictions(y, scores, maps=maps, n_bins=3)
    >>> display.points[""].empirical.log_odds.round(3).tolist()
    [-1.609, 0.0, 1.609]
    """

    points: dict[str, EmpiricalPoints]
    grid: Floats
    maps: dict[str, Floats]
    level: float
    in_sample: frozenset[str] = frozenset()
    band: Band | None = None

    _height: ClassVar[float] = 3.0

    @classmethod
    def from_table(
        cls,
        table: ScoreTable,
        *,
        maps: Mapping[str, HasLogOdds] | None = None,
        n_bins: int = 30,
        edges: ArrayLike | None = None,
        level: float = 0.95,
        band: Band | None = None,
    ) -> Self:
        """Compute the picture of one score table.

        Parameters
        ----------
        table : ScoreTable
            Of finite scores.
        maps : mapping of str to fitted calibrator or map, optional
        n_bins : int, default 30
            Bins of equal weight.
        edges : array-like, optional
            Edges of bins instead.
        level : float, default 0.95
            Coverage of the intervals.
        band : Band, optional
            Limits of P to be drawn, such as ``pointwise_band(table)`` of `oddsmith.bands`.

        Returns
        -------
        display
        """
        return cls.from_tables({"": table}, maps=maps, n_bins=n_bins, edges=edges, level=level, band=band)

    @classmethod
    def from_tables(
        cls,
        tables: Mapping[str, ScoreTable],
        *,
        maps: Mapping[str, HasLogOdds] | None = None,
        n_bins: int = 30,
        edges: ArrayLike | None = None,
        level: float = 0.95,
        band: Band | None = None,
    ) -> Self:
        """Compute the picture of several tables, such as of training and test scores.

        Parameters
        ----------
        tables : mapping of str to ScoreTable
        maps : mapping of str to fitted calibrator or map, optional
        n_bins : int, default 30
            Bins of equal weight.
        edges : array-like, optional
            Edges of bins instead.
        level : float, default 0.95
            Coverage of the intervals.
        band : Band, optional
            Limits of P to be drawn, such as ``pointwise_band(table)`` of `oddsmith.bands`.

        Returns
        -------
        display
        """
        if not tables:
            _check.fail("tables must not be empty", "none", "name at least one table")
        share = checked_level(level)
        points = {name: EmpiricalPoints.of(table, n_bins, edges, share) for name, table in tables.items()}
        means = np.concatenate([each.empirical.mean_score for each in points.values()])
        grid = np.linspace(*score_range(float(means.min()), float(means.max())), _GRID)
        curves = {name: np.asarray(each.log_odds(grid), np.float64) for name, each in (maps or {}).items()}
        seen = {
            name for name, each in (maps or {}).items() if all(is_fitted_to(each, table) for table in tables.values())
        }
        return cls(points, grid, curves, share, frozenset(seen), band)

    def plot(self, ax: "Axes | None" = None, *, theme: ThemeName = "light", scale: Scale = "log_odds") -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.
        theme : {"light", "dark"}, default "light"
        scale : {"log_odds", "probability"}, default "log_odds"
            Of the vertical axis.

        Returns
        -------
        self
        """
        _check.one_of(scale, "scale", ("log_odds", "probability"))
        look = self._start(ax, theme)
        self.lines_: dict[str, Any] = {}
        low, high = self._reach() if scale == "log_odds" else (-0.03, 1.03)
        if self.band is not None:
            self._draw_band(self.band, look, scale, low, high)
        for series, (name, points) in enumerate(self.points.items()):
            self._draw_points(points, name or "data", look, series, scale)
        for series, (name, values) in enumerate(self.maps.items()):
            # What lies far outside is drawn to the edge, not left out.
            shown = expit(values) if scale == "probability" else np.clip(values, 2 * low - high, 2 * high - low)
            label = mark_in_sample(name, in_sample=name in self.in_sample)
            style = look.ink(series).line() | {"label": label, "gid": f"series-{series}", "zorder": 3}
            (self.lines_[name],) = self.ax_.plot(self.grid, shown, **style)
        label = "log-odds" if scale == "log_odds" else "probability"
        self.ax_.set(xlim=(self.grid[0], self.grid[-1]), ylim=(low, high), xlabel="score", ylabel=label)
        look.legend(self.ax_, above=True)
        return self

    def _draw_band(self, band: Band, look: Theme, scale: Scale, low: float, high: float) -> None:
        """Shade the limits at scores that the axis shows; in log-odds, infinite limits end where the axis does."""
        limits = band.limits(self.grid).T
        if scale == "log_odds":
            limits = np.clip(logit(limits), 2 * low - high, 2 * high - low)
        kind = "band" if band.simultaneous else "pointwise limits"
        label = f"{100 * band.level:.4g} % {kind}"
        self.ax_.fill_between(self.grid, *limits, color=look.muted, alpha=0.22, linewidth=0, label=label, zorder=1)

    def _reach(self) -> tuple[float, float]:
        """Return a range that holds all intervals."""
        ends = np.concatenate([[each.low, each.high] for each in self.points.values()], axis=1)
        margin = 0.05 * float(np.ptp(ends))
        return float(ends.min()) - margin, float(ends.max()) + margin

    def _draw_points(self, points: EmpiricalPoints, name: str, look: Theme, series: int, scale: Scale) -> None:
        found = points.empirical
        view = expit if scale == "probability" else np.asarray
        x, y = found.mean_score, view(found.log_odds)
        reach = np.abs([y - view(points.low), view(points.high) - y])
        color = look.text if series == 0 else look.muted
        self.ax_.errorbar(x, y, reach, fmt="none", ecolor=color, elinewidth=0.6, alpha=0.6, zorder=2)
        face = color if series % 2 == 0 else look.background
        kinds = ((~found.one_class, "os"[series % 2], face), (found.neg == 0, "^", look.background))
        for where, marker, fill in (*kinds, (found.pos == 0, "v", look.background)):
            (drawn,) = self.ax_.plot(x[where], y[where], color=color, linestyle="none", marker=marker, zorder=4)
            drawn.set(markersize=3.5, markerfacecolor=fill, markeredgewidth=0.8)
            drawn.set_label(name if marker in "os" else "_")
