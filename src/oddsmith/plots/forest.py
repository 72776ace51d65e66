"""The forest plot of an audit: observed over expected positives of the worst segments."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from oddsmith.audit import Audit, AuditedSegment
from oddsmith.plots.display import Display
from oddsmith.plots.theme import Theme

#: Letters of a segment's name that are drawn.
_LETTERS = 34

#: Ratios beyond these are drawn at the edge.
_LEAST, _MOST = 0.05, 20.0


@dataclass(eq=False)
class AuditDisplay(Display):
    """Observed/expected positives of segments with their intervals, the segments with the largest gain on top.

    Segments that differ significantly after Holm's correction are filled. Make it with `from_audit`.

    Parameters
    ----------
    segments : tuple of AuditedSegment
        From top to bottom.
    level : float
        Coverage of the intervals, and the level of significance.

    See Also
    --------
    oddsmith.audit.audit : Makes what it draws.

    Examples
    --------
    >>> import pandas as pd
    >>> from oddsmith.audit import audit
    >>> rows = pd.DataFrame({"shop": ["a", "b"] * 200, "probability": 0.5, "label": [1, 0, 1, 1, 0, 0] * 66 + [1] * 4})
    >>> [segment.name for segment in AuditDisplay.from_audit(audit(rows, "shop")).segments]
    ['shop a', 'shop b']
    """

    segments: tuple[AuditedSegment, ...]
    level: float

    @classmethod
    def from_audit(cls, found: Audit, *, most: int = 12) -> Self:
        """Take the worst segments of an audit.

        Parameters
        ----------
        found : Audit
        most : int, default 12
            Number of segments that are drawn.

        Returns
        -------
        display
        """
        return cls(found.segments[:most], found.level)

    def _find_height(self) -> float:
        return 0.9 + 0.26 * max(len(self.segments), 1)

    def _draw_picture(self, look: Theme) -> None:
        ink = look.ink(0)
        place = np.arange(len(self.segments))
        for y, segment in zip(place, self.segments, strict=True):
            ends = np.clip([segment.ratio_low, segment.ratio_high], _LEAST, _MOST)
            self.ax_.plot(ends, [y, y], color=ink.color, linewidth=1.2, zorder=3)
            filled = segment.p_holm <= 1 - self.level
            self.ax_.plot(
                [min(max(segment.ratio, _LEAST), _MOST)],
                [y],
                marker="o",
                markersize=4.5,
                color=ink.color,
                markerfacecolor=ink.color if filled else look.background,
                zorder=4,
            )
        self.ax_.axvline(1, color=look.muted, linewidth=0.8)
        self.ax_.set_xscale("log")
        shown = [value for one in self.segments for value in (one.ratio_low, one.ratio_high)]
        low, high = (min([*shown, 0.8]), max([*shown, 1.25])) if shown else (0.5, 2.0)
        low, high = max(low, _LEAST) / 1.1, min(high, _MOST) * 1.1
        self.ax_.set_xlim(low, high)
        ticks = [tick for tick in (0.1, 0.2, 0.5, 0.8, 1, 1.25, 2, 5, 10) if low <= tick <= high]
        self.ax_.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        self.ax_.minorticks_off()
        self.ax_.set_yticks(place, [_short(segment.name) for segment in self.segments])
        self.ax_.set_ylim(len(self.segments) - 0.4, -0.6)
        self.ax_.set_xlabel("observed/expected")
        self.ax_.grid(visible=False, axis="y")


def _short(name: str) -> str:
    """Return a name that has room, none of which is read as mathematics."""
    plain = name.replace("$", r"\$")
    return plain if len(plain) <= _LETTERS else f"{plain[: _LETTERS - 1]}…"
