"""Ibis: whatever its backends have in common, with knots told apart by nested conditions."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from oddsmith import _check
from oddsmith.frames.engines.base import Frame, FrameEngine

if TYPE_CHECKING:
    from oddsmith.frames.engines.base import LongNames
    from oddsmith.frames.scored_frame import ScoredFrame
    from oddsmith.frames.segments import Maps

#: Backends whose doubles overflow to ∞ and vanish to 0 without an error.
_FORGIVING = {"databricks", "datafusion", "duckdb", "polars", "pyspark", "sqlite"}

#: Backends that tell quoted names apart by case.
_MINDS_CASE = {"clickhouse", "datafusion", "oracle", "polars", "postgres", "risingwave", "snowflake"}

#: Backends that run the statements of models of several classes.
_STATEMENTS = {"duckdb", "postgres", "sqlite"}

#: The number of a row in SQLite.
_ROW_ID = "_rowid_"


class Ibis(FrameEngine):
    """Tables of Ibis."""

    kinds = (nw.Implementation.IBIS,)
    writes_numbers_as_text = True
    prefers_statements = True

    def distinguishes_case(self, frame: Frame) -> bool:
        """Whether the backend does."""
        return _backend(frame) in _MINDS_CASE

    def is_strict(self, frame: Frame) -> bool:
        """Whether the backend is."""
        return _backend(frame) not in _FORGIVING

    def query_text(self, native: Any) -> str | None:
        """Return the SQL."""
        return str(native.compile(pretty=True))

    def as_integer(self, flag: nw.Expr) -> nw.Expr:
        """Return a column of bools as integers, which PostgreSQL does not cast to 64 bits."""
        return nw.when(~flag.is_null()).then(nw.when(flag).then(nw.lit(1)).otherwise(nw.lit(0)))

    def unpivot(self, rows: "ScoredFrame", labels: Sequence[Any]) -> tuple[Any, "LongNames"]:
        """Return a table with a row for every row and class, on DuckDB: elsewhere numbers go through JSON."""
        if (backend := _backend(rows.frame)) != "duckdb":
            hint = "build a table of each class with ScoreTable.from_frame"
            _check.fail("several classes need an Ibis table of DuckDB", f"a table of {backend}", hint)
        return super().unpivot(rows, labels)

    def with_probability(self, rows: "ScoredFrame", maps: "Maps", name: str) -> Any:
        """Return the table with the probability of each row, if its backend can express it."""
        table = super().with_probability(rows, maps, name)
        try:
            rows.frame.to_native().get_backend().compile(table)
        except Exception as error:  # whatever a backend lacks, Ibis reports only when the query is run
            hint = "export the model to SQL (oddsmith.export.to_sql), which the backend runs"
            _check.fail(f"the backend {_backend(rows.frame)} must be able to apply the map", f"{error}", hint)
        return table

    def with_statement(self, native: Any, view: str, write: Callable[[str], str], added: Mapping[str, Any]) -> Any:
        """Return the table of the statement, in the dialect of the backend."""
        import ibis

        if (backend := native.get_backend().name) not in _STATEMENTS:
            hint = "export the model to SQL (oddsmith.export.to_sql), and run it in the backend"
            must = "several classes need an Ibis table of DuckDB, PostgreSQL or SQLite"
            _check.fail(must, f"a table of {backend}", hint)
        if backend != "sqlite":
            return _statement(native, view, write(backend), added)
        # Statements of SQLite join columns by the row's number, which only a table has by itself.
        if _ROW_ID in map(str.lower, native.columns):
            _check.fail("a table of SQLite must not have a column of this name", _ROW_ID, "rename it")
        return _statement(native.mutate(**{_ROW_ID: ibis.row_number()}), view, write(backend), added).drop(_ROW_ID)

    def join(self, frame: Frame, key: str, table: Mapping[str, list[Any]]) -> Frame:
        """Join a table from memory, which the backend gets with the query."""
        arrow = nw.from_dict(table, backend="pyarrow").to_native()
        return frame.join(nw.from_native(nw.get_native_namespace(frame).memtable(arrow)), on=key, how="left")


def _statement(native: Any, view: str, sql: str, added: Mapping[str, Any]) -> Any:
    """Return the table of a statement, with the types of its new columns: Ibis would run the query to find them."""
    import ibis
    from ibis.expr.operations import SQLStringView

    types = {name: ibis.dtype(type(value)) for name, value in added.items()}
    schema = ibis.schema(dict(native.schema()) | types)
    return SQLStringView(native.alias(view).op(), sql, schema).to_expr()


def _backend(frame: Frame) -> str:
    return str(frame.to_native().get_backend().name)
