"""Exports: the header says how well it agrees with the model, and whether that was verified."""

import contextlib
import json
import math
import shutil
import subprocess
import sys
from typing import ClassVar

import numpy as np
import pytest
from cases import EDGES, MAX
from engines import needs_program
from sklearn.exceptions import NotFittedError

from oddsmith import IsotonicCalibrator, __version__
from oddsmith.errors import InvalidInputError, MissingExtraError, UntestedDialectWarning
from oddsmith.export import LANGUAGES, CodeLanguage, export, register_language, to_python, to_sql
from oddsmith.export.sql import Sql
from oddsmith.export.verification import compare, probe_scores
from oddsmith.formula import Pieces, walk
from optional import needs

CAL = IsotonicCalibrator().fit([-2.0, -1.0, 0.5, 0.0, 1.5, 3.0], [0, 0, 0, 1, 1, 1])
TARGETS = [
    ("sql", {"dialect": "duckdb"}, "DuckDB", "duckdb"),
    ("sql", {"dialect": "sqlite", "column": 'a "b"', "table": "t"}, "SQLite", "sqlglot"),
    ("onnx", {"verify": True}, "ONNX Runtime", "onnxruntime"),
    ("python", {"verify": True}, "Python", "sys"),
    ("javascript", {"verify": True}, "Node.js", "node"),
    ("c", {"verify": True}, "cc", "cc"),
]


def text_of(done):
    if isinstance(done.content, str):
        return done.content
    return needs("onnx").load_from_string(done.content).doc_string


@pytest.mark.parametrize(("to", "options", "engine", "need"), TARGETS, ids=[target[2] for target in TARGETS])
@pytest.mark.parametrize("output", ["probability", "log_odds"])
def test_exports_say_how_well_they_agree(to, options, engine, need, output):
    needs_program(need) if need in ("node", "cc") else needs(need)
    done = export(CAL, to, output=output, **options)
    assert done.parity.largest <= 1e-12
    assert done.parity.n_scores > 1000
    assert done.parity.engine.startswith(engine)
    lines = text_of(done).splitlines()
    assert lines[0].endswith(f"by score: {type(CAL).__name__}.")
    assert lines[1].endswith(f"Written by Oddsmith {__version__}.")
    assert lines[2].endswith(f"Largest difference {done.parity.largest:.1e} in probability over "
                             f"{done.parity.n_scores} scores on {done.parity.engine}.")  # fmt: skip
    assert done.content == export(CAL, to, output=output, **options).content


@pytest.mark.parametrize(("to", "options", "engine", "need"), TARGETS[2:], ids=[target[2] for target in TARGETS[2:]])
def test_subprocesses_run_on_request_only(monkeypatch, to, options, engine, need):
    def fail(*_):
        raise AssertionError(to)

    needs("onnx") if to == "onnx" else None
    monkeypatch.setattr(subprocess, "Popen", fail)
    done = export(CAL, to)
    assert done.parity.largest is None
    runs = LANGUAGES[to].engine
    assert text_of(done).splitlines()[2].endswith(f"Not verified: the option verify runs it on {runs}.")


def test_a_checked_text_is_the_text():
    needs("duckdb")
    assert export(CAL, "sql").content.splitlines()[4:] == [to_sql(CAL)]
    assert export(CAL, "sql", table="t").content.splitlines()[4:] == [to_sql(CAL, table="t")]
    assert export(CAL, "python", verify=True).content.splitlines()[3:] == to_python(CAL).splitlines()[2:]


def test_postgres_on_a_connection(postgres):
    done = export(CAL, "sql", dialect="postgres", column='a%s "b"', connection=postgres)
    assert done.parity.largest <= 1e-12
    assert f"on PostgreSQL {postgres.info.server_version // 10000}." in done.content


@pytest.mark.parametrize(
    ("dialect", "engine"),
    [
        ("postgres", "PostgreSQL"),
        ("spark", "Spark"),
        ("bigquery", "BigQuery"),
        ("snowflake", "Snowflake"),
        ("trino", "trino"),
    ],
)
def test_engines_that_are_not_at_hand(dialect, engine):
    needs("sqlglot")
    tested = (
        contextlib.nullcontext()
        if dialect in ("postgres", "spark")
        else pytest.warns(UntestedDialectWarning, match=engine)
    )
    with tested:
        done = export(CAL, "sql", dialect=dialect)
    assert done.parity.largest is None
    assert done.content.splitlines()[2] == f"-- Not verified: the option verify runs it on {engine}."
    with pytest.raises(InvalidInputError, match=f"{engine} must be installed here to verify an export"):
        export(CAL, "sql", dialect=dialect, verify=True)


@pytest.mark.parametrize(("to", "engine"), [("javascript", "Node.js"), ("c", "a C compiler")])
def test_programs_that_are_not_at_hand(monkeypatch, to, engine):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(
        InvalidInputError, match=f"{engine} must be installed here to verify an export; got .* not available"
    ):
        export(CAL, to, verify=True)


def test_a_package_that_is_not_at_hand(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"needs onnx; .* Hint: pip install 'oddsmith\[onnx\]'"):
        export(CAL, "onnx")


