"""What every picture shares: computed first, drawn after, on its own figure or on an axes that is given.

A figure of its own is made without pyplot: nothing is registered anywhere, no figure stays open, threads do not meet.
In a notebook the display shows itself; in a script pass an axes of pyplot to use ``plt.show``.
"""

from copy import copy
from dataclasses import fields
from io import BytesIO
from os import PathLike, fspath
from typing import IO, TYPE_CHECKING, Any, ClassVar, Self, cast

from oddsmith import _check, _extras
from oddsmith._types import Floats
from oddsmith.plots.theme import Theme, ThemeName, find_theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

#: Inches: one column of a two-column page.
WIDTH = 3.4

#: Nothing of the clock or of the version goes into a file, so that the same picture is the same bytes.
_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


class Display:
    """A picture that was computed; `plot` draws it.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        Where it was drawn last.
    lines_ : dict of str to Line2D
        The curves by name, of pictures with several.
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    lines_: dict[str, Any]

    _height: ClassVar[float] = 2.6
    _own: bool = False

    def plot(self, ax: "Axes | None" = None, *, theme: ThemeName = "light") -> Self:
        """Draw the picture; a second curve drawn into the same axes gets its own color and dashes.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.
        theme : {"light", "dark"}, default "light"

        Returns
        -------
        self
        """
        self._draw_picture(self._start(ax, theme))
        return self

    def _draw_picture(self, look: Theme) -> None:
        """Draw into ``ax_``, for pictures without options of their own."""
        raise NotImplementedError

    def save(self, path: str | PathLike[str], *, theme: ThemeName = "light", dpi: float = 200, **options: Any) -> None:
        """Draw on a new figure and write it to a file; the same picture gives the same bytes.

        Parameters
        ----------
        path : path
            Ends with .svg, .png or .pdf.
        theme : {"light", "dark"}, default "light"
        dpi : float, default 200
            Dots per inch of a .png.
        **options
            Keyword arguments of `plot`.
        """
        name = fspath(path)
        kind = name.rpartition(".")[2].lower()
        _check.one_of(kind, "the end of path", tuple(_METADATA))
        copy(self).plot(theme=theme, **options)._write(name, kind, dpi)

    def to_svg(self, *, theme: ThemeName = "light", **options: Any) -> str:
        """Draw on a new figure and return it as SVG, to be put into a page.

        Parameters
        ----------
        theme : {"light", "dark"}, default "light"
        **options
            Keyword arguments of `plot`.

        Returns
        -------
        str
        """
        return copy(self).plot(theme=theme, **options)._as_svg()

    def __repr__(self) -> str:
        """Name what identifies the picture: texts, numbers and flags, not the curves."""
        plain = [(field.name, getattr(self, field.name)) for field in fields(cast("Any", self))]
        shown = [
            f"{name}={value!r}" for name, value in plain if isinstance(value, (str, bool, int, float)) and value != ""
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def _repr_svg_(self) -> str | None:
        """Show itself in a notebook, unless it was drawn on an axes of somebody else, who shows that one."""
        if not hasattr(self, "ax_"):
            return self.to_svg()
        return self._as_svg() if self._own else None

    def _find_height(self) -> float:
        """Return the height of a figure of its own, in inches."""
        return self._height

    def _draw_line(self, x: Floats, y: Floats, name: str, series: int, *, label: str = "", **style: Any) -> None:
        """Draw the one curve of a picture, as the next series of its axes."""
        (line,) = self.ax_.plot(x, y, label=label or name, gid=f"series-{series}", **style)
        self.lines_ = {name: line}

    def _as_svg(self) -> str:
        page = BytesIO()
        self._write(page, "svg", 72)
        return page.getvalue().decode()

    def _write(self, target: str | IO[bytes], kind: str, dpi: float) -> None:
        import matplotlib as mpl

        figure = cast("Figure", self.figure_)
        # The salt of identifiers has no other place than the settings, which are restored at once.
        with mpl.rc_context({"svg.hashsalt": "oddsmith"}):
            figure.savefig(
                target,
                format=kind,
                dpi=dpi,
                metadata=_METADATA[kind],
                facecolor=figure.get_facecolor(),
                bbox_inches=None,
            )

    def _start(self, ax: "Axes | None", theme: str, height: float | None = None) -> Theme:
        """Take an axes, or make one; put the theme on it."""
        look = find_theme(theme)
        if ax is None:
            _extras.require("matplotlib")
            from matplotlib.figure import Figure

            figure = Figure(figsize=(WIDTH, self._find_height() if height is None else height), layout="compressed")
            self.ax_, self.figure_, self._own = figure.add_subplot(), figure, True
        else:
            holder = ax.get_figure()
            if holder is None:
                _check.fail("ax must belong to a figure", "an axes that was removed", "make a new axes")
            self.ax_, self.figure_, self._own = ax, holder, False
        look.dress(self.ax_)
        return look
