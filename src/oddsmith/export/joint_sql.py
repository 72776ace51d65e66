"""Joint maps as SQL statements: layers of columns, one upon the other, which add probabilities to a table.

The table's own columns are to be kept, though they are not known here, and intermediate ones are not. There are three
ways to do so.

========  =====================================================================================
way       how
========  =====================================================================================
except    all columns go through every layer, and the last one leaves intermediate ones out
rowid     layers carry the number of the row alone, and are joined to the table by it (SQLite)
lateral   layers are joined to each row one by one, and see those before
========  =====================================================================================
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlglot import exp

from oddsmith import _check
from oddsmith.export._escaping import sql_name
from oddsmith.export.joint import input_columns, labels_of_one_kind, new_columns
from oddsmith.formula.layers import LayerColumn, as_layers, carried_past, guarded_layers, size_of
from oddsmith.formula.sql import SqlReader, as_decisions, as_double, label_literal
from oddsmith.formula.vectors import largest
from oddsmith.modelfile import JointModel

__all__ = ["joint_statement"]

#: Longer statements take engines minutes to read, where they do not refuse them.
MOST_TERMS = 200_000

#: Dialects with a star that leaves columns out.
_EXCEPT = {"bigquery", "clickhouse", "databricks", "duckdb", "snowflake"}

#: Dialects that say CROSS APPLY for CROSS JOIN LATERAL.
_APPLY = {"fabric", "tsql"}

#: How NaN is told: by a function, by comparing with it, or, where that is not known, by its not being equal to itself.
_IS_NAN = {
    **dict.fromkeys(("athena", "bigquery", "presto", "trino"), "IS_NAN"),
    **dict.fromkeys(("databricks", "duckdb", "spark", "spark2"), "ISNAN"),
    "clickhouse": "isNaN",
}
_EQUALS_NAN = {"materialize", "postgres", "redshift", "risingwave", "snowflake"}

SelectList = list[exp.Expression]


def joint_statement(
    model: JointModel, dialect: str, strict: bool, table: exp.Table, columns: Sequence[str] | None, prefix: str
) -> exp.Expression:
    """Return a statement that adds the probability of each class, and the decision, to the columns of a table.

    Strict engines raise an error where a double would overflow or vanish.
    """
    columns = [sql_name(name, "column") for name in input_columns(model, columns)]
    added = [sql_name(name, "label") for name in new_columns(model, prefix, columns)]
    spare = _spare([*columns, *added, *(part.name for part in table.parts)])
    given = [f"{spare}0_{place + 1}" for place in range(len(columns))]
    prob = model.map.probability_formula()
    layers, (probs, (top,)) = as_layers([prob, largest(prob)], given, spare)
    layers = [[replace(one, formula=as_decisions(one.formula)) for one in layer] for layer in layers]
    if (size := size_of(layers)) > MOST_TERMS:
        _check.fail(
            f"a statement must have at most {MOST_TERMS:,} terms",
            f"{size:,} for {len(model.labels):,} classes",
            "export to ONNX or C, or fit a scaling with fewer parameters",
        )
    present = f"{spare}present"
    if strict:
        layers = guarded_layers(layers, given)
    selected = [_first_layer(columns, given, present, dialect), *(_layer(layer, dialect) for layer in layers)]
    outputs = _outputs(model, present, probs, top, added)
    if dialect in _EXCEPT:
        return _with_except(selected, outputs, table, spare)
    if dialect == "sqlite":
        carried = carried_past(layers, [present, *given], [present, *probs, top])
        return _with_rowid(selected, outputs, table, spare, [[], *carried])
    return _with_laterals(selected, outputs, table, spare, dialect)


def _spare(names: Iterable[str]) -> str:
    """Return the beginning of names that none of these has."""
    spare = "oddsmith_"
    while any(name.casefold().startswith(spare) for name in names):
        spare += "_"
    return spare


def _identifier(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)


def _column(name: str) -> exp.Expression:
    return exp.column(name, quoted=True)


def _named(value: exp.Expression, name: str) -> exp.Expression:
    return exp.Alias(this=value, alias=_identifier(name))


def _first_layer(columns: Sequence[str], given: Sequence[str], present: str, dialect: str) -> SelectList:
    """Return the inputs as doubles, and 1 where none of them is missing."""
    doubles = [as_double(_column(name)) for name in columns]
    known = [exp.Not(this=exp.Is(this=_column(name), expression=exp.Null())) for name in columns]
    numbers = [_is_number(double.copy(), dialect) for double in doubles]
    there = exp.Case(ifs=[exp.If(this=exp.and_(*known, *numbers, copy=False), true=exp.Literal.number(1))])
    return [*map(_named, doubles, given), _named(there, present)]


def _is_number(value: exp.Expression, dialect: str) -> exp.Expression:
    if dialect in _IS_NAN:
        return exp.Not(this=exp.Anonymous(this=_IS_NAN[dialect], expressions=[value]))
    if dialect in _EQUALS_NAN:
        return exp.NEQ(this=value, expression=as_double(exp.Literal.string("NaN")))
    return exp.EQ(this=value, expression=value.copy())


def _layer(layer: Sequence[LayerColumn], dialect: str) -> SelectList:
    given = [list(map(_column, column.of)) for column in layer]
    readers = (SqlReader(score, dialect, beside) for score, *beside in given)
    return [_named(reader.read(column.formula), column.name) for reader, column in zip(readers, layer, strict=True)]


def _outputs(model: JointModel, present: str, probs: Sequence[str], top: str, added: Sequence[str]) -> SelectList:
    """Return the probabilities and the first label that has the largest one, missing where an input is."""
    there = exp.EQ(this=_column(present), expression=exp.Literal.number(1))
    values = [exp.Case(ifs=[exp.If(this=there.copy(), true=_column(name))]) for name in probs]
    labels = [label_literal(label) for label in labels_of_one_kind(model)]
    largest = [
        exp.If(this=exp.GTE(this=_column(name), expression=_column(top)), true=label)
        for name, label in zip(probs, labels, strict=True)
    ]
    decision = exp.Case(ifs=[exp.If(this=there, true=exp.Case(ifs=largest))])
    return list(map(_named, [*values, decision], added))


def _with_except(selected: list[SelectList], outputs: SelectList, table: exp.Table, spare: str) -> exp.Expression:
    query, source = _stacked([[exp.Star(), *columns] for columns in selected], table, spare)
    dropped = [_identifier(column.alias) for columns in selected for column in columns]
    return query.select(exp.Star(except_=dropped), *outputs, copy=False).from_(source, copy=False)


def _with_rowid(
    selected: list[SelectList], outputs: SelectList, table: exp.Table, spare: str, carried: list[list[str]]
) -> exp.Expression:
    row, base = f"{spare}row", f"{spare}table"
    numbers = [_named(_column("_rowid_"), row), *(_column(row) for _ in selected[1:])]
    layers = [[x, *map(_column, early), *own] for x, early, own in zip(numbers, carried, selected, strict=True)]
    # Materialized: SQLite would write expressions of one layer into the next, and compute them as often.
    query, source = _stacked(layers, table, spare, materialized=True)
    same = exp.EQ(this=exp.column("_rowid_", table=base, quoted=True), expression=_column(row))
    query = query.select(exp.Column(this=exp.Star(), table=_identifier(base)), *outputs, copy=False)
    query = query.from_(source, copy=False)
    return query.join(exp.alias_(table.copy(), base, table=True, quoted=True), on=same, copy=False)


def _stacked(
    layers: list[SelectList], source: exp.Table, spare: str, *, materialized: bool | None = None
) -> tuple[exp.Select, exp.Table]:
    """Return a query with layers as common table expressions, each of the one before, and the last of them."""
    query = exp.Select()
    for number, columns in enumerate(layers):
        name = f"{spare}layer{number}"
        layer = exp.select(*columns, copy=False).from_(source, copy=False)
        query = query.with_(_identifier(name), as_=layer, materialized=materialized, copy=False)
        source = exp.table_(name, quoted=True)
    return query, source


def _with_laterals(
    selected: list[SelectList], outputs: SelectList, table: exp.Table, spare: str, dialect: str
) -> exp.Expression:
    base = f"{spare}table"
    query = exp.select(exp.Column(this=exp.Star(), table=_identifier(base)), *outputs, copy=False)
    query = query.from_(exp.alias_(table, base, table=True, quoted=True), copy=False)
    for number, columns in enumerate(selected):
        layer = exp.select(*columns, copy=False)
        if dialect == "postgres":
            layer = layer.offset(0, copy=False)  # or expressions of one layer are written into the next
        alias = exp.TableAlias(this=_identifier(f"{spare}layer{number}"))
        joined = exp.Lateral(this=layer.subquery(copy=False), alias=alias)
        if dialect in _APPLY:
            joined.set("cross_apply", True)
            query.append("laterals", joined)
        else:
            query = query.join(joined, join_type="cross", copy=False)
    return query
