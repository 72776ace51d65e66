"""Chunks in any order give the same model; a stream that is killed loses and doubles nothing."""

import json
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from catalogue import CLASSES
from oddsmith import IsotonicCalibrator, LogisticCalibrator, PlattCalibrator, ScoreTable, atomic
from oddsmith.errors import InvalidInputError
from oddsmith.table.streaming import TableStream
from samples import ours_allowed

RNG = np.random.default_rng(17)
N = 240
SCORES = np.round(RNG.normal(size=N), 2)
Y = (RNG.random(N) < 1 / (1 + np.exp(-2 * SCORES))).astype(int)
CHUNKS = np.array_split(np.arange(N), 5)


def in_chunks(calibrator, order, scores=SCORES, y=Y, **options):
    with ours_allowed():
        for i in order:
            calibrator.partial_fit(scores[CHUNKS[i]], y[CHUNKS[i]], **options)
    return calibrator


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_chunks_in_any_order_give_the_same_model(cls):
    first, last = in_chunks(cls(), range(5)), in_chunks(cls(), [3, 0, 4, 2, 1])
    assert first.table_ == last.table_ == ScoreTable.from_arrays(SCORES, Y)
    with ours_allowed():
        whole = cls().fit_table(first.table_)
        parts = in_chunks(cls(), [4, 1]).merge(in_chunks(cls(), [0, 2, 3]))
    assert first.map_ == last.map_ == whole.map_ == parts.map_
    np.testing.assert_array_equal(first.classes_, [0, 1])


@pytest.mark.parametrize("cls", [PlattCalibrator, IsotonicCalibrator])
def test_probabilities_enter_as_in_fit(cls):
    prob = 1 / (1 + np.exp(-SCORES))
    chunks = in_chunks(cls(input="probability"), range(5), prob)
    whole = cls(input="probability").fit(prob, Y)
    np.testing.assert_allclose(chunks.predict_proba(prob), whole.predict_proba(prob), rtol=0, atol=1e-12)
    before = chunks.table_
    with pytest.raises(InvalidInputError, match="strictly between 0 and 1"):
        chunks.partial_fit([0.0, 0.5], [0, 1])
    assert chunks.table_ is before


def test_weights_add_up():
    weight = np.random.default_rng(1).exponential(size=N)
    chunks = PlattCalibrator()
    for rows in CHUNKS:
        chunks.partial_fit(SCORES[rows], Y[rows], weight[rows])
    whole = PlattCalibrator().fit(SCORES, Y, weight)
    np.testing.assert_allclose(chunks.predict_proba(SCORES), whole.predict_proba(SCORES), rtol=0, atol=1e-9)
    assert chunks.table_.kind == "weight"


def test_bounded_tables_do_not_depend_on_the_order():
    continuous = np.random.default_rng(2).normal(size=N)
    models = [
        in_chunks(LogisticCalibrator(), order, continuous, max_cells=32) for order in ([0, 1, 2, 3, 4], [4, 2, 0, 3, 1])
    ]
    whole = ScoreTable.from_arrays(continuous, Y).coarsen(32)
    for model in models:
        assert len(model.table_) <= 32
        assert (model.table_.resolution, model.table_.rows) == (whole.resolution, N)
        np.testing.assert_array_equal(model.table_.pos, whole.pos)
        np.testing.assert_array_equal(model.table_.neg, whole.neg)
        np.testing.assert_allclose(model.table_.scores, whole.scores, rtol=1e-12)
        assert model.map_.coefficients[0, 1] == pytest.approx(models[0].map_.coefficients[0, 1], rel=1e-9)
    prob = 1 / (1 + np.exp(-8 * continuous))
    bounded = in_chunks(PlattCalibrator(input="probability"), range(5), prob, max_cells=64)
    assert bounded.table_.log_odds_cells
    assert len(bounded.table_) <= 64
    exact = in_chunks(PlattCalibrator(input="probability"), range(5), prob)
    third_of_an_error = (0.25 / N) ** 0.5 / 3
    np.testing.assert_allclose(bounded.predict_proba(prob), exact.predict_proba(prob), rtol=0, atol=third_of_an_error)


def test_labels_of_chunks():
    signs = 2 * Y - 1
    order = [CHUNKS[0][Y[CHUNKS[0]] == 1], *CHUNKS[1:]]  # the first chunk shows one class
    chunks = PlattCalibrator()
    with ours_allowed():
        for rows in order:
            chunks.partial_fit(SCORES[rows], signs[rows])
    np.testing.assert_array_equal(chunks.classes_, [-1, 1])
    with pytest.raises(InvalidInputError, match="labels must be the same in every chunk"):
        chunks.partial_fit([0.1, 0.2], [0, 1])
    with ours_allowed():
        named = PlattCalibrator(pos_label="good").partial_fit([0.1], ["good"], classes=["bad", "good"])
    np.testing.assert_array_equal(named.classes_, ["bad", "good"])
    with pytest.raises(InvalidInputError, match="labels must be the same in every chunk"):
        named.partial_fit([0.1, 0.2], ["poor", "good"])


