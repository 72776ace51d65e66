"""The range of scores in many Parquet files is read from their footers, unless these do not tell it."""

import duckdb
import numpy as np
import pytest

from oddsmith import ScoreTable
from oddsmith.frames.engines import duckdb as duckdb_engine
from oddsmith.frames.engines.base import Extent
from oddsmith.frames.engines.duckdb import range_in_footers
from optional import needs

pa, pq = needs("pyarrow"), needs("pyarrow.parquet")
SCORES = np.random.default_rng(0).normal(size=3000)


@pytest.fixture
def files(tmp_path):
    def write(*parts, **options):
        for number, part in enumerate(parts):
            columns = {"it's": part, "label": pa.array(np.arange(len(part)) % 2)}
            pq.write_table(pa.table(columns), tmp_path / f"{number}.parquet", row_group_size=500, **options)
        return duckdb.read_parquet(f"{tmp_path}/*.parquet")

    return write


def test_all_files_are_looked_at(files):
    relation = files(*(pa.array(part) for part in np.split(SCORES, 3)))
    assert range_in_footers(relation, "it's") == Extent(3000, (SCORES.min(), SCORES.max()))


@pytest.mark.parametrize(
    "column",
    [
        pa.array(SCORES.astype(np.float32)),
        pa.array([0.5, np.inf, 1.0]),
        pa.array([None, None], pa.float64()),
        pa.array([1, 2, 3]),
    ],
    ids=["single precision", "infinite", "missing", "integers"],
)
def test_other_columns_are_left_to_the_engine(files, column):
    assert range_in_footers(files(column), "it's") is None


def test_files_without_statistics_and_parts_of_files_are_left_to_the_engine(files):
    relation = files(pa.array(SCORES))
    assert range_in_footers(relation.filter("label = 0"), "it's") is None
    assert range_in_footers(relation.limit(5), "it's") is None
    assert range_in_footers(relation.project("*, label + 1 AS more"), "it's") is None
    assert range_in_footers(files(pa.array(SCORES), write_statistics=False), "it's") is None


def test_the_table_is_the_same(files, monkeypatch):
    many = np.random.default_rng(1).standard_t(3, 600_000)
    relation = files(*(pa.array(part) for part in np.split(many, 4)))
    quick = ScoreTable.from_frame(relation, score="it's", label="label", resolution="auto")
    monkeypatch.setattr(duckdb_engine, "range_in_footers", lambda *_: None)
    asked = ScoreTable.from_frame(relation, score="it's", label="label", resolution="auto")
    assert (asked.resolution, asked.rows) == (quick.resolution, 600_000)
    np.testing.assert_array_equal(asked.pos, quick.pos)
    np.testing.assert_array_equal(asked.neg, quick.neg)