def test_a_runtime_that_is_not_at_hand(monkeypatch):
    needs("onnx")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(InvalidInputError, match="ONNX Runtime must be installed here to verify an export"):
        export(CAL, "onnx", verify=True)


def test_sql_without_its_engine(monkeypatch):
    needs("sqlglot")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert "-- Not verified: DuckDB is not available.\n" in export(CAL, "sql").content


def with_text(wrong, dialect):
    """Return what `compare` takes, with another expression in place of the right one."""
    language = LANGUAGES["sql"].with_options(dialect=dialect)
    asked = json.loads(language.to_run(CAL, "probability"))
    asked["statement"] = f"SELECT *, {wrong} FROM {asked['names'][0]}"
    return language, CAL, "probability", json.dumps(asked)


def test_sqlite_without_mathematical_functions():
    found = compare(*with_text('NO_SUCH("score")', "sqlite"))
    assert "has no mathematical functions" in str(found)


def test_the_check_can_fail():
    wrong = to_python(CAL).replace("return (", "return 0.01 + (")
    assert wrong != to_python(CAL)
    assert compare(LANGUAGES["python"], CAL, "probability", wrong).largest == pytest.approx(0.01)
    needs("duckdb")
    assert compare(*with_text("NULL::DOUBLE", "duckdb")).largest == np.inf
    for dialect in ("duckdb", "sqlite"):
        found = compare(*with_text("1 +", dialect))
        assert found.rejected
        assert found.largest is None


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
@pytest.mark.parametrize("wrong", ["1 +", "NULL", '"score" * 0 + 0.5'])
def test_wrong_sql_is_an_error(monkeypatch, dialect, wrong):
    needs("duckdb")
    monkeypatch.setattr(Sql, "text", lambda *_: wrong)
    with pytest.raises(InvalidInputError, match=r"must compute the probabilities of the model; got .*(failed|differ)"):
        export(CAL, "sql", dialect=dialect)


@pytest.mark.parametrize("label", EDGES)
def test_probes_are_where_it_is_hard(label):
    fitted = EDGES[label]
    probes = probe_scores(fitted)
    assert np.all(np.diff(probes) > 0)
    extremes = [0.0, 5e-324, -5e-324, 1e-300, 1.0, 1e150, -1e150, MAX, -MAX, np.inf, -np.inf]
    if fitted.shape == "logit_input":
        extremes = [5e-324, 1e-300, 0.1]
    if fitted.shape in ("unit_input", "soft_logit"):
        extremes = [0.0, 5e-324, 1e-300, 1.0]
    assert np.isin(extremes, probes).all()
    steps = np.abs(np.diff(fitted.probability(probes)))
    with np.errstate(over="ignore"):
        neighbors = np.nextafter(probes[:-1], np.inf) == probes[1:]
    assert np.all((steps <= 0.01) | neighbors)
    knots = [knot for node in walk(fitted.probability_formula()) if isinstance(node, Pieces) for knot in node.knots]
    assert np.isin(knots, probes).all() or len(knots) > 2000
    assert np.isin(np.nextafter(knots, -MAX), probes).all() or len(knots) > 2000


def test_what_is_no_fitted_map_is_refused():
    with pytest.raises(InvalidInputError, match="model must be a fitted calibrator or its map; got str"):
        export("model", "python")
    with pytest.raises(NotFittedError):
        export(IsotonicCalibrator(), "python")
    with pytest.raises(InvalidInputError, match="to must be one of"):
        export(CAL, "cobol")


class Toy(CodeLanguage):
    """One expression in brackets, which this test runs itself."""

    name, engine, suffix, comment = "toy", "a toy", ".toy", ";"
    functions: ClassVar = {name: f"{name}({{}})" for name in ("abs", "cos", "exp", "log")}
    clip = "min(max({}, {}), {})"
    where = "({then} if {left} <= {right} else {otherwise})"
    missing = "nan"
    local = "{name} := {value},"
    array = "{name} := ({values},),"
    search = "{place} := sum(knot < score for knot in {knots}),"
    frame = "{header}\n({arrays}{body}\n{value})[-1]\n"

    def run(self, content, output, scores):
        body = content.replace(";", "#", 3).replace(")[-1]", ",)[-1]")
        held = np.clip(scores, -MAX, MAX).tolist()
        return "a toy", [score if score != score else eval(body, {**vars(math), "score": score}) for score in held]


def test_a_language_from_outside(monkeypatch):
    monkeypatch.setattr("oddsmith.export.LANGUAGES", dict(LANGUAGES))
    with pytest.raises(InvalidInputError, match="to must be one of"):
        export(CAL, "toy")
    register_language(Toy())
    for output in ("probability", "log_odds"):
        done = export(CAL, "toy", output=output, verify=True)
        assert done.content.splitlines()[0].startswith("; The ")
        assert done.parity.engine == "a toy"
        assert done.parity.largest <= 1e-12
    with pytest.raises(InvalidInputError, match="'c', 'toy'"):
        export(CAL, "cobol")
