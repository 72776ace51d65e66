"""The square that all reliability diagrams share: the diagonal, ticks, and the histogram of predictions next to it."""

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.maps import Band as Limits
from oddsmith.maps import logit
from oddsmith.plots._bands import Band
from oddsmith.plots._sources import TableDisplay
from oddsmith.plots.histogram import PredictionHistogramDisplay
from oddsmith.plots.theme import Ink, Theme, ThemeName, series_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HistogramPlace = Literal["below", "above"]

_MARGIN = "predictions"

#: Forecasts at which limits are drawn, and how near to 0 and 1 the first and the last of them are.
_FINE, _SUREST = 2001, 1e-12

#: About what a legend takes of the square.
_BOX = (0.7, 0.25)


class ReliabilityPicture(TableDisplay):
    """A curve of observed share against prediction, with the histogram of predictions in its margin.

    Attributes
    ----------
    line_ : artist
        The curve, once drawn.
    """

    histogram: PredictionHistogramDisplay
    name: str

    line_: Any

    _predicted: ClassVar[str] = "predicted probability"
    _observed: ClassVar[str] = "observed share of positives"

    _height: ClassVar[float] = 4.05
    _bare_height: ClassVar[float] = 3.3

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        theme: ThemeName = "light",
        histogram: HistogramPlace | None = "below",
        limit: float = 1.0,
        band: Limits | None = None,
        **style: Any,
    ) -> Self:
        """Draw the diagram; a second one on the same axes gets its own color.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure. ``layout="compressed"`` of a figure makes room for the histogram.
        theme : {"light", "dark"}, default "light"
        histogram : {"below", "above"} or None, default "below"
            Where the histogram of predictions stands.
        limit : float, default 1
            Where both axes end; a small one shows forecasts of rare events.
        band : oddsmith.bands.Band, optional
            Limits of the true P by the log-odds of the forecast, such as ``oddsmith.bands.band(forecast)``.
        **style
            ``style="points"`` or ``"lines"`` of a `ReliabilityDisplay`: a point at mean forecast and share of
            positives, joined; or a horizontal line over each bin at its share. ``attributes=True`` makes it an
            attributes diagram: the base rate (no resolution), the line of no skill, and shaded where bins improve the
            Brier score on the base rate.

        Returns
        -------
        self
        """
        _, _, *known = inspect.signature(self._draw).parameters
        for name in style:
            if name not in known:
                message = f"{type(self).__name__}.plot() got an unexpected keyword argument {name!r}"
                raise TypeError(message)
        look, series = self._open(ax, theme, histogram, limit)
        if band is not None:
            self._draw_limits(band, look, limit)
        self.line_ = self._draw(look.ink(series), series, **style)
        self._legend(look)
        return self

    def _draw_curve(self, ax: "Axes", ink: Ink, series: int) -> None:
        """Draw the curve alone, into a square that is there.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        ink : str
            The color.
        series : int
            The number of the curve on these axes.
        """
        self.ax_ = ax
        self.line_ = self._draw(ink, series)

    def _draw(self, ink: Ink, series: int) -> Any:
        """Draw what is peculiar to a diagram, and return its curve."""
        raise NotImplementedError

    def _open(self, ax: "Axes | None", theme: str, place: HistogramPlace | None, limit: float) -> tuple[Theme, int]:
        """Draw the square and the margin; return the theme and the number of this curve."""
        _check.one_of(place, "histogram", (None, "below", "above"))
        upper = _check.number(limit, "limit", low=0, strict=True)
        look = self._start(ax, theme, None if place else self._bare_height)
        from matplotlib.ticker import MaxNLocator

        series = len(series_of(self.ax_))
        view = (-0.02 * upper, 1.02 * upper)
        self.ax_.set(xlim=view, ylim=view, aspect="equal", ylabel=self._observed)
        for axis in (self.ax_.xaxis, self.ax_.yaxis):
            axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
        if series == 0:
            self.ax_.plot([0, 1], [0, 1], color=look.muted, linewidth=0.8, gid="diagonal", zorder=1.5)
        if place is None:
            self.ax_.set_xlabel(self._predicted)
        else:
            self._margin(look, place, series)
        return look, series

    def _margin(self, look: Theme, place: HistogramPlace, series: int) -> None:
        ax = self.ax_
        found = [child for child in ax.child_axes if child.get_label() == _MARGIN]
        # A child of the axes: it follows the square wherever a layout puts it.
        box = (0.0, -0.27, 1.0, 0.23) if place == "below" else (0.0, 1.03, 1.0, 0.23)
        margin: Any = found[0] if found else ax.inset_axes(box, sharex=ax, label=_MARGIN)
        look.dress(margin)
        margin.grid(visible=False)
        numbered = series == 0 and len(self.histogram.total) <= 10
        for text in list(margin.texts):
            text.remove()  # numbers of one curve would be taken for those of both
        self.histogram._draw_margin(margin, look, look.ink(series), numbered=numbered)
        tallest = max(float(self.histogram.total.max()), margin.get_ylim()[1] / 1.4 if found else 0.0)
        margin.set_ylim(0, 1.4 * tallest)
        if numbered:
            margin.set_yticks([])
        else:
            margin.set_yticks([0, tallest])
        margin.set_ylabel(self.histogram.unit)
        margin.tick_params(labelbottom=place == "below")
        ax.tick_params(labelbottom=place == "above")
        (margin if place == "below" else ax).set_xlabel(self._predicted)

    def _legend(self, look: Theme) -> None:
        """Put the legend into the corner off the diagonal that hides less of the curves; bands may be hidden."""
        low, high = self.ax_.get_xlim()
        at = (np.concatenate(list(_places_on(self.ax_))) - low) / (high - low)
        upper = np.sum((at[:, 0] < _BOX[0]) & (at[:, 1] > 1 - _BOX[1]))
        lower = np.sum((at[:, 0] > 1 - _BOX[0]) & (at[:, 1] < _BOX[1]))
        look.legend(self.ax_, place="lower right" if lower < upper else "upper left")

    def _draw_limits(self, band: Limits, look: Theme, upper: float) -> None:
        """Draw the limits of the true P as two thin lines."""
        prob = np.linspace(0, upper, _FINE)
        limits = band.limits(logit(np.clip(prob, _SUREST, 1 - _SUREST)))
        kind = "band of the true P" if band.simultaneous else "pointwise limits of P"
        style: dict[str, Any] = {"color": look.muted, "linewidth": 1.0, "linestyle": (0, (3, 1.5)), "zorder": 2.5}
        for line, side in zip(self.ax_.plot(prob, limits, **style), ("lower", "upper"), strict=True):
            line.set(gid=f"limit-{side}", label=f"{100 * band.level:.4g} % {kind}" if side == "lower" else None)

    def _shade(self, band: Band, ink: Ink, label: str, series: int) -> None:
        """Draw a band; only the first curve's is named."""
        named = f"{100 * band.level:g} % {label}" if series == 0 else None
        self.ax_.fill_between(
            band.at, band.low, band.high, color=ink.color, alpha=0.22, linewidth=0, label=named, zorder=2
        )


def _places_on(ax: "Axes") -> Iterator[Floats]:
    """Walk over the curves, each as places that lie close to each other."""
    for artist in series_of(ax):
        for piece in artist.get_segments() if hasattr(artist, "get_segments") else [artist.get_xydata()]:
            corners = np.arange(len(piece))
            steps = np.linspace(0, len(piece) - 1, 20 * len(piece))
            yield np.column_stack([np.interp(steps, corners, column) for column in np.transpose(piece)])
