"""The picture of the rooms of the library, and the table of their files."""

import sys
from pathlib import Path

import numpy as np
from figures import Theme, figure
from matplotlib.figure import Figure

from oddsmith.plots.theme import THEMES

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from house_map import contents, shortest


def files() -> str:
    """Return the table of all files, as Markdown."""
    return contents()


def floors(found: list[tuple[str, str]]) -> dict[str, int]:
    """Return on which floor each room lies: one above the highest that it imports.

    Examples
    --------
    >>> floors([("maps", "data"), ("fitting", "maps"), ("fitting", "data")])
    {'data': 0, 'maps': 1, 'fitting': 2}
    """
    below: dict[str, set[str]] = {}
    for room, other in found:
        below.setdefault(room, set()).add(other)
        below.setdefault(other, set())

    def floor(room: str) -> int:
        return max((1 + floor(other) for other in below[room]), default=0)

    return dict(sorted(((room, floor(room)) for room in below), key=lambda pair: (pair[1], pair[0])))


@figure
def rooms(theme: Theme) -> Figure:
    """The rooms, each above those that it imports."""
    look = THEMES[theme]
    found = shortest()
    heights = floors(found)
    places: dict[str, tuple[float, int]] = {}
    for height in sorted(set(heights.values()), reverse=True):
        level = [room for room in heights if heights[room] == height]
        level.sort(key=lambda room: np.mean([places[other][0] for other, below in found if below == room] or [0.5]))
        aside = 0.3 * (height % 4 / 3 - 0.5)  # so that few lines run through the room between two others
        places |= {room: ((place + 0.5) / len(level) + aside, height) for place, room in enumerate(level)}
    levels = 1 + max(heights.values())
    drawn = Figure(
        figsize=(0.62 * max(map(list(heights.values()).count, heights.values())) + 1, 0.42 * levels),
        layout="constrained",
        facecolor=look.background,
    )
    ax = drawn.add_subplot()
    ax.set(xlim=(-0.13, 1.13), ylim=(-0.5, levels - 0.5))
    ax.axis("off")
    for room, other in found:
        (x, y), (x_below, y_below) = places[room], places[other]
        ax.plot([x_below, x], [y_below, y], color=look.muted, linewidth=0.7, zorder=1)
    for room, (x, y) in places.items():
        box = {
            "boxstyle": "round,pad=0.25",
            "facecolor": look.background,
            "edgecolor": look.palette[0],
            "linewidth": 0.8,
        }
        ax.text(x, y, room, size=6.5, color=look.text, ha="center", va="center", bbox=box, zorder=2)
    return drawn
