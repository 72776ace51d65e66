"""Vector formulas in SQL of DuckDB and Spark: one column of arrays per vector, computed by functions of arrays.

A column per component would be thousands of columns, which take Spark minutes to plan and a megabyte to write.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from oddsmith.formula.nodes import SCORE, Formula
from oddsmith.formula.sql import SqlReader, as_decisions, listed_product, written_list
from oddsmith.formula.vectors import Affine, Each, Inputs, Largest, Total, Vector, parts_of, walk_vectors


class _Words(NamedTuple):
    """How a dialect writes what is done with arrays: s is a component, and i its place."""

    first: int  # place of the first component
    array: str
    each: str
    largest: str
    total: str


_WORDS = {
    "duckdb": _Words(1, "[{}]", "[{value} for s, i in {x}]", "list_max({})", "list_sum([{value} for s in {x}])"),
    "spark": _Words(
        0,
        "array({})",
        "transform({x}, (s, i) -> {value})",
        "array_max({})",
        "aggregate({x}, 0D, (total, s) -> total + ({value}))",
    ),
}

#: Dialects with such functions.
WITH_ARRAYS = frozenset(_WORDS)


def as_arrays(vector: Vector, given: str, spare: str, dialect: str) -> tuple[list[list[tuple[str, str]]], str]:
    """Return layers of columns, each its SQL and its name, and the name of the last one, an array.

    Given is a column of arrays; names of others begin with ``spare``. Vectors of width 1 are plain doubles.

    Examples
    --------
    >>> from oddsmith.formula.vectors import Inputs, below_largest
    >>> as_arrays(below_largest(Inputs(2)), "x", "y", "spark")
    ([[('array_max(x)', 'y1')], [('transform(x, (s, i) -> s - y1)', 'y2')]], 'y2')
    """
    names, levels = dict[int, str](), dict[int, int]()
    layers: list[list[tuple[str, str]]] = []
    for node in walk_vectors(vector):
        if isinstance(node, Inputs):
            names[id(node)], levels[id(node)] = given, 0
            continue
        parts = parts_of(node)
        level = levels[id(node)] = 1 + max(levels[id(part)] for part in parts)
        name = names[id(node)] = f"{spare}{len(names)}"
        if level > len(layers):
            layers.append([])
        layers[level - 1].append((_value(node, [names[id(part)] for part in parts], dialect), name))
    return layers, names[id(vector)]


def array_of(values: Sequence[str], dialect: str) -> str:
    """Return an array of values."""
    return _WORDS[dialect].array.format(", ".join(values))


def largest_of(array: str, dialect: str) -> str:
    """Return the largest component of an array."""
    return _WORDS[dialect].largest.format(array)


def components_of(array: str, width: int, dialect: str) -> list[str]:
    """Return all components of an array, by their places."""
    return [f"{array}[{_WORDS[dialect].first + place}]" for place in range(width)]


def _value(node: Vector, of: list[str], dialect: str) -> str:
    """Return the SQL of a vector of several components, or of a double, from the names of its parts."""
    x, words = of[0], _WORDS[dialect]
    match node:
        case Each(formulas=[one]) if node.width > 1:
            return words.each.format(x=x, value=_read(one, node, of, "s", "i", dialect))
        case Each(formulas=[one]):
            return _read(one, node, of, x, str(words.first), dialect)
        case Each(formulas=several):
            components = zip(several, components_of(x, len(several), dialect), strict=True)
            places = range(words.first, words.first + len(several))
            values = (_read(one, node, of, s, str(i), dialect) for i, (one, s) in zip(places, components, strict=True))
            return array_of(list(values), dialect)
        case Largest():
            return largest_of(x, dialect)
        case Total(formula=one):
            return words.total.format(x=x, value=SqlReader("s", dialect).read(as_decisions(one)))
        case Affine():
            return _affine(node, x, dialect)
    raise TypeError(node)


def _affine(node: Affine, x: str, dialect: str) -> str:
    intercept = node.intercept.tolist()
    if node.coef.ndim < 2:
        if node.coef.ndim == 0 and not node.intercept.any():
            factor = SqlReader("s", dialect).read(float(node.coef) * SCORE)
            return _WORDS[dialect].each.format(x=x, value=factor)
        a, b = (_constant(values, "array<double>", dialect) for values in (node.rows.tolist(), intercept))
        return _WORDS[dialect].each.format(x=x, value=f"({a})[i] * s + ({b})[i]")
    factors = x if node.of.width > 1 else array_of([x], dialect)
    if dialect == "duckdb":
        products = [listed_product(factors, row, b) for row, b in zip(node.coef, intercept, strict=True)]
        return array_of(products, dialect) if node.width > 1 else products[0]
    level = _constant(intercept, "array<double>", dialect)
    product = f"aggregate(zip_with({factors}, row, (a, b) -> a * b), 0D, (total, s) -> total + s)"
    rows = _constant(node.coef.tolist(), "array<array<double>>", dialect)
    values = f"transform({rows}, (row, i) -> {product} + {level}[i])"
    return values if node.width > 1 else f"{values}[0]"


def _read(formula: Formula, node: Each, of: Sequence[str], score: str, index: str, dialect: str) -> str:
    """Return a formula of one component, and of the same component of what stands beside it."""
    beside = zip(node.beside, of[1:], strict=True)
    others = [f"{name}[{index}]" if part.width > 1 else name for part, name in beside]
    return SqlReader(score, dialect, others).read(as_decisions(formula))


def _constant(values: list[Any], kind: str, dialect: str) -> str:
    """Return an array as one piece of text, which is read once: thousands of numbers would take long to parse."""
    if dialect == "duckdb":
        return written_list(values, "DOUBLE")
    return f"from_json('{str(values).replace('.0,', ',').replace('.0]', ']').replace(' ', '')}', '{kind}')"
