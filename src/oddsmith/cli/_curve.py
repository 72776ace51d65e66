"""Pictures in the terminal: a curve in Braille dots, two per column and four per row, and bars of eighths.

A terminal that knows ASCII alone gets one star per column, and bars of five heights.
"""

from collections.abc import Sequence

import numpy as np

from oddsmith._types import Floats

_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_BARS, _ASCII_BARS = " ▁▂▃▄▅▆▇█", " ..::==##"

#: The lines around a curve: at the left, at its foot, and between.
_FRAME, _ASCII_FRAME = ("┤", "└", "─"), ("|", "+", "-")


def curve(
    x: Floats,
    y: Floats,
    *,
    points: Sequence[tuple[float, float]] = (),
    width: int = 60,
    height: int = 12,
    ascii_only: bool = False,
) -> str:
    """Draw y, which lies in [0, 1], over x, and single points as circles.

    Examples
    --------
    >>> print(curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]), width=4, height=2))
    1.0 ┤  ⡠⠊
    0.0 ┤⡠⠊
        └────
         0  1
    """
    low, high = float(x.min()), float(x.max())
    span = high / 2 - low / 2 or 1.0  # halves, for the whole may be beyond the largest double
    at = np.arange(2 * width) / (2 * width - 1)
    level = np.clip(
        np.round((1 - np.interp(at, (x / 2 - low / 2) / span, y)) * (4 * height - 1)), 0, 4 * height - 1
    ).astype(int)
    cells = np.zeros((height, width), int)
    for column in range(2 * width):
        first, last = sorted((level[column], level[max(column - 1, 0)]))
        for dot in range(first + (first < last and level[column] > level[max(column - 1, 0)]), last + 1):
            if dot == level[column] or first < dot < last:
                cells[dot // 4, column // 2] |= _DOTS[column % 2][dot % 4]
    text = [[("*" if ascii_only else chr(0x2800 + cell)) if cell else " " for cell in row] for row in cells]
    left, corner, foot = _ASCII_FRAME if ascii_only else _FRAME
    for place, value in points:
        row = min(int((1 - value) * height), height - 1)
        text[row][min(int((place / 2 - low / 2) / span * width), width - 1)] = "o"
    marks = {0: "1.0", height - 1: "0.0", **({height // 2: "0.5"} if height > 3 else {})}
    lines = [f"{marks.get(row, ''):>3} {left}{''.join(cells)}".rstrip() for row, cells in enumerate(text)]
    ends = f"{low:g}".ljust(width - len(f"{high:g}")) + f"{high:g}"
    return "\n".join([*lines, f"    {corner}" + foot * width, f"     {ends}"])


def bars(heights: Floats, width: int, *, ascii_only: bool = False) -> str:
    """Draw bars that share a width, side by side; what is not 0 is seen.

    Examples
    --------
    >>> bars(np.array([8.0, 0.0, 0.1, 4.0]), 8)
    '██  ▁▁▄▄'
    """
    eighths = np.ceil(8 * heights / (heights.max() or 1.0)).astype(int)
    marks = _ASCII_BARS if ascii_only else _BARS
    return "".join(marks[eighths[column * len(heights) // width]] for column in range(width))
