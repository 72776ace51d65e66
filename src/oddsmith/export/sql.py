"""Maps as SQL, in any dialect that sqlglot writes: an expression of two classes, a statement of several."""

import dataclasses
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from oddsmith import _check, _extras
from oddsmith._types import Floats
from oddsmith.export import subprocess_runner
from oddsmith.export.columns import PREFIX, input_columns
from oddsmith.export.escaping import spare_name, sql_name
from oddsmith.export.language import Language, Model, Output, formula_of, header, joint_model_of, joint_to_write
from oddsmith.export.sql_engines import ENGINES, in_postgres
from oddsmith.formula import guarded, with_limits

__all__ = ["TESTED", "Sql", "to_sql"]

#: Dialects whose doubles overflow to ∞ and vanish to 0 without an error.
_FORGIVING = {"databricks", "duckdb", "spark", "spark2", "sqlite"}


#: Dialects whose engines the tests run; of others they only see that the text can be parsed.
TESTED = ("duckdb", "postgres", "spark", "sqlite")

#: What SQL makes of scores that are not numbers.
_MISSING = "NULL and NaN give NULL; infinite scores give the limits of the map."
_MISSING_IN_ROW = "A row in which a score is NULL or NaN gives NULL."

#: What a statement of several classes reads where no table is named.
_TABLE = "scores"

