"""Run SQL on probes: in DuckDB and SQLite within this process, in PostgreSQL on an open connection."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

from oddsmith.export.subprocess_runner import DidNotRunError, RejectedError

__all__ = ["ENGINES", "Probes", "Segments", "in_postgres"]

#: Rows of probes: every other missing value is None, the others are NaN.
Probes = list[list[float | None]]

#: The keys of each probe's segment, of a model that has segments.
Segments = Sequence[tuple[str | None, ...]] | None

#: What ran, with its version, and its rows in the order of the probes.
Answer = tuple[str, list[Any]]


def _in_duckdb(statement: str, names: Sequence[str], probes: Probes, segments: Segments) -> Answer:
    """Run a statement on a table in DuckDB, which may not open anything."""
    try:
        import duckdb
    except ImportError:
        raise DidNotRunError from None
    table, place, *columns = names
    lists = _columns(probes, segments)
    kinds = _kinds(lists, segments, "DOUBLE", "VARCHAR")
    values = ", ".join(
        f"unnest(${i + 1}::{kind}[]) AS {name}" for i, (name, kind) in enumerate(zip(columns, kinds, strict=True))
    )
    with duckdb.connect(config={"enable_external_access": "false", "lock_configuration": "true"}) as connection:
        numbered = f"SELECT unnest(range({len(probes)})) AS {place}, {values}"
        try:
            connection.execute(f"CREATE TABLE {table} AS {numbered}", lists)
            found = connection.execute(statement).fetchall()
        except duckdb.Error as error:
            raise _rejection(error) from None
    return f"DuckDB {duckdb.__version__}", found


def _in_sqlite(statement: str, names: Sequence[str], probes: Probes, segments: Segments) -> Answer:
    """Run a statement on a table in SQLite."""
    table, place, *columns = names
    lists = _columns(probes, segments)
    kinds = _kinds(lists, segments, "REAL", "TEXT")
    with closing(sqlite3.connect(":memory:")) as connection:
        typed = [f"{place} REAL", *(f"{name} {kind}" for name, kind in zip(columns, kinds, strict=True))]
        connection.execute(f"CREATE TABLE {table} ({', '.join(typed)})")
        rows = zip(range(len(probes)), *lists, strict=True)
        connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * (1 + len(columns)))})", rows)
        try:
            found = connection.execute(statement).fetchall()
        except sqlite3.Error as error:
            if "no such function" in str(error):
                msg = f"version {sqlite3.sqlite_version} has no mathematical functions"
                raise DidNotRunError(msg) from None
            raise _rejection(error) from None
    return f"SQLite {sqlite3.sqlite_version}", found


def in_postgres(connection: Any, statement: str, names: Sequence[str], probes: Probes, segments: Segments) -> Answer:
    """Run a statement on rows that a common table expression contains in place of the table."""
    # Percent signs mark parameters.
    statement, table, place, *columns = (text.replace("%", "%%") for text in (statement, *names))
    lists = _columns(probes, segments)
    arrays = ", ".join(f"%s::{kind}[]" for kind in _kinds(lists, segments, "float8", "text"))
    rows = f"unnest({arrays}) WITH ORDINALITY AS probes({', '.join([*columns, place])})"
    selected = f"{table} AS (SELECT {', '.join([place, *columns])} FROM {rows})"
    with connection.cursor() as cursor:
        cursor.execute(f"WITH {selected} {statement}", lists)
        found = cursor.fetchall()
        cursor.execute("SHOW server_version")
        return f"PostgreSQL {cursor.fetchone()[0].split()[0]}", found


def _columns(probes: Probes, segments: Segments) -> list[list[Any]]:
    """Return the columns of a table of probes, the last ones those of segments."""
    lists: list[list[Any]] = [list(column) for column in zip(*probes, strict=True)]
    return lists if segments is None else [*lists, *map(list, zip(*segments, strict=True))]


def _kinds(lists: list[list[Any]], segments: Segments, number: str, text: str) -> list[str]:
    keys = 0 if segments is None else len(segments[0])
    return [*[number] * (len(lists) - keys), *[text] * keys]


def _rejection(error: Exception) -> RejectedError:
    return RejectedError(f"failed, {str(error).partition(chr(10))[0][:200]}")


#: Engines within this process, by their dialect.
ENGINES: dict[str, Callable[[str, Sequence[str], Probes, Segments], Answer]] = {
    "duckdb": _in_duckdb,
    "sqlite": _in_sqlite,
}
