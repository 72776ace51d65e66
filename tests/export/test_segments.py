"""Models by segment, of two classes and of several, as one statement with a table of parameters, and in dbt."""

import csv
import io
from contextlib import closing

import engines
import numpy as np
import pytest
from numpy.testing import assert_allclose

from oddsmith.errors import InvalidInputError
from oddsmith.export import export, segments, to_sql
from oddsmith.maps import (
    BlendMap,
    LogBasisMap,
    OneVsRestMap,
    ScalingMap,
    ScalingPart,
    StepMap,
    UnitInputMap,
    constant_map,
    line_map,
)
from oddsmith.model import Model
from optional import needs

duckdb = needs("duckdb")
needs("sqlglot")

STEPS = StepMap(np.array([0.0, 1.0]), np.array([0.2, 0.5]), np.array([0.0, 0.3, 1.0]))
LONG = StepMap(np.arange(5.0), np.linspace(0.1, 0.9, 5), np.linspace(0.0, 1.0, 6))
#: Names of segments that would break out of a literal, a template or a file.
NAMES = ["a", "o'b", 'q"', "{{ evil() }}", "{% endmacro %}", "\\", "\\'", "a\nb,c", "1", "true", "null", "", "%s", "--"]


def line(seed=0):
    rng = np.random.default_rng([11, seed])
    return line_map(*rng.normal(size=3), 2.0 ** rng.integers(-2, 3))


def of_two(fitted):
    return Model("Any", {}, fitted, (0, 1), None)


def part(kind, rng):
    size = {"number": (), "diagonal": (3,), "matrix": (3, 3)}[kind]
    intercept = np.zeros(3) if kind == "number" else rng.normal(size=3)
    return ScalingPart(kind, "logits", 0.0, np.array(rng.normal(size=size) + 1.0), intercept)


def scaling(*kinds, shift=(0.0, 0.0, 0.0), seed=0):
    rng, weights = np.random.default_rng([12, seed]), np.full(len(kinds), 1 / len(kinds))
    fitted = ScalingMap(3, "logits", tuple(part(kind, rng) for kind in kinds), weights, np.array(shift))
    return Model("Any", {}, fitted, ("no", "it's", "{{ x }}"), None)


def one_vs_rest(*maps, against_rest=False):
    return Model("Any", {}, OneVsRestMap(3, "logits", maps, against_rest), ("a", "b", "c"), None)


def by_segment(make, names=NAMES):
    return make(0).with_segments("part {{ of }}", {name: make(seed) for seed, name in enumerate(names, 1)})


def mixed():
    others = [STEPS, LONG, LogBasisMap(np.array([1.0, 0.5]), 0.2, 0.0, 1.0), BlendMap((STEPS, line()), np.ones(2) / 2)]
    maps = [
        *others,
        constant_map(0.4),
        *(line(seed) for seed, _ in enumerate(others, 1)),
        *(one.shifted(0.3) for one in others),
    ]
    return of_two(STEPS).with_segments("by", dict(zip(NAMES, map(of_two, maps), strict=False)))


def several():
    kinds = [scaling("number", "diagonal", shift=(0.0, 0.2, -0.1)), scaling("matrix"), scaling("diagonal", seed=1)]
    return scaling("number").with_segments("by", dict(zip(NAMES, kinds, strict=False)))


def readers():
    first = one_vs_rest(line(0), line(1), line(2))
    more = [one_vs_rest(STEPS, line(3), LONG), one_vs_rest(line(4), line(5), line(6)), first.shifted([0.0, 1.0, 2.0])]
    return first.with_segments("by", dict(zip(NAMES, more, strict=False)))


MODELS = {
    "lines": by_segment(lambda seed: of_two(line(seed))),
    "probabilities": by_segment(lambda seed: of_two(UnitInputMap(line(seed), 1e-6))),
    "one map for all": by_segment(lambda _: of_two(STEPS)),
    "mixed": mixed(),
    "numbers": by_segment(lambda seed: scaling("number", seed=seed)),
    "diagonals": by_segment(lambda seed: scaling("diagonal", seed=seed)),
    "matrices": by_segment(lambda seed: scaling("matrix", seed=seed)),
    "blends": by_segment(lambda seed: scaling("number", "diagonal", seed=seed), NAMES[:3]),
    "several": several(),
    "one against the rest": by_segment(
        lambda seed: one_vs_rest(line(seed), line(seed + 1), line(seed + 2), against_rest=True)
    ),
    "readers": readers(),
}


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
@pytest.mark.parametrize("name", MODELS)
def test_every_segment_gets_its_map(name, dialect):
    assert export(MODELS[name], "sql", dialect=dialect).parity.largest <= 1e-12
    assert export(MODELS[name], "sql", dialect=dialect).parity.n_scores > 1000


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
@pytest.mark.parametrize("make", [lambda seed: of_two(line(seed)), lambda seed: scaling("diagonal", seed=seed)])
def test_several_columns_of_segments(dialect, make):
    names = [(one, other) for one in NAMES for other in ("x", "y'")]
    parts = {name: make(seed) for seed, name in enumerate(names, 1)}
    model = make(0).with_segments(["a", "b}"], parts)
    assert export(model, "sql", dialect=dialect).parity.largest <= 1e-12
    seed = export(model, "dbt").content["seeds/calibration_parameters.csv"]
    header, first, *_ = csv.reader(io.StringIO(seed))
    assert header[:3] == ["segment_1", "segment_2", "p1"]
    assert first[:2] == [f"segment:{key}" for key in next(iter(model.segments))]


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_log_odds(dialect):
    for name in ("lines", "mixed"):
        assert export(MODELS[name], "sql", dialect=dialect, output="log_odds").parity.largest <= 1e-12


