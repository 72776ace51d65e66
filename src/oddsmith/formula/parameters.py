"""Many formulas as one with parameters: thousands of segments, a handful of shapes.

Formulas that differ in their constants only become one formula whose constants are columns, one row per member; an
engine gets those rows by a join or a look-up. Within pieces a row has as many values as there are pieces, and members
may have more or fewer knots.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oddsmith._types import Floats
from oddsmith.formula.column_plan import sum_of
from oddsmith.formula.nodes import SCORE, Beside, Column, Formula, Number, Pieces, Where, as_formula, parts, walk
from oddsmith.formula.reader import rewritten
from oddsmith.formula.vectors import Affine, Each, Vector

__all__ = ["Family", "affine_of_many", "combine", "families", "shape_of", "with_parameters", "with_rows"]


class Family(NamedTuple):
    """Members whose formulas have one shape.

    Attributes
    ----------
    members : ndarray of int
        Their numbers.
    formula : Formula
        Its columns have a row for each of them, in this order.
    """

    members: NDArray[np.intp]
    formula: Formula


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
    found = families(formulas)
    return combine(found), len(found)


def families(formulas: Sequence[Formula]) -> list[Family]:
    """Return formulas by their shapes."""
    members: dict[str, list[int]] = {}
    constants = []
    for member, formula in enumerate(formulas):
        shape, found = _shape(formula)
        members.setdefault(shape, []).append(member)
        constants.append(found)
    result = []
    for own in members.values():
        columns = (_stack([constants[i][place] for i in own]) for place in range(len(constants[own[0]])))
        result.append(Family(np.array(own), _refill(formulas[own[0]], columns)))
    return result


def combine(found: Sequence[Family]) -> Formula:
    """Return one formula of all members of families, which chooses the family by a column.

    Examples
    --------
    >>> from oddsmith.formula import SCORE
    >>> one = combine([Family(np.array([1]), 2.0 * SCORE), Family(np.array([0, 2]), SCORE)])
    >>> one.right.values.ravel().tolist()
    [1.0, 0.0, 1.0]
    """
    number = np.empty((sum(len(one.members) for one in found), 1))
    joint: Formula | None = None
    for place, (members, formula) in enumerate(found):
        number[members] = place
        # Others never take this branch: they get constants with which it can be computed.
        source = np.zeros(len(number), dtype=np.intp)
        source[members] = np.arange(len(members))
        own = formula if len(found) == 1 and np.array_equal(members, source) else with_rows(formula, source)
        joint = own if joint is None else Where(Number(float(place)), Column(number), own, joint)
    assert joint is not None
    return joint


def with_rows(formula: Formula, rows: NDArray[np.intp]) -> Formula:
    """Return a formula with other rows of its columns."""
    return rewritten(
        formula,
        column=lambda values: as_formula(values[rows]),
        pieces=lambda knots, body: Pieces(knots[rows] if knots.ndim > 1 else knots, body),
    )


def affine_of_many(coef: Floats, intercept: Floats, x: Vector) -> Vector:
    """Return coef · x + intercept for many members, the first axis of both.

    Coefficients of a member are a number, a diagonal or a matrix.
    """
    width = intercept.shape[1]
    levels = [as_formula(intercept[:, [i]]) for i in range(width)]
    if coef.ndim < 3:
        slopes = coef if coef.ndim == 2 else np.broadcast_to(coef[:, None], intercept.shape)
        if coef.ndim == 1 and not intercept.any():
            return Each((as_formula(slopes[:, [0]]) * SCORE,), x)
        return Each(tuple(as_formula(slopes[:, [i]]) * SCORE + levels[i] for i in range(width)), x)
    single = tuple(Affine(np.eye(1, x.width, j), np.zeros(1), x) for j in range(x.width))
    products = ([as_formula(coef[:, i, [j]]) * Beside(1 + j) for j in range(x.width)] for i in range(width))
    return Each(tuple(sum_of(terms) + level for terms, level in zip(products, levels, strict=True)), x, single)


def _stack(rows: Sequence[Floats]) -> Floats:
    """Return rows of one length: where there are more pieces than a member has, its last one goes on."""
    width = max(map(len, rows))
    return np.array([row if len(row) == width else np.pad(row, (0, width - len(row)), "edge") for row in rows])


def _refill(formula: Formula, columns: Iterator[Floats]) -> Formula:
    """Return a formula with other constants, in the order of `_shape`."""
    return rewritten(
        formula,
        number=lambda value: Number(value) if np.isnan(value) else as_formula(next(columns)),
        column=lambda _values: as_formula(next(columns)),
        pieces=lambda _knots, body: Pieces(next(columns), body),
    )


def shape_of(formula: Formula) -> str:
    """Return a formula as text without its constants: equal for formulas that differ in constants only.

    Examples
    --------
    >>> from oddsmith.formula import SCORE
    >>> shape_of(2.0 * SCORE) == shape_of(3.0 * SCORE), shape_of(2.0 + SCORE) == shape_of(3.0 * SCORE)
    (True, False)
    """
    return _shape(formula)[0]


def _shape(formula: Formula) -> tuple[str, list[Floats]]:
    """Return a formula as text without its constants, and those, in the order in which `rewritten` meets them."""
    texts: dict[int, str] = {}
    constants: list[Floats] = []
    for node in walk(formula):
        kind, own = (
            type(node).__name__,
            [str(value) for value in vars(node).values() if isinstance(value, str | float | int)],
        )
        if (constant := _constant(node)) is not None:
            constants.append(constant)
            # By number: formulas that share a constant have another shape.
            kind, own = "Pieces" if isinstance(node, Pieces) else "", [f"c{len(constants)}"]
        texts[id(node)] = f"{kind}({','.join([*own, *(texts[id(part)] for part in parts(node))])})"
    return texts[id(formula)], constants


def _constant(node: Formula) -> Floats | None:
    match node:
        case Number(value) if not np.isnan(value):
            return np.array([value])
        case Column(values):
            return values
        case Pieces(knots):
            return np.append(knots, np.inf)  # which is never passed
    return None
