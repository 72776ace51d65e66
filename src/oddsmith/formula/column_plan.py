"""Vector formulas as layers of columns: for engines that know columns, but no vectors.

A layer holds one column per component of a vector, each a scalar formula of columns of earlier layers. So everything is
computed once, and what is written grows with the map and not with the square of it.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from oddsmith._types import Floats
from oddsmith.formula.guards import ANYTHING, Range, guard_with_range, range_within
from oddsmith.formula.nodes import SCORE, Beside, Formula, Function, Highest, as_formula, walk
from oddsmith.formula.reader import rewritten
from oddsmith.formula.vectors import Affine, Each, Inputs, Largest, Total, Vector, parts_of, walk_vectors


@dataclass(frozen=True, eq=False)
class LayerColumn:
    """One component of a vector."""

    name: str
    formula: Formula
    of: tuple[str, ...]  # what the formula reads: the score, and what stands `Beside` it
    low: float = -math.inf  # values are known to lie between
    high: float = math.inf
    rough: bool = False  # whether 0 does as well where what it is the largest of is small; see `Largest`
    row: Floats | None = None  # of a matrix: the formula is this row times what it reads, and ``level``
    level: float = 0.0


#: Sums, products and quotients of two exponentials of numbers within this bound are doubles.
_POWER = 300.0

#: Columns that can be computed at the same time.
Layer = list[LayerColumn]


def as_layers(vectors: Sequence[Vector], columns: Sequence[str], spare: str) -> tuple[list[Layer], list[list[str]]]:
    """Return the layers of vectors, given the names of the inputs, and the names of the columns that each becomes.

    Vectors may have parts in common. Names of all other columns begin with ``spare``.

    Examples
    --------
    >>> from oddsmith.formula.vectors import Inputs, softmax
    >>> layers, (probs,) = as_layers([softmax(Inputs(2))], ["a", "b"], "x")
    >>> len(layers), probs
    (6, ['x6_1', 'x6_2'])
    """
    names: dict[int, list[str]] = {}
    layers: list[Layer] = []
    for node in walk_vectors(*vectors):
        if isinstance(node, Inputs):
            names[id(node)] = list(columns)
            continue
        layer = f"{spare}{len(layers) + 1}"
        own = [f"{layer}_{i + 1}" for i in range(node.width)] if node.width > 1 else [layer]
        layers.append(_layer(node, own, [names[id(part)] for part in parts_of(node)]))
        names[id(node)] = own
    return layers, [names[id(vector)] for vector in vectors]


class NamedColumn(Protocol):
    """A column, and the names of those that it is computed from."""

    @property
    def name(self) -> str:
        """Its own name."""

    @property
    def of(self) -> tuple[str, ...]:
        """What it reads."""


def columns_to_carry(
    layers: Sequence[Sequence[NamedColumn]], given: Sequence[str], wanted: Iterable[str]
) -> list[list[str]]:
    """Return for each layer the earlier columns that it, or what comes after it, still reads.

    Given are columns before the first layer, and wanted are those that are read after the last one.

    Examples
    --------
    >>> from oddsmith.formula.vectors import Inputs, softmax
    >>> layers, _ = as_layers([softmax(Inputs(1))], ["a"], "x")
    >>> columns_to_carry(layers, ["a"], ["x6"])
    [['a'], ['a', 'x1'], ['x2'], ['x3'], ['x3', 'x4'], ['x3', 'x5']]
    """
    read, reads = set(wanted), list[set[str]]()
    for layer in reversed(layers):
        read = read | {name for column in layer for name in column.of}
        reads.append(read)
    made, carried = list(given), []
    for layer, later in zip(layers, reversed(reads), strict=True):
        carried.append([name for name in made if name in later])
        made += [column.name for column in layer]
    return carried


def guard_layers(
    layers: Sequence[Layer], given: Sequence[str], known: Mapping[str, Range] | None = None
) -> list[Layer]:
    """Return layers without pieces in which no step overflows or underflows, whatever finite values are given.

    Known is what other columns can be that are there before the first layer.
    """
    ranges: dict[str, Range] = {**dict.fromkeys(given, ANYTHING), **(known or {})}
    result = []
    for layer in layers:
        columns = []
        for column in layer:
            formula, (low, high, least) = guard_with_range(column.formula, *(ranges[name] for name in column.of))
            ranges[column.name] = Range(max(low, column.low), min(high, column.high), least)
            columns.append(replace(column, formula=formula))
        result.append(columns)
    return result


def small_ranges(layers: Sequence[Layer], given: Sequence[str], reach: float) -> dict[str, Range] | None:
    """Return what columns can be where inputs lie within ±reach and rough columns are 0; None if powers may overflow.

    Examples
    --------
    >>> from oddsmith.formula.vectors import Inputs, log_softmax
    >>> layers, _ = as_layers([log_softmax(Inputs(2))], ["a", "b"], "x")
    >>> round(small_ranges(layers, ["a", "b"], 20.0)["x6_1"].low, 2), small_ranges(layers, ["a", "b"], 1e3)
    (-40.69, None)
    """
    ranges = dict.fromkeys(given, Range(-reach, reach, ANYTHING.least))
    for column in (column for layer in layers for column in layer):
        of = [ranges[name] for name in column.of]
        if column.rough:
            ranges[column.name] = range_within(as_formula(0.0))
            continue
        powers = (node.of for node in walk(column.formula) if isinstance(node, Function) and node.name == "exp")
        if any(range_within(power, *of).size > _POWER for power in powers):
            return None
        ranges[column.name] = range_within(column.formula, *of)
    return ranges


def size_of(layers: Sequence[Layer]) -> int:
    """Return how many numbers, columns and operations there are to write."""
    return sum(sum(1 for _ in walk(column.formula)) for layer in layers for column in layer)


def _layer(node: Vector, own: list[str], given: list[list[str]]) -> Layer:
    """Return the columns of a vector by their names, given those of its parts."""
    x = given[0]
    match node:
        case Each(low=low, high=high):
            reads = [tuple(names[i if len(names) > 1 else 0] for names in given) for i in range(node.width)]
            return [LayerColumn(name, node.formula(i), reads[i], low, high) for i, name in enumerate(own)]
        case Largest(rough=rough):
            return [LayerColumn(own[0], Highest(tuple(_components_of(x))), tuple(x), rough=rough)]
        case Total(formula=formula, low=low, high=high):
            terms = [rewritten(formula, score=one) for one in _components_of(x)]
            return [LayerColumn(own[0], sum_of(terms), tuple(x), low, high)]
        case Affine():
            rows = list(zip(own, node.rows, node.intercept.tolist(), strict=True))
            if node.coef.ndim == 2:
                return [LayerColumn(name, _product(row, b), tuple(x), row=row, level=b) for name, row, b in rows]
            return [LayerColumn(name, float(a) * SCORE + b, (x[i],)) for i, (name, a, b) in enumerate(rows)]
    raise TypeError(node)


def _components_of(names: list[str]) -> list[Formula]:
    return [SCORE, *(Beside(place) for place in range(1, len(names)))]


def _product(row: Floats, level: float) -> Formula:
    components = _components_of(row.tolist())
    terms = [coef * one for coef, one in zip(row.tolist(), components, strict=True) if coef]
    return sum_of(terms) + level if terms else as_formula(level)


def sum_of(terms: list[Formula]) -> Formula:
    """Add terms by halves: hundreds of terms one after the other would be nested as deeply."""
    middle = len(terms) // 2
    return terms[0] if len(terms) == 1 else sum_of(terms[:middle]) + sum_of(terms[middle:])