def test_postgres(postgres):
    for name, model in MODELS.items():
        found = export(model, "sql", dialect="postgres", connection=postgres).parity
        assert found.largest <= 1e-12, name


def rows_of(model):
    """Return scores and segments: known ones, an unknown one and a missing one."""
    names = [*model.segments, "unknown", None]
    keys = [name for name in names for _ in range(4)]
    rng, size = np.random.default_rng(13), (len(keys), model.map.columns)
    scores = rng.random(size) if model is MODELS["probabilities"] else rng.normal(size=size)
    return scores, keys, model.predict_proba(scores[:, 0] if model.has_one_score else scores, np.array(keys, object))


def table(connection, scores, keys, by):
    names = [f"s{i}" for i in range(scores.shape[1])]
    quoted = '"' + by + '"'
    connection.execute(f"CREATE TABLE t (id INTEGER, {', '.join(f'{one} DOUBLE' for one in names)}, {quoted} TEXT)")
    marks = ", ".join("?" * (2 + len(names)))
    connection.executemany(
        f"INSERT INTO t VALUES ({marks})",
        [(i, *row, key) for i, (row, key) in enumerate(zip(scores.tolist(), keys, strict=True))],
    )
    return {"column": names[0]} if len(names) == 1 else {"columns": names}


def agree(model, rows, expected):
    first = 2 + model.map.columns
    got = [row[first:] for row in sorted(rows)]
    if model.has_one_score:
        assert_allclose([row[0] for row in got], expected[:, 1], rtol=0, atol=1e-12)
    else:
        assert_allclose([row[:-1] for row in got], expected, rtol=0, atol=1e-12)
        assert [row[-1] for row in got] == [model.labels[i] for i in expected.argmax(axis=1)]


@pytest.mark.parametrize("name", MODELS)
def test_a_macro_and_a_seed_of_dbt(name):
    jinja2 = needs("jinja2")
    model = MODELS[name]
    scores, keys, expected = rows_of(model)
    with duckdb.connect() as connection:
        options = table(connection, scores, keys, model.by)
        done = export(model, "dbt", macro="model_of_ours", **options)
        assert done.parity.largest <= 1e-12
        seeds = {path: text for path, text in done.content.items() if path.startswith("seeds/")}
        assert set(done.content) - set(seeds) == {"macros/model_of_ours.sql"}
        for text in seeds.values():
            header, *lines = csv.reader(io.StringIO(text))
            kinds = ["TEXT", *["DOUBLE" for _ in header[1:]]]
            typed = ", ".join(f"{one} {kind}" for one, kind in zip(header, kinds, strict=True))
            connection.execute(f"CREATE TABLE seeded ({typed})")
            connection.executemany(f"INSERT INTO seeded VALUES ({', '.join('?' * len(header))})", lines)
            assert [line[0] for line in lines] == [f"segment:{one}" for one in model.segments]
        environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)
        environment.globals["ref"] = lambda asked: {"model_of_ours_parameters": "seeded"}[asked]
        macro = environment.from_string(done.content["macros/model_of_ours.sql"]).module.model_of_ours
        agree(model, connection.execute(macro("t")).fetchall(), expected)


def test_a_macro_of_a_model_without_segments():
    jinja2 = needs("jinja2")
    for model in (of_two(STEPS), scaling("matrix")):
        (text,) = export(model, "dbt").content.values()
        sql = jinja2.Template(text).module.calibration("somewhere")
        assert "FROM somewhere AS" in sql
    with pytest.raises(InvalidInputError, match="macro must be a name"):
        export(of_two(STEPS), "dbt", macro="a }} b")


@pytest.mark.parametrize("name", MODELS)
def test_rows_in_sqlite(name):
    import sqlite3

    model = MODELS[name]
    scores, keys, expected = rows_of(model)
    with closing(sqlite3.connect(":memory:")) as connection:
        options = table(connection, scores, keys, model.by)
        found = connection.execute(to_sql(model, dialect="sqlite", table="t", **options)).fetchall()
        agree(model, found, expected)


def test_spark():
    sql = needs("pyspark.sql")
    engines.needs_program("java")
    session = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    for name in ("lines", "several"):
        model = MODELS[name]
        scores, keys, expected = rows_of(model)
        columns = [f"s{i}" for i in range(scores.shape[1])]
        rows = [(i, *row, key) for i, (row, key) in enumerate(zip(scores.tolist(), keys, strict=True))]
        kinds = f"id INT, {', '.join(f'{one} DOUBLE' for one in columns)}, `{model.by}` STRING"
        session.createDataFrame(rows, kinds).createOrReplaceTempView("t")
        options = {"column": "s0"} if len(columns) == 1 else {"columns": columns}
        agree(model, map(tuple, session.sql(to_sql(model, dialect="spark", table="t", **options)).collect()), expected)


def test_what_takes_no_segments_refuses_them():
    for to in ("onnx", "python", "javascript", "c"):
        with pytest.raises(InvalidInputError, match=f"must have no segments for {to}; got one by"):
            export(MODELS["lines"], to)
    with pytest.raises(InvalidInputError, match="export to dbt"):
        export(MODELS["lines"], "sql", dialect="bigquery")


def test_too_many_parameters_are_refused(monkeypatch):
    monkeypatch.setattr(segments, "MOST_PARAMETERS", 3)
    with pytest.raises(InvalidInputError, match="at most 3 parameters each"):
        to_sql(MODELS["lines"])


def test_a_wrong_statement_is_found(monkeypatch):
    other = by_segment(lambda seed: of_two(line(seed + 1)))
    text = to_sql(other)
    monkeypatch.setattr("oddsmith.export.sql.Sql.text", lambda *_: text)
    with pytest.raises(InvalidInputError, match="must compute the probabilities of the model"):
        export(MODELS["lines"], "sql")
