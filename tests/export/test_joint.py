"""Models of several classes say the same in every language, and nothing else."""

import ast
import json
import re
import sqlite3
import subprocess
import tokenize
from contextlib import closing
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from engines import READS_ESCAPES, needs_program
from joint_cases import SCALINGS, joint_models, many_classes, sample
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

from oddsmith import TemperatureScaling
from oddsmith.calibrators import registry
from oddsmith.errors import InvalidInputError
from oddsmith.export import (
    LANGUAGES,
    CodeLanguage,
    export,
    sql_statement,
    to_c,
    to_javascript,
    to_onnx,
    to_python,
    to_sql,
)
from oddsmith.export.verification import compare, probe_rows
from oddsmith.maps import ScalingMap, ScalingPart
from oddsmith.model import Model
from optional import needs

duckdb = needs("duckdb")
sqlglot = needs("sqlglot")
exp = sqlglot.exp

TARGETS = {
    "duckdb": ("sql", {"dialect": "duckdb"}),
    "sqlite": ("sql", {"dialect": "sqlite"}),
    "onnx": ("onnx", {}),
    "python": ("python", {}),
    "javascript": ("javascript", {}),
    "c": ("c", {}),
}
OWN = re.compile(r"oddsmith_.*|x\d*(_\d+)?")
DIALECTS = ["bigquery", "clickhouse", "duckdb", "mysql", "postgres", "snowflake", "spark", "sqlite", "tsql"]
HOSTILE = "a\"b`c]; DROP TABLE t; -- ' \\ %s {evil} */ ${x}"
THREE = joint_models(3)["VectorScaling of logits"]


def parity(model, target):
    {"javascript": lambda: needs_program("node"), "c": lambda: needs_program("cc"), "onnx": lambda: needs("onnx")}.get(
        target, lambda: None
    )()
    to, options = TARGETS[target]
    return export(model, to, verify=True, **options).parity


@pytest.mark.parametrize("target", sorted(TARGETS))
@pytest.mark.parametrize("k", [2, 3])
def test_every_model_in_every_language(target, k):
    for name, model in joint_models(k).items():
        found = parity(model, target)
        assert found.largest is not None, name
        assert found.largest <= 1e-12, name
        assert found.n_scores > 50


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_many_classes(target):
    for name, model in many_classes().items():
        assert parity(model, target).largest <= 1e-12, name


def test_postgres(postgres):
    for k in (2, 3):
        for name, model in joint_models(k).items():
            assert export(model, "sql", dialect="postgres", connection=postgres).parity.largest <= 1e-12, name
    for name, model in many_classes().items():
        assert export(model, "sql", dialect="postgres", connection=postgres).parity.largest <= 1e-12, name


def test_probes_hold_what_is_hard():
    for model in joint_models(3).values():
        rows = probe_rows(model.map)
        whole = rows[~np.isnan(rows).any(axis=1)]
        assert 0 < len(whole) < len(rows)
        if model.map.input == "logits":
            assert np.isin([-1e300, -1e4, 1e4, 1e300], whole).all()
            assert (whole == whole[:, :1]).all(axis=1).sum() >= 5
        else:
            assert np.isin([0.0, 1.0], whole).all()
        np.testing.assert_array_equal(rows, probe_rows(model.map))


MASKS = np.array([[3.0, -np.inf, 1.0], [-np.inf, 2.0, -np.inf], [0.5, 0.0, -np.inf], [-np.inf, -400.0, 300.0]])


def masked_rows(model):
    """Return rows with masks, which classes they mask, and the probabilities in NumPy."""
    k, columns = model.map.n_classes, model.map.columns
    rows = MASKS[:, :k] if columns == k else np.array([[-np.inf], [0.5]])
    masked = np.isneginf(rows) if columns == k else np.array([[False, True], [False, False]])
    if k == 2:
        rows, masked = rows[:3], masked[:3]
    return rows, masked, model.predict_proba(rows)


