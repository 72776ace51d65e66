"""Chunks in any order give the same model; tables in files lose and double nothing, whatever interrupts them."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import oddsmith
from catalogue import CLASSES
from oddsmith import IsotonicCalibrator, LogisticCalibrator, PlattCalibrator, ScoreTable, atomic
from oddsmith.errors import InvalidInputError
from optional import needs
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
    with pytest.raises(InvalidInputError, match="both calibrators must have kept their rows to merge"):
        fitted.merge(PlattCalibrator().fit(SCORES, Y))
    with pytest.raises(InvalidInputError, match="of one class and parameters"):
        fitted.merge(in_chunks(IsotonicCalibrator(), range(5)))
    with pytest.raises(InvalidInputError, match="max_cells must be an integer ≥ 4"):
        fitted.partial_fit(SCORES, Y, max_cells=1)


def table_of(rows, **options):
    return ScoreTable.from_arrays(SCORES[rows], Y[rows], **options)


def read_all(folder):
    """Merge the tables of all chunks, as the recipe does."""
    first, *others = (ScoreTable.load(path) for path in sorted(Path(folder).glob("*.npz")))
    return first.merge(*others)


@pytest.mark.parametrize("weight", [None, 0.3])
def test_what_is_read_is_what_was_written(tmp_path, weight):
    weights = None if weight is None else np.full(N, weight)
    exact = ScoreTable.from_arrays(SCORES, Y, weights)
    forecast = exact.map(lambda s: np.where(s > 1, np.inf, s))
    judged = oddsmith.metrics.forecast_of(exact, PlattCalibrator().fit(SCORES, Y), in_sample=True)
    for i, table in enumerate((exact, exact.coarsen(16), forecast, judged)):
        table.save(tmp_path / f"{i}.npz")
        found = ScoreTable.load(tmp_path / f"{i}.npz")
        assert found == table
        assert (found.labels, found.in_sample) == (table.labels, table.in_sample) == ((0, 1), i == 3)


def test_a_file_is_replaced_by_force_only(tmp_path):
    path = tmp_path / "s.npz"
    table_of(CHUNKS[0]).save(path)
    with pytest.raises(InvalidInputError, match="--force"):
        table_of(CHUNKS[1]).save(path)
    table_of(CHUNKS[1]).save(path, force=True)
    assert ScoreTable.load(path) == table_of(CHUNKS[1])


def test_labels_are_in_the_file_and_do_not_merge_the_wrong_way_round(tmp_path):
    words = np.where(Y == 1, "yes", "no")
    tables = [ScoreTable.from_arrays(SCORES, words, pos_label=label) for label in ("yes", "no")]
    for table, name in zip(tables, "ab", strict=True):
        table.save(tmp_path / f"{name}.npz")
    with pytest.raises(InvalidInputError, match=r"tables must have the same labels; got \('yes', 'no'\) and"):
        read_all(tmp_path)
    positive = ScoreTable.from_arrays([0.1], ["yes"], pos_label="yes")
    assert positive.labels == (None, "yes")
    assert positive.merge(tables[0]).labels == tables[0].merge(positive).labels == ("no", "yes")
    assert tables[0].minus(tables[0].coarsen(8)).labels == ("no", "yes")


def test_tables_of_frames_know_their_labels():
    frame = needs("polars").DataFrame({"s": SCORES, "y": np.where(Y == 1, "yes", "no")})
    assert ScoreTable.from_frame(frame, "s", "y", pos_label="yes").labels == ("no", "yes")


@pytest.mark.parametrize("step", ["_flush", "_move"])
def test_a_failed_write_changes_nothing(tmp_path, monkeypatch, step):
    path = tmp_path / "s.npz"
    table_of(CHUNKS[0]).save(path)
    with monkeypatch.context() as patched:
        patched.setattr(atomic, step, failing)
        with pytest.raises((OSError, InvalidInputError), match="got a full disk"):
            table_of(CHUNKS[1]).save(path, force=True)
    assert ScoreTable.load(path) == table_of(CHUNKS[0])
    assert [file.name for file in tmp_path.iterdir()] == ["s.npz"]


def failing(*_):
    raise OSError(28, "no room")


def save_chunk(folder, i):
    table_of(CHUNKS[i]).save(Path(folder) / f"{i}.npz")


def test_threads_and_forks_each_write_their_chunk(tmp_path):
    with ThreadPoolExecutor(5) as pool:
        list(pool.map(save_chunk, [tmp_path] * 5, range(5)))
    assert read_all(tmp_path) == ScoreTable.from_arrays(SCORES, Y)
    other = tmp_path / "forks"
    other.mkdir()
    link = tmp_path / "link"
    link.symlink_to(other)
    workers = [get_context("fork").Process(target=save_chunk, args=(link, i)) for i in range(5)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert read_all(other) == read_all(link) == ScoreTable.from_arrays(SCORES, Y)


def test_a_path_is_where_it_was_when_it_was_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table_of(CHUNKS[0]).save("s.npz")
    (tmp_path / "elsewhere").mkdir()
    os.chdir("elsewhere")
    with pytest.raises(InvalidInputError, match="the file of the table must exist"):
        ScoreTable.load("s.npz")


WORKER = """
import sys
from pathlib import Path
import numpy as np
from oddsmith import ScoreTable

