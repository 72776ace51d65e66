"""Vector formulas in SQL of SQLite, which has no arrays: a row per row of the table and component, x and i.

Vectors are columns of such rows, and those of width 1 are the same in all rows of an x. The text of a step does not
grow with the number of classes, as that of a column per component does; numbers are in tables read from JSON.
"""

from collections.abc import Sequence
from typing import NamedTuple

from oddsmith._types import Floats
from oddsmith.formula.column_plan import columns_to_carry
from oddsmith.formula.nodes import SCORE, Beside, Formula
from oddsmith.formula.pieces import as_decisions
from oddsmith.formula.sql import SqlReader, json_numbers
from oddsmith.formula.vectors import Affine, Each, Inputs, Largest, Total, Vector, parts_of, walk_vectors


class _Column(NamedTuple):
    """One vector: its name, those of the vectors it is computed from, its SQL, and what that reads from elsewhere."""

    name: str
    of: tuple[str, ...]
    text: str
    tables: tuple[str, ...] = ()


class LongRows:
    """Writes a vector formula as common table expressions, of which the last has one row per x and one column each.

    Parameters
    ----------
    spare : str
        Beginning of the names of tables.

    Attributes
    ----------
    tables : list of (str, str)
        Names and queries, each of which reads earlier ones.
    """

    def __init__(self, spare: str) -> None:
        self.spare = spare
        self.tables: list[tuple[str, str]] = []
        self._numbers: list[Floats] = []  # one per component

    def write(self, vector: Vector, given: str, columns: Sequence[str]) -> tuple[str, list[str], str]:
        """Return the last table, its columns of components, and that of the largest of them; "there" is 1 in it.

        Given is a table of one row per x, and the names of its other columns.
        """
        first, layers = self._layers(vector)
        last = (layers[-1][0] if layers else first).name
        places = " ".join(f"WHEN {i} THEN {name}" for i, name in enumerate(columns))
        # The table of numbers comes first, and is known last.
        body = [("long", f"SELECT x, i, CASE i {places} END AS {first.name} FROM {given}, {self.spare}numbers")]
        source = f"{self.spare}long"
        for number, (layer, early) in enumerate(
            zip(layers, columns_to_carry(layers, [first.name], [last]), strict=True)
        ):
            wide = dict.fromkeys(name for column in layer for name in column.tables if name.startswith("wide_"))
            body += [(name, _pivot(source, name.removeprefix("wide_"), vector.width, "f")[0]) for name in wide]
            others = dict.fromkeys(name for column in layer for name in column.tables)
            joined = "".join(f" JOIN {self.spare}{name} USING ({'x' if name in wide else 'i'})" for name in others)
            values = ", ".join(["x", "i", *early, *(f"{column.text} AS {column.name}" for column in layer)])
            body.append((str(number), f"SELECT {values} FROM {source}{joined} WINDOW w AS (PARTITION BY x)"))
            source = f"{self.spare}{number}"
        query, names = _pivot(source, last, vector.width, "p")
        body.append(("last", query.replace(" FROM ", f", MAX({last}) AS top, 1 AS there FROM ", 1)))
        self._table("numbers", list(zip(*(each.tolist() for each in self._numbers), strict=True)), "c", vector.width)
        self.tables += [(f"{self.spare}{name}", query) for name, query in body]
        return f"{self.spare}last", names, "top"

    def _layers(self, vector: Vector) -> tuple[_Column, list[list[_Column]]]:
        """Return the inputs, and columns that can be computed at the same time."""
        made, levels, layers = dict[int, _Column](), dict[int, int](), list[list[_Column]]()
        for node in walk_vectors(vector):
            if isinstance(node, Inputs):
                first = made[id(node)] = _Column("v0", (), "")
                levels[id(node)] = 0
                continue
            parts = parts_of(node)
            level = levels[id(node)] = 1 + max(levels[id(part)] for part in parts)
            if level > len(layers):
                layers.append([])
            of = tuple(made[id(part)].name for part in parts)
            made[id(node)] = column = _Column(f"v{len(made)}", of, *self._value(node, of))
            layers[level - 1].append(column)
        return first, layers

    def _value(self, node: Vector, of: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """Return the SQL of a vector, and the tables that are joined for it."""
        match node:
            case Each(formulas=[one]):
                return _read(one, *of), ()
            case Largest():
                return f"MAX({of[0]}) OVER w", ()
            case Total(formula=one):
                return f"SUM({_read(one, *of)}) OVER w", ()
            case Affine(coef=coef, intercept=intercept) if coef.ndim == 2 and node.width == 1:
                return f"SUM({of[0]} * {self._constant(coef[0])}) OVER w + {float(intercept[0])!r}", ("numbers",)
            case Affine(coef=coef, intercept=intercept) if coef.ndim == 2:
                matrix = f"matrix{len(self.tables)}"
                self._table(matrix, coef.tolist(), f"m{len(self.tables)}_", node.width)
                rows = "+".join(f"m{len(self.tables) - 1}_{i}*f{of[0]}_{i}" for i in range(node.width))
                return f"{rows}+{self._constant(intercept)}", ("numbers", matrix, f"wide_{of[0]}")
            case Affine(coef=coef, intercept=intercept) if not coef.ndim and not intercept.any():
                return _read(float(coef) * SCORE, *of), ()
            case Affine(intercept=intercept):
                numbers = self._constant(node.rows), self._constant(intercept)
                return _read(SCORE * Beside(1) + Beside(2), *of, *numbers), ("numbers",)
        raise TypeError(node)

    def _constant(self, values: Floats) -> str:
        """Return the column of numbers of all components."""
        self._numbers.append(values)
        return f"c{len(self._numbers) - 1}"

    def _table(self, name: str, rows: Sequence[Sequence[float]], column: str, width: int) -> None:
        """Add a table of rows of numbers, by the places of the rows."""
        rows = rows or [()] * width
        values = [f"JSON_EXTRACT(value, '$[{i}]') AS {column}{i}" for i in range(len(rows[0]))]
        numbers = json_numbers([list(row) for row in rows])
        query = f"SELECT {', '.join(['key AS i', *values])} FROM JSON_EACH('{numbers}')"
        self.tables.append((f"{self.spare}{name}", query))


def _read(formula: Formula, score: str, *beside: str) -> str:
    return SqlReader(score, "sqlite", beside).read(as_decisions(formula))


def _pivot(source: str, of: str, width: int, prefix: str) -> tuple[str, list[str]]:
    """Return a query that has the components of a vector in columns, and their names."""
    names = [f"{prefix}{of}_{i}" for i in range(width)]
    values = ", ".join(f"MAX(CASE i WHEN {i} THEN {of} END) AS {name}" for i, name in enumerate(names))
    return f"SELECT x, {values} FROM {source} GROUP BY x", names
