"""Models by segment in SQL: a table with the parameters of each segment, joined to the rows, and one expression.

A segment that the model does not know, or a missing one, gets the parameters of the map of all rows.
"""

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.formula import (
    LIMIT,
    SCORE,
    Beside,
    Column,
    Formula,
    Layer,
    LayerColumn,
    Number,
    Range,
    SqlReader,
    Vector,
    Where,
    as_decisions,
    as_layers,
    clip,
    combine,
    families,
    guard,
    label_literal,
    largest,
    quote,
    rewritten,
    shape_of,
    with_limits,
    with_rows,
)
from oddsmith.maps import JointMap, Keys, map_families
from oddsmith.model import Model

__all__ = ["MARK", "Parameters", "formula_by_segment", "layers_by_segment"]

#: Columns of a table of parameters: engines refuse more, and nobody reads as many.
MOST_PARAMETERS = 1_000

#: Dialects with VALUES in the place of a table, whose columns get names.
_VALUES = {"databricks", "duckdb", "postgres", "snowflake", "spark", "sqlite", "trino"}

#: Before the names of segments in a seed: loaders would take some for numbers, dates or missing values.
MARK = "segment:"

#: In the place of a value that a model with effects does not know, where others begin with `MARK`.
_OTHER = "other"

#: Text that is the same in every dialect.
_PLAIN = re.compile(r"[\w .+-]*", re.ASCII)


