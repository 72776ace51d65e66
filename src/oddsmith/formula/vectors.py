"""Vector formulas: what a joint map computes from all columns of a row, as a small tree that every engine reads.

Each node is a vector with one value per class; scalar formulas work inside `Each`.

=============  ============================================================================
node           value
=============  ============================================================================
`Inputs`       the columns of the row
`Each`         a scalar formula of every component, or one of its own for each
`Affine`       coef · x + intercept, the coefficient being a number, a diagonal or a matrix
`Centered`     x less the mean of its components
`LogSoftmax`   x − log Σ eˣ
`AgainstRest`  xᵢ less log Σ eˣ over all other components
`Blend`        log Σ wₘ exp(partₘ)
=============  ============================================================================

Inputs are finite when nodes see them: `held` makes them so. A row with a missing value has no result at all; whoever
reads a formula says so before and after it. All else is written so that nothing overflows: exponentials are taken of
what lies below the largest component.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from oddsmith._types import Floats
from oddsmith.formula.nodes import SCORE, Formula, clip
from oddsmith.formula.steps import evaluate

#: Values that are worked on at a time, so that temporaries stay small beside the rows.
_BLOCK = 2**18

#: Inputs are held within this bound, so that their sums and differences stay finite.
FAR = 1e300


class Vector:
    """One value per class, computed from the columns of a row."""

    @property
    def width(self) -> int:
        """Number of components."""
        raise NotImplementedError


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
    """A scalar formula of each component: the same for all, or one per component."""

    formulas: tuple[Formula, ...]
    of: Vector

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


@dataclass(frozen=True, eq=False)
class Centered(Vector):
    """Components less their mean."""

    of: Vector

    @property
    def width(self) -> int:
        """As many as there are in the vector."""
        return self.of.width


@dataclass(frozen=True, eq=False)
class LogSoftmax(Vector):
    """x − log Σ eˣ: logs of probabilities, whose sum is 1."""

    of: Vector

    @property
    def width(self) -> int:
        """As many as there are in the vector."""
        return self.of.width


@dataclass(frozen=True, eq=False)
class AgainstRest(Vector):
    """xᵢ − log Σ_{j≠i} exp xⱼ: the log-odds of each class against all others."""

    of: Vector

    @property
    def width(self) -> int:
        """As many as there are in the vector."""
        return self.of.width


@dataclass(frozen=True, eq=False)
class Blend(Vector):
    """log Σ wₘ exp(partₘ), the weights being > 0 and of sum 1."""

    weights: Floats
    parts: tuple[Vector, ...]

    @property
    def width(self) -> int:
        """As many as there are in each part."""
        return self.parts[0].width


def held(columns: int) -> Vector:
    """Return the columns of a row, held within ±1e300."""
    return Each((clip(SCORE, -FAR, FAR),), Inputs(columns))


def parts_of(vector: Vector) -> tuple[Vector, ...]:
    """Return what a node is made of."""
    if isinstance(vector, Blend):
        return vector.parts
    return () if isinstance(vector, Inputs) else (vector.of,)  # type: ignore[attr-defined]


def walk_vectors(vector: Vector) -> Iterator[Vector]:
    """Yield every node once, parts before wholes."""
    seen: set[int] = set()

    def visit(node: Vector) -> Iterator[Vector]:
        if id(node) not in seen:
            seen.add(id(node))
            for part in parts_of(node):
                yield from visit(part)
            yield node

    yield from visit(vector)


def evaluate_vector(vector: Vector, rows: ArrayLike) -> Floats:
    """Compute a vector formula in NumPy, shape (n, width); rows with NaN give NaN in every component."""
    columns = np.asarray(rows, dtype=np.float64)
    result = np.empty((len(columns), vector.width))
    height = max(_BLOCK // vector.width, 1)
    for start in range(0, len(columns), height):
        part = slice(start, start + height)
        missing = np.isnan(columns[part]).any(axis=1, keepdims=True)
        values: dict[int, Floats] = {}
        for node in walk_vectors(vector):
            if isinstance(node, Inputs):
                values[id(node)] = np.where(missing, 0.0, columns[part])
            else:
                values[id(node)] = _value(node, [values[id(inner)] for inner in parts_of(node)])
        result[part] = np.where(missing, np.nan, values[id(vector)])
    return result


def _value(node: Vector, given: list[Floats]) -> Floats:
    x = given[0]
    if isinstance(node, Each):
        if len(node.formulas) == 1:
            return evaluate(node.formulas[0], x.ravel()).reshape(x.shape)
        return np.column_stack([evaluate(one, x[:, i]) for i, one in enumerate(node.formulas)])
    if isinstance(node, Affine):
        scaled = x @ node.coef.T if node.coef.ndim == 2 else x * node.coef
        return np.asarray(scaled + node.intercept)
    if isinstance(node, Centered):
        return np.asarray(x - x.mean(axis=1, keepdims=True))
    if isinstance(node, LogSoftmax):
        below = x - x.max(axis=1, keepdims=True)
        return np.asarray(below - np.log(np.exp(below).sum(axis=1, keepdims=True)))
    if isinstance(node, AgainstRest):
        return _against_rest(x)
    assert isinstance(node, Blend)
    highest = reduce(np.maximum, given)
    total = sum(weight * np.exp(part - highest) for weight, part in zip(node.weights.tolist(), given, strict=True))
    return np.asarray(highest + np.log(total))


def _against_rest(x: Floats) -> Floats:
    """Return x less the log of the sum of exponentials of the others, which is taken apart for the largest."""
    each = np.arange(len(x))
    top = x.argmax(axis=1)
    below = x - x[each, top][:, None]
    exponentials = np.exp(below)
    others = exponentials.sum(axis=1, keepdims=True) - exponentials  # 1 at least, but for the largest itself
    result: Floats = below - np.log(np.where(others > 0, others, 1.0))
    rest = x.copy()
    rest[each, top] = -np.inf
    second = rest.max(axis=1)
    result[each, top] = x[each, top] - second - np.log(np.exp(rest - second[:, None]).sum(axis=1))
    return result
