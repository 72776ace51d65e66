"""Columns as they come: types, names, keys, and what is refused."""

import datetime
import decimal
import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oddsmith import ScoreTable
from oddsmith.errors import InvalidInputError
from oddsmith.frames import tables_from_frame
from optional import needs
from samples import samples

polars = needs("polars")
from_frame = ScoreTable.from_frame


@given(samples())
def test_the_table_of_the_arrays(data):
    scores, y = data
    assert from_frame(polars.DataFrame({"s": scores, "y": y}), "s", "y") == ScoreTable.from_arrays(scores, y)


@given(samples(), st.integers(0, 2**32 - 1), st.sampled_from([None, 0.25, "auto"]))
def test_order_and_splitting_of_rows_are_irrelevant(data, seed, resolution):
    scores, y = data
    order = np.random.default_rng(seed).permutation(len(y))
    whole = polars.DataFrame({"s": scores, "y": y})
    moved = polars.concat([part.lazy() for part in (whole[order[:5]], whole[order[5:]])])
    a, b = (from_frame(frame, "s", "y", resolution=resolution) for frame in (whole, moved))
    assert a.resolution == b.resolution
    np.testing.assert_array_equal(a.pos, b.pos)
    np.testing.assert_array_equal(a.neg, b.neg)
    np.testing.assert_allclose(a.scores, b.scores, rtol=1e-12)


@given(samples(), st.sampled_from([0.125, 1.0]))
def test_cells_by_the_engine_are_cells_by_the_table(data, width):
    scores, y = data
    near = from_frame(polars.DataFrame({"s": scores, "y": y}), "s", "y", resolution=width)
    exact = ScoreTable.from_arrays(scores, y).quantize(width)
    np.testing.assert_array_equal(near.pos, exact.pos)
    np.testing.assert_allclose(near.scores, exact.scores, rtol=1e-12)
    assert exact.merge(near).minus(near).rows == exact.rows


def test_segments_add_up_to_the_whole():
    rng = np.random.default_rng(0)
    frame = polars.DataFrame({"s": rng.normal(size=500), "y": rng.integers(0, 2, 500), "g": rng.integers(0, 40, 500)})
    first, *others = from_frame(frame, "s", "y", by="g").values()
    assert first.merge(*others) == from_frame(frame, "s", "y")


def test_pandas_columns_of_every_kind():
    pandas = needs("pandas")
    frame = pandas.DataFrame(
        {
            "s": pandas.array([0.5, None, 0.25, 0.5], "Float64"),
            "k": pandas.array([3, 1, None, 3], "Int64"),
            "label": pandas.Categorical(["no", "yes", "yes", "no"]),
            "object": [True, False, None, True],
            "flag": pandas.array([True, False, None, True], "boolean"),
            "g": pandas.Categorical(["a", "b", "a", "b"]),
        }
    )
    whole = frame.iloc[[0, 3]]
    assert from_frame(whole, "s", "label", pos_label="yes") == ScoreTable.from_arrays([0.5, 0.5], [0, 0])
    for column in ("object", "flag"):
        assert from_frame(whole, "k", column) == ScoreTable.from_arrays([3, 3], [1, 1])
        with pytest.raises(InvalidInputError, match="label is missing: 1"):
            from_frame(frame.iloc[[0, 2]], "s", column)
    assert list(from_frame(whole, "s", "object", by="g")) == ["a", "b"]
    with pytest.raises(InvalidInputError, match="score is missing: 1"):
        from_frame(frame, "s", "label", pos_label="yes")


def test_decimals_large_counts_and_dates_of_sql(duck):
    frame = duck.sql(
        "SELECT * FROM (VALUES (0.1, 1.0, 9007199254740993, DATE '2026-01-02'), (0.2, 0.0, 1, DATE '2026-01-01')) "
        "t(s, y, n, day)"
    )
    tables = from_frame(frame, "s", "y", weight="n", by="day")
    assert list(tables) == [datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)]
    assert tables[datetime.date(2026, 1, 2)] == ScoreTable.from_arrays([0.1], [1], [9007199254740993])


