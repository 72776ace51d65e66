"""Many formulas as one with parameters: thousands of segments, a handful of shapes.

Formulas that differ in their constants only become one formula whose constants are columns, one row per member; an
engine gets those rows by a join or a look-up. Where pieces are not decisions yet, members may have more or fewer knots.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from oddsmith._types import Floats
from oddsmith.formula import Column, Formula, Number, Pieces, Where, as_formula, parts, rewritten, walk


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
    constants = []
    for member, formula in enumerate(formulas):
        shape, found = _shape(formula)
        families.setdefault(shape, []).append(member)
        constants.append(found)
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
    width = max(map(len, rows))
    return np.array([row if len(row) == width else np.pad(row, (0, width - len(row)), "edge") for row in rows])


def _refilled(formula: Formula, columns: Iterator[Floats]) -> Formula:
    """Return a formula with other constants, in the order of `_shape`."""
    return rewritten(
        formula,
        number=lambda value: Number(value) if np.isnan(value) else as_formula(next(columns)),
        column=lambda _values: as_formula(next(columns)),
        pieces=lambda _knots, body: Pieces(next(columns), body),
    )


def _shape(formula: Formula) -> tuple[str, list[Floats]]:
    """Return a formula as text without its constants, and those, in the order in which `rewritten` meets them."""
    texts: dict[int, str] = {}
    constants: list[Floats] = []
    for node in walk(formula):
        kind, own = type(node).__name__, [str(value) for value in vars(node).values() if isinstance(value, str | float)]
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
