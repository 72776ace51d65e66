"""Vector formulas: what a joint map computes from all columns of a row, as a small tree that every engine reads.

Each node is a vector; scalar formulas work inside it. There are five, and functions that build all others of them.

=============  ============================================================================
node           value
=============  ============================================================================
`Inputs`       the columns of the row
`Each`         a scalar formula of every component, and of the same component of other vectors
`Affine`       coef · x + intercept, the coefficient being a number, a diagonal or a matrix
`Largest`      the largest component, a vector of width 1
`Total`        the sum of a scalar formula of all components, a vector of width 1
=============  ============================================================================

Inputs are finite when nodes see them: `row_columns` makes them so, and `where_masked` recognizes −inf afterwards. A row
with a missing value has no result at all: readers of a formula check this before and after it. All else is written so
that nothing overflows: exponentials are taken of what lies below the largest component.
"""

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from oddsmith._types import Floats
from oddsmith.formula.nodes import SCORE, Beside, Formula, clip, exp, log, walk_trees, where

#: Inputs are within this bound, but for −inf, so that their sums and differences stay finite.
FAR = 1e300

#: What −inf is read as, and how far below the largest of its row no other logit is: its class is masked, and P = 0.
CLOSED, MASKED = -8 * FAR, -5 * FAR

#: Below all that is computed from inputs by sums and differences.
_BELOW = -20 * FAR

#: Rows of matrices with as many columns are written as whole numbers of so many bits.
_WIDE, _BITS = 6, 50

#: Or of so many digits, if that is exact.
_DECIMALS = 10

#: Above this share of the largest, a sum of exponentials less one of them has all its digits.
_CLEAR = 0.5


class Vector:
    """Values computed from the columns of a row: a tree, of which NumPy, SQL, ONNX and other languages are written.

    See Also
    --------
    Formula : One value, of one score.
    """

    @property
    def width(self) -> int:
        """Number of components: one, unless a subclass overrides it."""
        return 1


@dataclass(frozen=True, eq=False)
class Inputs(Vector):
    """The columns of a row."""

    columns: int

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.columns


@dataclass(frozen=True, eq=False)
class Each(Vector):
    """A scalar formula of each component, which is the score: the same for all, or one per component."""

    formulas: tuple[Formula, ...]
    of: Vector
    beside: tuple[Vector, ...] = ()  # as wide as ``of``, or of width 1; `Beside` counts them from 1
    low: float = -math.inf  # values are known to lie between
    high: float = math.inf
    largest: Vector | None = None  # the largest component, where it is computed anyway; see `largest`

    @property
    def width(self) -> int:
        """As many as there are in the vector."""
        return self.of.width

    def formula(self, component: int) -> Formula:
        """Return the formula of a component."""
        return self.formulas[component if len(self.formulas) > 1 else 0]


@dataclass(frozen=True, eq=False)
class Affine(Vector):
    """coef · x + intercept; ``coef`` is a number, a diagonal of shape (k,) or a matrix of shape (k, columns)."""

    coef: Floats
    intercept: Floats
    of: Vector

    @property
    def width(self) -> int:
        """One per intercept."""
        return len(self.intercept)

    @property
    def rows(self) -> Floats:
        """Coefficients, one per component where they are no matrix."""
        return self.coef if self.coef.ndim else np.broadcast_to(self.coef, self.width)


@dataclass(frozen=True, eq=False)
class Largest(Vector):
    """The largest component.

    Roughly, any number will do that keeps exponentials of what components exceed it by in the range of doubles. An
    engine may then take 0 where it knows that components are small.
    """

    of: Vector
    rough: bool = False


@dataclass(frozen=True, eq=False)
class Total(Vector):
    """The sum of a scalar formula of all components, known to lie between ``low`` and ``high``."""

    formula: Formula
    of: Vector
    low: float = -math.inf
    high: float = math.inf


def row_columns(columns: int) -> Vector:
    """Return the columns of a row, of at most 1e300 and, for −inf, at least −8e300."""
    return Each((clip(SCORE, CLOSED, FAR),), Inputs(columns))


def finite() -> Vector:
    """Return the only column of a row, within ±1e300."""
    return Each((clip(SCORE, -FAR, FAR),), Inputs(1))


def largest(x: Vector) -> Vector:
    """Return the largest component, a vector of width 1."""
    known = x.largest if isinstance(x, Each) else None
    return Largest(x) if known is None else known


def below_largest(x: Vector, *, rough: bool = False) -> Vector:
    """Return components less the largest of them, which may be taken roughly."""
    return x if _touches_zero(x, rough) else Each((SCORE - Beside(1),), x, (Largest(x, rough),), 2 * _BELOW, 0.0)