@dataclass
class Parameters:
    """The parameters of a model by segment: columns with a value per segment, and one for all other rows.

    Attributes
    ----------
    spare : str
        Beginning of names that nothing else has.
    dialect : str
        Of SQL.
    by : list of str
        Columns of segments.
    segments : list of tuple of (str or None)
        The keys of each; None is any value that no segment has, or a missing one.
    seed : str
        A table of the parameters, in which names of segments begin with `MARK`; empty to write them in the statement.
    values : list of ndarray
        One per column; the last value is for rows without a known segment.
    """

    spare: str
    dialect: str
    by: list[str]
    segments: list[Keys]
    seed: str = ""
    values: list[Floats] = field(default_factory=list)
    _known: dict[bytes, int] = field(default_factory=dict)

    def place(self, values: Floats) -> int:
        """Return the number of a column with these values, which is added unless it is there."""
        column = values.ravel() + 0.0
        number = self._known.setdefault(column.tobytes(), len(self.values))
        if number == len(self.values):
            self.values.append(column)
        if len(self.values) > MOST_PARAMETERS:
            hint = "fit a method with fewer parameters per segment"
            _check.fail(f"segments must have at most {MOST_PARAMETERS:,} parameters each", "more", hint)
        return number

    @property
    def names(self) -> list[str]:
        """Names of the columns in the table of parameters."""
        return [f"p{number + 1}" for number in range(len(self.values))]

    @property
    def keys(self) -> list[str]:
        """Names of the columns of keys in the table of parameters."""
        return ["segment"] if len(self.by) == 1 else [f"segment_{number + 1}" for number in range(len(self.by))]

    @property
    def ranges(self) -> dict[str, Range]:
        """What each of them can be."""
        return {name: Range.of(column) for name, column in zip(self.names, self.values, strict=True)}

    @property
    def table(self) -> str:
        """What stands for the table of parameters in the statement."""
        return f"{self.spare}parameters"

    def expressions(self) -> list[str]:
        """Return each parameter of a row: of its segment, or else of all rows."""
        reader = SqlReader("", self.dialect)
        defaults = [reader.read(Number(float(column[-1]))) for column in self.values]
        return [f"COALESCE({self.table}.{name}, {text})" for name, text in zip(self.names, defaults, strict=True)]

    def join(self, base: str) -> str:
        """Return the clause that joins the parameters to a table called ``base``."""
        if not self.values:
            return ""
        text, double = (exp.DataType.build(name).sql(dialect=self.dialect) for name in ("text", "double"))
        numbers = [f"CAST({name} AS {double}) AS {name}" for name in self.names]
        query = f"SELECT {', '.join([*self.keys, *numbers])} FROM {self.seed}" if self.seed else self._rows(numbers)
        mark = f"'{MARK}' || " if self._has_mark else ""
        given = [f"CAST({base}.{quote(name, self.dialect)} AS {text})" for name in self.by]
        given = [self._key_or_other(f"{mark}{value}", value, place) for place, value in enumerate(given)]
        equal = " AND ".join(f"{self.table}.{key} = {value}" for key, value in zip(self.keys, given, strict=True))
        return f"\nLEFT JOIN ({query}) AS {self.table}\n  ON {equal}"

    @cached_property
    def _has_mark(self) -> bool:
        """Whether keys begin with a mark."""
        return bool(self.seed) or any(None in keys for keys in self.segments)

    def _key_or_other(self, key: str, value: str, place: int) -> str:
        """Return the key of a column, or what stands for values that no segment has."""
        if not any(keys[place] is None for keys in self.segments):
            return key
        known = sorted({keys[place] for keys in self.segments} - {None})  # type: ignore[type-var]
        listed = ", ".join(_text(each, self.dialect) for each in known if each is not None)
        return f"CASE WHEN {value} IN ({listed}) THEN {key} ELSE '{_OTHER}' END"

    def _write_keys(self, keys: Keys) -> list[str]:
        """Return the keys of a segment as the table of parameters has them."""
        mark = MARK if self._has_mark else ""
        return [_OTHER if key is None else f"{mark}{key}" for key in keys]

    def _rows(self, numbers: Sequence[str]) -> str:
        """Return a query for the rows of parameters."""
        if self.dialect not in _VALUES:
            must = f"parameters of segments are written for one of {', '.join(sorted(_VALUES))}"
            _check.fail(must, self.dialect, "export to dbt, whose seed any warehouse loads")
        lists = [column[:-1].tolist() for column in self.values]
        if self.dialect == "sqlite":  # which reads some decimals a digit off, and calls its columns by number
            reader = SqlReader("", "sqlite")
            texts = [[str(reader.read(Number(value))) for value in column] for column in lists]
            cast = [f"CAST(column{number} AS TEXT) AS {key}" for number, key in enumerate(self.keys, start=1)]
            columns = enumerate(self.names, start=1 + len(self.keys))
            # Text of distinct rows is what SQLite makes an index of; else each row of the table reads all segments.
            selected = f"DISTINCT {', '.join([*cast, *(f'column{number} AS {name}' for number, name in columns)])}"
            end = ""
        else:
            texts = [[f"'{value!r}'" for value in column] for column in lists]
            selected = ", ".join([*self.keys, *numbers])
            end = f" AS {self.spare}values ({', '.join([*self.keys, *self.names])})"
        keys = ([_text(key, self.dialect) for key in self._write_keys(one)] for one in self.segments)
        rows = ",\n  ".join(f"({', '.join([*key, *row])})" for key, *row in zip(keys, *texts, strict=True))
        return f"SELECT {selected} FROM (VALUES\n  {rows}\n){end}"

    def rows(self) -> list[list[str]]:
        """Return the table of parameters, the first row with the names of its columns."""
        columns = [[repr(value) for value in column[:-1].tolist()] for column in self.values]
        rows = zip(self.segments, *columns, strict=True)
        return [[*self.keys, *self.names], *([*self._write_keys(keys), *row] for keys, *row in rows)]


def _text(value: str, dialect: str) -> str:
    return f"'{value}'" if _PLAIN.fullmatch(value) else label_literal(value, dialect)


def formula_by_segment(model: Model, output: str, parameters: Parameters, *, strict: bool) -> Formula:
    """Return what a model of two classes computes; parameters stand beside the score, from number 1 on."""
    maps: list[Any] = [*(part.map for part in model.segments.values()), model.map]
    if output == "probability":
        found = map_families(maps)
    else:
        found = families([clip(one.log_odds_formula(), -LIMIT, LIMIT) for one in maps])
    plain = []
    for family in found:
        formula = with_limits(as_decisions(family.formula), always=strict)
        plain.append(family._replace(formula=guard(formula) if strict else formula))
    return rewritten(combine(plain), column=lambda values: Beside(1 + parameters.place(values)))