def test_fit_keeps_no_table_and_begins_anew():
    fitted = in_chunks(PlattCalibrator(), range(5)).fit(SCORES, Y)
    assert not hasattr(fitted, "table_")
    assert fitted.partial_fit(SCORES[:9], Y[:9]).table_.rows == 9
    with pytest.raises(InvalidInputError, match="both calibrators must know their rows"):
        fitted.merge(PlattCalibrator().fit(SCORES, Y))
    with pytest.raises(InvalidInputError, match="of one class and parameters"):
        fitted.merge(in_chunks(IsotonicCalibrator(), range(5)))
    with pytest.raises(InvalidInputError, match="max_cells must be an integer ≥ 4"):
        fitted.partial_fit(SCORES, Y, max_cells=1)


def test_a_stream_adds_each_chunk_once(tmp_path):
    path = tmp_path / "stream.npz"
    for attempt in range(2):
        with TableStream(path) as stream:
            for i, rows in enumerate(CHUNKS):
                assert stream.add(str(i), SCORES[rows], Y[rows]) == (attempt == 0)
    with TableStream(path) as stream:
        assert list(stream) == ["0", "1", "2", "3", "4"]
        assert not stream.add("3", SCORES, Y)
        assert stream.table == ScoreTable.from_arrays(SCORES, Y)


@pytest.mark.parametrize("weight", [None, 0.3])
def test_what_a_stream_reads_is_what_it_wrote(tmp_path, weight):
    weights = None if weight is None else np.full(N, weight)
    with TableStream(tmp_path / "s.npz", max_cells=16) as stream:
        stream.add("all", SCORES, Y, weights)
        written = stream.table
    with TableStream(tmp_path / "s.npz") as stream:
        assert stream.table == written == ScoreTable.from_arrays(SCORES, Y, weights).coarsen(16)
        assert stream.max_cells == 16
    with pytest.raises(InvalidInputError, match="opened with the cells it was made with; got max_cells=32 for 16"):
        TableStream(tmp_path / "s.npz", max_cells=32)