def _touches_zero(x: Vector, rough: bool) -> bool:
    """Whether the largest component is 0 already: of what is below its largest, times a number."""
    if isinstance(x, Affine):
        scaled = x.coef.ndim == 0 and bool(x.coef >= 0) and not x.intercept.any()
        return scaled and _touches_zero(x.of, rough)
    if not isinstance(x, Each) or x.high != 0.0:
        return False
    return [one.of for one in x.beside if isinstance(one, Largest) and (rough or not one.rough)] == [x.of]


def center(x: Vector) -> Vector:
    """Return components less their mean.

    The first component is taken off before, so that equal ones, however large, give 0.
    """
    first = Affine(np.eye(1, x.width), np.zeros(1), x)
    away = Each((SCORE - Beside(1),), x, (first,))
    mean = Each((SCORE / float(x.width),), Total(SCORE, away))
    return Each((SCORE - Beside(1),), away, (mean,))


def center_above(x: Vector, below: Vector, floor: float) -> Vector:
    """Return components less their mean; where ``below`` is −floor or less they take no part in it, and become 0."""
    kept = Each((where(Beside(1), -floor, 0.0, SCORE),), x, (below,))
    count = Total(where(SCORE, -floor, 0.0, 1.0), below, 1.0, float(x.width))
    mean = Each((SCORE / clip(Beside(1), 1.0, float(x.width)),), Total(SCORE, kept), (count,))
    return Each((where(Beside(1), -floor, 0.0, SCORE - Beside(2)),), x, (below, mean))


def where_masked(below: Vector, masked: float, x: Vector) -> Vector:
    """Return x with another value for masked classes, given how far their logits are below the largest."""
    low, high = (min(x.low, masked), max(x.high, masked)) if isinstance(x, Each) else (-math.inf, math.inf)
    return Each((where(Beside(1), MASKED, masked, SCORE),), x, (below,), low, high)


def log_softmax(x: Vector) -> Vector:
    """Return x − log Σ eˣ: logs of probabilities, whose sum is 1."""
    return softmax_with_log(x)[1]


def softmax_with_log(x: Vector) -> tuple[Vector, Vector]:
    """Return eˣ / Σ eˣ and its logs, which have exponentials in common."""
    below = below_largest(x, rough=True)
    powers, k = _powers(below), x.width
    total = Total(SCORE, powers, 1.0, k)
    prob = Each((SCORE * Beside(1),), powers, (Each((1.0 / SCORE,), total, (), 1 / k, 1.0),), 0.0, 1.0)
    logs = Each((SCORE - Beside(1),), below, (Each((log(SCORE),), total, (), 0.0, math.log(k)),), 2 * _BELOW, 0.0)
    return prob, logs


def softmax(x: Vector) -> Vector:
    """Return eˣ / Σ eˣ."""
    powers = _powers(below_largest(x))
    top = _inverse(powers)
    return Each((SCORE * Beside(1),), powers, (top,), 0.0, 1.0, top)


def shares(x: Vector, low: float, high: float) -> Vector:
    """Return components, none below 0, over their sum, which is known to lie between ``low`` and ``high`` > 0."""
    return Each((SCORE / Beside(1),), x, (Total(SCORE, x, low, high),), 0.0, 1.0)


def known_shares(x: Vector, low: float, high: float) -> Vector:
    """Return `shares` of components none of which is missing, for engines that follow ranges by themselves."""
    return Each((SCORE / clip(Beside(1), low, high),), x, (Total(SCORE, x, low, high),), 0.0, 1.0)


def against_rest(x: Vector) -> Vector:
    """Return xᵢ − log Σ_{j≠i} exp xⱼ: the log-odds of each class against all others.

    The sum of the others is the whole sum less one exponential, but for a component so large that nothing would be left
    of the others: for that one they are added up apart.
    """
    below, k = below_largest(x), float(x.width)
    others = Each((Beside(1) - exp(SCORE),), below, (_exponentials(below),), 0.0, k)
    rest = Each((where(Beside(1), _CLEAR, _BELOW, SCORE),), x, (others,))
    second = Largest(rest)
    apart = _exponentials(Each((SCORE - Beside(1),), rest, (second,), 2 * _BELOW, 0.0))
    of_largest = SCORE - Beside(2) - log(Beside(3))
    of_others = Beside(4) - log(clip(Beside(1), _CLEAR, k))
    return Each((where(Beside(1), _CLEAR, of_largest, of_others),), x, (others, second, apart, below))