#: The names that people know the engines by.
_NAMES = {
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
    columns: Sequence[str] | None = None
    prefix: str = PREFIX
    table: str | Sequence[str] | None = None
    connection: Any = None
    engine: str = "DuckDB"

    def with_options(self, *, dialect: str = "duckdb", **options: Any) -> Self:
        """Return the language for a dialect, a column, a table or an open connection."""
        return dataclasses.replace(self, dialect=dialect, engine=_NAMES.get(dialect, dialect), **options)

    def write(self, model: Model, output: Output, note: str = "") -> str:
        """Return an expression, or a statement where there is a table or several classes, below a comment."""
        missing = _MISSING if joint_model_of(model) is None else _MISSING_IN_ROW
        comment = "".join(f"-- {line}\n" for line in [*header(model, output, note), missing])
        return f"{comment}{self.text(model, output, self.table)}\n"

    @property
    def runs_in_process(self) -> bool:
        """Whether what runs it is a library here, or a connection that was given."""
        return self.dialect in ENGINES or self.connection is not None

    def to_run(self, model: Model, output: Output) -> str:
        """Return the expression alone, or of several classes the statement with what it needs to know of its table."""
        joint = joint_to_write(model, output)
        text = self.text(model, output, None)
        return text if joint is None else json.dumps([self._probed(input_columns(joint, self.columns)), text])

    def run(self, content: str, output: Output, scores: Floats) -> tuple[str, Any]:
        """Run what is written in DuckDB, SQLite, or where there is a connection PostgreSQL."""
        joint = output == "probabilities"
        if joint:
            names, statement = json.loads(content)
        else:
            names = self._probed([self.column])
            statement = f"SELECT *, {content} FROM {names[0]}"
        probes = subprocess_runner.as_lists(scores.reshape(len(scores), -1))
        if self.dialect in ENGINES:
            engine, found = ENGINES[self.dialect](statement, names, probes)
        elif self.dialect == "postgres" and self.connection is not None:
            engine, found = in_postgres(self.connection, statement, names, probes)
        else:
            raise subprocess_runner.DidNotRunError
        # Before the results: the place of a row, and its columns. Of several classes the decision is the last.
        first, last = len(names) - 1, -1 if joint else None
        values = [row[first:last] for row in sorted(found, key=lambda row: row[0])]
        return engine, values if joint else [value for (value,) in values]

    def _probed(self, columns: Sequence[str]) -> list[str]:
        """Return the names, quoted, of a table of probes, the place of a row in it, and other columns."""
        from oddsmith.formula import quoted

        place = "place"
        while any(name.casefold() == place for name in columns):
            place += "_"
        return [quoted(name, self.dialect) for name in (_TABLE, place, *columns)]

    def text(self, model: Model, output: Output, table: str | Sequence[str] | None) -> str:
        """Return the expression or statement alone."""
        _extras.require("sqlglot")
        from sqlglot.dialects import Dialects

        from oddsmith.export.sql_statement import joint_statement
        from oddsmith.formula import FlatReader, SqlReader, as_decisions, is_number, quoted

        _check.one_of(self.dialect, "dialect", sorted(known.value for known in Dialects if known.value))
        joint = joint_to_write(model, output)
        strict = self.dialect not in _FORGIVING
        if joint is not None:
            names = _table_names(_TABLE if table is None else table)
            return joint_statement(joint, self.dialect, strict, names, self.columns, self.prefix)
        score = quoted(sql_name(self.column, "column"), self.dialect)
        formula = as_decisions(with_limits(formula_of(model, output), always=strict))
        if strict:
            formula = guarded(formula)
        if self.dialect == "sqlite":
            value = FlatReader(score, self.dialect, spare_name([self.column])).scalar(formula)
        else:
            value = SqlReader(score, self.dialect).read(formula)
        # Functions and comparisons make values even of NULL and NaN in some dialects: they get numbers only.
        value = f"CASE WHEN {is_number(score, self.dialect)} THEN {value} END"
        if table is None:
            return value
        source = ".".join(quoted(name, self.dialect) for name in _table_names(table))
        return f"SELECT *, {value} AS {quoted(output, self.dialect)} FROM {source}"


def to_sql(
    model: Model,
    *,
    column: str = "score",
    dialect: str = "duckdb",
    output: Output = "probability",
    table: str | Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    prefix: str = PREFIX,
) -> str:
    """Write a map as an SQL expression of a column, or a map of several classes as a statement.

    NULL and NaN give NULL, and so does a score that the model refuses (outside [0, 1] with ``input="probability"``);
    ±∞ give the limits of the map. SQLite must have its mathematical functions, which most builds do from 3.35 on, and
    its time to prepare a statement grows with the square of the number of knots: a second for some thousands. Other
    engines take time in proportion to them. Text in a column of SQLite gives NULL.

    Of several classes it is a statement that adds one probability per class, and the decision (the most probable
    label, of equal ones the first), to the columns of a table. A row in which a score is missing or NaN gives NULL in
    all of them. In SQLite the table must have a rowid, as tables have and views have not.

    Parameters
    ----------
    model : Model, fitted calibrator or scaling, CalibrationMap or JointMap
        A fitted calibrator or its map; of several classes a model, its map or a fitted scaling.
    column : str, default "score"
        Name of the column, exactly as it is stored: it is quoted (Snowflake stores unquoted names in capitals).
    dialect : str, default "duckdb"
        "duckdb", "postgres", "sqlite" or "spark", whose engines the tests run, or any other that sqlglot knows.
    output : {"probability", "log_odds"}, default "probability"
        Log-odds are held within ±700.
    table : str, optional
        Write a whole statement, which adds the output to the columns of this table; several names, up to three, are
        those of catalog, schema and table. Of several classes it is "scores" where it is not given.
    columns : sequence of str, optional
        Of several classes: names of the columns, in the order of the classes; by default those of the fit, and where it
        had none "score_" before each label.
    prefix : str, default "probability_"
        Of several classes: what stands before the label in the name of its column.

    Examples
    --------
    >>> from oddsmith import SquashCalibrator
    >>> from oddsmith.export import to_sql
    >>> print(to_sql(SquashCalibrator().fit([-1.0, 1.0], [0, 1]), column="s"))
    CASE WHEN NOT "s" IS NULL AND NOT ISNAN("s") THEN 1e0 / (1e0 + EXP(-LEAST(GREATEST("s", -700e0), 700e0))) END
    """
    return Sql(dialect, column, columns, prefix).text(model, output, table)


def _table_names(table: object) -> list[str]:
    """Return the names of a table: catalog and schema, where they are given, and its own."""
    names = list(table) if isinstance(table, Iterable) and not isinstance(table, str) else [table]
    if not 1 <= len(names) <= 3:
        _check.fail("table must be one to three names", f"{len(names)}", "name schema and table")
    return [sql_name(part, "table") for part in names]
