"""SQL: every dialect parses, numbers are doubles, names are quoted, missing stays missing."""

import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import pytest
from cases import EDGES, MAX, every_case
from engines import READS_ESCAPES
from scipy.special import expit

from oddsmith import AutoCalibrator, PlattCalibrator
from oddsmith.errors import InvalidInputError, UntestedDialectWarning
from oddsmith.export import export, to_sql
from oddsmith.formula import SCORE, absolute
from oddsmith.formula import exp as exp_of
from oddsmith.formula.sql import SqlReader
from oddsmith.maps import LinearMap, PolynomialMap, StepMap
from oddsmith.maps.inputs import LogitInputMap
from optional import needs
from samples import ours_allowed

sqlglot = needs("sqlglot")
exp = sqlglot.exp

DIALECTS = ["bigquery", "duckdb", "postgres", "snowflake", "spark", "sqlite"]
STEPS = StepMap(np.array([0.0, 0.5]), np.array([0.25, 0.75]), np.array([0.125, 0.5, 0.875]))
HOSTILE = "a\"b`c]; DROP TABLE t; -- ' \\ %s"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_texts_parse(dialect):
    """One map of each shape within another; those engines that are at hand run them all elsewhere."""
    shapes = {}
    for case in every_case():
        shapes.setdefault((case.fitted.shape, getattr(case.fitted, "inner", case.fitted).shape), case)
    for case in shapes.values():
        for output in ("probability", "log_odds"):
            text = to_sql(case.fitted, dialect=dialect, output=output)
            tree = sqlglot.parse_one(text, dialect=dialect)
            names = {column.name for column in tree.find_all(exp.Column)}
            assert {name for name in names if not name.startswith("oddsmith_")} <= {"score"}
            assert_numbers_are_doubles(tree, dialect)


def assert_numbers_are_doubles(tree, dialect):
    for literal in tree.find_all(exp.Literal):
        if dialect in ("postgres", "snowflake"):
            assert literal.is_string
            assert literal.parent.to.is_type("double")
        elif dialect == "sqlite":
            assert literal.is_string or "." in literal.name or isinstance(literal.parent, exp.BitwiseLeftShift)
        else:
            assert "e" in literal.name


def test_comparisons_use_the_rounder_neighbor():
    text = to_sql(STEPS)
    assert text == (
        'CASE WHEN NOT "score" IS NULL AND NOT ISNAN("score") THEN '
        'CASE WHEN "score" < 0e0 THEN 0.125e0 WHEN "score" <= 0e0 THEN 0.25e0 '
        'WHEN "score" < 0.5e0 THEN 0.5e0 WHEN "score" <= 0.5e0 THEN 0.75e0 ELSE 0.875e0 END END'
    )
    assert '"score" > 0e0' in to_sql(EDGES["flat odds"])
    assert '"score" < 1e0' in to_sql(EDGES["flat odds"])


def test_a_knot_at_the_largest_double():
    ends = StepMap(np.array([-MAX, MAX]), np.array([0.2, 0.6]), np.array([0.1, 0.4, 0.9]))
    assert "inf" not in to_sql(ends)


def test_whole_statements():
    assert to_sql(STEPS, table="t").startswith('SELECT *, CASE WHEN NOT "score" IS NULL')
    assert to_sql(STEPS, table='my "t"', dialect="bigquery", output="log_odds").endswith('AS `log_odds` FROM `my "t"`')


def test_dialects_that_are_not_tested_are_warned_of():
    with pytest.warns(UntestedDialectWarning, match="SQL for Snowflake is written but never run"):
        export(STEPS, "sql", dialect="snowflake")
    for dialect in ("duckdb", "postgres", "spark", "sqlite"):
        export(STEPS, "sql", dialect=dialect)


def test_unknown_dialects_are_refused():
    with pytest.raises(InvalidInputError, match="dialect must be one of"):
        to_sql(STEPS, dialect="klingon")
    with pytest.raises(InvalidInputError, match="output must be one of"):
        to_sql(STEPS, output="odds")


@pytest.mark.parametrize("names", [{"column": 5}, {"table": 5}, {"table": ("schema", 5)}])
def test_names_that_are_no_text_are_refused(names):
    with pytest.raises(InvalidInputError, match=f"{next(iter(names))} must be a name of visible characters; got 5"):
        to_sql(STEPS, **names)


