"""Whether an export says the same as its map: run where its engine is at hand."""

import json
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from oddsmith._check import Floats
from oddsmith.export._model import Model, Output, map_of
from oddsmith.export._probes import probe_scores

__all__ = ["Parity", "check_code", "check_onnx", "check_sql"]

_SECONDS = 120

#: The names that people know the engines by.
_ENGINES = {
    "bigquery": "BigQuery",
    "c": "a C compiler",
    "duckdb": "DuckDB",
    "javascript": "Node.js",
    "onnx": "ONNX Runtime",
    "postgres": "PostgreSQL",
    "snowflake": "Snowflake",
    "spark": "Spark",
    "sqlite": "SQLite",
}


class _NotAtHandError(Exception):
    """The engine is not here, or lacks something."""


@dataclass(frozen=True)
class Parity:
    """How far an export is from its map.

    Attributes
    ----------
    engine : str
        With its version, where there is one.
    largest : float or None
        Largest difference in probability; None where it was not checked.
    n_scores : int
        Number of scores compared.
    """

    engine: str
    largest: float | None
    n_scores: int

    def __str__(self) -> str:
        if self.largest is None:
            return f"Not checked here: {self.engine}."
        return f"Largest difference {self.largest:.1e} in probability over {self.n_scores} scores on {self.engine}."


#: Text and scores to the engine's full name and its values.
Run = Callable[[Any, Floats], tuple[str, Any]]


def check_sql(model: Model, output: Output, expression: str, *, column: str, dialect: str, connection: Any) -> Parity:
    """Compare an SQL expression of a column with its map, on DuckDB, SQLite or an open connection to PostgreSQL."""
    from sqlglot import exp

    name = exp.to_identifier(column, quoted=True).sql(dialect=dialect)
    runs: dict[str, Run] = {
        "duckdb": lambda text, scores: _duckdb(text, name, scores),
        "sqlite": lambda text, scores: _sqlite(text, name, scores),
    }
    if connection is not None:
        runs["postgres"] = lambda text, scores: _postgres(text, name, scores, connection)
    return _compare(model, output, expression, dialect, runs.get(dialect))


def check_code(model: Model, output: Output, source: str, *, language: str) -> Parity:
    """Compare a function in Python, JavaScript or C with its map."""
    runs: dict[str, Run] = {
        "python": lambda text, scores: _python(text, output, scores),
        "javascript": lambda text, scores: _node(text, output, scores),
        "c": lambda text, scores: _compiled(text, output, scores),
    }
    return _compare(model, output, source, language, runs[language])


def check_onnx(model: Model, output: Output, content: bytes) -> Parity:
    """Compare an ONNX model with its map."""
    return _compare(model, output, content, "onnx", _onnxruntime)


def _compare(model: Model, output: Output, content: str | bytes, engine: str, run: Run | None) -> Parity:
    absent = f"{_ENGINES.get(engine, engine)} is not at hand"
    if run is None:
        return Parity(absent, None, 0)
    fitted = map_of(model)
    scores = probe_scores(fitted)
    try:
        name, values = run(content, scores)
    except _NotAtHandError as missing:
        return Parity(str(missing) or absent, None, 0)
    got = np.asarray(values, dtype=np.float64)
    if output == "log_odds":
        got = expit(got)
    # A value that is missing differs by as much as anything can.
    differences = np.nan_to_num(np.abs(got - fitted.probability(scores)), nan=np.inf)
    return Parity(name, float(differences.max()), len(scores))


def _duckdb(expression: str, name: str, scores: Floats) -> tuple[str, Any]:
    import duckdb

    with duckdb.connect() as connection:
        source = f"SELECT unnest($1::DOUBLE[]) AS {name}, generate_subscripts($1::DOUBLE[], 1) AS place"
        query = f"SELECT {expression} FROM ({source}) ORDER BY place"
        values = [row[0] for row in connection.execute(query, [scores.tolist()]).fetchall()]
    return f"DuckDB {duckdb.__version__}", values


def _sqlite(expression: str, name: str, scores: Floats) -> tuple[str, Any]:
    import sqlite3

    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"CREATE TABLE probes ({name} REAL)")
        connection.executemany("INSERT INTO probes VALUES (?)", ((score,) for score in scores.tolist()))
        values = [row[0] for row in connection.execute(f"SELECT {expression} FROM probes ORDER BY rowid")]
    except sqlite3.OperationalError as error:
        if "no such function" not in str(error):
            raise
        msg = f"SQLite {sqlite3.sqlite_version} has no mathematical functions here"
        raise _NotAtHandError(msg) from error
    finally:
        connection.close()
    return f"SQLite {sqlite3.sqlite_version}", values


def _postgres(expression: str, name: str, scores: Floats, connection: Any) -> tuple[str, Any]:
    expression, name = (text.replace("%", "%%") for text in (expression, name))  # percent signs mark parameters
    source = f"unnest(%s::float8[]) WITH ORDINALITY AS probes({name}, place)"
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        version = cursor.fetchone()[0].split()[0]
        cursor.execute(f"SELECT {expression} FROM {source} ORDER BY place", [scores.tolist()])
        return f"PostgreSQL {version}", [row[0] for row in cursor.fetchall()]


def _onnxruntime(content: bytes, scores: Floats) -> tuple[str, Any]:
    try:
        import onnxruntime
    except ImportError:
        raise _NotAtHandError from None
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    (values,) = session.run(None, {"score": scores})
    return f"ONNX Runtime {onnxruntime.__version__}", values


def _python(source: str, output: str, scores: Floats) -> tuple[str, Any]:
    names: dict[str, Any] = {}
    exec(source, names)
    return f"Python {platform.python_version()}", [names[output](score) for score in scores.tolist()]


def _node(source: str, output: str, scores: Floats) -> tuple[str, Any]:
    node = _program("node")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "map.cjs")
        path.write_text(source)
        script = (
            f"const {{ {output} }} = require({json.dumps(str(path))});"
            'const scores = JSON.parse(require("fs").readFileSync(0, "utf8"));'
            f"process.stdout.write(JSON.stringify([process.version, scores.map({output})]));"
        )
        answer = _answer([node, "-e", script], json.dumps(scores.tolist()).encode())
    version, values = json.loads(answer)
    return f"Node.js {version.removeprefix('v')}", np.array(values, dtype=np.float64)


def _compiled(source: str, output: str, scores: Floats) -> tuple[str, Any]:
    compiler = _program("cc")
    main = f"""
#include <stdio.h>
double {output}(double score);
int main(void) {{
    for (double value; fread(&value, sizeof value, 1, stdin) == 1;) {{
        value = {output}(value);
        fwrite(&value, sizeof value, 1, stdout);
    }}
    return 0;
}}
"""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("map.c", "main.c", "check")]
        files[0].write_text(source)
        files[1].write_text(main)
        _answer([compiler, "-std=c99", "-O2", *map(str, files[:2]), "-o", str(files[2]), "-lm"])
        values = np.frombuffer(_answer([str(files[2])], scores.tobytes()), np.float64)
    return _answer([compiler, "--version"]).decode().splitlines()[0], values


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise _NotAtHandError
    return found


def _answer(command: list[str], given: bytes = b"") -> bytes:
    return subprocess.run(command, input=given, capture_output=True, check=True, timeout=_SECONDS).stdout
