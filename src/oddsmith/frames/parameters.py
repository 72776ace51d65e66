"""Many formulas as one with parameters: thousands of segments, a handful of shapes.

Formulas that differ in their constants only become one formula whose constants are columns, one value a member; an
engine gets those values by a join. Pieces must be decisions by then, so that knots are constants too.
"""

from collections.abc import Sequence

import numpy as np

from oddsmith.formula import (
    SCORE,
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
)


def with_parameters(formulas: Sequence[Formula]) -> tuple[Formula, int]:
    """Return one formula whose columns take their value number i for member i, and how many shapes are in it.

    Examples
    --------
    >>> from oddsmith.formula import SCORE
    >>> joint, shapes = with_parameters([2.0 * SCORE, 3.0 * SCORE])
    >>> shapes, joint.left.values
    (1, array([2., 3.]))
    """
    families: dict[str, list[int]] = {}
    constants: list[list[float]] = []
    for member, formula in enumerate(formulas):
        shape = _Shape()
        families.setdefault(shape.read(formula), []).append(member)
        constants.append(shape.constants)
    family = np.empty(len(formulas))
    joint: Formula | None = None
    for number, members in enumerate(families.values()):
        family[members] = number
        columns = np.zeros((len(formulas), len(constants[members[0]])))
        columns[members] = [constants[member] for member in members]
        # Others never take this branch: they get constants with which it can be computed.
        others = np.setdiff1d(np.arange(len(formulas)), members)
        columns[others] = columns[members[0]]
        own = _Refilled(columns).read(formulas[members[0]])
        joint = own if joint is None else Where(Number(float(number)), Column(family), own, joint)
    assert joint is not None
    return joint, len(families)


class _Shape(Reader[str]):
    """Reads a formula as text without its constants, which are put in a list."""

    def __init__(self) -> None:
        super().__init__()
        self.constants: list[float] = []

    def _score(self) -> str:
        return "s"

    def _number(self, value: float) -> str:
        if np.isnan(value):
            return "missing"
        self.constants.append(value)
        return f"c{len(self.constants)}"  # by number: formulas that share a constant have another shape

    def _arithmetic(self, node: Arithmetic, left: str, right: str) -> str:
        return f"({left}{node.operator}{right})"

    def _function(self, node: Function, of: str) -> str:
        return f"{node.name}({of})"

    def _clip(self, node: Clip, of: str) -> str:
        return f"clip({of},{node.low!r},{node.high!r})"

    def _where(self, _node: Where, left: str, right: str, then: str, otherwise: str) -> str:
        return f"if({left}<={right},{then},{otherwise})"

    def _column(self, node: Column) -> str:
        raise TypeError(node)

    def _pieces(self, node: Pieces) -> str:
        raise TypeError(node)


class _Refilled(Reader[Formula]):
    """Reads a formula as the same one with other constants, in the order in which `_Shape` meets them."""

    def __init__(self, columns: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> None:
        super().__init__()
        self.columns = iter(columns.T)

    def _score(self) -> Formula:
        return SCORE

    def _number(self, value: float) -> Formula:
        return Number(value) if np.isnan(value) else as_formula(next(self.columns))

    def _arithmetic(self, node: Arithmetic, left: Formula, right: Formula) -> Formula:
        return Arithmetic(node.operator, left, right)

    def _function(self, node: Function, of: Formula) -> Formula:
        return Function(node.name, of)

    def _clip(self, node: Clip, of: Formula) -> Formula:
        return Clip(of, node.low, node.high)

    def _where(self, _node: Where, left: Formula, right: Formula, then: Formula, otherwise: Formula) -> Formula:
        return Where(left, right, then, otherwise)

    def _column(self, node: Column) -> Formula:
        raise TypeError(node)

    def _pieces(self, node: Pieces) -> Formula:
        raise TypeError(node)
