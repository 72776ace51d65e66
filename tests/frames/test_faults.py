"""What goes wrong in an engine: a clear error with its own words, or the right answer."""

import contextlib
import os
import signal
import threading
import time

import numpy as np
import pytest

from oddsmith import LogisticCalibrator, ScoreTable
from oddsmith.errors import EngineError, InvalidInputError, OddsmithError, SingleClassWarning
from optional import needs

pa = needs("pyarrow")
parquet = needs("pyarrow.parquet")

pytestmark = [
    pytest.mark.xdist_group("engines"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:pyspark"),
]

RNG = np.random.default_rng(3)
SCORES = RNG.normal(size=600)
Y = (RNG.random(600) < 1 / (1 + np.exp(-SCORES))).astype(int)
ROWS = pa.table({"s": SCORES, "y": Y})
WHOLE = ScoreTable.from_arrays(SCORES, Y)


@pytest.fixture
def halves(tmp_path):
    """Two Parquet files, and a function that writes the second anew."""
    paths = [str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")]
    for path, part in zip(paths, (ROWS.slice(0, 300), ROWS.slice(300)), strict=True):
        parquet.write_table(part, path)
    return paths


def truncate(path):
    size = os.path.getsize(path)
    os.truncate(path, size - 100)


def test_a_truncated_file_in_duckdb(halves, duck):
    frame = duck.read_parquet(halves)
    assert ScoreTable.from_frame(frame, "s", "y") == WHOLE
    truncate(halves[1])
    with pytest.raises(EngineError) as caught:
        ScoreTable.from_frame(frame, "s", "y", resolution=2**-4)
    message = str(caught.value)
    assert "must answer the query; got" in message
    assert "b.parquet" in message
    assert "GROUP BY" in message
    assert isinstance(caught.value, OddsmithError)


def test_a_truncated_file_in_polars(halves):
    polars = needs("polars")
    frame = polars.scan_parquet(halves)
    assert ScoreTable.from_frame(frame, "s", "y") == WHOLE
    truncate(halves[1])
    with pytest.raises(EngineError, match=r"(?s)got ComputeError: .*The query:"):
        ScoreTable.from_frame(polars.scan_parquet(halves), "s", "y")


def test_a_truncated_file_in_spark(halves, spark):
    frame = spark.read.schema("s double, y long").parquet(*halves)
    truncate(halves[1])
    with pytest.raises(EngineError, match=r"(?s)b.parquet.*Aggregate"):
        ScoreTable.from_frame(frame, "s", "y")


def test_a_truncated_file_in_dask(halves, dask_client):
    frames = needs("dask.dataframe")
    frame = frames.read_parquet(halves)
    assert ScoreTable.from_frame(frame, "s", "y") == WHOLE
    truncate(halves[1])
    with pytest.raises(EngineError, match=r"must answer the query; got \w+: .*[Pp]arquet"):
        ScoreTable.from_frame(frame, "s", "y", resolution=2**-4)


def test_a_file_with_another_type(halves, duck):
    frame = duck.read_parquet(halves)
    parquet.write_table(pa.table({"s": ["high", "low"], "y": [1, 0]}), halves[1])
    with pytest.raises(EngineError, match=r"(?s)high.*GROUP BY"):
        ScoreTable.from_frame(frame, "s", "y")


def test_an_engine_that_is_interrupted(duck):
    frame = duck.sql("SELECT random() AS s, (random() < 0.5)::INT AS y FROM range(1000000000000)")
    stop = threading.Timer(0.5, duck.interrupt)
    stop.start()
    with pytest.raises(EngineError, match="got InterruptException"):
        ScoreTable.from_frame(frame, "s", "y", resolution=2**-4)
    stop.join()


def test_a_server_that_ends_the_connection(postgres):
    psycopg = needs("psycopg")
    slow = "SELECT random() AS s, 1 AS y FROM generate_series(1, 300) WHERE pg_sleep(0.1) IS NOT NULL"
    busy = "state = 'active' AND query LIKE 'FETCH %' AND pid <> pg_backend_pid()"
    ends = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {busy}"

    def end_it():
        with psycopg.connect(postgres.conninfo, autocommit=True) as other:
            while not other.execute(ends).fetchall():
                time.sleep(0.05)

    with psycopg.connect(postgres.conninfo, autocommit=True) as other:
        other.execute(f"CREATE VIEW slow_rows AS {slow}")
        other.execute("CREATE VIEW fast_rows AS SELECT 0.5 AS s, 1 AS y")
    first, second = postgres.ibis(), postgres.ibis()
    with contextlib.closing(first.con), contextlib.closing(second.con):
        frame = first.table("slow_rows")
        thread = threading.Thread(target=end_it)
        thread.start()
        with pytest.raises(EngineError, match=r"(?s)terminating connection.*GROUP BY"):
            ScoreTable.from_frame(frame, "s", "y", resolution=2**-4)
        thread.join()
        assert ScoreTable.from_frame(second.table("fast_rows"), "s", "y").rows == 1


def test_a_worker_that_is_killed(dask_client, tmp_path):
    """Dask starts another worker and computes anew what was lost: nothing is missing, nothing counted twice."""
    frames = needs("dask.dataframe")
    flag = str(tmp_path / "killed")

    def kill_once(part):
        if len(part) and part["s"].iloc[0] == SCORES[200] and not os.path.exists(flag):
            with open(flag, "w"):
                pass
            os.kill(os.getpid(), signal.SIGKILL)
        return part

    rows = ROWS.to_pandas()
    frame = frames.from_pandas(rows, npartitions=6).map_partitions(kill_once, meta=rows.iloc[:0])
    assert ScoreTable.from_frame(frame, "s", "y") == WHOLE
    assert os.path.exists(flag)


def test_a_worker_that_is_killed_again_and_again(dask_client):
    frames = needs("dask.dataframe")

    def kill(part):
        if len(part):
            os.kill(os.getpid(), signal.SIGKILL)
        return part

    rows = ROWS.to_pandas()
    frame = frames.from_pandas(rows, npartitions=1).map_partitions(kill, meta=rows.iloc[:0])
    with pytest.raises(EngineError, match="got KilledWorker"):
        ScoreTable.from_frame(frame, "s", "y")


def test_partitions_without_rows_or_with_one_class_in_dask(dask_client):
    frames = needs("dask.dataframe")
    rows = ROWS.to_pandas()
    parts = [rows[rows.y == 1], rows.iloc[:0], rows[rows.y == 0], rows.iloc[:0]]
    frame = frames.concat([frames.from_pandas(part, npartitions=1) for part in parts])
    assert frame.npartitions == 4
    assert ScoreTable.from_frame(frame, "s", "y") == WHOLE


def test_partitions_without_rows_or_with_one_class_in_spark(spark):
    frame = spark.createDataFrame(ROWS.slice(0, 7)).repartition(8)
    assert ScoreTable.from_frame(frame, "s", "y") == ScoreTable.from_arrays(SCORES[:7], Y[:7])


def test_segments_with_one_class():
    polars = needs("polars")
    frame = polars.LazyFrame({"s": [0.1, 0.2, 0.3, 0.4], "y": [1, 1, 0, 1], "g": ["a", "a", "b", "b"]})
    tables = ScoreTable.from_frame(frame, "s", "y", by="g")
    assert (tables["a"].n_pos, tables["a"].n_neg) == (2, 0)
    with pytest.warns(SingleClassWarning):
        LogisticCalibrator().fit_table(tables["a"])


def test_no_rows(held):
    frame = held(pa.table({"s": pa.array([], pa.float64()), "y": pa.array([], pa.int64())}))
    for resolution in (None, 0.5, "auto"):
        with pytest.raises(InvalidInputError, match="frame must contain at least one row; got 0 rows"):
            ScoreTable.from_frame(frame, "s", "y", resolution=resolution)
