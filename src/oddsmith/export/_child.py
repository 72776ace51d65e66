"""The other side of a comparison: a process that knows nothing of this library.

It reads from standard input an export and the scores to try it on, and answers with the engine's full name and values.
"""

import base64
import json
import sys
from collections.abc import Callable
from typing import Any

#: A score, or of several classes a row of them; what is missing is None.
ScoreList = list[Any]
Answer = tuple[str, list[Any]]


def python(source: str, output: str, scores: ScoreList) -> Answer:
    """Run a Python function."""
    names: dict[str, Any] = {}
    exec(source, names)
    version = ".".join(str(part) for part in sys.version_info[:3])
    return f"Python {version}", [names[output](score) for score in scores]


def duckdb(expression: str, column: str, scores: ScoreList) -> Answer:
    """Run an expression of a column in DuckDB, which may not open anything."""
    import duckdb

    source = f"SELECT unnest($1::DOUBLE[]) AS {column}, generate_subscripts($1::DOUBLE[], 1) AS place"
    with duckdb.connect(config={"enable_external_access": "false", "lock_configuration": "true"}) as connection:
        found = connection.execute(f"SELECT {expression} FROM ({source}) ORDER BY place", [scores])
        return f"DuckDB {duckdb.__version__}", [row[0] for row in found.fetchall()]


def duckdb_rows(statement: str, columns: str, scores: ScoreList) -> Answer:
    """Run a statement of several columns on a table in DuckDB, which may not open anything."""
    import duckdb

    names = json.loads(columns)
    wanted = ", ".join(f"unnest(${i + 1}::DOUBLE[]) AS {name}" for i, name in enumerate(names[2:]))
    with duckdb.connect(config={"enable_external_access": "false", "lock_configuration": "true"}) as connection:
        numbered = f"SELECT unnest(range({len(scores)})) AS {names[1]}, {wanted}"
        connection.execute(f"CREATE TABLE {names[0]} AS {numbered}", list(zip(*scores, strict=True)))
        found = connection.execute(statement).fetchall()
    return f"DuckDB {duckdb.__version__}", _in_order(found, len(names) - 1)


def sqlite_rows(statement: str, columns: str, scores: ScoreList) -> Answer:
    """Run a statement of several columns on a table in SQLite."""
    import sqlite3

    names = json.loads(columns)
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE {names[0]} ({', '.join(f'{name} REAL' for name in names[1:])})")
    places = ", ".join("?" * (len(names) - 1))
    connection.executemany(f"INSERT INTO {names[0]} VALUES ({places})", ((i, *row) for i, row in enumerate(scores)))
    try:
        found = connection.execute(statement).fetchall()
    except sqlite3.OperationalError as error:
        sys.exit(_sqlite_says(error))
    return f"SQLite {sqlite3.sqlite_version}", _in_order(found, len(names) - 1)


def _in_order(found: list[Any], given: int) -> list[Any]:
    """Return what stands between the given columns, of which the first is the place, and the decision."""
    return [row[given:-1] for row in sorted(found)]


def sqlite(expression: str, column: str, scores: ScoreList) -> Answer:
    """Run an expression of a column in SQLite."""
    import sqlite3

    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE probes ({column} REAL)")
    connection.executemany("INSERT INTO probes VALUES (?)", ((score,) for score in scores))
    try:
        values = [row[0] for row in connection.execute(f"SELECT {expression} FROM probes ORDER BY rowid")]
    except sqlite3.OperationalError as error:
        sys.exit(_sqlite_says(error))
    return f"SQLite {sqlite3.sqlite_version}", values


def _sqlite_says(error: Exception) -> str:
    import sqlite3

    lacking = "no such function" in str(error)
    return f"version {sqlite3.sqlite_version} has no mathematical functions" if lacking else str(error)


def onnx(content: str, output: str, scores: ScoreList) -> Answer:
    """Run a graph in ONNX Runtime."""
    import numpy as np
    import onnxruntime

    session = onnxruntime.InferenceSession(base64.b64decode(content), providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    (values,) = session.run([output], {given.name: np.array(scores, dtype=np.float64)})
    return f"ONNX Runtime {onnxruntime.__version__}", values.tolist()


ENGINES: dict[str, Callable[[str, str, ScoreList], Answer]] = {
    "python": python,
    "duckdb": duckdb,
    "sqlite": sqlite,
    "onnx": onnx,
    "duckdb_rows": duckdb_rows,
    "sqlite_rows": sqlite_rows,
}

if __name__ == "__main__":
    asked = json.load(sys.stdin)
    sys.path[:] = asked["path"] or sys.path
    json.dump(ENGINES[asked["engine"]](asked["content"], asked["name"], asked["scores"]), sys.stdout)
