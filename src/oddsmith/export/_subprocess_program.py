"""The other side of a comparison: a process that knows nothing of this library.

It reads from standard input an export and the scores to try it on, and answers with the engine's full name and values.
"""

import base64
import json
import sys
from collections.abc import Callable
from typing import Any, NoReturn

#: A score, or of several classes a row of them; what is missing is None.
ScoreList = list[Any]
Answer = tuple[str, list[Any]]


def python(source: str, output: str, scores: ScoreList) -> Answer:
    """Run a Python function."""
    names: dict[str, Any] = {}
    exec(source, names)
    version = ".".join(str(part) for part in sys.version_info[:3])
    return f"Python {version}", [names[output](score) for score in scores]


def duckdb(statement: str, names: str, scores: ScoreList) -> Answer:
    """Run a statement on a table in DuckDB, which may not open anything."""
    import duckdb

    table, place, *columns = json.loads(names)
    wanted = ", ".join(f"unnest(${i + 1}::DOUBLE[]) AS {name}" for i, name in enumerate(columns))
    with duckdb.connect(config={"enable_external_access": "false", "lock_configuration": "true"}) as connection:
        numbered = f"SELECT unnest(range({len(scores)})) AS {place}, {wanted}"
        connection.execute(f"CREATE TABLE {table} AS {numbered}", list(zip(*scores, strict=True)))
        found = connection.execute(statement).fetchall()
    return f"DuckDB {duckdb.__version__}", _in_order(found, columns)


def sqlite(statement: str, names: str, scores: ScoreList) -> Answer:
    """Run a statement on a table in SQLite."""
    import sqlite3

    table, place, *columns = json.loads(names)
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE {table} ({', '.join(f'{name} REAL' for name in (place, *columns))})")
    values = ", ".join("?" * (1 + len(columns)))
    connection.executemany(f"INSERT INTO {table} VALUES ({values})", ((i, *row) for i, row in enumerate(scores)))
    try:
        found = connection.execute(statement).fetchall()
    except sqlite3.OperationalError as error:
        if "no such function" in str(error):
            _leave(f"version {sqlite3.sqlite_version} has no mathematical functions")
        sys.exit(str(error))
    return f"SQLite {sqlite3.sqlite_version}", _in_order(found, columns)


def _leave(why: str) -> NoReturn:
    """End because something is lacking that any text would need."""
    sys.stderr.write(why)
    sys.exit(3)


def _in_order(found: list[Any], columns: list[str]) -> list[Any]:
    """Return what stands after the place of each row and its columns, in the order of places."""
    return [row[1 + len(columns) :] for row in sorted(found, key=lambda row: row[0])]


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
}

if __name__ == "__main__":
    asked = json.load(sys.stdin)
    sys.path[:] = asked["path"] or sys.path
    try:
        answer = ENGINES[asked["engine"]](asked["content"], asked["name"], asked["scores"])
    except ImportError as error:
        _leave(str(error))
    json.dump(answer, sys.stdout)