@pytest.fixture(params=["duckdb", "sqlite", "postgres"])
def ask(request):
    """Return a function that runs a query on an engine: dialect and rows."""
    if request.param == "postgres":
        connection = request.getfixturevalue("postgres")
        yield lambda query: ("postgres", connection.execute(query).fetchall())
    elif request.param == "duckdb":
        with needs("duckdb").connect() as connection:
            yield lambda query: ("duckdb", connection.execute(query).fetchall())
    else:
        with closing(sqlite3.connect(":memory:")) as connection:
            yield lambda query: ("sqlite", connection.execute(query).fetchall())


def dialect_of(ask):
    return ask("SELECT 1")[0]


@pytest.mark.parametrize("label", ["constant", "steep", "adjacent steps", "jumps", "one-sided basis", "flat odds"])
def test_missing_scores_stay_missing(ask, label):
    for output in ("probability", "log_odds"):
        text = to_sql(EDGES[label], dialect=dialect_of(ask), output=output)
        assert ask(f"SELECT {text} FROM (SELECT CAST(NULL AS DOUBLE PRECISION) AS score) AS t")[1] == [(None,)]


def test_refused_scores_are_missing(ask):
    held = LogitInputMap(EDGES["far parabola"], 1e-6)
    for fitted, refused in ((EDGES["flat odds"], ["-1", "0", "1", "1.5"]), (held, ["-0.001", "1.001"])):
        for output in ("probability", "log_odds"):
            text = to_sql(fitted, dialect=dialect_of(ask), output=output)
            for score in refused:
                assert ask(f"SELECT {text} FROM (SELECT {score} AS score) AS t")[1] == [(None,)]
    text = to_sql(held, dialect=dialect_of(ask))
    assert ask(f"SELECT {text} FROM (SELECT 1 AS score) AS t")[1] == [(held.probability([1.0])[0],)]


def test_whole_numbers_and_decimals_give_doubles(ask):
    kind = {"duckdb": "typeof", "sqlite": "typeof", "postgres": "pg_typeof"}
    for label in ("one-sided basis", "adjacent steps", "one ramp", "flat line"):
        text = to_sql(EDGES[label], dialect=dialect_of(ask))
        expected = EDGES[label].probability([3.0])[0]
        for score in ("3", "CAST(3 AS BIGINT)", "CAST(3 AS DECIMAL(9, 2))", "CAST(3 AS REAL)"):
            query = (
                f"SELECT {text}, CAST({kind[dialect_of(ask)]}({text}) AS VARCHAR) FROM (SELECT {score} AS score) AS t"
            )
            value, found = ask(query)[1][0]
            assert value == pytest.approx(expected, abs=1e-15)
            assert found in {"DOUBLE", "real", "double precision"}


def test_names_are_quoted(ask):
    column = HOSTILE.replace("%", "") if dialect_of(ask) == "postgres" else HOSTILE
    name = exp.to_identifier(column, quoted=True).sql(dialect=dialect_of(ask))
    text = to_sql(STEPS, column=column, dialect=dialect_of(ask))
    assert ask(f"SELECT {text} FROM (SELECT 0.25 AS {name}) AS t")[1] == [(0.5,)]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_hostile_names_stay_names(dialect):
    if dialect == "bigquery" and not READS_ESCAPES:
        pytest.skip("this release of sqlglot does not read escapes in quoted names")
    tree = sqlglot.parse_one(to_sql(STEPS, column=HOSTILE, table=HOSTILE, dialect=dialect), dialect=dialect)
    assert {column.name for column in tree.find_all(exp.Column) if not isinstance(column.this, exp.Star)} == {HOSTILE}
    assert [table.name for table in tree.find_all(exp.Table)] == [HOSTILE]


def test_infinite_scores_give_the_limits(ask):
    infinity = {"duckdb": "CAST('inf' AS DOUBLE)", "sqlite": "9e999", "postgres": "CAST('Infinity' AS float8)"}
    ramp = LinearMap(np.array([-1.0, 2.0]), np.array([0.25, 0.75]))
    for fitted, low, high in ((ramp, 0.25, 0.75), (STEPS, 0.125, 0.875), (EDGES["one-sided basis"], 0.0, None)):
        text = to_sql(fitted, dialect=dialect_of(ask))
        for sign, limit in (("-", low), ("", high)):
            value = ask(f"SELECT {text} FROM (SELECT {sign}{infinity[dialect_of(ask)]} AS score) AS t")[1][0][0]
            assert limit is None or value == pytest.approx(limit, abs=1e-300)


