"""Maps as SQL expressions, in any dialect that sqlglot writes."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.export import _apart
from oddsmith.export._escaping import sql_name
from oddsmith.export.language import Language, Model, Output, formula_of, header
from oddsmith.formula.guards import guarded

__all__ = ["Sql", "to_sql"]

#: Dialects whose doubles overflow to ∞ and vanish to 0 without an error.
_FORGIVING = {"databricks", "duckdb", "spark", "spark2", "sqlite"}


#: What SQL makes of scores that are none.
_MISSING = "NULL gives NULL. NaN, where the engine has it, sorts above all numbers and gives the value at +infinity."

#: The names that people know the engines by.
_ENGINES = {
    "bigquery": "BigQuery",
    "duckdb": "DuckDB",
    "postgres": "PostgreSQL",
    "snowflake": "Snowflake",
    "spark": "Spark",
    "sqlite": "SQLite",
}


@dataclass(frozen=True)
class Sql(Language):
    """SQL; for the parameters see `to_sql` and `export`."""

    name: ClassVar[str] = "sql"
    suffix: ClassVar[str] = ".sql"

    dialect: str = "duckdb"
    column: str = "score"
    table: str | Sequence[str] | None = None
    connection: Any = None
    engine: str = "DuckDB"

    def with_options(self, *, dialect: str = "duckdb", **options: Any) -> Self:
        """Return the language for a dialect, a column, a table or an open connection."""
        return dataclasses.replace(self, dialect=dialect, engine=_ENGINES.get(dialect, dialect), **options)

    def write(self, model: Model, output: Output, note: str = "") -> str:
        """Return an expression, or a statement where there is a table, below a comment."""
        comment = "".join(f"-- {line}\n" for line in [*header(model, output, note), _MISSING])
        text = to_sql(model, column=self.column, dialect=self.dialect, output=output, table=self.table)
        return f"{comment}{text}\n"

    def to_run(self, model: Model, output: Output) -> str:
        """Return the expression alone."""
        return to_sql(model, column=self.column, dialect=self.dialect, output=output)

    def run(self, content: str, output: Output, scores: Floats) -> tuple[str, Any]:
        """Run an expression in DuckDB, SQLite, or where there is a connection PostgreSQL."""
        from sqlglot import exp

        del output
        name = exp.to_identifier(self.column, quoted=True).sql(dialect=self.dialect)
        if self.dialect in ("duckdb", "sqlite"):
            return _apart.run_in_python(self.dialect, content, name, scores)
        if self.dialect == "postgres" and self.connection is not None:
            return _run_in_postgres(content, name, scores, self.connection)
        raise _apart.DidNotRunError


def _run_in_postgres(expression: str, name: str, scores: Floats, connection: Any) -> tuple[str, Any]:
    expression, name = (text.replace("%", "%%") for text in (expression, name))  # percent signs mark parameters
    source = f"unnest(%s::float8[]) WITH ORDINALITY AS probes({name}, place)"
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        version = cursor.fetchone()[0].split()[0]
        cursor.execute(f"SELECT {expression} FROM {source} ORDER BY place", [scores.tolist()])
        return f"PostgreSQL {version}", [row[0] for row in cursor.fetchall()]


def to_sql(
    model: Model,
    *,
    column: str = "score",
    dialect: str = "duckdb",
    output: Output = "probability",
    table: str | Sequence[str] | None = None,
) -> str:
    """Write a map as an SQL expression of a column.

    A missing score gives NULL, and so does one that the model refuses (outside [0, 1] with ``input="probability"``).
    ±∞ give the limits; NaN is treated like ∞ where it sorts as such (DuckDB, PostgreSQL, Spark, Snowflake). SQLite must
    have its mathematical functions, which most builds do from 3.35 on, and its time to prepare a statement grows with
    the square of the number of knots: a second for some thousands. Other engines take time in proportion to them.

    Parameters
    ----------
    model : CalibrationMap or Calibrator
        A fitted calibrator or its map.
    column : str, default "score"
        Name of the column, exactly as it is stored: it is quoted (Snowflake stores unquoted names in capitals).
    dialect : str, default "duckdb"
        "duckdb", "postgres", "sqlite", "spark", "bigquery", "snowflake" or any other that sqlglot knows.
    output : {"probability", "log_odds"}, default "probability"
        Log-odds are held within ±700.
    table : str, optional
        Write a whole statement, which adds the output to the columns of this table; several names, up to three, are
        those of catalog, schema and table.

    Examples
    --------
    >>> from oddsmith import SquashCalibrator
    >>> from oddsmith.export import to_sql
    >>> print(to_sql(SquashCalibrator().fit([-1.0, 1.0], [0, 1]), column="margin"))
    CASE WHEN NOT "margin" IS NULL THEN 1e0 / (1e0 + EXP(-LEAST(GREATEST("margin", -700e0), 700e0))) END
    """
    from sqlglot import exp
    from sqlglot.dialects import Dialects

    from oddsmith.formula.sql import SqlReader, as_decisions

    _check.one_of(dialect, "dialect", sorted(known.value for known in Dialects if known.value))
    score = exp.column(sql_name(column, "column"), quoted=True)
    formula = as_decisions(formula_of(model, output))
    if dialect not in _FORGIVING:
        formula = guarded(formula)
    present = exp.Not(this=exp.Is(this=score, expression=exp.Null()))
    # Functions and comparisons make values even of NULL in some dialects: none is asked.
    value = exp.Case(ifs=[exp.If(this=present, true=SqlReader(score, dialect).read(formula))])
    if table is None:
        return value.sql(dialect=dialect, copy=False)
    named = exp.alias_(value, output, quoted=True, copy=False)
    names = [table] if isinstance(table, str) else list(table)
    if not 1 <= len(names) <= 3:
        _check.fail("table must be one to three names", f"{len(names)}", "name schema and table")
    name, schema, catalog = [*(sql_name(part, "table") for part in reversed(names)), "", ""][:3]
    source = exp.table_(name, schema or None, catalog or None, quoted=True)
    return exp.select("*", named).from_(source).sql(dialect=dialect, copy=False)
