"""Tables from a query: the same as from the rows, whatever engine runs it."""

import sqlite3
import warnings
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oddsmith import ScoreTable
from oddsmith.errors import DroppedRowsWarning, InvalidInputError
from oddsmith.frames import table_query


def rows_of(n=500, seed=0):
    """Return rows with ties, skewed scores, segments and weights."""
    rng = np.random.default_rng(seed)
    score = np.round(rng.lognormal(0, 1.5, n) * rng.choice([-1, 1], n, p=[0.2, 0.8]), 2)
    return pd.DataFrame(
        {
            "s": score,
            "y": rng.choice(["no", "yes"], n, p=[0.9, 0.1]),
            "w": rng.integers(0, 4, n),
            "v": rng.exponential(size=n),
            "place": rng.choice(["a", 'b"c', "d;e"], n),
            "day": rng.integers(1, 3, n),
        }
    )


def engines(frame):
    """Return connections to engines that contain the frame as the table ``scores``, and their dialects."""
    lite = sqlite3.connect(":memory:")
    frame.to_sql("scores", lite, index=False)
    duck = duckdb.connect()
    duck.register("scores", frame)
    return [(lite, "sqlite"), (duck, "duckdb")]


def equal(one, other):
    assert (one.rows, one.resolution, one.kind, one.labels) == (other.rows, other.resolution, other.kind, other.labels)
    for name in ("scores", "pos", "neg", "pos_sq", "neg_sq", "pos_sum", "neg_sum"):
        mine, theirs = getattr(one, name), getattr(other, name)
        assert (mine is None) == (theirs is None), name
        if mine is not None:
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("weight", [None, "w", "v"])
@pytest.mark.parametrize("resolution", [None, 0.25])
def test_the_table_is_that_of_the_frame(weight, resolution):
    frame = rows_of()
    expected = ScoreTable.from_frame(frame, "s", "y", weight, resolution=resolution, pos_label="yes")
    sql = {}
    for connection, dialect in engines(frame):
        sql[dialect] = table_query("scores", "s", "y", weight, resolution=resolution, dialect=dialect)
        equal(ScoreTable.from_query(connection, sql[dialect], pos_label="yes"), expected)


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.booleans()), min_size=2, max_size=30))
def test_any_rows_make_the_table_of_the_arrays(pairs):
    scores, y = zip(*pairs, strict=True)
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (score REAL, label INTEGER)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(s, int(one)) for s, one in pairs])
    found = ScoreTable.from_query(connection, table_query("t", "score", "label", dialect="sqlite"))
    expected = ScoreTable.from_arrays(scores, np.array(y, dtype=int))
    for name in ("scores", "pos", "neg"):
        assert np.array_equal(getattr(found, name), getattr(expected, name))
    connection.close()


@pytest.mark.parametrize("by", ["day", ["place", "day"]])
def test_each_key_has_a_table(by):
    frame = rows_of()
    expected = ScoreTable.from_frame(frame, "s", "y", by=by, pos_label="yes")
    for connection, dialect in engines(frame):
        found = ScoreTable.from_query(
            connection, table_query("scores", "s", "y", by=by, dialect=dialect), pos_label="yes"
        )
        assert set(found) == set(expected)
        for key, table in found.items():
            equal(table, expected[key])


def test_sql_of_ones_own():
    class Warehouse:
        """A connection of DB-API that sends decimals, and names in capitals."""

        description = (("SCORE",), ("LABEL",), ("ROWS",))

        def cursor(self):
            return self

        def execute(self, sql):
            assert sql == "SELECT 1"

        def fetchall(self):
            return [(Decimal("0.5"), Decimal(1), Decimal(3)), (Decimal("0.25"), Decimal(0), Decimal(2))]

    table = ScoreTable.from_query(Warehouse(), "SELECT 1")
    assert (table.scores.tolist(), table.pos.tolist(), table.neg.tolist()) == ([0.25, 0.5], [0, 3], [2, 0])


def test_missing_values_are_refused_by_name_and_number_or_left_out():
    frame = rows_of(50)
    frame.loc[:2, "s"] = np.nan
    frame.loc[3:4, "y"] = None
    frame["w"] = frame["w"].astype("float")
    frame.loc[5, "w"] = np.nan
    for connection, dialect in engines(frame):
        sql = table_query("scores", "s", "y", "w", dialect=dialect)
        with pytest.raises(InvalidInputError, match="score is missing: 3, label is missing: 2, weight is missing: 1"):
            ScoreTable.from_query(connection, sql, "yes")
        with pytest.warns(DroppedRowsWarning, match="6 of 50"):
            table = ScoreTable.from_query(connection, sql, "yes", bad_rows="skip")
        rest = frame.dropna()
        assert table.pos.sum() == pytest.approx(rest["w"][rest["y"] == "yes"].sum())


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT 1 AS score, 1 AS label", "must have the columns label and rows"),
        ("SELECT 1 AS label, 1 AS rows", "must have a column score, or else a column cell"),
        ("SELECT 1 AS cell, 1 AS label, 1 AS rows", "must have the columns resolution and score_sum"),
        ("SELECT 'x' AS score, 1 AS label, 1 AS rows", "column score must contain numbers"),
        ("SELECT 1 AS score, 1 AS label, 1.5 AS rows", "column rows must contain whole numbers"),
        ("SELECT 1 AS score, 1 AS label, 1 AS rows, 0.5 AS weight", "must have a column weight_sq"),
        ("SELECT 1 AS score, 1 AS label, 1 AS rows, 1 AS weight, -1 AS least_weight", "weights must be ≥ 0"),
        ("SELECT 1 AS score, 1 AS label, 1 AS rows WHERE 1 = 0", "must return at least one row"),
        ("SELECT 1 AS cell, 0.3 AS resolution, 1 AS score_sum, 1 AS label, 1 AS rows", "must be a power of two"),
        ("SELECT 1 AS score, 1 AS score, 1 AS label, 1 AS rows", "columns of the query must differ"),
    ],
)
def test_what_is_refused(sql, words):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        connection = sqlite3.connect(":memory:")
        with pytest.raises(InvalidInputError, match=words):
            ScoreTable.from_query(connection, sql)
        connection.close()


def test_what_is_no_connection_is_refused():
    with pytest.raises(InvalidInputError, match="connection must be one of DB-API"):
        ScoreTable.from_query("x", "SELECT 1")
    with pytest.raises(InvalidInputError, match="a column of keys must have another name"):
        table_query("t", "s", "y", by="rows")