def run_masked(model, target, rows):
    """Return what an export makes of rows."""
    if target in ("duckdb", "sqlite"):
        names = [f"x{i}" for i in range(rows.shape[1])]
        statement = to_sql(model, dialect=target, columns=names, table="t")
        with closing(sqlite3.connect(":memory:") if target == "sqlite" else duckdb.connect()) as connection:
            connection.execute(f"CREATE TABLE t (id INTEGER, {', '.join(f'{name} DOUBLE' for name in names)})")
            marks = ", ".join("?" * (1 + len(names)))
            connection.executemany(
                f"INSERT INTO t VALUES ({marks})", [(i, *row) for i, row in enumerate(rows.tolist())]
            )
            found = sorted(connection.execute(statement).fetchall())
        return [row[1 + len(names) : -1] for row in found]
    if target == "javascript":
        content = to_javascript(model)
        listed = json.dumps(rows.tolist())  # with -Infinity, which is JavaScript
        script = f"{content}\nconsole.log(JSON.stringify({listed}.map(probabilities)));"
        answer = subprocess.run([needs_program("node"), "-e", script], capture_output=True, check=True).stdout
        return json.loads(answer)
    {"c": lambda: needs_program("cc"), "onnx": lambda: needs("onnx")}.get(target, lambda: None)()
    language = LANGUAGES[target]
    return language.run(language.to_run(model, "probability"), "probabilities", rows)[1]


