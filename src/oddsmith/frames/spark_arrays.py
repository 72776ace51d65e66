"""Joint maps of many classes inside Spark: one column of arrays per vector, computed by functions of arrays.

A column per component would be thousands of columns, which take Spark minutes to plan.
"""

from collections.abc import Sequence
from typing import Any

from oddsmith.formula import (
    Affine,
    Each,
    Formula,
    Inputs,
    Largest,
    SqlReader,
    Total,
    Vector,
    as_decisions,
    parts_of,
    walk_vectors,
)

#: Vectors of several components, by name; others are plain doubles.
Widths = dict[str, int]


def as_arrays(vector: Vector, given: str, spare: str) -> tuple[list[list[tuple[str, str]]], str]:
    """Return layers of columns, each its SQL and its name, and the name of the last one, an array.

    Given is a column of arrays; names of others begin with ``spare``.

    Examples
    --------
    >>> from oddsmith.formula.vectors import Inputs, below_largest
    >>> as_arrays(below_largest(Inputs(2)), "x", "y")
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
        layers[level - 1].append((_value(node, [names[id(part)] for part in parts]), name))
    return layers, names[id(vector)]


def _value(node: Vector, of: list[str]) -> str:
    """Return the SQL of a vector of several components, or of a double, from the names of its parts."""
    x = of[0]
    match node:
        case Each(formulas=[one]):
            value = _read(one, node, of, "s", "i")
            return f"transform({x}, (s, i) -> {value})" if node.width > 1 else _read(one, node, of, x, "0")
        case Each(formulas=several):
            return f"array({', '.join(_read(one, node, of, f'{x}[{i}]', str(i)) for i, one in enumerate(several))})"
        case Largest():
            return f"array_max({x})"
        case Total(formula=one):
            return f"aggregate({x}, 0D, (total, s) -> total + ({SqlReader('s', 'spark').read(as_decisions(one))}))"
        case Affine(coef=coef, intercept=intercept):
            level = _constant(intercept.tolist(), "array<double>")
            if coef.ndim < 2:
                factor = _constant(node.rows.tolist(), "array<double>")
                return f"transform({x}, (s, i) -> {factor}[i] * s + {level}[i])"
            factors = x if node.of.width > 1 else f"array({x})"
            product = f"aggregate(zip_with({factors}, row, (a, b) -> a * b), 0D, (total, s) -> total + s)"
            rows = _constant(coef.tolist(), "array<array<double>>")
            values = f"transform({rows}, (row, i) -> {product} + {level}[i])"
            return values if node.width > 1 else f"{values}[0]"
    raise TypeError(node)


def _read(formula: Formula, node: Each, of: Sequence[str], score: str, index: str) -> str:
    """Return a formula of one component, and of the same component of what stands beside it."""
    beside = zip(node.beside, of[1:], strict=True)
    others = [f"{name}[{index}]" if part.width > 1 else name for part, name in beside]
    return SqlReader(score, "spark", others).read(as_decisions(formula))


def _constant(values: list[Any], kind: str) -> str:
    """Return an array as one piece of text, which is read once: thousands of numbers would take long to parse."""
    return f"from_json('{values}', '{kind}')"
