"""Every engine makes the same table, and it is the table of the arrays."""

import datetime

import numpy as np
import pytest

from oddsmith import ScoreTable
from oddsmith.errors import DroppedRowsWarning, InvalidInputError
from optional import needs

pa = needs("pyarrow")

pytestmark = [
    pytest.mark.xdist_group("engines"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:pyspark"),
]

RNG = np.random.default_rng(7)
N = 400
SCORES = np.round(RNG.normal(size=N), 1)
SCORES[:3] = [0.0, -0.0, 1e-300]
Y = (RNG.random(N) < 1 / (1 + np.exp(-2 * SCORES))).astype(np.int64)
GROUP = RNG.choice(["north", "south", "west"], N)


LABELS = {
    "bool": pa.array(Y == 1),
    "sign": pa.array(2 * Y - 1, pa.int32()),
    "float": pa.array(Y, pa.float64()),
    "text": pa.array(np.where(Y, "good", "bad")),
}


def test_exact_table(held):
    table = ScoreTable.from_frame(held(pa.table({"score": SCORES, "label": Y})), score="score", label="label")
    assert table == ScoreTable.from_arrays(SCORES, Y)
    assert table.pos.dtype == np.int64


def test_kinds_of_labels(held):
    frame = held(pa.table({"s": SCORES, **LABELS}))
    for kind in LABELS:
        table = ScoreTable.from_frame(frame, "s", kind, pos_label="good" if kind == "text" else None)
        assert table == ScoreTable.from_arrays(SCORES, Y)


def test_narrow_scores_are_widened(held):
    frame = held(pa.table({"s": SCORES.astype(np.float32), "k": np.rint(SCORES).astype(np.int16), "y": Y}))
    assert ScoreTable.from_frame(frame, "s", "y") == ScoreTable.from_arrays(SCORES.astype(np.float32), Y)
    assert ScoreTable.from_frame(frame, "k", "y") == ScoreTable.from_arrays(np.rint(SCORES), Y)


def test_weights(held):
    rng = np.random.default_rng(1)
    counts, importance = rng.integers(0, 4, N), rng.exponential(size=N)
    importance[:5] = 0.0
    frame = held(pa.table({"s": SCORES, "y": Y, "n": counts, "w": importance}))
    assert ScoreTable.from_frame(frame, "s", "y", weight="n") == ScoreTable.from_arrays(SCORES, Y, counts)
    near, exact = ScoreTable.from_frame(frame, "s", "y", "w"), ScoreTable.from_arrays(SCORES, Y, importance)
    assert (near.kind, near.rows) == ("weight", exact.rows)
    for name in ("scores", "pos", "neg", "pos_sq", "neg_sq"):
        np.testing.assert_allclose(getattr(near, name), getattr(exact, name), rtol=1e-12)


def test_cells(held):
    continuous = np.random.default_rng(2).normal(size=N)
    frame = held(pa.table({"s": continuous, "d": SCORES, "y": Y, "w": np.full(N, 0.5)}))
    for column, scores in (("s", continuous), ("d", SCORES)):
        near = ScoreTable.from_frame(frame, column, "y", resolution=2**-5)
        same_cells(near, ScoreTable.from_arrays(scores, Y).quantize(2**-5))
    half = ScoreTable.from_frame(frame, "s", "y", weight="w", resolution=2**-5)
    same_cells(half, ScoreTable.from_arrays(continuous, Y).quantize(2**-5).scale(0.5))


def same_cells(near, exact):
    assert (near.resolution, near.rows, near.kind) == (exact.resolution, exact.rows, exact.kind)
    np.testing.assert_array_equal(near.pos, exact.pos)
    np.testing.assert_array_equal(near.neg, exact.neg)
    np.testing.assert_allclose(near.scores, exact.scores, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(near.pos_sum, exact.pos_sum, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(near.neg_sum, exact.neg_sum, rtol=1e-12, atol=1e-12)


def test_cells_of_equal_scores_stand_exactly_at_them(held):
    scores = np.repeat(np.arange(30) / 30, 41)
    y = (np.arange(len(scores)) % 3 == 0).astype(int)
    table = ScoreTable.from_frame(held(pa.table({"s": scores, "y": y})), "s", "y", resolution=2**-8)
    np.testing.assert_array_equal(table.scores, np.unique(scores))


def test_segments(held):
    day = pa.array([datetime.datetime(2026, 1, 1 + i % 3) for i in range(N)], pa.timestamp("us"))
    frame = held(pa.table({"s": SCORES, "y": Y, "g": GROUP, "k": np.arange(N) % 2, "day": day}))
    tables = ScoreTable.from_frame(frame, "s", "y", by="g")
    assert list(tables) == ["north", "south", "west"]
    for name, table in tables.items():
        assert table == ScoreTable.from_arrays(SCORES[name == GROUP], Y[name == GROUP])
    pairs = ScoreTable.from_frame(frame, "s", "y", by=["k", "day"], resolution=0.25)
    assert list(pairs) == [(k, datetime.datetime(2026, 1, 1 + d)) for k in (0, 1) for d in range(3)]
    first = (np.arange(N) % 2 == 1) & (np.arange(N) % 3 == 2)
    np.testing.assert_array_equal(
        pairs[1, datetime.datetime(2026, 1, 3)].pos, ScoreTable.from_arrays(SCORES[first], Y[first]).quantize(0.25).pos
    )


def test_missing_and_infinite_values_are_named_and_counted(held):
    good = 6
    scores = pa.array([0.1, 0.2, 0.2, 0.3, 0.4, 0.5, None, float("nan"), float("inf"), -float("inf"), 0.1, 0.1, 0.1])
    y = pa.array([0, 1, 0, 1, 1, 0, 1, 1, 0, 0, None, None, 1], pa.float64())
    weight = pa.array([1.0] * 12 + [None])
    frame = held(pa.table({"s": scores, "y": y, "w": weight}))
    words = "score is missing: 2, score is not finite: 2, label is missing: 2"
    with pytest.raises(InvalidInputError, match=f"7 of 13 rows cannot be used .{words}, weight is missing: 1"):
        ScoreTable.from_frame(frame, "s", "y", weight="w")
    with pytest.raises(InvalidInputError, match=words):
        ScoreTable.from_frame(frame, "s", "y", resolution="auto")
    with pytest.warns(DroppedRowsWarning, match=words):
        table = ScoreTable.from_frame(frame, "s", "y", weight="w", bad_rows="skip")
    exact = ScoreTable.from_arrays(scores[:good].to_pylist(), y[:good].to_pylist(), np.ones(good))
    assert table == exact
    with pytest.warns(DroppedRowsWarning):
        cells = ScoreTable.from_frame(frame, "s", "y", weight="w", bad_rows="skip", resolution=2**-3)
    np.testing.assert_array_equal(cells.pos, exact.quantize(2**-3).pos)


def test_missing_keys(held):
    frame = held(pa.table({"s": [0.1, 0.2, 0.3], "y": [0, 1, 1], "g": ["a", "a", None]}))
    with pytest.raises(InvalidInputError, match="segment is missing: 1"):
        ScoreTable.from_frame(frame, "s", "y", by="g")
    with pytest.warns(DroppedRowsWarning, match="segment is missing: 1"):
        tables = ScoreTable.from_frame(frame, "s", "y", by="g", bad_rows="skip")
    assert tables == {"a": ScoreTable.from_arrays([0.1, 0.2], [0, 1])}


def test_automatic_cells(held, monkeypatch):
    monkeypatch.setattr("oddsmith.frames.resolution._FEW_ROWS", 1000)
    rng = np.random.default_rng(0)
    margin = rng.normal(size=3000)
    y = (rng.random(len(margin)) < 1 / (1 + np.exp(-margin))).astype(int)
    prob = 1 / (1 + np.exp(-margin))
    frame = held(pa.table({"s": margin, "p": prob, "y": y}))
    near = ScoreTable.from_frame(frame, "s", "y", resolution="auto")
    assert near.resolution == 2**-11
    same_cells(near, ScoreTable.from_arrays(margin, y).quantize(2**-11))
    near = ScoreTable.from_frame(frame, "p", "y", resolution="auto")
    assert near.log_odds_cells
    same_cells(near, ScoreTable.from_arrays(prob, y).quantize(near.resolution, log_odds=True))


def test_scores_whose_squares_vanish(held, monkeypatch):
    monkeypatch.setattr("oddsmith.frames.resolution._FEW_ROWS", 1000)
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.random(2990), np.full(10, 1e-200)])
    y = rng.integers(0, 2, 3000)
    near = ScoreTable.from_frame(held(pa.table({"s": scores, "y": y})), "s", "y", resolution="auto")
    assert near.resolution is not None
    same_cells(near, ScoreTable.from_arrays(scores, y).quantize(near.resolution, near.log_odds_cells))


def test_columns_that_cannot_be_used(held):
    frame = held(pa.table({"s": [0.1, 0.2], "t": ["x", "y"], "y": [0, 1], "w": [1.0, -2.0], "c": [0.3, 0.4]}))
    with pytest.raises(InvalidInputError, match="'missing' where there are s, t, y, w, c"):
        ScoreTable.from_frame(frame, "s", "missing")
    with pytest.raises(InvalidInputError, match="column 't' must be numeric"):
        ScoreTable.from_frame(frame, "t", "y")
    with pytest.raises(InvalidInputError, match="column 't' must be numeric"):
        ScoreTable.from_frame(frame, "s", "y", weight="t")
    with pytest.raises(InvalidInputError, match="column 'w' must contain weights ≥ 0; got -2"):
        ScoreTable.from_frame(frame, "s", "y", weight="w")
    with pytest.raises(InvalidInputError, match=r"column 't': y must contain labels .* pass pos_label='y'"):
        ScoreTable.from_frame(frame, "s", "t")
    with pytest.raises(InvalidInputError, match="column 'c': y must contain labels"):
        ScoreTable.from_frame(frame, "s", "c")
