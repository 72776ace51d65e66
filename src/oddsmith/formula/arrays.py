"""Vector formulas in SQL of DuckDB, PostgreSQL and Spark: a column of arrays per vector, made by functions of arrays.

A column per component would be thousands of columns: PostgreSQL refuses them, Spark takes minutes to plan them, and
their text is a megabyte.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from oddsmith._types import Floats
from oddsmith.formula.column_plan import sum_of
from oddsmith.formula.guards import ANYTHING, Range, guard_with_range, range_within
from oddsmith.formula.nodes import MAX, SCORE, Beside, Formula, clip
from oddsmith.formula.pieces import as_decisions
from oddsmith.formula.sql import SqlReader, SqlText, json_numbers, list_literal, list_product
from oddsmith.formula.vectors import Affine, Each, Inputs, Largest, Total, Vector, parts_of, walk_vectors


class _Words(NamedTuple):
    """How a dialect writes what is done with arrays: i is the place of a component."""

    first: int  # place of the first component
    component: str  # of an array, where something is done with each or with the sum of them
    array: str
    each: str
    largest: str
    total: str


_SPARK = _Words(
    0,
    "s",
    "array({})",
    "transform({x}, (s, i) -> {value})",
    "array_max({x})",
    "aggregate({x}, 0D, (total, s) -> total + ({value}))",
)
_WORDS = {
    "databricks": _SPARK,
    "duckdb": _Words(1, "s", "[{}]", "[{value} for s, i in {x}]", "list_max({x})", "list_sum([{value} for s in {x}])"),
    "postgres": _Words(
        1,
        "{x}[i]",
        "ARRAY[{}]",
        "ARRAY(SELECT {value} FROM GENERATE_SUBSCRIPTS({x}, 1) AS i ORDER BY i)",
        "(SELECT MAX(s) FROM UNNEST({x}) AS s)",
        "(SELECT SUM({value}) FROM GENERATE_SUBSCRIPTS({x}, 1) AS i)",
    ),
    "spark": _SPARK,
}

#: Dialects with such functions.
WITH_ARRAYS = frozenset(_WORDS)

#: A column of SQL and its name.
ArrayColumn = tuple[str, str]


def as_arrays(
    vector: Vector, given: str, spare: str, dialect: str, *, strict: bool = False
) -> tuple[list[list[ArrayColumn]], str]:
    """Return layers of columns, each its SQL and its name, and the name of the last one, an array.

    Given is a column of arrays; names of others begin with ``spare``. Vectors of width 1 are plain doubles. Strict
    engines raise an error where a double would overflow or vanish.

    Examples
    --------
    >>> from oddsmith.formula.vectors import Inputs, below_largest
    >>> as_arrays(below_largest(Inputs(2)), "x", "y", "spark")
    ([[('array_max(x)', 'y1')], [('transform(x, (s, i) -> s - y1)', 'y2')]], 'y2')
    """
    names, levels, ranges = dict[int, str](), dict[int, int](), dict[int, Range]()
    layers: list[list[ArrayColumn]] = []
    for node in walk_vectors(vector):
        if isinstance(node, Inputs):
            names[id(node)], levels[id(node)], ranges[id(node)] = given, 0, ANYTHING
            continue
        parts = parts_of(node)
        level = levels[id(node)] = 1 + max(levels[id(part)] for part in parts)
        name = names[id(node)] = f"{spare}{len(names)}"
        if level > len(layers):
            layers.append([])
        writer = _Writer(dialect, [ranges[id(part)] for part in parts] if strict else None)
        layers[level - 1].append((writer.value(node, [names[id(part)] for part in parts]), name))
        ranges[id(node)] = writer.range
    return layers, names[id(vector)]


def array_of(values: Sequence[str], dialect: str) -> str:
    """Return an array of values."""
    return _WORDS[dialect].array.format(", ".join(values))


def largest_of(array: str, dialect: str) -> str:
    """Return the largest component of an array."""
    return _WORDS[dialect].largest.format(x=array)


def components_of(array: str, width: int, dialect: str) -> list[str]:
    """Return all components of an array, by their places."""
    return [f"{array}[{_WORDS[dialect].first + place}]" for place in range(width)]


class _Writer:
    """Writes one vector, given what its parts can be where the engine is strict, and notes what it can be itself."""

    def __init__(self, dialect: str, given: list[Range] | None) -> None:
        self.dialect, self.given = dialect, given
        self.words = _WORDS[dialect]
        self.range = ANYTHING

    def value(self, node: Vector, of: list[str]) -> str:
        """Return the SQL of a vector of several components, or of a double, from the names of its parts."""
        x, words = of[0], self.words
        match node:
            case Each(formulas=[one]) if node.width > 1:
                value = self._component(one, node, of, words.component.format(x=x), "i")
                return words.each.format(x=x, value=value)
            case Each(formulas=[one]):
                return self._component(one, node, of, x, str(words.first))
            case Each(formulas=several):
                components = zip(several, components_of(x, len(several), self.dialect), strict=True)
                places = range(words.first, words.first + len(several))
                values = [
                    self._component(one, node, of, s, str(i)) for i, (one, s) in zip(places, components, strict=True)
                ]
                return array_of(values, self.dialect)
            case Largest():
                if self.given:
                    self.range = self.given[0]
                return largest_of(x, self.dialect)
            case Total(formula=one, low=low, high=high):
                value = self._read(one, [words.component.format(x=x)], (), terms=node.of.width)
                self._narrow(low, high)
                return words.total.format(x=x, value=value)
            case Affine():
                return self._affine(node, x)
        raise TypeError(node)

    def _affine(self, node: Affine, x: str) -> str:
        words, dialect = self.words, self.dialect
        if node.coef.ndim < 2:
            s = words.component.format(x=x)
            if node.coef.ndim == 0 and not node.intercept.any():
                return words.each.format(x=x, value=self._read(float(node.coef) * SCORE, [s]))
            a, b = (f"({_constant(values.tolist(), 'double', dialect)})[i]" for values in (node.rows, node.intercept))
            value = self._read(SCORE * Beside(1) + Beside(2), [s, a, b], (node.rows, node.intercept))
            return words.each.format(x=x, value=value)
        factors = x if node.of.width > 1 else array_of([x], dialect)
        if dialect == "duckdb":
            pairs = zip(node.coef, node.intercept.tolist(), strict=True)
            products = [list_product(factors, row, b) for row, b in pairs]
            return array_of(products, dialect) if node.width > 1 else products[0]
        level = _constant(node.intercept.tolist(), "double", dialect)
        rows = _constant(node.coef.tolist(), "array<double>", dialect)
        if dialect == "postgres":
            return self._rows_in_postgres(node, factors, rows, level)
        product = f"aggregate(zip_with({factors}, row, (a, b) -> a * b), 0D, (total, s) -> total + s)"
        values = f"transform({rows}, (row, i) -> {product} + {level}[i])"
        return values if node.width > 1 else f"{values}[0]"

    def _rows_in_postgres(self, node: Affine, factors: str, rows: str, level: str) -> str:
        terms = self._read(SCORE * Beside(1), [f"{factors}[i]", "matrix[j][i]"], (node.coef,), terms=node.of.width)
        product = self.words.total.format(x=factors, value=terms)
        self.given = [self.range]
        value = self._read(SCORE + Beside(1), [product, f"({level})[j]"], (node.intercept,))
        values = (
            f"ARRAY(SELECT {value} FROM (SELECT {rows} AS matrix) AS m, GENERATE_SUBSCRIPTS(matrix, 1) AS j ORDER BY j)"
        )
        return values if node.width > 1 else f"({values})[1]"

    def _component(self, formula: Formula, node: Each, of: Sequence[str], score: str, index: str) -> str:
        """Return a formula of one component, and of the same component of what stands beside it."""
        beside = zip(node.beside, of[1:], strict=True)
        value = self._read(formula, [score, *(f"{x}[{index}]" if part.width > 1 else x for part, x in beside)])
        self._narrow(node.low, node.high)
        return value

    def _read(self, formula: Formula, names: list[str], constants: Sequence[Floats] = (), terms: int = 1) -> SqlText:
        """Return a formula; names are what it reads, and constants those of them that do not vary between rows."""
        formula = as_decisions(formula)
        if self.given is not None:
            if terms > 1:
                formula = clip(formula, -MAX / terms, MAX / terms)
            formula, self.range = guard_with_range(formula, *self.given, *map(_range_of, constants))
            self.range = range_within(sum_of([SCORE] * terms), self.range)
        score, *beside = names
        return SqlReader(score, self.dialect, beside).read(formula)

    def _narrow(self, low: float, high: float) -> None:
        """Note that values are known to lie between two numbers."""
        self.range = Range(max(self.range.low, low), min(self.range.high, high), self.range.least)


def _range_of(values: Floats) -> Range:
    """Return what numbers can be."""
    sizes = np.abs(values[values != 0])
    return Range(float(values.min()), float(values.max()), float(sizes.min(initial=MAX)))


def _constant(values: list[Any], kind: str, dialect: str) -> str:
    """Return an array as one piece of text, which is read once: thousands of numbers would take long to parse."""
    if dialect == "duckdb":
        return list_literal(values, "DOUBLE")
    text = json_numbers(values)
    if dialect == "postgres":
        return f"'{text.replace('[', '{').replace(']', '}')}'::FLOAT8[]"
    return f"from_json('{text}', 'array<{kind}>')"