@pytest.mark.parametrize("target", sorted(TARGETS))
@pytest.mark.parametrize("k", [2, 3])
def test_a_masked_class_has_probability_zero_in_every_language(target, k):
    for name, model in joint_models(k).items():
        if model.map.input == "probabilities" or model.map.columns == 1:
            continue
        rows, masked, expected = masked_rows(model)
        assert np.all(expected[masked] == 0), name
        assert_allclose(expected.sum(axis=1), 1, atol=1e-12)
        assert np.array_equal(np.isneginf(model.predict_log_proba(rows)), masked), name
        found = np.asarray(run_masked(model, target, rows), dtype=np.float64)
        assert np.all(found[masked] == 0), name
        assert_allclose(found, expected, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_one_logit_has_the_limits_of_the_map_in_every_language(target):
    for name, model in joint_models(2).items():
        if "one logit" not in name:
            continue
        expected = model.predict_proba([1e300, -1e300])
        assert np.array_equal(model.predict_proba([np.inf, -np.inf]), expected), name
        assert_allclose(run_masked(model, target, np.array([[np.inf], [-np.inf]])), expected, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("target", sorted(TARGETS))
@pytest.mark.parametrize("k", [2, 3])
def test_what_is_no_probability_is_missing_in_every_language(target, k):
    """NumPy refuses such rows; log-odds in the place of probabilities must not be read as some."""
    for name, model in joint_models(k).items():
        if model.map.input == "probabilities":
            rows = np.full((5, model.map.columns), 1 / k)
            rows[:, -1] = [1.5, -0.5, np.inf, -np.inf, 1 / k]
            found = np.array(run_masked(model, target, rows), dtype=np.float64)
            assert np.isnan(found[:4]).all(), name
            assert_allclose(found[4:], model.predict_proba(rows[4:]), atol=1e-12, err_msg=name)


@pytest.mark.parametrize("target", sorted(TARGETS))
@pytest.mark.parametrize("method", SCALINGS)
def test_logits_are_clipped_in_every_language(target, method):
    """Rows favor the true class in eight of twelve cases, and two of three are far too sure of it."""
    rows = np.repeat([[3.0, 0.0, 1.0], [900.0, 0.0, -1e6], [-1e5, 5e3, 0.0]], 12, axis=0)
    y = np.repeat([0, 1, 2, 0, 1, 2, 1, 2, 0], [8, 2, 2] * 3)
    model = Model.from_fitted(method().fit(rows, y))
    assert all(part.clip_at < 37 for part in model.map.parts)
    assert parity(model, target).largest <= 1e-12
    rows = np.vstack([rows, [[3.0, -np.inf, 1.0], [900.0, 0.0, -np.inf], [-np.inf, 0.0, -np.inf]]])
    assert_allclose(run_masked(model, target, rows), model.predict_proba(rows), atol=1e-12)


def test_a_wrong_export_is_found(monkeypatch):
    """A comparison that cannot fail would prove nothing."""
    model = joint_models(3)["TemperatureScaling of logits"]
    other = joint_models(3)["VectorScaling of logits"]
    monkeypatch.setattr(LANGUAGES["python"], "to_run", lambda _model, output: to_python(other), raising=False)
    with pytest.raises(InvalidInputError, match="must compute the probabilities of the model"):
        export(model, "python", verify=True)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_the_statement_adds_columns_to_a_table(dialect):
    """Own columns are kept in their order, decisions are labels, and what is missing stays missing."""
    model = replace(THREE, labels=("red", "green", "it's \\ blue"))
    rows = np.array([[5.0, 0.0, 0.0], [0.0, 7.0, 0.0], [0.0, 0.0, 9.0], [0.0, 0.0, 0.0], [1e300, -1e300, 1e300]])
    statement = to_sql(model, dialect=dialect, columns=["x", "y", "z"], table="t")
    values = ", ".join(f"({i}, {x!r}, {y!r}, {z!r}, 'w')" for i, (x, y, z) in enumerate(rows.tolist()))
    script = ["CREATE TABLE t (id INTEGER, x DOUBLE, y DOUBLE, z DOUBLE, note TEXT)", f"INSERT INTO t VALUES {values}"]
    script += ["INSERT INTO t VALUES (5, NULL, 1, 1, 'w')", "INSERT INTO t VALUES (6, 1, 1, NULL, 'w')"]
    with closing(sqlite3.connect(":memory:") if dialect == "sqlite" else duckdb.connect()) as connection:
        for line in script:
            connection.execute(line)
        answer = connection.execute(statement)
        names = [column[0] for column in answer.description]
        found = sorted(answer.fetchall())
    added = ["probability_red", "probability_green", "probability_it's \\ blue", "decision"]
    assert names == ["id", "x", "y", "z", "note", *added]
    np.testing.assert_allclose([row[5:8] for row in found[:5]], model.predict_proba(rows), atol=1e-12)
    assert [row[8] for row in found[:5]] == model.predict(rows).tolist()
    assert all(row[5:] == (None,) * 4 for row in found[5:])


def test_nan_gives_null_in_duckdb():
    statement = to_sql(THREE, columns=["x", "y", "z"], table="t")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT 'nan'::DOUBLE AS x, 1 AS y, 2.5::DECIMAL(3, 1) AS z")
        assert connection.execute(statement).fetchall()[0][3:] == (None,) * 4


def test_infinity_is_held():
    statement = to_sql(THREE, columns=["x", "y", "z"], table="t")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT 'inf'::DOUBLE AS x, 1 AS y, '-inf'::DOUBLE AS z")
        *_, first, second, third, decision = connection.execute(statement).fetchall()[0]
    assert (first, third, decision) == (1.0, 0.0, 0)
    assert second < 1e-100


@pytest.mark.parametrize("dialect", DIALECTS)
def test_statements_parse_and_hostile_names_stay_names(dialect):
    if dialect == "bigquery" and not READS_ESCAPES:
        pytest.skip("this release of sqlglot does not read escapes in quoted names")
    labels = (HOSTILE, "b", "c")
    for model in joint_models(3).values():
        text = to_sql(replace(model, labels=labels), columns=[HOSTILE, "y", "z"], table=[HOSTILE, "t"], dialect=dialect)
        (tree,) = sqlglot.parse(text, dialect=dialect)
        assert isinstance(tree, exp.Select)
        columns = {column.name for column in tree.find_all(exp.Column)} - {"*"}
        assert {name for name in columns if not OWN.fullmatch(name)} <= {HOSTILE, "y", "z", "_rowid_"}
        tables = {(table.db, table.name) for table in tree.find_all(exp.Table)}
        assert {pair for pair in tables if not pair[1].startswith("oddsmith")} == {(HOSTILE, "t")}
        assert tree.expressions[-4].alias == f"probability_{HOSTILE}"
        decided = {literal.name for literal in tree.expressions[-1].find_all(exp.Literal) if literal.is_string}
        assert decided == set(labels)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_hostile_names_run(dialect):
    model = replace(THREE, labels=(HOSTILE, "oddsmith_1", "place"), column_names=("oddsmith_layer0", "Place", HOSTILE))
    assert export(model, "sql", dialect=dialect).parity.largest <= 1e-12


def test_hostile_names_run_in_postgres(postgres):
    model = replace(THREE, labels=(HOSTILE, "oddsmith_1", "place"), column_names=("oddsmith_layer0", "Place", HOSTILE))
    assert export(model, "sql", dialect="postgres", connection=postgres).parity.largest <= 1e-12


def test_names_that_cannot_be_seen_are_refused():
    for bad in ("a\nb", "a\0", "\u202e"):
        with pytest.raises(InvalidInputError, match="label must be a name of visible characters"):
            to_sql(replace(THREE, labels=(bad, "b", "c")), columns=["x", "y", "z"])
        with pytest.raises(InvalidInputError, match="column must be a name of visible characters"):
            to_sql(THREE, columns=[bad, "b", "c"])


@pytest.mark.parametrize("write", [to_python, to_javascript, to_c])
def test_hostile_labels_and_methods_stay_in_comments(write):
    plain, evil = (
        write(replace(THREE, labels=(label, 1, 2), method=method))
        for label, method in (("a", "Vector"), (f"{HOSTILE}\nimport os\r*/ ?>", "Vector\nevil */"))
    )
    mark = "#" if write is to_python else "//"
    code = [[line for line in text.split("\n") if not line.startswith(mark)] for text in (plain, evil)]
    assert code[0] == code[1]
    assert "\r" not in evil
    if write is to_python:
        assert ast.dump(ast.parse(plain)) == ast.dump(ast.parse(evil))
        list(tokenize.generate_tokens(StringIO(evil).readline))


@pytest.mark.parametrize(
    ("labels", "columns", "name", "message"),
    [
        ((1, "1", 2), None, "p", "'p_1' for label '1' and label 1"),
        (("a", "A", "b"), None, "p", "'p_A' for label 'A' and label 'a'"),
        (("", "a", "b"), None, "p", "labels must not be empty"),
        (("a", "b", "c"), ["p_a", "y", "z"], "p", "'p_a' for label 'a' and column 'p_a'"),
        (("a", "b", "c"), ["x", "y"], "p", "columns must be 3 names; got 2 names"),
        (("a", "b", "c"), "xyz", "p", "columns must be 3 names; got columns='xyz'"),
        (("a", "b", "c"), ["x", "x", "y"], "p", "columns must be different names; got 'x' twice"),
    ],
)
def test_names_that_collide_are_refused(labels, columns, name, message):
    with pytest.raises(InvalidInputError, match=message):
        to_sql(replace(THREE, labels=labels), columns=columns, name=name)


def test_maps_models_and_scalings_are_one():
    logits, _, y = sample(3)
    scaling = TemperatureScaling().fit(logits, y)
    model = Model.from_fitted(scaling)
    assert to_sql(scaling) == to_sql(model) == to_sql(model.map)
    assert "TemperatureScaling" in export(scaling, "python").content.splitlines()[0]
    with pytest.raises(NotFittedError):
        export(TemperatureScaling(), "python")


def test_column_names_of_the_fit_are_the_default():
    named = replace(THREE, column_names=("cat", "dog", "cow"))
    assert 'CAST("cat" AS DOUBLE)' in to_sql(named)
    assert 'CAST("score_0" AS DOUBLE)' in to_sql(THREE)
    assert 'FROM "scores"' in to_sql(THREE)


def test_there_are_no_log_odds_of_several_classes():
    for to in LANGUAGES:
        with pytest.raises(InvalidInputError, match="output must be 'probability'"):
            export(THREE, to, output="log_odds")


class Words(CodeLanguage):
    """A language from outside that knows two classes only."""

    name, engine, suffix, comment = "words", "words", ".txt", ";"


def test_a_language_for_two_classes_says_so(monkeypatch):
    monkeypatch.setitem(LANGUAGES, "words", Words())
    for model in (THREE, THREE.map, TemperatureScaling().fit(*sample(3)[::2])):
        with pytest.raises(InvalidInputError, match="model must have two classes for this language"):
            export(model, "words")


def test_statements_that_are_too_long_are_refused(monkeypatch):
    monkeypatch.setattr(sql_statement, "MOST_TERMS", 10_000)
    k = 120
    part = ScalingPart("matrix", "logits", 0.0, np.random.default_rng(0).normal(size=(k, k)), np.zeros(k))
    wide = ScalingMap(k, "logits", (part,), np.ones(1), np.zeros(k))
    with pytest.raises(InvalidInputError, match=r"at most 10,000 terms; got .* for 120 classes"):
        to_sql(wide)
    assert len(to_c(wide)) > 10**5


def test_text_grows_with_the_map():
    sizes = [len(to_sql(many_classes()["VectorScaling"])), len(to_sql(joint_models(3)["VectorScaling of logits"]))]
    assert sizes[0] < 40 * sizes[1]
    assert sql_statement.MOST_TERMS == 200_000


def hundred_classes(matrices):
    """Return one matrix near a diagonal, of a hundred classes, or several blended with a vector."""
    rng, k, floored = np.random.default_rng(4), 100, "floored_log_probabilities"
    level = rng.normal(size=k) / 10
    coefs = [0.95 * np.eye(k) + 0.02 * rng.normal(size=(k, k)) for _ in range(matrices)]
    if matrices > 1:
        coefs.append(0.9 + level)
    parts = tuple(ScalingPart(str(i), floored, 0.0, coef, level, 700.0, 628.0) for i, coef in enumerate(coefs))
    return ScalingMap(k, "logits", parts, np.full(len(parts), 1 / len(parts)), level)


@pytest.mark.parametrize(
    ("dialect", "matrices"),
    [("duckdb", 3), ("postgres", 3), ("spark", 3), ("databricks", 3), ("sqlite", 2), ("bigquery", 1), ("tsql", 1)],
)
def test_a_hundred_classes_take_half_a_megabyte(dialect, matrices):
    assert len(to_sql(hundred_classes(matrices), dialect=dialect)) <= 500_000


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_short_numbers_agree_with_the_model(dialect):
    assert export(hundred_classes(2), "sql", dialect=dialect).parity.largest <= 1e-12


def test_rows_per_class_keep_the_table_and_its_missing_rows():
    """Columns of the table may be named as those of the statement are."""
    fitted, k = hundred_classes(2), 100
    columns = ["x", "i", "top", "there", "w", "key", "value", "v0", "c0", *(f"g{i}" for i in range(k - 9))]
    rows = 3 * np.random.default_rng(1).normal(size=(6, k))
    rows[1, 5], rows[2], rows[3, :7], rows[4, 2] = np.nan, -np.inf, -np.inf, np.inf
    given = [[None if np.isnan(value) else value for value in row] for row in rows.tolist()]
    given.append(["text", *rows[0, 1:].tolist()])
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE scores ({', '.join(columns)})")
        connection.executemany(f"INSERT INTO scores VALUES ({', '.join('?' * k)})", given)
        found = connection.execute(to_sql(fitted, dialect="sqlite", columns=columns)).fetchall()
    assert [list(row[:k]) for row in found] == given
    assert [row[k:] for row in (found[1], found[6])] == [(None,) * (k + 1)] * 2
    kept = [0, 2, 3, 4, 5]
    expected = fitted.class_probability(rows[kept])
    np.testing.assert_allclose([found[place][k:-1] for place in kept], expected, rtol=0, atol=1e-12)
    assert [found[place][-1] for place in kept] == expected.argmax(axis=1).tolist()


def test_several_matrices_of_many_classes_run_in_postgres(postgres):
    """One column per class and step would be more columns than the engine takes."""
    assert export(hundred_classes(2), "sql", dialect="postgres", connection=postgres).parity.largest <= 1e-12


@pytest.mark.parametrize("reading", ["logits", "log_probabilities", "floored_log_probabilities"])
@pytest.mark.parametrize("size", [1e-300, 1e-20, 1.0, 1e20, 1e300])
def test_arrays_neither_overflow_nor_vanish_in_postgres(postgres, reading, size):
    rng, k = np.random.default_rng(8), 7
    level = size * rng.normal(size=k)
    for coef in (np.array(size), size * rng.random(k), size * rng.normal(size=(k, k))):
        fitted = ScalingMap(k, "logits", (ScalingPart("", reading, 0.0, coef, level),), np.ones(1), np.zeros(k))
        language = LANGUAGES["sql"].with_options(dialect="postgres", connection=postgres)
        found = compare(language, fitted, "probability", language.to_run(fitted, "probability"))
        assert not found.rejected
        # Sums of products of that size have no digits left in common.
        if size <= 1:
            assert found.largest <= 1e-12


def test_rows_that_are_none_in_python():
    names = {}
    exec(to_python(THREE), names)
    for row in ([None, 1.0, 2.0], [float("nan"), 1.0, 2.0], (1.0, 2.0, None)):
        assert all(np.isnan(value) for value in names["probabilities"](row))
    first, second, third = names["probabilities"]([np.inf, 0, -np.inf])
    assert (first, third) == (1.0, 0.0)
    assert second < 1e-100
    with pytest.raises(ValueError, match="row must have 3 values"):
        names["probabilities"]([1.0, 2.0])


def test_rows_that_are_none_in_javascript(tmp_path):
    (tmp_path / "map.cjs").write_text(to_javascript(THREE))
    script = (
        f"const {{ probabilities }} = require('{tmp_path}/map.cjs'); let thrown = '';"
        "try { probabilities([1, 2]); } catch (error) { thrown = error.message; }"
        "const told = [[null, 1, 2], [1, undefined, 2], [1, NaN, 2], [Infinity, 0, -Infinity]].map(probabilities);"
        "console.log(JSON.stringify([...told.map(String), thrown]));"
    )
    answer = subprocess.run([needs_program("node"), "-e", script], capture_output=True, check=True).stdout
    *missing, infinite, thrown = json.loads(answer)
    assert (missing, thrown) == (["NaN,NaN,NaN"] * 3, "row must have 3 values")
    assert [float(value) for value in infinite.split(",")] == pytest.approx([1.0, 0.0, 0.0], abs=1e-100)


def test_c_is_clean(tmp_path):
    """Constant maps leave nothing unused, and everything is C99."""
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-c"]
    for name, model in joint_models(3).items():
        (tmp_path / "map.c").write_text(to_c(model))
        done = subprocess.run([needs_program("cc"), *strict, "map.c"], cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, (name, done.stderr)


def test_onnx_is_float64_and_quiet(capfd):
    onnx, onnxruntime = needs("onnx"), needs("onnxruntime")
    for model in joint_models(3).values():
        content = to_onnx(model)
        graph = onnx.load_from_string(content).graph
        given = "logits" if model.map.input == "logits" else "uncalibrated_probabilities"
        assert [value.name for value in (*graph.input, *graph.output)] == [given, "probabilities"]
        assert {tensor.data_type for tensor in graph.initializer} <= {onnx.TensorProto.DOUBLE, onnx.TensorProto.INT64}
        session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
        (empty,) = session.run(None, {given: np.empty((0, 3))})
        assert empty.shape == (0, 3)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("to", ["sql", "python", "c", "javascript", "onnx"])
def test_exports_are_deterministic_and_say_how_well_they_agree(to):
    {"c": lambda: needs_program("cc"), "javascript": lambda: needs_program("node")}.get(to, lambda: needs("onnx"))()
    done = export(THREE, to, verify=True)
    text = done.content if isinstance(done.content, str) else needs("onnx").load_from_string(done.content).doc_string
    lines = text.splitlines()
    assert lines[0].endswith("The probability of each class: VectorScaling.")
    assert f"in probability over {done.parity.n_scores} rows on {done.parity.engine}." in lines[2]
    assert done.content == export(THREE, to, verify=True).content


def test_spark():
    """One of each kind: Spark is slow to plan."""
    sql = needs("pyspark.sql")
    needs_program("java")
    names = ["DirichletScaling of logits", "IsotonicCalibrator, against the rest"]
    others = sql.SparkSession.getActiveSession()
    quiet = {"spark.ui.enabled": "false", "spark.log.level": "OFF"}
    spark = others or sql.SparkSession.builder.master("local[1]").config(map=quiet).getOrCreate()
    models = {name: joint_models(3)[name] for name in names} | {"ten classes": many_classes()["MatrixScaling"]}
    for name, model in models.items():
        rows = probe_rows(model.map)[::3]
        k = model.map.n_classes
        columns = [f"x{place}" for place in range(k)]
        listed = [(i, *(None if np.isnan(x) else float(x) for x in row)) for i, row in enumerate(rows)]
        frame = spark.createDataFrame(listed, ", ".join(["id INT", *(f"{column} DOUBLE" for column in columns)]))
        frame.createOrReplaceTempView("oddsmith_test_rows")
        statement = to_sql(model, columns=columns, dialect="spark", table="oddsmith_test_rows")
        found = sorted((tuple(row) for row in spark.sql(statement).collect()), key=lambda row: row[0])
        got = np.array([row[1 + k : 1 + 2 * k] for row in found], dtype=np.float64)
        np.testing.assert_allclose(got, model.map.class_probability(rows), atol=1e-12, rtol=0, err_msg=name)
    if others is None:
        spark.stop()


def test_every_scaling_is_here():
    """A new scaling must come into the cases."""
    assert set(registry.SCALINGS.values()) == set(SCALINGS)
