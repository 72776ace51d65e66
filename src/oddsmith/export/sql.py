"""Maps as SQL, in any dialect that sqlglot writes: an expression of two classes, a statement of several."""

import dataclasses
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from oddsmith import _check, _extras
from oddsmith._types import Floats
from oddsmith.export import subprocess_runner
from oddsmith.export.columns import NAME, input_columns, new_columns
from oddsmith.export.escaping import spare_name, sql_name
from oddsmith.export.language import (
    Language,
    Model,
    Output,
    expand_effects,
    formula_of,
    header,
    joint_model_of,
    joint_to_write,
    segment_columns,
    some_segments,
)
from oddsmith.export.sql_engines import ENGINES, Segments, in_postgres
from oddsmith.formula import guard, with_limits
from oddsmith.maps import Keys
from oddsmith.model import model_of

if TYPE_CHECKING:
    from oddsmith.export.segments import Parameters

__all__ = ["TESTED", "Sql", "to_sql"]

#: Dialects whose doubles overflow to ∞ and vanish to 0 without an error.
_FORGIVING = {"databricks", "duckdb", "spark", "spark2", "sqlite"}


#: Dialects whose engines the tests run; of others they only see that the text can be parsed.
TESTED = ("duckdb", "postgres", "spark", "sqlite")

#: What SQL makes of scores that are not numbers.
_MISSING = "NULL and NaN give NULL; infinite scores give the limits of the map."
_MISSING_IN_ROW = {
    "logits": "A row in which a score is NULL or NaN gives NULL.",
    "probabilities": "A row in which a probability is NULL, NaN or not in [0, 1] gives NULL.",
}

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
    takes_segments: ClassVar[bool] = True

    dialect: str = "duckdb"
    column: str = "score"
    columns: Sequence[str] | None = None
    prefix: str = f"{NAME}_"
    table: str | Sequence[str] | None = None
    connection: Any = None
    engine: str = "DuckDB"

    def with_options(self, *, dialect: str = "duckdb", macro: str = "", **options: Any) -> Self:
        """Return the language for a dialect, a column, a table or an open connection."""
        del macro
        return dataclasses.replace(self, dialect=dialect, engine=_NAMES.get(dialect, dialect), **options)

    def write(self, model: Model, output: Output, note: str = "") -> str | dict[str, str]:
        """Return an expression, or a statement where there is a table or several classes, below a comment."""
        joint = joint_model_of(model)
        missing = _MISSING if joint is None else _MISSING_IN_ROW[joint.map.input]
        comment = "".join(f"-- {line}\n" for line in [*header(model, output, note), missing])
        return f"{comment}{self.text(model, output, self.table)}\n"

    @property
    def runs_in_process(self) -> bool:
        """Whether what runs it is a library here, or a connection that was given."""
        return self.dialect in ENGINES or self.connection is not None

    def to_run(self, model: Model, output: Output) -> str:
        """Return a statement on a table of probes, and the names of that and its columns, as JSON.

        Of many segments it has some: parameters differ in numbers only, and engines take long to read thousands.
        """
        self._check_dialect()
        model = some_segments(model)
        joint = joint_to_write(model, output)
        by = segment_columns(model)
        names = self._probe_columns([self.column] if joint is None else input_columns(joint, self.columns), by)
        text = self.text(model, output, None)
        if joint is None and not by:
            text = f"SELECT *, {text} FROM {names[0]}"
        return json.dumps({"names": names, "decides": joint is not None, "statement": text})

    def run(self, content: str, output: Output, scores: Floats, segments: Segments = None) -> tuple[str, Any]:
        """Run what is written in DuckDB, SQLite, or where there is a connection PostgreSQL."""
        del output
        asked = json.loads(content)
        names, statement = asked["names"], asked["statement"]
        probes = subprocess_runner.as_lists(scores.reshape(len(scores), -1))
        if self.dialect in ENGINES:
            engine, found = ENGINES[self.dialect](statement, names, probes, segments)
        elif self.dialect == "postgres" and self.connection is not None:
            engine, found = in_postgres(self.connection, statement, names, probes, segments)
        else:
            raise subprocess_runner.DidNotRunError
        # Before the results: the place of a row, and its columns. With several classes the decision is the last.
        first, last = len(names) - 1, -1 if asked["decides"] else None
        values = [row[first:last] for row in sorted(found, key=lambda row: row[0])]
        return engine, values if asked["decides"] else [value for (value,) in values]

    def _probe_columns(self, columns: Sequence[str], by: Sequence[str]) -> list[str]:
        """Return the names, quoted, of a table of probes, the place of a row in it, other columns and of segments."""
        from oddsmith.formula import quote

        place, others = "place", [*columns, *by]
        while any(name.casefold() == place for name in others):
            place += "_"
        return [quote(name, self.dialect) for name in (_TABLE, place, *others)]

    def text(self, model: Model, output: Output, table: str | Sequence[str] | None) -> str:
        """Return the expression or statement alone."""
        self._check_dialect()
        from oddsmith.formula import quote

        if joint_to_write(model, output) is not None or segment_columns(model):
            names = _table_names(_TABLE if table is None else table)
            source = ".".join(quote(name, self.dialect) for name in names)
            return self._statement(model, output, source, names)[0]
        score = quote(sql_name(self.column, "column"), self.dialect)
        value = self._value(model, output, score, spare_name([self.column]))
        if table is None:
            return value
        source = ".".join(quote(name, self.dialect) for name in _table_names(table))
        return f"SELECT *, {value} AS {quote(output, self.dialect)} FROM {source}"

    def _value(
        self, model: Model, output: Output, score: str, spare: str, parameters: "Parameters | None" = None
    ) -> str:
        """Return the expression of a score, which is SQL."""
        from oddsmith.formula import FlatReader, SqlReader, as_decisions, is_number

        strict, beside = self.dialect not in _FORGIVING, list[str]()
        if parameters is not None:
            from oddsmith.export.segments import formula_by_segment

            formula = formula_by_segment(model_of(model), output, parameters, strict=strict)
            beside = parameters.expressions()
        else:
            formula = as_decisions(with_limits(formula_of(model, output), always=strict))
            formula = guard(formula) if strict else formula
        if self.dialect == "sqlite":
            value = FlatReader(score, self.dialect, spare, beside).scalar(formula)
        else:
            value = SqlReader(score, self.dialect, beside).read(formula)
        # Functions and comparisons make values even of NULL and NaN in some dialects: they get numbers only.
        return f"CASE WHEN {is_number(score, self.dialect)} THEN {value} END"

    def _check_dialect(self) -> None:
        _extras.require("sqlglot")
        from sqlglot.dialects import Dialects

        _check.one_of(self.dialect, "dialect", sorted(known.value for known in Dialects if known.value))

    def _statement(
        self, model: Model, output: Output, source: str, taken: Sequence[str], seed: str = ""
    ) -> tuple[str, "Parameters | None"]:
        """Return a statement on a source, which is SQL, and the parameters of segments."""
        from oddsmith.export.segments import Parameters
        from oddsmith.export.sql_statement import joint_statement
        from oddsmith.formula import quote

        joint, by = joint_to_write(model, output), segment_columns(model)
        names = [self.column] if joint is None else input_columns(joint, self.columns)
        new = [output] if joint is None else new_columns(joint, self.prefix, names)
        columns, added = [sql_name(name, "column") for name in names], [sql_name(name, "label") for name in new]
        spare = spare_name([*columns, *added, *taken, *by])
        parameters = None
        if by:
            names = [sql_name(name, "a column of segments") for name in by]
            segments: list[Keys] = [(name,) if isinstance(name, str) else name for name in model_of(model).segments]
            parameters = Parameters(spare, self.dialect, names, segments, seed)
        if joint is not None:
            strict = self.dialect not in _FORGIVING
            return joint_statement(joint, self.dialect, strict, source, spare, columns, added, parameters), parameters
        base = f"{spare}table"
        value = self._value(model, output, f"{base}.{quote(columns[0], self.dialect)}", spare, parameters)
        join = "" if parameters is None else parameters.join(base)
        named = f"{value} AS {quote(output, self.dialect)}"
        return f"SELECT {base}.*, {named}\nFROM {source} AS {base}{join}", parameters


