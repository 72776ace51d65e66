"""Whether an export says the same as its map: run where its engine is at hand, in a process apart."""

import base64
import contextlib
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from oddsmith._types import Floats
from oddsmith.export._apart import DidNotRunError, run_apart
from oddsmith.export._escaping import in_comment
from oddsmith.export._model import Model, Output
from oddsmith.export._probes import probe_scores
from oddsmith.modelfile import map_of

__all__ = ["Parity", "check_code", "check_onnx", "check_sql"]

#: The names that people know the engines by.
_ENGINES = {
    "bigquery": "BigQuery",
    "c": "a C compiler",
    "duckdb": "DuckDB",
    "javascript": "Node.js",
    "onnx": "ONNX Runtime",
    "postgres": "PostgreSQL",
    "python": "Python",
    "snowflake": "Snowflake",
    "spark": "Spark",
    "sqlite": "SQLite",
}


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
        "duckdb": lambda text, scores: _child("duckdb", text, name, scores),
        "sqlite": lambda text, scores: _child("sqlite", text, name, scores),
    }
    if connection is not None:
        runs["postgres"] = lambda text, scores: _postgres(text, name, scores, connection)
    return _compare(model, output, expression, dialect, runs.get(dialect))


def check_code(model: Model, output: Output, source: str, *, language: str) -> Parity:
    """Compare a function in Python, JavaScript or C with its map."""
    runs: dict[str, Run] = {
        "python": lambda text, scores: _child("python", text, output, scores),
        "javascript": lambda text, scores: _node(text, output, scores),
        "c": lambda text, scores: _compiled(text, output, scores),
    }
    return _compare(model, output, source, language, runs[language])


def check_onnx(model: Model, output: Output, content: bytes) -> Parity:
    """Compare an ONNX model with its map."""
    return _compare(model, output, content, "onnx", lambda graph, scores: _onnxruntime(graph, output, scores))


def _compare(model: Model, output: Output, content: str | bytes, engine: str, run: Run | None) -> Parity:
    known = _ENGINES.get(engine, engine)
    if run is None:
        return Parity(f"{known} is not at hand", None, 0)
    fitted = map_of(model)
    scores = probe_scores(fitted)
    try:
        name, values = run(content, scores)
    except DidNotRunError as why:
        return Parity(in_comment(f"{known} {why if why.args else 'is not at hand'}"), None, 0)
    got = np.asarray(values, dtype=np.float64)
    if output == "log_odds":
        got = expit(got)
    # A value that is missing differs by as much as anything can.
    differences = np.nan_to_num(np.abs(got - fitted.probability(scores)), nan=np.inf)
    return Parity(in_comment(name), float(differences.max()), len(scores))


def _postgres(expression: str, name: str, scores: Floats, connection: Any) -> tuple[str, Any]:
    expression, name = (text.replace("%", "%%") for text in (expression, name))  # percent signs mark parameters
    source = f"unnest(%s::float8[]) WITH ORDINALITY AS probes({name}, place)"
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        version = cursor.fetchone()[0].split()[0]
        cursor.execute(f"SELECT {expression} FROM {source} ORDER BY place", [scores.tolist()])
        return f"PostgreSQL {version}", [row[0] for row in cursor.fetchall()]


def _child(engine: str, content: str, name: str, scores: Floats) -> tuple[str, Any]:
    """Ask another Python, which has nothing but its standard library where it is to run an exported function."""
    if not sys.executable:
        raise DidNotRunError
    alone = engine == "python"
    given = {"engine": engine, "content": content, "name": name, "scores": scores.tolist()}
    with _folder() as folder:
        command = [sys.executable, "-I", *(["-S"] if alone else []), str(Path(__file__).with_name("_child.py"))]
        answer = run_apart(command, folder, json.dumps({**given, "path": [] if alone else sys.path}).encode())
    found, values = json.loads(answer)
    return found, values


def _onnxruntime(content: bytes, output: str, scores: Floats) -> tuple[str, Any]:
    if find_spec("onnxruntime") is None:
        raise DidNotRunError
    return _child("onnx", base64.b64encode(content).decode("ascii"), output, scores)


def _node(source: str, output: str, scores: Floats) -> tuple[str, Any]:
    script = (
        f"const {{ {output} }} = require('./map.cjs');"
        'const scores = JSON.parse(require("fs").readFileSync(0, "utf8"));'
        f"process.stdout.write(JSON.stringify([process.version, scores.map({output})]));"
    )
    node = _program("node")
    with _folder() as folder:
        (folder / "map.cjs").write_text(source, encoding="utf-8")
        (folder / "ask.cjs").write_text(script, encoding="utf-8")
        answer = run_apart([node, "ask.cjs"], folder, json.dumps(scores.tolist()).encode())
    version, values = json.loads(answer)
    return f"Node.js {version.removeprefix('v')}", values


def _compiled(source: str, output: str, scores: Floats) -> tuple[str, Any]:
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
    compiler = _program("cc")
    with _folder() as folder:
        (folder / "map.c").write_text(source, encoding="utf-8")
        (folder / "main.c").write_text(main, encoding="utf-8")
        run_apart([compiler, "-std=c99", "-O2", "map.c", "main.c", "-o", "check", "-lm"], folder)
        values = np.frombuffer(run_apart([str(folder / "check")], folder, scores.tobytes()), np.float64)
        version = run_apart([compiler, "--version"], folder).decode("utf-8", "replace")
    return version.partition("\n")[0], values


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="oddsmith-") as folder:
        yield Path(folder)


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise DidNotRunError
    return found