for day in range(30):
    path = Path(sys.argv[1]) / f"{day:02}.npz"
    print(day, flush=True)
    if path.exists():
        continue
    rng = np.random.default_rng(day)
    scores = rng.normal(size=4000)
    ScoreTable.from_arrays(scores, rng.random(4000) < 1 / (1 + np.exp(-scores))).coarsen(3000).save(path)
"""


def test_kills_lose_and_double_nothing(tmp_path):
    dice, kills = random.Random(1), 0
    for _ in range(20):  # a worker may be done before it is killed
        worker = subprocess.Popen([sys.executable, "-c", WORKER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        last = dice.randrange(2, 30)
        for line in worker.stdout:
            if int(line) == last:
                time.sleep(dice.random() * 0.03)
                worker.kill()
                break
        worker.stdout.close()
        kills += worker.wait() == -signal.SIGKILL
        if kills == 4:
            break
    assert kills
    subprocess.run([sys.executable, "-c", WORKER, str(tmp_path)], stdout=subprocess.DEVNULL, check=True)
    rows = [np.random.default_rng(day) for day in range(30)]
    days = [(scores := rng.normal(size=4000), rng.random(4000) < 1 / (1 + np.exp(-scores))) for rng in rows]
    whole = ScoreTable.from_arrays(*(np.concatenate(parts) for parts in zip(*days, strict=True)))
    merged = read_all(tmp_path)
    whole = whole.quantize(merged.resolution)
    assert merged.rows == whole.rows
    np.testing.assert_array_equal(merged.pos, whole.pos)
    np.testing.assert_array_equal(merged.neg, whole.neg)
    table_of(CHUNKS[0]).save(tmp_path / "more.npz")  # the next write sweeps what a kill left
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
    "no number": (put("scores", 0, np.nan), "scores that do not ascend"),
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
    "a flag in words": (say(in_sample="no"), "in_sample='no'"),
    "one label": (say(labels=[1]), r"labels=\[1\]"),
    "equal labels": (say(labels=[1, 1]), r"labels=\[1, 1\]"),
    "labels that are lists": (say(labels=[[], []]), r"labels=\[\[\], \[\]\]"),
    "another format": (say(format="oddsmith table stream 1"), "format 'oddsmith table stream 1'"),
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_a_file_that_was_changed_is_refused(tmp_path, flaw):
    path = tmp_path / "s.npz"
    ScoreTable.from_arrays(SCORES, Y).save(path)
    with np.load(path) as file:
        columns = {name: file[name] for name in file.files}
    head = json.loads(columns.pop("head").tobytes())
    change, words = FLAWS[flaw]
    change(columns, head)
    np.savez(path, head=np.frombuffer(json.dumps(head).encode(), np.uint8), **columns)
    with pytest.raises(InvalidInputError, match=rf"s\.npz must be a file that ScoreTable\.save wrote; got .*{words}"):
        ScoreTable.load(path)


def test_a_file_that_is_broken_or_could_run_is_refused(tmp_path):
    path = tmp_path / "s.npz"
    ScoreTable.from_arrays(SCORES, Y).save(path)
    whole = path.read_bytes()
    for broken in (b"", whole[: len(whole) // 2], b"no zip file", whole.replace(b"scores", b"scares")):
        path.write_bytes(broken)
        with pytest.raises(InvalidInputError, match=r"s\.npz must be a file that ScoreTable\.save wrote"):
            ScoreTable.load(path)
    np.savez(path, head=np.array([{"a": 1}], dtype=object))  # objects would be unpickled
    with pytest.raises(InvalidInputError, match=r"s\.npz must be a file that ScoreTable\.save wrote"):
        ScoreTable.load(path)
    with pytest.raises(InvalidInputError, match="the folder of the output must exist"):
        ScoreTable.from_arrays(SCORES, Y).save(tmp_path / "nowhere" / "s.npz")
    with pytest.raises(InvalidInputError, match="labels must be text, numbers or bools"):
        replace(ScoreTable.from_arrays(SCORES, Y), labels=(b"a", b"b")).save(tmp_path / "t.npz")


def test_the_old_name_leads_to_the_new_one():
    with pytest.raises(AttributeError, match=r"'TableStream'; use ScoreTable\.save and ScoreTable\.load"):
        _ = oddsmith.TableStream
