"""Light and dark: colors that color-blind readers can distinguish, and marks and dashes that need no color.

A theme is put on one axes at a time, never on matplotlib's settings.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from oddsmith import _check

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ThemeName = Literal["light", "dark"]

#: Points; nothing is smaller than the second, so that all is legible at the width of one column.
LABEL_SIZE = 8
SMALL_SIZE = 7

#: Of a class, next to a picture.
_LETTERS = 14

_MARKERS = ("o", "s", "^", "D", "v", "P")
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))


class Ink(NamedTuple):
    """How one series is drawn."""

    color: str
    marker: str
    dashes: Any

    def line(self, width: float = 1.4) -> dict[str, Any]:
        """Return how to draw a curve."""
        return {"color": self.color, "linestyle": self.dashes, "linewidth": width}

    def dots(self, size: float = 3.5) -> dict[str, Any]:
        """Return how to draw points that are not joined."""
        return {"color": self.color, "marker": self.marker, "markersize": size, "linestyle": "none"}

    def bars(self) -> dict[str, Any]:
        """Return how to draw error bars."""
        return {"fmt": "none", "ecolor": self.color, "elinewidth": 0.9, "capsize": 1.5, "zorder": 3}


@dataclass(frozen=True)
class Theme:
    """Colors of one theme; every palette color has a contrast of 3 or more with the background."""

    background: str
    text: str
    muted: str
    grid: str
    palette: tuple[str, ...]

    def ink(self, series: int) -> Ink:
        """Return color, mark and dashes of a series; 36 series differ in color or dashes."""
        turn, k = divmod(series, len(self.palette))
        return Ink(self.palette[k], _MARKERS[(k + turn) % len(_MARKERS)], _DASHES[(k + turn) % len(_DASHES)])

    def dress(self, ax: "Axes") -> None:
        """Put the colors and sizes on an axes and on the ground of its figure."""
        figure = ax.get_figure()
        if figure is not None:
            figure.set_facecolor(self.background)
        ax.set_facecolor(self.background)
        ax.tick_params(which="both", color=self.muted, labelcolor=self.text, labelsize=SMALL_SIZE, width=0.6, length=3)
        for side, spine in ax.spines.items():
            spine.set_visible(side in ("left", "bottom"))
            spine.set(color=self.muted, linewidth=0.6)
        for axis in (ax.xaxis, ax.yaxis):
            axis.label.set(color=self.text, size=LABEL_SIZE)
            axis.get_offset_text().set(color=self.text, size=SMALL_SIZE)
        ax.title.set(color=self.text, size=LABEL_SIZE)
        ax.grid(visible=True, color=self.grid, linewidth=0.5)
        ax.set_axisbelow(True)

    def legend(self, ax: "Axes", *, place: str = "best", above: bool = False) -> None:
        """Name what is drawn, if anything has a name: at a place inside, or above the axes in columns."""
        labels = ax.get_legend_handles_labels()[1]
        if not labels:
            return
        style: dict[str, Any] = {"loc": place}
        if above:
            width = ax.bbox.width / ax.figure.dpi
            style = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": _columns(labels, width)}
        ax.legend(**self._legend_style(), **style).set_zorder(6)

    def legend_of_panels(self, figure: "Figure", panels: Sequence["Axes"]) -> None:
        """Name once, above all, what is drawn in panels that look alike."""
        for panel in panels:
            if (own := panel.get_legend()) is not None:
                own.remove()
        handles, labels = panels[0].get_legend_handles_labels()
        columns = _columns(labels, figure.get_size_inches()[0])
        figure.legend(handles, labels, loc="outside upper left", ncols=columns, **self._legend_style())

    def _legend_style(self) -> dict[str, Any]:
        ground = {"facecolor": self.background, "edgecolor": "none", "framealpha": 0.8}
        gaps = {"handlelength": 2.4, "labelspacing": 0.3, "borderpad": 0.3, "handletextpad": 0.5, "columnspacing": 1.2}
        return {"fontsize": SMALL_SIZE, "labelcolor": self.text, **ground, **gaps}


def _columns(labels: Sequence[str], inches: float) -> int:
    """Return how many columns of a legend have room."""
    # A letter takes some 0.6 of the size, a handle and the gaps some five letters' room.
    widest = 0.6 * SMALL_SIZE * (max(map(len, labels)) + 8)
    return min(max(int(72 * inches / widest), 1), len(labels))


THEMES: dict[str, Theme] = {
    "light": Theme(
        background="#FFFFFF",
        text="#1A1C1F",
        muted="#767B82",
        grid="#E6E8EB",
        palette=("#1565C8", "#D55E00", "#12A07A", "#86207C", "#5C4400", "#111111"),
    ),
    "dark": Theme(
        background="#15181D",
        text="#E6E8EB",
        muted="#8C929B",
        grid="#2A2F37",
        palette=("#3F93EA", "#E06A2C", "#45DB9F", "#C2558F", "#F0D94A", "#F5F5F5"),
    ),
}


def find_theme(name: str) -> Theme:
    """Return a theme by its name."""
    _check.one_of(name, "theme", tuple(THEMES))
    return THEMES[name]


def short_name(name: str) -> str:
    """Return a name of a class on one line, in at most 14 letters, none of which is read as mathematics."""
    line = " ".join(name.split())
    short = line if len(line) <= _LETTERS else f"{line[: _LETTERS - 1]}…"
    return short.replace("$", r"\$")


def series_of(ax: "Axes") -> list[Any]:
    """Return the curves or points that stand for a series each, in the order in which they were drawn."""
    return [artist for artist in ax.get_children() if str(artist.get_gid()).startswith("series-")]