def test_dates_decimals_and_enums_of_polars():
    frame = polars.DataFrame(
        {
            "s": [decimal.Decimal("0.5"), decimal.Decimal("0.25")],
            "y": polars.Series(["no", "yes"], dtype=polars.Enum(["no", "yes"])),
            "day": [datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)],
        }
    )
    tables = from_frame(frame, "s", "y", by=["day"], pos_label="yes")
    assert list(tables) == [(datetime.date(2026, 1, 1),), (datetime.date(2026, 1, 2),)]
    assert tables[datetime.date(2026, 1, 2),] == ScoreTable.from_arrays([0.25], [1])


def test_a_score_may_be_a_flag_and_a_frame_may_be_narwhals():
    narwhals = needs("narwhals")
    frame = narwhals.from_native(polars.DataFrame({"s": [True, False, True], "y": [1, 0, 0], "w": [True, True, False]}))
    assert from_frame(frame, "s", "y", weight="w") == ScoreTable.from_arrays([1.0, 0.0], [1, 0])


def test_too_many_scores_of_an_engine_are_refused(monkeypatch):
    monkeypatch.setattr("oddsmith.frames.scored_frame.MAX_GROUPS", 50)
    frame = polars.DataFrame({"s": np.linspace(-1, 1, 100), "y": np.arange(100) % 2, "t": np.arange(100)})
    assert len(from_frame(frame, "s", "y")) == 100  # in memory already
    words = 'distinct scores times labels and keys must be at most 50; got more. Hint: pass resolution="auto"'
    with pytest.raises(InvalidInputError, match=words):
        from_frame(frame.lazy(), "s", "y")
    with pytest.raises(InvalidInputError, match=r"cells of width 0.015625 .* Hint: pass a wider resolution"):
        from_frame(frame.lazy(), "s", "y", resolution=2**-6)
    assert from_frame(frame.lazy(), "s", "y", resolution=0.5).rows == 100
    with pytest.raises(InvalidInputError, match="column 't': y must contain two classes; got 51 classes"):
        from_frame(frame.lazy(), "s", "t")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"resolution": 0.3}, "resolution must be a power of two; got resolution=0.3. Hint: use 0.25"),
        ({"resolution": "fine"}, "resolution must be one of 'auto'"),
        ({"resolution": -1.0}, "resolution must be finite and > 0"),
        ({"bad_rows": "ignore"}, "bad_rows must be one of 'refuse', 'skip'"),
        ({"pos_label": 7}, "pos_label must be one of the labels"),
        ({"weight": "zero"}, "frame must contain rows that can be used; got none: all weights are 0"),
        (
            {"score": "huge", "resolution": 2.0**-40},
            "resolution must suit the size of the scores; got 9.09495e-13 for 1e.300",
        ),
    ],
)
def test_refusals(options, words):
    frame = polars.DataFrame({"s": [0.1, 0.2], "y": [0, 1], "zero": [0, 0], "huge": [1e300, -1e300]})
    with pytest.raises(InvalidInputError, match=words):
        from_frame(frame, **({"score": "s", "label": "y"} | options))


def test_something_else_than_a_frame():
    with pytest.raises(InvalidInputError, match=r"must be a data frame or a table of an engine; got builtins\.list"):
        from_frame([0.1, 0.2], "s", "y")


def test_both_doors_have_the_same_parameters():
    assert inspect.signature(tables_from_frame).parameters.keys() == inspect.signature(from_frame).parameters.keys()


def test_log_odds_by_duckdb_whatever_the_columns_are_called(duck, monkeypatch):
    needs("pyarrow")  # by which DuckDB reads Polars
    monkeypatch.setattr("oddsmith.frames.resolution._FEW_ROWS", 100)
    rng = np.random.default_rng(0)
    prob = np.concatenate([rng.beta(0.5, 0.5, 500), [0.0, 1.0]])
    y = rng.integers(0, 2, len(prob))
    rows = polars.DataFrame({'my "p"': prob.astype(np.float32), "log_odds": y})  # noqa: F841 (DuckDB finds it by name)
    near = from_frame(duck.sql("SELECT * FROM rows"), 'my "p"', "log_odds", resolution="auto")
    exact = ScoreTable.from_arrays(prob.astype(np.float32), y)
    np.testing.assert_array_equal(near.pos, exact.quantize(near.resolution, log_odds=True).pos)