def test_sqlite_reads_every_number_exactly():
    """Which it does not do for decimals."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**63 - 1, 600).view(np.float64)
    values = np.concatenate([bits[np.isfinite(bits)], rng.normal(size=100), [0.0, 5e-324, MAX, 1e22, 2.0**53]])
    values = np.unique(np.concatenate([values, -values]))
    knots = StepMap(values, np.linspace(0, 1, len(values)), np.zeros(len(values) + 1))
    text = to_sql(knots, dialect="sqlite")
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (score REAL)")
        connection.executemany("INSERT INTO t VALUES (?)", values[:, None].tolist())
        got = [row[0] for row in connection.execute(f"SELECT {text} FROM t ORDER BY rowid")]
    np.testing.assert_array_equal(got, knots.at)


@pytest.mark.parametrize(
    "fitted",
    [
        PolynomialMap(np.zeros(1), np.array([1e200, 0.0]), np.array([[0.1, 2.0, -1e308], [0.0, 1.0, 0.0]]), 16.0),
        PolynomialMap(np.array([1e300]), np.zeros(2), np.array([[0.0, 1.0, 0.0], [1.0, 2.0, 1e200]]), 1.0),
    ],
    ids=["far origin", "far piece"],
)
def test_guards_of_values_that_lie_beyond_their_bounds(fitted):
    needs("sqlglot")
    assert to_sql(fitted, dialect="postgres")


def test_the_header_says_what_nan_gives():
    cal = PlattCalibrator().fit([-1.0, 0.0, 1.0, 2.0], [0, 1, 0, 1])
    written = export(cal, "sql").content
    assert "-- NULL and NaN give NULL; infinite scores give the limits of the map." in written
    expression = "".join(line for line in written.splitlines() if not line.startswith("--"))
    query = f"SELECT {expression} FROM (SELECT unnest(['nan'::DOUBLE, 'inf'::DOUBLE, NULL]) AS score)"
    assert duckdb.connect().execute(query).fetchall() == [(None,), (1.0,), (None,)]


@pytest.mark.parametrize("label", sorted(EDGES))
def test_nan_gives_null(ask, label):
    nan = {"duckdb": "CAST('nan' AS DOUBLE)", "sqlite": "9e999 - 9e999", "postgres": "CAST('NaN' AS float8)"}
    text = to_sql(EDGES[label], dialect=dialect_of(ask))
    assert ask(f"SELECT {text} FROM (SELECT {nan[dialect_of(ask)]} AS score) AS t")[1] == [(None,)]


def default_model(read):
    """Return the default method's model of log-odds, or of what ``read`` makes of them."""
    rng = np.random.default_rng(5)
    scores = 2 * rng.normal(size=2000)
    with ours_allowed():
        return AutoCalibrator().fit(read(scores), rng.random(2000) < expit(0.6 * scores))


@pytest.mark.parametrize("output", ["probability", "log_odds"])
@pytest.mark.parametrize("read", [np.asarray, expit], ids=["log-odds", "probabilities"])
def test_sqlite_parses_the_default_model(read, output):
    """Its parser has a stack of 100 places."""
    done = export(default_model(read), "sql", dialect="sqlite", output=output)
    assert done.parity.largest <= 1e-12


def test_a_column_may_be_called_as_the_columns_of_flat_sql(monkeypatch):
    monkeypatch.setattr("oddsmith.formula.sql._DEEPEST", 8)
    done = export(EDGES["middling basis"], "sql", dialect="sqlite", column="oddsmith_1")
    assert done.parity.largest <= 1e-12
    assert "MATERIALIZED" in done.content


def test_text_that_an_engine_refuses_is_an_error(monkeypatch):
    monkeypatch.setattr("oddsmith.formula.sql.FlatReader.scalar", lambda *_: "1 +")
    with pytest.raises(InvalidInputError, match=r"SQLite, which is installed here, must compute .*syntax error"):
        export(STEPS, "sql", dialect="sqlite")


def test_text_in_a_column_of_sqlite_gives_null():
    values = ["0.3", "abc", b"x", None, 0.25, 1, True]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (score)")
        connection.executemany("INSERT INTO t VALUES (?)", [(value,) for value in values])
        got = [row[0] for row in connection.execute(f"SELECT {to_sql(STEPS, dialect='sqlite')} FROM t")]
    assert got == [None, None, None, None, 0.5, 0.875, 0.875]


def test_two_minus_signs_are_no_comment():
    """Log-odds of a blend have the minus of a minus where a bound between them is not needed."""
    minus = -absolute(SCORE)
    formula = exp_of(-minus)
    assert SqlReader("x", "duckdb").read(formula) == "EXP(-(-ABS(x)))"
