"""Many formulas as one with parameters: thousands of segments, a handful of shapes.

Formulas that differ in their constants only become one formula whose constants are columns, one row per member; an
engine gets those rows by a join or a look-up. Where pieces are not decisions yet, members may have more or fewer knots.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from oddsmith._types import Floats
from oddsmith.formula import (
    Arithmetic,
    Clip,
    Column,
    Formula,
    Function,
    Number,
    Pieces,
    Reader,
    Where,
    as_formula,
    rewritten,
)


def with_parameters(formulas: Sequence[Formula]) -> tuple[Formula, int]:
    """Return one formula whose columns take their row number i for member i, and how many shapes are in it.

    A row has one value, or within pieces as many as there are pieces.

    Examples
    --------
    >>> from oddsmith.formula import SCORE
    >>> joint, shapes = with_parameters([2.0 * SCORE, 3.0 * SCORE])
    >>> shapes, joint.left.values.tolist()
    (1, [[2.0], [3.0]])
    """
    families: dict[str, list[int]] = {}
    constants: list[list[Floats]] = []
    for member, formula in enumerate(formulas):
        shape = _Shape()
        families.setdefault(shape.read(formula), []).append(member)
        constants.append(shape.constants)
    family = np.empty((len(formulas), 1))
    joint: Formula | None = None
    for number, members in enumerate(families.values()):
        family[members] = number
        # Others never take this branch: they get constants with which it can be computed.
        source = np.full(len(formulas), members[0])
        source[members] = members
        columns = (_stacked([constants[i][place] for i in source]) for place in range(len(constants[members[0]])))
        own = _refilled(formulas[members[0]], columns)
        joint = own if joint is None else Where(Number(float(number)), Column(family), own, joint)
    assert joint is not None
    return joint, len(families)


def _stacked(rows: Sequence[Floats]) -> Floats:
    """Return rows of one length: where there are more pieces than a member has, its last one goes on."""
    width = max(len(row) for row in rows)
    return np.array([np.append(row, np.full(width - len(row), row[-1])) for row in rows])


def _refilled(formula: Formula, columns: Iterator[Floats]) -> Formula:
    """Return a formula with other constants, in the order in which `_Shape` meets them."""
    return rewritten(
        formula,
        number=lambda value: Number(value) if np.isnan(value) else as_formula(next(columns)),
        column=lambda _values: as_formula(next(columns)),
        pieces=lambda _knots, body: Pieces(next(columns), body),
    )


class _Shape(Reader[str]):
    """Reads a formula as text without its constants, which are put in a list."""

    def __init__(self) -> None:
        super().__init__()
        self.constants: list[Floats] = []

    def _score(self) -> str:
        return "s"

    def _number(self, value: float) -> str:
        return "missing" if np.isnan(value) else self._constant(np.array([value]))

    def _column(self, node: Column) -> str:
        return self._constant(node.values)

    def _constant(self, values: Floats) -> str:
        self.constants.append(values)
        return f"c{len(self.constants)}"  # by number: formulas that share a constant have another shape

    def _arithmetic(self, node: Arithmetic, left: str, right: str) -> str:
        return f"({left}{node.operator}{right})"

    def _function(self, node: Function, of: str) -> str:
        return f"{node.name}({of})"

    def _clip(self, node: Clip, of: str) -> str:
        return f"clip({of},{node.low!r},{node.high!r})"

    def _where(self, _node: Where, left: str, right: str, then: str, otherwise: str) -> str:
        return f"if({left}<={right},{then},{otherwise})"

    def _pieces(self, node: Pieces) -> str:
        body = self.read(node.body)
        # A knot at ∞ is never passed.
        return f"pieces({self._constant(np.append(node.knots, np.inf))},{body})"
