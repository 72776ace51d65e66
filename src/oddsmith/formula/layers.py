"""Vector formulas as layers of columns: for engines that know columns, but no vectors.

A layer holds one column per component of a vector, each a scalar formula of columns of earlier layers. So everything is
computed once, and what is written grows with the map and not with the square of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from oddsmith._types import Floats
from oddsmith.formula.nodes import SCORE, Beside, Formula, Highest, as_formula, walk
from oddsmith.formula.reader import rewritten
from oddsmith.formula.vectors import (
    Affine,
    Each,
    Inputs,
    Largest,
    Total,
    Vector,
    bounds_of,
    parts_of,
    scaled_rows,
    walk_vectors,
)


@dataclass(frozen=True, eq=False)
class LayerColumn:
    """One component of a vector.

    Parameters
    ----------
    name : str
    formula : Formula
    of : tuple of str
        Columns that the formula reads: the score, and what stands `Beside` it.
    low, high : float
        Values are known to lie between.
    """

    name: str
    formula: Formula
    of: tuple[str, ...]
    low: float
    high: float


#: Columns that can be computed at the same time.
Layer = list[LayerColumn]


def as_layers(vector: Vector, columns: Sequence[str], spare: str) -> list[Layer]:
    """Return layers of which the last one is the vector.

    Parameters
    ----------
    vector : Vector
    columns : sequence of str
        Names of the inputs.
    spare : str
        Beginning of the names of all other columns.

    Examples
    --------
    >>> from oddsmith.formula.vectors import Inputs, softmax
    >>> [[column.name for column in layer] for layer in as_layers(softmax(Inputs(2)), ["a", "b"], "x")]
    [['x1'], ['x2_1', 'x2_2'], ['x3_1', 'x3_2'], ['x4'], ['x5_1', 'x5_2']]
    """
    names: dict[int, list[str]] = {}
    layers: list[Layer] = []
    for node in walk_vectors(vector):
        if isinstance(node, Inputs):
            names[id(node)] = list(columns)
            continue
        layer = f"{spare}{len(layers) + 1}"
        own = [f"{layer}_{i + 1}" for i in range(node.width)] if node.width > 1 else [layer]
        low, high = bounds_of(node)
        made = _components(node, [names[id(part)] for part in parts_of(node)])
        layers.append([LayerColumn(name, *one, low, high) for name, one in zip(own, made, strict=True)])
        names[id(node)] = own
    return layers


def size_of(layers: Sequence[Layer]) -> int:
    """Return how many numbers, columns and operations there are to write."""
    return sum(sum(1 for _ in walk(column.formula)) for layer in layers for column in layer)


def _components(node: Vector, given: list[list[str]]) -> list[tuple[Formula, tuple[str, ...]]]:
    """Return the formula of each component, and the columns that it reads."""
    x = given[0]
    match node:
        case Each():
            return [
                (node.formula(i), tuple(names[i if len(names) > 1 else 0] for names in given))
                for i in range(node.width)
            ]
        case Largest():
            return [(Highest(tuple(_components_of(x))), tuple(x))]
        case Total(formula=formula):
            return [(_sum([rewritten(formula, score=one) for one in _components_of(x)]), tuple(x))]
        case Affine(intercept=intercept):
            rows = scaled_rows(node)
            if rows.ndim == 1:
                each = zip(x, rows.tolist(), intercept.tolist(), strict=True)
                return [(coef * SCORE + level, (name,)) for name, coef, level in each]
            return [(_product(row, level), tuple(x)) for row, level in zip(rows, intercept.tolist(), strict=True)]
    raise TypeError(node)


def _components_of(names: list[str]) -> list[Formula]:
    return [SCORE, *(Beside(place) for place in range(1, len(names)))]


def _product(row: Floats, level: float) -> Formula:
    components = _components_of(row.tolist())
    terms = [coef * one for coef, one in zip(row.tolist(), components, strict=True) if coef]
    return _sum(terms) + level if terms else as_formula(level)


def _sum(terms: list[Formula]) -> Formula:
    """Add by halves: hundreds of terms one after the other would be nested as deeply."""
    middle = len(terms) // 2
    return terms[0] if len(terms) == 1 else _sum(terms[:middle]) + _sum(terms[middle:])
