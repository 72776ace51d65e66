"""The nodes of formulas, and the functions that build them: constants are computed at once."""

import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeVar, Union

import numpy as np

from oddsmith._types import Floats

#: Log-odds are held within this bound before they are exponentiated: P is 0 or 1 to 300 digits there.
LIMIT = 700.0

#: The largest double.
MAX = sys.float_info.max

#: The least double with all its digits.
_SMALLEST = sys.float_info.min

Operator = Literal["+", "-", "*", "/"]
Name = Literal["abs", "cos", "exp", "log", "negative"]
Operand = Union["Formula", float, Floats]

T = TypeVar("T")

OPERATORS: dict[Operator, np.ufunc] = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
FUNCTIONS: dict[Name, np.ufunc] = {
    "abs": np.absolute,
    "cos": np.cos,
    "exp": np.exp,
    "log": np.log,
    "negative": np.negative,
}


class Formula:
    """A value that depends on the score; formulas, numbers and arrays (one value per piece) combine by + − * /.

    NumPy evaluates the tree, and SQL, ONNX and other languages are written from it.

    See Also
    --------
    oddsmith.CalibrationMap.probability_formula : Returns one.
    """

    __array_ufunc__ = None  # arrays leave arithmetic with a formula to the formula

    def __add__(self, other: Operand) -> "Formula":
        return arithmetic("+", self, as_formula(other))

    def __radd__(self, other: Operand) -> "Formula":
        return arithmetic("+", as_formula(other), self)

    def __sub__(self, other: Operand) -> "Formula":
        return arithmetic("-", self, as_formula(other))

    def __rsub__(self, other: Operand) -> "Formula":
        return arithmetic("-", as_formula(other), self)

    def __mul__(self, other: Operand) -> "Formula":
        return arithmetic("*", self, as_formula(other))

    def __rmul__(self, other: Operand) -> "Formula":
        return arithmetic("*", as_formula(other), self)

    def __truediv__(self, other: Operand) -> "Formula":
        return arithmetic("/", self, as_formula(other))

    def __rtruediv__(self, other: Operand) -> "Formula":
        return arithmetic("/", as_formula(other), self)

    def __neg__(self) -> "Formula":
        return function("negative", self)


@dataclass(frozen=True, eq=False)
class Score(Formula):
    """The score."""


@dataclass(frozen=True, eq=False)
class Number(Formula):
    """A constant; NaN says that there is no value."""

    value: float


@dataclass(frozen=True, eq=False)
class Column(Formula):
    """A constant for each piece of the `Pieces` around it."""

    values: Floats


@dataclass(frozen=True, eq=False)
class Beside(Formula):
    """A value beside the score, by its number, the first being 1; of a vector formula only."""

    place: int


@dataclass(frozen=True, eq=False)
class Highest(Formula):
    """The largest of several values."""

    of: tuple[Formula, ...]


@dataclass(frozen=True, eq=False)
class Arithmetic(Formula):
    """``left`` + − * / ``right``."""

    operator: Operator
    left: Formula
    right: Formula


@dataclass(frozen=True, eq=False)
class Function(Formula):
    """A function of one value."""

    name: Name
    of: Formula


@dataclass(frozen=True, eq=False)
class Clip(Formula):
    """A value held within [low, high]."""

    of: Formula
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Where(Formula):
    """``then`` if ``left`` ≤ ``right``, else ``otherwise``."""

    left: Formula
    right: Formula
    then: Formula
    otherwise: Formula


@dataclass(frozen=True, eq=False)
class Pieces(Formula):
    """``body``, whose columns take their value number j where knots[j−1] < score ≤ knots[j]."""

    knots: Floats
    body: Formula


SCORE: Formula = Score()
MISSING: Formula = Number(float("nan"))


def as_formula(value: Operand) -> Formula:
    """Return a formula as it is, a number as a constant, an array as a constant for each piece."""
    if isinstance(value, Formula):
        return value
    array = np.asarray(value, dtype=np.float64) + 0.0  # −0.0 becomes 0.0
    if array.ndim == 0 or np.all(array == array.flat[0]):
        return Number(float(array.flat[0]))
    return Column(array)


def function(name: Name, of: Formula) -> Formula:
    """Return a function of one value, by name."""
    return _fold(FUNCTIONS[name], of) or _lift_missing(lambda x: function(name, x), of) or Function(name, of)


#: |x|, cos x, eˣ, and the natural logarithm of x > 0.
absolute = partial(function, "abs")
cos = partial(function, "cos")
exp = partial(function, "exp")
log = partial(function, "log")


