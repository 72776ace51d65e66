"""Pictures of a study: displays, several of them on one page, and drawings of its own."""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from oddsmith import checks
from oddsmith.plots.display import WIDTH, Display
from oddsmith.plots.theme import LABEL_SIZE, Theme, ThemeName, find_theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class StudyFigure:
    """A picture of a study.

    Parameters
    ----------
    name : str
        Of its files.
    caption : str
        What is seen, in plain sentences.
    display : Display
        One of `oddsmith.plots`, or a `Drawing`, or `Panels` of them.
    options : mapping, optional
        Of its ``plot``.
    """

    name: str
    caption: str
    display: Display
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Drawing(Display):
    """A picture that only one study draws.

    Parameters
    ----------
    draw : callable
        ``draw(ax, look)`` draws on an axes that wears the theme already; ``look.ink(k)`` is the k-th series' color,
        mark and dashes. What has a label gets into the legend.
    height : float, default 2.6
        In inches.
    """

    draw: Callable[["Axes", Theme], object]
    height: float = 2.6

    def plot(self, ax: "Axes | None" = None, *, theme: ThemeName = "light") -> Self:
        """Draw the picture."""
        look = self._start(ax, theme, self.height)
        self.draw(self.ax_, look)
        look.legend(self.ax_)
        return self


@dataclass(eq=False)
class Adjusted(Display):
    """A display whose axes and names are made to fit the pictures next to it.

    Parameters
    ----------
    display : Display
    axes : mapping, optional
        What ``Axes.set`` is given once it is drawn: limits, scales, labels.
    rename : mapping of str to str, optional
        Other names in the legend.
    marks : mapping of str to str, optional
        Marks that the legend names in addition to what the display names itself.
    """

    display: Display
    axes: Mapping[str, Any] = field(default_factory=dict)
    rename: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[str, str] = field(default_factory=dict)

    def plot(self, ax: "Axes | None" = None, *, theme: ThemeName = "light", **options: Any) -> Self:
        """Draw the display, then adjust it."""
        drawn = copy(self.display).plot(ax, theme=theme, **options)
        look = find_theme(theme)
        for mark, name in self.marks.items():
            (shown,) = drawn.ax_.plot([], [], linestyle="none", marker=mark, label=name, color=look.text)
            shown.set(markerfacecolor=look.background, markersize=3.5, markeredgewidth=0.8)
        for artist in drawn.ax_.get_legend_handles_labels()[0]:
            artist.set_label(self.rename.get(str(artist.get_label()), str(artist.get_label())))
        drawn.ax_.set(**self.axes)
        if drawn.ax_.get_legend() is not None:
            look.legend(drawn.ax_, above=True)
        self.ax_, self.figure_, self._own = drawn.ax_, drawn.figure_, drawn._own
        return self


#: Bins with one class only, which `ScoreSpaceDisplay` draws as triangles.
ONE_CLASS = {"^": "positives only", "v": "negatives only"}


@dataclass(eq=False)
class Panels(Display):
    """Several pictures on one page, each under its title.

    Parameters
    ----------
    panels : mapping of title to Display
    columns : int, default 2
    size : (float, float), optional
        Inches of a panel.
    options : mapping, optional
        Of every panel's ``plot``.
    alike : bool, default False
        Whether one legend, that of the first, does for all.
    """

    panels: Mapping[str, Display]
    columns: int = 2
    size: tuple[float, float] = (WIDTH, 2.6)
    options: Mapping[str, Any] = field(default_factory=dict)
    alike: bool = False

    def plot(self, ax: "Axes | None" = None, *, theme: ThemeName = "light") -> Self:
        """Draw all panels on a figure of their own."""
        from matplotlib.figure import Figure

        if ax is not None:
            checks.fail("panels must have a figure of their own", "an axes", "leave ax out")
        rows = -(-len(self.panels) // self.columns)
        figure = Figure(figsize=(self.columns * self.size[0], rows * self.size[1]), layout="compressed")
        places = figure.subplots(rows, self.columns, squeeze=False).ravel()
        for place, (title, display) in zip(places, self.panels.items(), strict=False):
            copy(display).plot(place, theme=theme, **self.options)
            place.set_title(title, size=LABEL_SIZE, color=find_theme(theme).text)
        for empty in places[len(self.panels) :]:
            empty.set_axis_off()
        if self.alike:
            find_theme(theme).legend_of_panels(figure, places.tolist())
        self.figure_, self.ax_, self._own = figure, places[0], True
        return self
