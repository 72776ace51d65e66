"""Tables read from files are the tables of their rows."""

import signal
import subprocess
import sys
import textwrap
import time

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oddsmith import ScoreTable
from oddsmith.errors import InvalidInputError
from oddsmith.files import choose_columns, open_scores, read_table
from oddsmith.model import table_hash
from samples import examples, samples


def read(path, **options):
    roles = {key: options.pop(key) for key in ("score", "label", "weight", "by") if key in options}
    with open_scores(path) as file:
        return read_table(file, choose_columns(file, **roles), **options)


def write(path, **columns):
    rows = [",".join(columns), *(",".join(str(value) for value in row) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(rows) + "\n")


@examples(12)
@given(samples(), st.booleans())
def test_the_table_of_the_rows(tmp_path_factory, sample, weighted):
    scores, y = sample
    path = tmp_path_factory.mktemp("table") / "a.csv"
    weight = np.arange(len(y)) % 4
    columns = {"score": [repr(float(s)) for s in scores], "label": y} | ({"w": weight} if weighted else {})
    write(path, **columns)
    expected = ScoreTable.from_arrays(scores, y, weight if weighted else None)
    assert read(path, resolution=None, **({"weight": "w"} if weighted else {})).table == expected


def test_float_weights(tmp_path):
    scores, y, weight = [1.0, 2.0, 1.0, 3.0], [0, 1, 1, 0], [0.5, 2, 1.25, 0]
    write(tmp_path / "a.csv", score=scores, label=y, w=weight)
    table = read(tmp_path / "a.csv", weight="w").table
    assert table.kind == "weight"
    expected = ScoreTable.from_arrays(scores, y, weight)
    np.testing.assert_allclose([table.pos, table.neg], [expected.pos, expected.neg])
    np.testing.assert_allclose([table.pos_sq, table.neg_sq], [expected.pos_sq, expected.neg_sq])


@pytest.mark.parametrize("kind", ["INTEGER", "UTINYINT", "BIGINT"])
def test_whole_numbers_in_parquet_are_counts(tmp_path, kind):
    path = tmp_path / "a.parquet"
    duckdb.connect().execute(
        f"COPY (SELECT unnest([1.0, 2.0]) AS score, unnest([0, 1]) AS label, 3::{kind} AS w) TO '{path}'"
    )
    table = read(path, weight="w").table
    assert (table.kind, table.rows) == ("count", 6)
    duckdb.connect().execute(
        f"COPY (SELECT unnest([1.0, 2.0]) AS score, unnest([0, 1]) AS label, 3.0 AS w) TO '{path}'"
    )
    assert read(path, weight="w").table.kind == "weight"


def test_segments(tmp_path):
    rng = np.random.default_rng(0)
    scores, y, day = rng.normal(size=300).round(1), rng.integers(0, 2, 300), rng.integers(0, 40, 300)
    write(tmp_path / "a.csv", score=scores, label=y, day=day)
    data = read(tmp_path / "a.csv", by="day")
    assert data.segments.keys() == {str(value) for value in day}
    for value in set(day.tolist()):
        assert data.segments[str(value)] == ScoreTable.from_arrays(scores[day == value], y[day == value])
    assert data.table == ScoreTable.from_arrays(scores, y)


@pytest.mark.parametrize(
    ("labels", "positive", "classes"),
    [
        (["0", "1"], None, (0, 1)),
        (["1", "1.0", "0", "+1", "0.0"], None, (0, 1)),
        (["-1", "1"], None, (-1, 1)),
        (["false", "true"], None, (False, True)),
        (["False", "TRUE", "true"], None, (False, True)),
        (["no", "yes"], "yes", ("no", "yes")),
        (["no", "yes"], "no", ("yes", "no")),
        (["1", "2"], "2", (1, 2)),
        (["1", "2", "2.0"], "2.0", (1, 2)),
        (["0", "1"], "0", (1, 0)),
        (["True", "False"], "false", (True, False)),
        (["0.5", "1.5"], "1.5", (0.5, 1.5)),
        (["Nein ", "ja"], "ja", ("Nein ", "ja")),
        (["yes", "yes"], "yes", ("not yes", "yes")),
        (["no", "no"], "yes", ("no", "yes")),
        (["0", "0"], None, (0, 1)),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_labels(tmp_path, labels, positive, classes, kind):
    path = tmp_path / f"a.{kind}"
    if kind == "csv":
        write(path, score=range(len(labels)), label=labels)
    else:
        rows = ", ".join(f"({i}, '{label}')" for i, label in enumerate(labels))
        duckdb.connect().execute(f"COPY (FROM (VALUES {rows}) t(score, label)) TO '{path}'")
    data = read(path, positive=positive)
    assert data.labels == classes
    assert [type(label) for label in data.labels] == [type(label) for label in classes]
    meant = [_is_positive(label, classes[1]) for label in labels]
    assert data.table.pos.tolist() == [int(yes) for yes in meant]


def _is_positive(label, positive):
    if isinstance(positive, bool):
        return label.lower() == str(positive).lower()
    return label == positive if isinstance(positive, str) else float(label) == positive


@pytest.mark.parametrize("kind", ["DOUBLE", "BOOLEAN", "TINYINT", "DECIMAL(4, 1)"])
def test_typed_labels(tmp_path, kind):
    path = tmp_path / "a.parquet"
    duckdb.connect().execute(f"COPY (SELECT unnest([1.0, 2.0]) AS score, unnest([0, 1])::{kind} AS label) TO '{path}'")
    assert read(path).table == ScoreTable.from_arrays([1, 2], [0, 1])


@pytest.mark.parametrize(
    ("labels", "positive", "message"),
    [
        (["no", "yes"], None, r"got labels no 1, yes 1.*positive='yes' \(--positive yes\)"),
        (["yes", "yes"], None, "--positive yes"),
        (
            ["no", "yes"],
            "Yes",
            "labels that occur; got 'Yes' with labels no 1, yes 1. Hint: pass positive='yes'",
        ),
        (["0", "1"], "yes", "positive must name labels that occur"),
        (["a", "b", "c"], None, "got labels a 1, b 1, c 1. Hint: list the positive ones"),
        (["a", "b", "c"], "d", "positive must name labels that occur; got 'd' with labels a 1, b 1, c 1"),
        (["0", "1", "2"], None, "got labels '0' 1, '1' 1, '2' 1"),
        (["1_0", "10", "1"], None, "got labels '1' 1, '10' 1, 1_0 1"),
        (["0.1", "0.7", "0.9"], None, "continuous"),
        (["0", "1", "nan"], None, "NaN"),
        ([f"id{i}" for i in range(500)], None, "label must be a column of few values"),
        ([f"id{i}" for i in range(500)], "id7", "label must be a column of few values"),
    ],
)
def test_labels_that_cannot_be_used(tmp_path, labels, positive, message):
    write(tmp_path / "a.csv", score=range(len(labels)), label=labels)
    with pytest.raises(InvalidInputError, match=message):
        read(tmp_path / "a.csv", positive=positive)


@pytest.mark.parametrize(("labels", "positive"), [(["a", "b", "c"], "b"), (["0", "2.0", "2", "1"], "2")])
def test_one_label_against_the_rest(tmp_path, labels, positive):
    write(tmp_path / "a.csv", score=range(len(labels)), label=labels)
    data = read(tmp_path / "a.csv", positive=positive)
    meant = [label.startswith(positive) for label in labels]
    assert data.table == ScoreTable.from_arrays(range(len(labels)), meant)
    assert data.labels == (f"not {positive}", positive)


def test_a_label_is_needed(tmp_path):
    write(tmp_path / "a.csv", score=[1], label=[0])
    with open_scores(tmp_path / "a.csv") as file, pytest.raises(InvalidInputError, match="--label"):
        read_table(file, choose_columns(file, needs_label=False))


def many_rows(path, rows):
    duckdb.connect().execute(
        "COPY (SELECT hash(i) / 1.8446744073709552e19 * 20 - 10 AS score, hash(i + 1) % 3 // 2 AS label "
        f"FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet)"
    )


def test_cells_of_a_given_width(tmp_path):
    many_rows(tmp_path / "a.parquet", 10_000)
    exact = read(tmp_path / "a.parquet", resolution=None).table
    cells = read(tmp_path / "a.parquet", resolution=0.25).table
    expected = exact.quantize(0.25)
    assert (cells.resolution, cells.rows) == (0.25, 10_000)
    np.testing.assert_array_equal([cells.pos, cells.neg], [expected.pos, expected.neg])
    np.testing.assert_allclose(cells.scores, expected.scores)


UNIFORM = "hash(i) / 1.8446744073709552e19"


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("score", "roles"),
    [(f"{UNIFORM} * 2000 - 1000", {"weight": "w", "by": "part"}), (f"({UNIFORM}) ** 9", {})],
    ids=["scores", "probabilities"],
)
def test_cells_do_not_depend_on_the_order_of_rows(tmp_path, score, roles):
    """Counts and sums are the same to the last bit, however the engine adds: so is every fit."""
    rows = f"SELECT {score} AS score, hash(i + 1) % 3 // 2 AS label, i % 3 AS w, i % 5 AS part FROM range(600000) t(i)"
    found = []
    for order in ("hash(i)", "hash(i + 7)"):
        path = tmp_path / f"{len(found)}.parquet"
        duckdb.connect().execute(f"COPY ({rows} ORDER BY {order}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 50000)")
        found.append(read(path, **roles))
    one, other = found
    assert one.table.resolution is not None
    assert one.table.log_odds_cells == ("** 9" in score)
    assert one.table == other.table
    assert one.segments == other.segments
    assert table_hash(one.table) == table_hash(other.table)
    exact = read(path, resolution=None, **roles).table.quantize(*one.table.grid)
    np.testing.assert_array_equal([one.table.pos, one.table.neg], [exact.pos, exact.neg])
    np.testing.assert_allclose(one.table.pos_sum, exact.pos_sum, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(one.table.scores, exact.scores, rtol=1e-12, atol=1e-15)


def test_a_cell_of_equal_scores_stands_at_them(tmp_path):
    path = tmp_path / "a.parquet"
    duckdb.connect().execute(
        "COPY (SELECT if(i % 2 = 0, 1 / 3, i / 1e6 - 0.05) AS score, i % 3 // 2 AS label "
        f"FROM range(150000) t(i)) TO '{path}'"
    )
    table = read(path, resolution=2.0**-20).table
    assert 1 / 3 in table.scores


def test_many_distinct_scores_are_put_in_cells(tmp_path):
    many_rows(tmp_path / "a.parquet", 3_000_000)
    table = read(tmp_path / "a.parquet").table
    assert table.rows == 3_000_000
    assert len(table) < 1_000_000
    assert np.frexp(table.resolution)[0] == 0.5


def test_progress_rises_to_one(tmp_path):
    many_rows(tmp_path / "a.parquet", 3_000_000)
    told = []
    read(tmp_path / "a.parquet", progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert all(0 <= share <= 1 for share in told)
    assert {0.6, 0.8} < {*told}


def test_a_file_that_changes_is_noticed(tmp_path, monkeypatch):
    many_rows(tmp_path / "a.parquet", 10)
    with open_scores(tmp_path / "a.parquet") as file:
        watch = file.engine.watch

        def meddle(work, progress, start, stop):
            if stop == 1.0:
                many_rows(tmp_path / "a.parquet", 8)
            return watch(work, progress, start, stop)

        monkeypatch.setattr(file.engine, "watch", meddle)
        with pytest.raises(InvalidInputError, match="must not change while it is read; got 10, then 8 rows"):
            read_table(file, choose_columns(file))


def test_the_keyboard_ends_a_long_query(tmp_path):
    many_rows(tmp_path / "a.parquet", 100_000)
    code = """
        import sys
        from oddsmith.files import open_scores
        with open_scores("a.parquet") as file:
            print("ready", flush=True)
            query = "SELECT count(*) FROM 'a.parquet' a, 'a.parquet' b, 'a.parquet' c WHERE a.score + b.score > c.score"
            file.engine.watch(lambda: file.engine.rows(query), None, 0, 1)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert process.returncode != 0
    assert error.rstrip().endswith("KeyboardInterrupt")