def sigmoid(log_odds: Formula) -> Formula:
    """Return the probability of log-odds."""
    return 1.0 / (1.0 + exp(-clip(log_odds, -LIMIT, LIMIT)))


def clip(of: Formula, low: float, high: float) -> Formula:
    """Return x held within [low, high]."""
    built = _fold(lambda x: np.clip(x, low, high), of) or _lift_missing(lambda x: clip(x, low, high), of)
    return built or Clip(of, float(low) + 0.0, float(high) + 0.0)


def where(left: Operand, right: Operand, then: Operand, otherwise: Operand) -> Formula:
    """Return ``then`` where left ≤ right, else ``otherwise``."""
    a, b, x, y = (as_formula(value) for value in (left, right, then, otherwise))
    folded = _fold(lambda p, q, *either: np.where(np.less_equal(p, q), *either), a, b, x, y)
    return folded or Where(a, b, _drop_repeated_test(x, a, b), y)


def arithmetic(operator: Operator, left: Formula, right: Formula) -> Formula:
    """Return left + − * / right; 0 and 1 are left out, and negative constants subtracted.

    Division by a power of two is a multiplication, to the last bit the same: engines test every divisor for 0.
    """
    built = _fold(OPERATORS[operator], left, right)
    built = built or _lift_missing(lambda x, y: arithmetic(operator, x, y), left, right)
    if built is not None:
        return built
    a, b = (node.value if isinstance(node, Number) else None for node in (left, right))
    if operator == "*" and 0.0 in (a, b):
        return Number(0.0)
    if (operator in "+-" and b == 0.0) or (operator in "*/" and b == 1.0):
        return left
    if (operator == "+" and a == 0.0) or (operator == "*" and a == 1.0):
        return right
    if operator == "/" and b is not None and abs(math.frexp(b)[0]) == 0.5 and _SMALLEST <= abs(b) <= 1 / _SMALLEST:
        return arithmetic("*", left, Number(1 / b))
    if operator == "+" and a is not None and a < 0:
        return Arithmetic("-", right, Number(-a))
    if operator in "+-" and b is not None and b < 0:
        return Arithmetic("-" if operator == "+" else "+", left, Number(-b))
    return Arithmetic(operator, left, right)


def parts(node: Formula) -> list[Formula]:
    """Return what a node is made of."""
    if isinstance(node, Highest):
        return list(node.of)
    return [part for part in vars(node).values() if isinstance(part, Formula)]


def walk(formula: Formula) -> list[Formula]:
    """Return every node once, parts before wholes."""
    return walk_trees([formula], parts)


def walk_trees(wholes: Iterable[T], parts_of: Callable[[T], Iterable[T]]) -> list[T]:
    """Return every node of trees that may share some, each once, parts before wholes."""
    found: dict[int, T] = {}

    def visit(node: T) -> None:
        if id(node) not in found:
            for part in parts_of(node):
                visit(part)
            found[id(node)] = node

    for whole in wholes:
        visit(whole)
    return list(found.values())


def _fold(compute: Callable[..., Floats], *operands: Formula) -> Formula | None:
    """Compute at once what is made of constants only."""
    constants = [
        node.value if isinstance(node, Number) else node.values
        for node in operands
        if isinstance(node, (Number, Column))
    ]
    if len(constants) < len(operands):
        return None
    with np.errstate(all="ignore"):
        return as_formula(compute(*constants))


def _lift_missing(build: Callable[..., Formula], *operands: Formula) -> Formula | None:
    """Move a missing value outwards: engines differ in what they compute from one."""
    for place, node in enumerate(operands):
        if isinstance(node, Where) and (is_missing(node.then) or is_missing(node.otherwise)):
            then, otherwise = (
                branch if is_missing(branch) else build(*operands[:place], branch, *operands[place + 1 :])
                for branch in (node.then, node.otherwise)
            )
            return where(node.left, node.right, then, otherwise)
    return None


def _drop_repeated_test(node: Formula, left: Formula, right: Formula) -> Formula:
    """Return a formula for where left ≤ right, without the same test around what may be missing: blends repeat it."""
    if not isinstance(node, Where) or not is_missing(node.otherwise):
        return node
    then = _drop_repeated_test(node.then, left, right)
    if _same(node.left, left) and _same(node.right, right):
        return then
    return node if then is node.then else Where(node.left, node.right, then, node.otherwise)


def _same(a: Formula, b: Formula) -> bool:
    return a is b or (isinstance(a, Number) and isinstance(b, Number) and a.value == b.value)


def is_missing(node: Formula) -> bool:
    """Whether a formula is the missing value."""
    return isinstance(node, Number) and bool(np.isnan(node.value))