def layers_by_segment(
    model: Model, given: Sequence[str], short: str, parameters: Parameters
) -> tuple[list[Layer], list[str], str]:
    """Return the layers of a model of several classes, the names of its probabilities, and that of the largest.

    Each parameter is a column called after its name, behind ``short``.
    """
    maps: list[Any] = [*(part.map for part in model.segments.values()), model.map]
    found = [_rename(one, f"{short}f{number}_") for number, one in enumerate(_layer_families(maps, given))]
    layers: list[Layer] = [[] for _ in range(max(len(one.layers) for one in found))]
    family = np.empty((len(maps), 1))
    for number, (members, own, _, _) in enumerate(found):
        # Others never use these columns: they get constants with which they can be computed.
        rows = np.zeros(len(maps), dtype=np.intp)
        rows[members], family[members] = np.arange(len(members)), number
        for into, layer in zip(layers, own, strict=False):
            into += [replace(one, formula=with_rows(as_decisions(one.formula), rows), row=None) for one in layer]
    outputs = list(zip(*([*one.probs, one.top] for one in found), strict=True))
    if len(found) > 1:
        names = [f"{short}c_{place}" for place in range(len(outputs))]
        layers.append([_choose(name, of, family) for name, of in zip(names, outputs, strict=True)])
    else:
        names = [name for (name,) in outputs]
    return [[_reading(one, parameters, short) for one in layer] for layer in layers], names[:-1], names[-1]


class _Layers(NamedTuple):
    """Layers whose columns have a row for each of some members, and their last names."""

    members: NDArray[np.intp]
    layers: list[Layer]
    probs: list[str]
    top: str


#: Before the names of columns, until their family has a number.
_UNNAMED = "@"


def _layer_families(maps: Sequence[JointMap], given: Sequence[str]) -> list[_Layers]:
    quick: dict[Hashable, list[int]] = {}
    slow: dict[Hashable, list[_Layers]] = {}
    for number, one in enumerate(maps):
        if (shape := one.quick_shape) is not None:
            quick.setdefault(shape, []).append(number)
        else:
            own = _layers([number], one.probability_formula(), given)
            slow.setdefault(_shape_of(own.layers), []).append(own)
    found = [_layers(own, maps[own[0]].probability_of_many([maps[i] for i in own]), given) for own in quick.values()]
    return [*found, *map(_together, slow.values())]


def _layers(members: list[int], prob: Vector, given: Sequence[str]) -> _Layers:
    layers, (probs, (top,)) = as_layers([prob, largest(prob)], given, _UNNAMED)
    return _Layers(np.array(members), layers, probs, top)


def _shape_of(layers: Sequence[Layer]) -> Hashable:
    return tuple((one.name, one.of, one.rough, shape_of(one.formula)) for layer in layers for one in layer)


def _together(several: Sequence[_Layers]) -> _Layers:
    """Return the layers of members whose layers have one shape."""
    layers = []
    for layer in zip(*(one.layers for one in several), strict=True):
        columns = []
        for same in zip(*layer, strict=True):
            (family,) = families([one.formula for one in same])
            low, high = min(one.low for one in same), max(one.high for one in same)
            columns.append(replace(same[0], formula=family.formula, low=low, high=high))
        layers.append(columns)
    return several[0]._replace(members=np.concatenate([one.members for one in several]), layers=layers)


def _rename(one: _Layers, spare: str) -> _Layers:
    def name(old: str) -> str:
        return old.replace(_UNNAMED, spare, 1) if old.startswith(_UNNAMED) else old

    layers = [[replace(c, name=name(c.name), of=tuple(map(name, c.of))) for c in layer] for layer in one.layers]
    return one._replace(layers=layers, probs=list(map(name, one.probs)), top=name(one.top))


def _choose(name: str, of: Sequence[str], family: Floats) -> LayerColumn:
    """Return the column that is that of the family of a row."""
    values: list[Formula] = [SCORE, *(Beside(place) for place in range(1, len(of)))]
    chosen = values[0]
    for number, value in enumerate(values[1:], start=1):
        chosen = Where(Number(float(number)), Column(family), value, chosen)
    return LayerColumn(name, chosen, tuple(of), 0.0, 1.0)


def _reading(column: LayerColumn, parameters: Parameters, short: str) -> LayerColumn:
    """Return a column that reads its parameters by their names."""
    used: list[str] = []

    def read(values: Floats) -> Formula:
        name = f"{short}p{parameters.place(values) + 1}"
        if name not in used:
            used.append(name)
        return Beside(len(column.of) + used.index(name))

    formula = rewritten(column.formula, column=read)
    return replace(column, formula=formula, of=(*column.of, *used))