def mixture(weights: Floats, logits: Sequence[Vector]) -> Vector:
    """Return Σ wₘ softmax(xₘ), added up one by one: engines need not keep all parts."""
    terms = []
    for weight, x in zip(weights.tolist(), logits, strict=True):
        powers = _powers(below_largest(x, rough=True))
        terms.append((powers, _inverse(powers, weight)))
    (first, share), *others = terms
    blend = Each((SCORE * Beside(1),), first, (share,), 0.0, 1.0)
    return reduce(lambda x, term: Each((SCORE + Beside(1) * Beside(2),), x, term, 0.0, 1.0), others, blend)


def log_mixture(weights: Floats, parts: Sequence[Vector]) -> Vector:
    """Return log Σ wₘ exp(partₘ), the weights being > 0 and of sum 1."""
    highest = reduce(lambda x, y: Each((where(SCORE, Beside(1), Beside(1), SCORE),), x, (y,)), parts)
    away = [Each((SCORE - Beside(1),), part, (highest,), 2 * _BELOW, 0.0) for part in parts]
    powers = [weight * exp(Beside(1 + place)) for place, weight in enumerate(weights.tolist())]
    return Each((SCORE + log(reduce(operator.add, powers)),), highest, tuple(away))


def _powers(below: Vector) -> Vector:
    """Return eˣ of components of which the largest is 0."""
    return Each((exp(SCORE),), below, (), 0.0, 1.0)


def _inverse(powers: Vector, weight: float = 1.0) -> Vector:
    """Return a weight over the sum of exponentials, of which the largest is 1."""
    k = powers.width
    return Each((weight / SCORE,), Total(SCORE, powers, 1.0, k), (), weight / k, weight)


def _exponentials(below: Vector) -> Vector:
    """Return Σ eˣ of components of which the largest is 0."""
    return Total(exp(SCORE), below, 1.0, float(below.width))


def parts_of(vector: Vector) -> tuple[Vector, ...]:
    """Return what a node is made of."""
    if isinstance(vector, Each):
        return vector.of, *vector.beside
    return () if isinstance(vector, Inputs) else (vector.of,)  # type: ignore[attr-defined]


def walk_vectors(*vectors: Vector) -> list[Vector]:
    """Return every node once, parts before wholes."""
    return walk_trees(vectors, parts_of)


def with_whole_rows(vector: Vector) -> Vector:
    """Return a vector whose wide matrices are whole numbers, and what they are multiplied by a unit smaller.

    Whole numbers are shorter to write. The unit is a power of ten if the numbers are decimals of few digits. Else it is
    one of two, and relative to the largest number of a matrix, others are off by up to 2⁻⁵¹: a sum of their products
    with doubles rounds by as much.

    Examples
    --------
    >>> wide = with_whole_rows(Affine(np.eye(6) / 3, np.zeros(6), Inputs(6)))
    >>> int(wide.coef[0, 0]), float(wide.of.coef) == 2.0**-51
    (750599937895083, True)
    >>> with_whole_rows(Affine(np.eye(6) / 4, np.zeros(6), Inputs(6))).coef[0].tolist()
    [25.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    units: dict[tuple[int, float], Vector] = {}

    def whole(node: Vector, made: Vector) -> Vector:
        if not isinstance(node, Affine) or node.coef.ndim < 2 or node.of.width < _WIDE or not node.coef.any():
            return made
        unit = _unit(node.coef)
        key = id(node.of), unit
        if key not in units:
            units[key] = Affine(np.array(unit), np.zeros(node.of.width), made.of)  # type: ignore[attr-defined]
        return Affine(np.rint(node.coef / unit), node.intercept, units[key])

    return rebuilt(vector, whole)


def _unit(coef: Floats) -> float:
    """Return what to count coefficients in: a power of ten of which all are multiples, or else a small one of two."""
    largest = float(np.abs(coef).max())
    first = -math.floor(math.log10(largest))
    with np.errstate(all="ignore"):  # of sizes beyond 1e±300
        for decimals in range(first, first + _DECIMALS):
            if np.array_equal(np.round(coef, decimals), coef):
                return 10.0**-decimals
    return float(2.0 ** (math.ceil(math.log2(largest)) - _BITS))


def rebuilt(vector: Vector, change: Callable[[Vector, Vector], Vector]) -> Vector:
    """Return a vector with other nodes: ``change`` gets a node, and the same of parts that may have changed."""
    made: dict[int, Vector] = {}
    for node in walk_vectors(vector):
        match node:
            case Inputs():
                own: Vector = node
            case Each(of=of, beside=beside, largest=known):
                others = tuple(made[id(one)] for one in beside)
                own = replace(node, of=made[id(of)], beside=others, largest=made.get(id(known)))
            case _:
                own = replace(node, of=made[id(node.of)])  # type: ignore[attr-defined, type-var]
        made[id(node)] = change(node, own)
    return made[id(vector)]
