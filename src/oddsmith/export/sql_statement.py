"""Joint maps as SQL statements: layers of columns, one upon the other, which add probabilities to a table.

The table's own columns are to be kept, though they are not known here, and intermediate ones are not. There are four
ways to do so.

========  =====================================================================================
way       how
========  =====================================================================================
except    all columns go through every layer, and the last one leaves intermediate ones out
struct    layers carry the row in one column, and the last one unpacks it (DuckDB; Spark with arrays)
rowid     layers carry the number of the row alone, and are joined to the table by it (SQLite)
lateral   layers are joined to each row one by one, and see those before
========  =====================================================================================

Where a dialect has functions of arrays, a layer of many classes is one column of them; in SQLite it has a row per
class. Rows of wide matrices are whole numbers times a power of two, which are shorter than doubles and lose nothing
that rounding would not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from oddsmith import _check
from oddsmith.export.columns import labels_of_one_kind
from oddsmith.export.segments import Parameters, layers_by_segment
from oddsmith.formula import (
    WITH_ARRAYS,
    Each,
    Layer,
    LongRows,
    SqlReader,
    Vector,
    WholeReader,
    array_of,
    as_arrays,
    as_decisions,
    as_double,
    as_layers,
    columns_to_carry,
    components_of,
    guard_layers,
    is_number,
    label_literal,
    largest,
    largest_of,
    quote,
    size_of,
    walk_vectors,
    with_whole_rows,
)
from oddsmith.model import Model, joint_map_of

__all__ = ["joint_statement"]

#: Longer statements take engines minutes to read, where they do not refuse them.
MOST_TERMS = 200_000

#: Dialects with a star that leaves columns out, and their word for it.
_EXCEPT = {
    **dict.fromkeys(("bigquery", "clickhouse", "databricks"), "EXCEPT"),
    "snowflake": "EXCLUDE",
}

#: Dialects that say CROSS APPLY for CROSS JOIN LATERAL.
_APPLY = {"fabric", "tsql"}

#: Vectors of as many classes are columns of arrays, where a dialect has functions of them.
_MANY_CLASSES = 6

#: In SQLite vectors of as many classes have a row per class: fewer are faster in columns, and short enough.
_LONG = 40

#: Values and their names.
SelectList = list[tuple[str, str]]


def joint_statement(
    model: Model,
    dialect: str,
    strict: bool,
    source: str,
    spare: str,
    columns: Sequence[str],
    added: Sequence[str],
    parameters: Parameters | None = None,
) -> str:
    """Return a statement that adds the probability of each class, and the decision, to the columns of a table.

    Strict engines raise an error where a double would overflow or vanish. The source is SQL; names of columns that are
    made on the way begin with ``spare``. Parameters are those of a model by segment.
    """
    # Where the table's own columns are not in sight, names are short: a matrix of 100 classes has 10,000 of them.
    short = spare if dialect in _EXCEPT else "x"
    given, present = [f"{short}0_{place + 1}" for place in range(len(columns))], f"{short}0"
    prob = None
    if parameters is None:
        prob = with_whole_rows(joint_map_of(model).probability_formula())
        layers, (probs, (top,)) = as_layers([prob, largest(prob)], given, short)
        layers = [[replace(one, formula=as_decisions(one.formula)) for one in layer] for layer in layers]
    else:
        layers, probs, top = layers_by_segment(model, given, short, parameters)
    if (size := size_of(layers)) > MOST_TERMS:
        _check.fail(
            f"a statement must have at most {MOST_TERMS:,} terms",
            f"{size:,} for {len(model.labels):,} classes",
            "export to ONNX or C, or fit a scaling with fewer parameters",
        )
    known = {} if parameters is None else {f"{short}{name}": range_ for name, range_ in parameters.ranges.items()}
    numbers = list(known)
    if strict:
        layers = guard_layers(layers, given, known)
    labels = [label_literal(label, dialect) for label in labels_of_one_kind(model)]
    added = [quote(name, dialect) for name in added]
    quoted_columns = [quote(name, dialect) for name in columns]
    is_wide = prob is not None and len(columns) > 1 and _is_uniform(prob)
    if prob is not None and is_wide and dialect in WITH_ARRAYS and len(labels) >= _MANY_CLASSES:
        return _with_arrays(prob, quoted_columns, added, labels, source, spare, dialect, strict)
    if prob is not None and is_wide and dialect == "sqlite" and len(labels) >= _LONG:
        return _with_long_rows(prob, quoted_columns, added, labels, source, spare)
    first = _first_layer(quoted_columns, given, present, dialect)
    base, join = f"{spare}table", ""
    if parameters is not None:
        first += zip(parameters.expressions(), numbers, strict=True)
        join = parameters.join(base)
    outputs = [present, *probs, top], added
    if dialect in _EXCEPT:
        selected = [first, *(_layer(layer, dialect) for layer in layers)]
        return _with_except(selected, _outputs(*outputs, labels), source, spare, _EXCEPT[dialect], join)
    if dialect in ("duckdb", "sqlite"):
        carried: list[list[str]] = [[]]
        selected = [first]
        for layer, early in zip(layers, columns_to_carry(layers, [present, *given, *numbers], outputs[0]), strict=True):
            selected.append(_layer(layer, dialect))
            carried.append(early)
        before = f"{spare}{len(layers)}." if dialect == "sqlite" else ""
        write = _with_rowid if dialect == "sqlite" else _with_struct
        return write(selected, _outputs(*outputs, labels, before), source, spare, carried, join)
    own = {name: f"x0.{name}" for name in [present, *given, *numbers]}
    selected = [first]
    for number, layer in enumerate(layers, start=1):
        selected.append(_layer(layer, dialect, own))
        own |= {column.name: f"x{number}.{column.name}" for column in layer}
    return _with_laterals(
        selected, _outputs([own[name] for name in outputs[0]], outputs[1], labels), source, spare, dialect, join
    )


def _first_layer(columns: Sequence[str], given: Sequence[str], present: str, dialect: str) -> SelectList:
    """Return the inputs as doubles, and 1 where none of them is missing."""
    doubles = [as_double(name, dialect) for name in columns]
    tested = columns if dialect == "sqlite" else doubles
    there = " AND ".join(is_number(value, dialect) for value in tested)
    return [*zip(doubles, given, strict=True), (f"CASE WHEN {there} THEN 1 END", present)]


def _layer(layer: Layer, dialect: str, own: Mapping[str, str] | None = None) -> SelectList:
    """Return the columns of a layer; ``own`` are names of earlier ones where these are not plain."""
    selected: SelectList = []
    for column in layer:
        score, *beside = column.of if own is None else [own[name] for name in column.of]
        is_whole = column.row is not None and bool(np.all(column.row % 1 == 0))
        reader = (WholeReader if is_whole else SqlReader)(score, dialect, beside)
        selected.append((reader.read(column.formula), column.name))
    return selected


def _is_uniform(vector: Vector) -> bool:
    """Whether the same is computed of every class, but for numbers."""
    return all(len(node.formulas) == 1 for node in walk_vectors(vector) if isinstance(node, Each))


def _with_arrays(
    prob: Vector,
    columns: Sequence[str],
    added: Sequence[str],
    labels: Sequence[str],
    source: str,
    spare: str,
    dialect: str,
    strict: bool,
) -> str:
    """Return a statement whose layers are columns of arrays."""
    doubles = [as_double(name, dialect) for name in columns]
    there = " AND ".join(is_number(value, dialect) for value in doubles)
    short = spare if dialect == "postgres" else "x_"  # there the table's own columns are in sight
    present, given, top = (f"{short}{what}" for what in ("present", "given", "top"))
    first = [(f"CASE WHEN {there} THEN 1 END", present), (array_of(doubles, dialect), given)]
    layers, probs = as_arrays(prob, given, short, dialect, strict=strict)
    layers = [first, *layers, [(largest_of(probs, dialect), top)]]
    computed = [present, *components_of(probs, len(labels), dialect), top]
    if dialect == "postgres":
        return _with_laterals(layers, _outputs(computed, added, labels), source, spare, dialect)
    row = f"{spare}table" if dialect == "duckdb" else "struct(*)"
    selected = [[f"{row} AS x", *_with_names(first)], *(["*", *_with_names(layer)] for layer in layers[1:])]
    tables, last = _stack(selected, f"{source} AS {spare}table", spare)
    return f"{tables}\n{_select(['x.*', *_with_names(_outputs(computed, added, labels))], last)}"


def _with_long_rows(
    prob: Vector, columns: Sequence[str], added: Sequence[str], labels: Sequence[str], source: str, spare: str
) -> str:
    """Return a statement for SQLite whose layers have a row per class."""
    given, names = f"{spare}given", [f"g{place}" for place in range(len(columns))]
    doubles = _with_names(list(zip((as_double(name, "sqlite") for name in columns), names, strict=True)))
    there = " AND ".join(is_number(name, "sqlite") for name in columns)
    rows = LongRows(spare)
    last, probs, top = rows.write(prob, given, names)
    tables = [(given, f"{_select(['_rowid_ AS x', *doubles], source)}\nWHERE {there}"), *rows.tables]
    written = ", ".join(f"{name} AS MATERIALIZED (\n{query}\n)" for name, query in tables)
    outputs = _with_names(_outputs([f"{last}.{name}" for name in ("there", *probs, top)], added, labels))
    joined = f"{source} AS {spare}table\nLEFT JOIN {last}\n  ON {last}.x = {spare}table._rowid_"
    return f"WITH {written}\n{_select([f'{spare}table.*', *outputs], joined)}"


def _outputs(computed: Sequence[str], added: Sequence[str], labels: Sequence[str], before: str = "") -> SelectList:
    """Return the probabilities and the first label that has the largest one, missing where an input is."""
    present, *probs, top = (f"{before}{name}" for name in computed)
    cases = " ".join(f"WHEN {name} >= {top} THEN {label}" for name, label in zip(probs, labels, strict=True))
    values = [*probs, f"CASE {cases} END"]
    return [(f"CASE WHEN {present} = 1 THEN {value} END", name) for value, name in zip(values, added, strict=True)]


def _select(values: Sequence[str], source: str = "") -> str:
    listed = ",\n  ".join(values)
    return f"SELECT\n  {listed}" + (f"\nFROM {source}" if source else "")


def _with_names(selected: SelectList) -> list[str]:
    return [f"{value} AS {name}" for value, name in selected]


def _with_except(selected: list[SelectList], outputs: SelectList, source: str, spare: str, word: str, join: str) -> str:
    layers = [["*", *_with_names(columns)] for columns in selected]
    if join:
        base = f"{spare}table"
        layers[0][0], source = f"{base}.*", f"{source} AS {base}{join}"
    tables, last = _stack(layers, source, spare)
    dropped = ", ".join(name for columns in selected for _, name in columns)
    return f"{tables}\n{_select([f'* {word} ({dropped})', *_with_names(outputs)], last)}"


def _with_rowid(
    selected: list[SelectList], outputs: SelectList, source: str, spare: str, carried: list[list[str]], join: str
) -> str:
    base = f"{spare}table"
    numbers = [f"{base}._rowid_ AS x" if join else "_rowid_ AS x", *("x" for _ in selected[1:])]
    layers = [[x, *early, *_with_names(own)] for x, early, own in zip(numbers, carried, selected, strict=True)]
    # Materialized: SQLite would write expressions of one layer into the next, and compute them as often.
    tables, last = _stack(layers, f"{source} AS {base}{join}" if join else source, spare, " MATERIALIZED")
    joined = f"{last}\nJOIN {source} AS {base}\n  ON {base}._rowid_ = {last}.x"
    return f"{tables}\n{_select([f'{base}.*', *_with_names(outputs)], joined)}"


def _with_struct(
    selected: list[SelectList], outputs: SelectList, source: str, spare: str, carried: list[list[str]], join: str
) -> str:
    base = f"{spare}table"
    rows = [f"{base} AS x", *("x" for _ in selected[1:])]
    layers = [[x, *early, *_with_names(own)] for x, early, own in zip(rows, carried, selected, strict=True)]
    tables, last = _stack(layers, f"{source} AS {base}{join}", spare)
    return f"{tables}\n{_select(['x.*', *_with_names(outputs)], last)}"


def _stack(layers: list[list[str]], source: str, spare: str, word: str = "") -> tuple[str, str]:
    """Return layers as common table expressions, each of the one before, and the name of the last of them."""
    tables = []
    for number, columns in enumerate(layers):
        tables.append(f"{spare}{number} AS{word} (\n{_select(columns, source)}\n)")
        source = f"{spare}{number}"
    return f"WITH {', '.join(tables)}", source


def _with_laterals(
    selected: list[SelectList], outputs: SelectList, source: str, spare: str, dialect: str, join: str = ""
) -> str:
    base = f"{spare}table"
    joined = [f"{source} AS {base}{join}"]
    word = "CROSS APPLY" if dialect in _APPLY else "CROSS JOIN LATERAL"
    # Without an offset PostgreSQL writes expressions of one layer into the next.
    end = "\nOFFSET 0" if dialect == "postgres" else ""
    for number, columns in enumerate(selected):
        joined.append(f"{word} (\n{_select(_with_names(columns))}{end}\n) AS x{number}")
    return _select([f"{base}.*", *_with_names(outputs)], "\n".join(joined))
