"""Piecewise lines as sums of hinges |s − k|: no branch to take, which column engines like."""

from typing import NamedTuple

import numpy as np

from oddsmith._types import Floats
from oddsmith.formula import (
    ANYTHING,
    SCORE,
    Arithmetic,
    Clip,
    Column,
    Formula,
    Function,
    Pieces,
    Reader,
    UnreadableError,
    absolute,
    evaluate,
    range_within,
    walk,
)

#: More knots are cheaper to look up.
_MOST_KNOTS = 24

#: Largest sum of the sizes of all terms: rounding of so many then stays below 6e-13 in log-odds, a quarter of it in
#: probability.
_SIZE = 200.0

#: Pieces may miss each other by this much in all.
_GAP = 1e-13


class Hinges(NamedTuple):
    """A formula of ``of`` in place of the score, valid where that lies within ``reach`` of ``center``."""

    formula: Formula
    center: float
    reach: float
    of: Formula


def as_hinges(pieces: Pieces) -> Hinges | None:
    """Return a broken line a + b s + Σ cⱼ|s − kⱼ|, or None where pieces are no lines, do not meet or are too steep.

    Pieces that read the score only through a logarithm that rises with it, such as its log-odds, are lines of that.

    Examples
    --------
    >>> import numpy as np
    >>> from oddsmith.formula import SCORE, evaluate
    >>> line = as_hinges(Pieces(np.array([0.0, 1.0]), SCORE * np.array([0.0, 2.0, 0.0]) + np.array([0.0, 0.0, 2.0])))
    >>> evaluate(line.formula, [-3.0, 0.25, 3.0])
    array([0. , 0.5, 2. ])
    """
    if len(pieces.knots) > _MOST_KNOTS:
        return None
    of = next((node for node in reversed(list(walk(pieces.body))) if _is_log(node)), SCORE)
    if not _rises(of):
        return None
    knots = evaluate(of, pieces.knots)
    center = float(knots[0] / 2 + knots[-1] / 2)
    away = knots - center
    reader = _Lines(of, center, len(knots) + 1)
    with np.errstate(all="ignore"):
        try:
            value, slope = reader.read(pieces.body)
        except UnreadableError:  # no line
            return None
        bends = np.diff(slope) / 2
        gaps = np.abs(np.diff(value) + np.diff(slope) * away)
        steady = float(slope[0] / 2 + slope[-1] / 2)
        start = float(value[0] + slope[0] * away[0] - steady * away[0] - np.dot(bends, np.abs(away - away[0])))
        spent = abs(start) + float(np.dot(np.abs(bends), np.abs(away)))
        steepness = abs(steady) + float(np.abs(bends).sum())
        reach = (_SIZE - spent) / steepness if steepness > 0 else np.inf
        reach = float(reach if reader.leaves_free(reach) else min(reach, 0.0))
    # Not a number anywhere is no hinge.
    if not (gaps.sum() <= _GAP and 2 * float(np.abs(away).max()) <= reach < 1e300):
        return None
    formula = start + steady * (SCORE - center)
    for knot, bend in zip(knots.tolist(), bends.tolist(), strict=True):
        formula = formula + bend * absolute(SCORE - knot)
    return Hinges(formula, center, reach, of)


def _is_log(node: Formula) -> bool:
    return isinstance(node, Function) and node.name == "log"


def _rises(formula: Formula) -> bool:
    """Whether a formula is known to rise with the score, or to stay the same."""
    try:
        return _Directions().read(formula) == 1
    except UnreadableError:
        return False


class _Directions(Reader[int]):
    """Reads a formula as 1 where it rises with the score, −1 where it falls and 0 where it is a constant."""

    def _score(self) -> int:
        return 1

    def _number(self, value: float) -> int:
        del value
        return 0

    def _arithmetic(self, node: Arithmetic, left: int, right: int) -> int:
        if node.operator in "*/":
            low, other = (range_within(side, ANYTHING).low for side in (node.left, node.right))
            if not (low >= 0 and other > 0):
                raise UnreadableError(node)
        found = {left, -right if node.operator in "-/" else right} - {0}
        if len(found) > 1:
            raise UnreadableError(node)
        return found.pop() if found else 0

    def _function(self, node: Function, of: int) -> int:
        if node.name in ("abs", "cos"):
            raise UnreadableError(node)
        return -of if node.name == "negative" else of

    def _clip(self, node: Clip, of: int) -> int:
        del node
        return of


#: Values at the center and slopes, one per piece.
_Line = tuple[Floats, Floats]


class _Lines(Reader[_Line]):
    """Reads pieces as lines of one of their parts."""

    def __init__(self, of: Formula, center: float, n: int) -> None:
        super().__init__()
        self.of = of
        self.center = center
        self.ones = np.ones(n)
        self.clips: list[tuple[_Line, Clip]] = []

    def leaves_free(self, reach: float) -> bool:
        """Whether no clip takes hold within reach."""
        rises = [(value, np.abs(slope) * reach, clip) for (value, slope), clip in self.clips]
        return all(np.all(x - rise > clip.low) and np.all(x + rise < clip.high) for x, rise, clip in rises)

    def _read(self, node: Formula) -> _Line:
        return (self.center * self.ones, self.ones) if node is self.of else super()._read(node)

    def _score(self) -> _Line:
        raise UnreadableError(SCORE)

    def _number(self, value: float) -> _Line:
        return value * self.ones, 0 * self.ones

    def _column(self, node: Column) -> _Line:
        return node.values, 0 * self.ones

    def _arithmetic(self, node: Arithmetic, left: _Line, right: _Line) -> _Line:
        (a, b), (c, d) = left, right
        match node.operator:
            case "+":
                return a + c, b + d
            case "-":
                return a - c, b - d
            case "*" if not b.any() or not d.any():
                return a * c, a * d + b * c
            case "/" if not d.any():
                return a / c, b / c
        raise UnreadableError(node)

    def _function(self, node: Function, of: _Line) -> _Line:
        if node.name != "negative":
            raise UnreadableError(node)
        return -of[0], -of[1]

    def _clip(self, node: Clip, of: _Line) -> _Line:
        self.clips.append((of, node))
        return of