def test_what_a_stream_refuses(tmp_path):
    path = tmp_path / "s.npz"
    with TableStream(path) as stream:
        with pytest.raises(InvalidInputError, match="the stream must hold a chunk"):
            _ = stream.table
        with pytest.raises(InvalidInputError, match=r"s\.npz must be open once"):
            TableStream(path)
        with pytest.raises(InvalidInputError, match="a chunk must be named by a text; got 3"):
            stream.add(3, SCORES, Y)
        stream.add("a", SCORES, Y)
    with pytest.raises(InvalidInputError, match="the stream must be open"):
        stream.add("b", SCORES, Y)
    whole = path.read_bytes()
    for broken in (b"", whole[: len(whole) // 2], b"no zip file", whole.replace(b"scores", b"scares")):
        path.write_bytes(broken)
        with pytest.raises(InvalidInputError, match=r"s\.npz must hold a table stream"):
            TableStream(path)
    np.savez(path, head=np.array([{"a": 1}], dtype=object))  # objects would be unpickled
    with pytest.raises(InvalidInputError, match=r"s\.npz must hold a table stream"):
        TableStream(path)
    with pytest.raises(InvalidInputError, match="the folder of the stream must exist"):
        TableStream(tmp_path / "nowhere" / "s.npz")


@pytest.mark.parametrize("step", ["_flush", "_move"])
def test_a_failed_write_changes_nothing(tmp_path, monkeypatch, step):
    path = tmp_path / "s.npz"
    with TableStream(path) as stream:
        stream.add("a", SCORES[:100], Y[:100])
        with monkeypatch.context() as patched:
            patched.setattr(atomic, step, failing)
            with pytest.raises((OSError, InvalidInputError), match="got a full disk"):
                stream.add("b", SCORES[100:], Y[100:])
        assert list(stream) == ["a"]
        assert stream.table.rows == 100
    with TableStream(path) as stream:
        assert stream.add("b", SCORES[100:], Y[100:])
        assert stream.table == ScoreTable.from_arrays(SCORES, Y)


def failing(*_):
    raise OSError(28, "no room")


WORKER = """
import sys
import numpy as np
from oddsmith.table.streaming import TableStream

with TableStream(sys.argv[1], max_cells=3000) as stream:
    for day in range(30):
        rng = np.random.default_rng(day)
        scores = rng.normal(size=4000)
        print(day, flush=True)
        stream.add(f"day {day}", scores, rng.random(4000) < 1 / (1 + np.exp(-scores)))
"""


def test_kills_lose_and_double_nothing(tmp_path):
    path, dice = tmp_path / "s.npz", random.Random(1)
    kills = 0
    while kills < 5:  # a worker may be done before it is killed
        worker = subprocess.Popen([sys.executable, "-c", WORKER, str(path)], stdout=subprocess.PIPE, text=True)
        last = dice.randrange(2, 30)
        for line in worker.stdout:
            if int(line) == last:
                time.sleep(dice.random() * 0.03)
                worker.kill()
                break
        worker.stdout.close()
        kills += worker.wait() == -signal.SIGKILL
    subprocess.run([sys.executable, "-c", WORKER, str(path)], stdout=subprocess.DEVNULL, check=True)
    rows = [np.random.default_rng(day) for day in range(30)]
    days = [(scores := rng.normal(size=4000), rng.random(4000) < 1 / (1 + np.exp(-scores))) for rng in rows]
    whole = ScoreTable.from_arrays(*(np.concatenate(parts) for parts in zip(*days, strict=True))).coarsen(3000)
    with TableStream(path) as stream:
        assert list(stream) == [f"day {day}" for day in range(30)]
        assert (stream.table.rows, stream.table.resolution) == (whole.rows, whole.resolution)
        np.testing.assert_array_equal(stream.table.pos, whole.pos)
        np.testing.assert_array_equal(stream.table.neg, whole.neg)
        stream.add("day 30", SCORES, Y)  # the next write sweeps what a kill left
    assert [file.name for file in tmp_path.iterdir() if file.name.endswith(".part")] == []


def put(column, place, value):
    """Return a change of one value of a column."""
    return lambda columns, head: columns[column].__setitem__(place, value)


def say(**members):
    """Return a change of the head."""
    return lambda columns, head: head.update(members)


FLAWS = {
    "negative counts": (put("pos", 3, -1), "'pos' with negative weights"),
    "unsorted scores": (put("scores", 0, 9.0), "scores that do not ascend"),
    "repeated scores": (put("scores", slice(0, 2), -9.0), "scores that do not ascend"),
    "a short column": (lambda columns, head: columns.update(neg=columns["neg"][:-1]), r"'neg' of shape \(\d+,\)"),
    "no number": (put("scores", 0, np.nan), "'scores' with values that are not finite"),
    "a score without rows": (
        lambda columns, head: [columns[side].__setitem__(0, 0) for side in ("pos", "neg")],
        "scores without weight",
    ),
    "floats as counts": (lambda columns, head: columns.update(pos=columns["pos"] + 0.5), "'pos' of type float64"),
    "a matrix": (lambda columns, head: columns.update(scores=np.zeros((2, 2))), "of shape"),
    "a sum that wraps": (put("pos", slice(0, 4), 2**62), "above 2"),
    "half of the sums": (lambda columns, head: columns.update(pos_sum=columns["scores"]), "one of the columns"),
    "negative rows": (say(rows=-5), "rows=-5"),
    "a width that is no power of two": (say(resolution=0.3), "resolution=0.3"),
    "cells of log-odds without a width": (say(log_odds_cells=True), "log_odds_cells=True"),
    "cells in words": (say(max_cells="many"), "max_cells='many'"),
    "a chunk that is a number": (say(chunks=[3]), r"chunks=\[3\]"),
    "a chunk twice": (say(chunks=["a", "a"]), "chunks that are there twice"),
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_a_file_that_no_stream_wrote(tmp_path, flaw):
    path = tmp_path / "s.npz"
    with TableStream(path) as stream:
        stream.add("a", SCORES, Y)
    with np.load(path) as file:
        columns = {name: file[name] for name in file.files}
    head = json.loads(columns.pop("head").tobytes())
    change, words = FLAWS[flaw]
    change(columns, head)
    np.savez(path, head=np.frombuffer(json.dumps(head).encode(), np.uint8), **columns)
    with pytest.raises(InvalidInputError, match=rf"s\.npz must hold a table stream; got .*{words}"):
        TableStream(path)


def test_counts_that_would_wrap_are_refused_and_change_nothing(tmp_path):
    half = np.full(2, 2**61)
    with TableStream(tmp_path / "s.npz") as stream:
        stream.add("a", [0.1, 0.2], [0, 1], half)
        with pytest.raises(InvalidInputError, match=r"must have a sum of weights below 2\*\*63"):
            stream.add("b", [0.1, 0.2], [0, 1], half)
        assert (list(stream), stream.table.rows) == (["a"], 2**62)
