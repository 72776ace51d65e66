"""The other side of a comparison: a process that knows nothing of this library.

It reads from standard input an export and the scores to try it on, and answers with the engine's full name and values.
"""

import base64
import json
import sys
from collections.abc import Callable
from typing import Any

Answer = tuple[str, list[float | None]]


def python(source: str, output: str, scores: list[float]) -> Answer:
    """Run a Python function."""
    names: dict[str, Any] = {}
    exec(source, names)
    version = ".".join(str(part) for part in sys.version_info[:3])
    return f"Python {version}", [names[output](score) for score in scores]


def duckdb(expression: str, column: str, scores: list[float]) -> Answer:
    """Run an expression of a column in DuckDB, which may not open anything."""
    import duckdb

    source = f"SELECT unnest($1::DOUBLE[]) AS {column}, generate_subscripts($1::DOUBLE[], 1) AS place"
    with duckdb.connect(config={"enable_external_access": "false", "lock_configuration": "true"}) as connection:
        found = connection.execute(f"SELECT {expression} FROM ({source}) ORDER BY place", [scores])
        return f"DuckDB {duckdb.__version__}", [row[0] for row in found.fetchall()]


def sqlite(expression: str, column: str, scores: list[float]) -> Answer:
    """Run an expression of a column in SQLite."""
    import sqlite3

    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE probes ({column} REAL)")
    connection.executemany("INSERT INTO probes VALUES (?)", ((score,) for score in scores))
    try:
        values = [row[0] for row in connection.execute(f"SELECT {expression} FROM probes ORDER BY rowid")]
    except sqlite3.OperationalError as error:
        lacking = "no such function" in str(error)
        sys.exit(f"version {sqlite3.sqlite_version} has no mathematical functions" if lacking else str(error))
    return f"SQLite {sqlite3.sqlite_version}", values


def onnx(content: str, output: str, scores: list[float]) -> Answer:
    """Run a graph in ONNX Runtime."""
    import numpy as np
    import onnxruntime

    session = onnxruntime.InferenceSession(base64.b64decode(content), providers=["CPUExecutionProvider"])
    (values,) = session.run([output], {"score": np.array(scores)})
    return f"ONNX Runtime {onnxruntime.__version__}", values.tolist()


ENGINES: dict[str, Callable[[str, str, list[float]], Answer]] = {
    "python": python,
    "duckdb": duckdb,
    "sqlite": sqlite,
    "onnx": onnx,
}

if __name__ == "__main__":
    asked = json.load(sys.stdin)
    sys.path[:] = asked["path"] or sys.path
    json.dump(ENGINES[asked["engine"]](asked["content"], asked["name"], asked["scores"]), sys.stdout)
