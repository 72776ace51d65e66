"""The engines that exports run on: each takes texts and scores and returns what they make of them."""

import contextlib
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from optional import needs

#: Older releases of the parser do not know the escapes that these engines read in quoted names.
READS_ESCAPES = tuple(map(int, metadata.version("sqlglot").split(".")[:2])) >= (30, 29)


def needs_program(name, *places):
    """Return the path of a program, skip the test where it is absent, or fail in CI."""
    found = shutil.which(name) or next((path for place in places for path in sorted(glob.glob(place))[::-1]), None)
    if found is None:
        reason = f"{name} is not installed"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@contextlib.contextmanager
def postgres_server():
    """Start a server of our own on a local socket, as another user where we are root, and connect to it."""
    psycopg = needs("psycopg")
    binaries = Path(needs_program("initdb", "/usr/lib/postgresql/*/bin/initdb")).resolve().parent
    folder = tempfile.mkdtemp(prefix="pg")
    as_user = []
    if os.geteuid() == 0:
        user = "postgres" if _is_user("postgres") else "nobody"
        shutil.chown(folder, user)
        as_user = [needs_program("runuser"), "-u", user, "--"]

    def run(program, *arguments):
        command = [*as_user, str(binaries / program), "-D", f"{folder}/data", *arguments]
        # Into a file: a server that inherits a pipe would keep it open.
        with open(os.devnull, "w") as nowhere:
            subprocess.run(command, check=True, cwd="/", stdout=nowhere, stderr=nowhere)

    try:
        run("initdb", "-A", "trust", "-U", "tester", "-N", "-E", "UTF8", "--locale=C")
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        run("pg_ctl", "-w", "-l", f"{folder}/log", "-o", options, "start")
        try:
            with psycopg.connect(host=folder, user="tester", dbname="postgres", autocommit=True) as connection:
                yield connection
        finally:
            run("pg_ctl", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


def _is_user(name):
    import pwd

    return any(entry.pw_name == name for entry in pwd.getpwall())


def run_duckdb(cases, texts):
    duckdb = needs("duckdb")
    with duckdb.connect() as connection:
        for case, text in zip(cases, texts, strict=True):
            connection.execute(
                "CREATE OR REPLACE TEMP TABLE t AS SELECT unnest($1::DOUBLE[]) AS score", [list(case.scores)]
            )
            yield [row[0] for row in connection.execute(f"SELECT {text} AS p FROM t").fetchall()]


def run_sqlite(cases, texts):
    import sqlite3

    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        for case, text in zip(cases, texts, strict=True):
            connection.execute("CREATE TABLE t (score REAL)")
            connection.executemany("INSERT INTO t VALUES (?)", case.scores[:, None].tolist())
            yield [row[0] for row in connection.execute(f"SELECT {text} FROM t ORDER BY rowid")]
            connection.execute("DROP TABLE t")


def run_postgres(connection, cases, texts):
    for case, text in zip(cases, texts, strict=True):
        query = f"SELECT {text} FROM unnest(%s::float8[]) AS t(score)"
        cursor = connection.cursor(binary=True)
        yield [row[0] for row in cursor.execute(query, [case.scores.tolist()]).fetchall()]


def run_onnx(cases, contents):
    onnxruntime = needs("onnxruntime")
    for case, content in zip(cases, contents, strict=True):
        session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
        yield session.run(None, {"score": case.scores})[0]


def run_python(_folder, cases, texts):
    """One interpreter without site-packages."""
    lines = ["import json, sys", "answers = []", "for source, scores in json.load(sys.stdin):", "    names = {}"]
    lines += ["    exec(source, names)", "    answers.append([names['probability'](float(s)) for s in scores])"]
    lines += ["json.dump(answers, sys.stdout)"]
    given = json.dumps([(text, case.scores.tolist()) for case, text in zip(cases, texts, strict=True)])
    return json.loads(_answer([sys.executable, "-I", "-S", "-c", "\n".join(lines)], given.encode()))


def run_node(folder, cases, texts):
    """One process that requires every file."""
    for place, text in enumerate(texts):
        (folder / f"map{place}.cjs").write_text(text)
    script = (
        'const all = JSON.parse(require("fs").readFileSync(0, "utf8"));'
        f"const ask = (scores, i) => scores.map(require(`{folder}/map${{i}}.cjs`).probability);"
        "process.stdout.write(JSON.stringify(all.map(ask)));"
    )
    listed = json.dumps([case.scores.tolist() for case in cases])
    given = listed.replace("NaN", "null").replace("Infinity", "1e999").encode()
    return json.loads(_answer([needs_program("node"), "-e", script], given))


def run_c(folder, cases, texts):
    """One program with every function."""
    source = ["#include <stdio.h>"]
    for place, text in enumerate(texts):
        source += [f"#define probability probability_{place}", text, "#undef probability"]
    functions = ", ".join(f"probability_{place}" for place in range(len(texts)))
    source += [
        f"static double (*const all[])(double) = {{{functions}}};",
        "int main(void) {",
        "    double pair[2];",
        "    while (fread(pair, sizeof pair, 1, stdin) == 1) {",
        "        const double value = all[(int)pair[0]](pair[1]);",
        "        fwrite(&value, sizeof value, 1, stdout);",
        "    }",
        "    return 0;",
        "}",
    ]
    (folder / "all.c").write_text("\n".join(source))
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]
    _answer([needs_program("cc"), *strict, str(folder / "all.c"), "-o", str(folder / "all"), "-lm"])
    pairs = np.concatenate([np.column_stack([np.full(len(c.scores), i), c.scores]) for i, c in enumerate(cases)])
    values = np.frombuffer(_answer([str(folder / "all")], pairs.astype(np.float64).tobytes()), np.float64)
    return np.split(values, np.cumsum([len(case.scores) for case in cases])[:-1])


def _answer(command, given=b""):
    done = subprocess.run(command, input=given, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return done.stdout


def run_spark(texts, scores):
    """One query over literal scores, with a column for each text."""
    sql = needs("pyspark.sql")
    needs_program("java")
    columns = ", ".join(f"{text} AS c{place}" for place, text in enumerate(texts))
    rows = ", ".join(f"(CAST('{float(score)!r}' AS DOUBLE))" for score in scores)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Spark about other libraries
        others = sql.SparkSession.getActiveSession()
        spark = others or sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
        answer = spark.sql(f"SELECT {columns} FROM VALUES {rows} AS t(score)").collect()
        if others is None:
            spark.stop()
    return list(zip(*answer, strict=True))
