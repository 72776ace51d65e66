"""Formulas as steps of NumPy: plain data, and a function that any process with NumPy can run."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from oddsmith._types import Floats
from oddsmith.formula.nodes import (
    FUNCTIONS,
    MAX,
    OPERATORS,
    SCORE,
    Arithmetic,
    Clip,
    Column,
    Formula,
    Function,
    Pieces,
    Where,
    walk,
    where,
)
from oddsmith.formula.reader import Reader


def evaluate(formula: Formula, scores: ArrayLike) -> Floats:
    """Compute a formula in NumPy.

    Examples
    --------
    >>> from oddsmith.formula import SCORE, evaluate, sigmoid
    >>> evaluate(sigmoid(2.0 * SCORE - 1.0), [0.5, 1.0]).round(3)
    array([0.5  , 0.731])
    """
    s = np.asarray(scores, dtype=np.float64)
    return np.broadcast_to(NumpySteps().function_of(formula)(s), s.shape)


def with_limits(formula: Formula, *, always: bool = False) -> Formula:
    """Return a formula that has its value at the largest doubles also at ±∞, where 0 · ∞ or ∞ − ∞ may arise in it.

    Formulas that have it already stay as they are, unless an engine computes them in another way (``always``). Of a
    formula without pieces, columns have a row for each of several members.

    Examples
    --------
    >>> from oddsmith.formula import SCORE, absolute, evaluate, with_limits
    >>> ramp = (SCORE - absolute(SCORE)) * 0.0 + SCORE / SCORE
    >>> evaluate(ramp, [np.inf]), evaluate(with_limits(ramp), [np.inf])
    (array([nan]), array([1.]))
    """
    of_members = any(isinstance(node, Column) and node.values.ndim > 1 for node in walk(formula))
    found = (
        np.atleast_2d(MemberSteps().function_of(formula)(np.array(at)) if of_members else evaluate(formula, at))
        for at in ([-MAX, MAX], [-np.inf, np.inf])
    )
    ends, infinite = (np.broadcast_to(one, (len(one), 2)) for one in found)  # constants of members have one column
    # Comparisons are right at ±∞, so that what the map refuses is missing there as well.
    low, high = np.any(~np.isnan(ends) & (always | (infinite != ends)), axis=0)
    if low:
        formula = where(-MAX, SCORE, formula, ends[:, :1])
    return where(SCORE, MAX, formula, ends[:, 1:]) if high else formula


class NumpySteps(Reader[int]):
    """Reads a formula as a list of calls of NumPy's functions; a node becomes the number of its value.

    Inputs are the first values: number 0 is the score, others stand `Beside` it.
    """

    def __init__(self, inputs: int = 1) -> None:
        super().__init__(*range(inputs))
        self.constants: dict[int, Any] = {}
        self.calls: list[tuple[int, Any, tuple[int, ...]]] = []
        self.values: int = inputs
        self.piece: int = 0  # which value tells the piece

    def function_of(self, formula: Formula) -> Callable[..., Any]:
        """Return a function of the inputs that computes a formula.

        A closure travels to other processes by value: they need NumPy, and nothing of this library.
        """
        result, constants, calls = self.read(formula), self.constants, self.calls

        def compute(*inputs):  # type: ignore[no-untyped-def]  # annotations would travel too
            values = {**dict(enumerate(inputs)), **constants}
            with np.errstate(all="ignore"):
                for number, function, operands in calls:
                    values[number] = function(*[values[operand] for operand in operands])
            return values[result]

        return compute

    def constant(self, value: Any) -> int:
        """Add a value that is known."""
        self.constants[self.values] = value
        self.values += 1
        return self.values - 1

    def call(self, function: Any, *operands: int) -> int:
        """Add a step, whose operands are values by their numbers."""
        self.calls.append((self.values, function, operands))
        self.values += 1
        return self.values - 1

    def _number(self, value: float) -> int:
        return self.constant(value)

    def _column(self, node: Column) -> int:
        return self.call(np.take, self.constant(node.values), self.piece)

    def _arithmetic(self, node: Arithmetic, left: int, right: int) -> int:
        return self.call(OPERATORS[node.operator], left, right)

    def _function(self, node: Function, of: int) -> int:
        return self.call(FUNCTIONS[node.name], of)

    def _clip(self, node: Clip, of: int) -> int:
        return self.call(np.clip, of, self.constant(node.low), self.constant(node.high))

    def _where(self, _node: Where, left: int, right: int, then: int, otherwise: int) -> int:
        return self.call(np.where, self.call(np.less_equal, left, right), then, otherwise)

    def _pieces(self, node: Pieces) -> int:
        return self.within(self.call(np.searchsorted, self.constant(node.knots), self._score()), node.body)

    def within(self, piece: int, body: Formula) -> int:
        """Read the body of pieces, given which value tells the piece."""
        self.piece = piece
        return self.read(body)


class MemberSteps(NumpySteps):
    """Reads a formula without pieces whose columns have a row for each of several members: so have values."""

    def _column(self, node: Column) -> int:
        return self.constant(node.values)