def to_sql(
    model: Model,
    *,
    column: str = "score",
    dialect: str = "duckdb",
    output: Output = "probability",
    table: str | Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    name: str = NAME,
) -> str:
    """Write a map as an SQL expression of a column, or a map of several classes as a statement.

    NULL and NaN give NULL, and so does a score that the model refuses (outside [0, 1] with ``input="probability"``);
    ±∞ give the limits of the map. SQLite must have its mathematical functions, which most builds do from 3.35 on, and
    its time to prepare a statement grows with the square of the number of knots: a second for some thousands. Other
    engines take time in proportion to them. Text in a column of SQLite gives NULL.

    With several classes it is a statement that adds one probability per class, and the decision (the most probable
    label, of equal ones the first), to the columns of a table. A row in which a score is missing or NaN, or no
    probability where the model reads these, gives NULL in all of them. In SQLite the table must have a rowid, as tables
    have and views have not.

    A model by segment, of any number of classes, is a statement, too: it joins the parameters of each segment to the
    rows. Segments are compared as text. Rows of other segments, or of none, get the map of all rows.

    Parameters
    ----------
    model : Model, fitted calibrator or scaling, CalibrationMap or JointMap
        A fitted calibrator or its map; for several classes a model, its map or a fitted scaling.
    column : str, default "score"
        Name of the column, exactly as it is stored: it is quoted (Snowflake stores unquoted names in capitals).
    dialect : str, default "duckdb"
        "duckdb", "postgres", "sqlite" or "spark", whose engines the tests run, or any other dialect of sqlglot.
    output : {"probability", "log_odds"}, default "probability"
        Log-odds are clipped to ±700.
    table : str, optional
        Write a whole statement, which adds the output to the columns of this table; several names, up to three, are
        those of catalog, schema and table. With several classes it is "scores" where it is not given.
    columns : sequence of str, optional
        Of several classes: names of the columns, in the order of the classes; by default those of the fit, and where it
        had none "score_" before each label.
    name : str, default "probability"
        With several classes the part of the new columns' names before "_" and the label.

    Returns
    -------
    str

    See Also
    --------
    export : Any language, with a check of the result.
    oddsmith.frames.apply : Applies a model in an engine.

    Examples
    --------
    >>> from oddsmith import SquashCalibrator
    >>> from oddsmith.export import to_sql
    >>> print(to_sql(SquashCalibrator().fit([-1.0, 1.0], [0, 1]), column="s"))
    CASE WHEN NOT "s" IS NULL AND NOT ISNAN("s") THEN 1e0 / (1e0 + EXP(-LEAST(GREATEST("s", -700e0), 700e0))) END
    """
    return Sql(dialect, column, columns, f"{name}_").text(expand_effects(model), output, table)


def _table_names(table: object) -> list[str]:
    """Return the names of a table: catalog and schema, where they are given, and its own."""
    names = list(table) if isinstance(table, Iterable) and not isinstance(table, str) else [table]
    if not 1 <= len(names) <= 3:
        _check.fail("table must be one to three names", f"{len(names)}", "name schema and table")
    return [sql_name(part, "table") for part in names]
