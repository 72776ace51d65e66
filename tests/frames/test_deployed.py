"""Deployed models on rows of every engine: expected and watched as rows in memory are, by one aggregate query."""

import numpy as np
import pytest
from scipy.special import expit

from oddsmith import PlattCalibrator, ScoreTable
from oddsmith.expected import expected_performance
from oddsmith.frames import tables_from_frame
from oddsmith.model import Model
from oddsmith.monitor import Monitor
from optional import needs

pa = needs("pyarrow")

pytestmark = [
    pytest.mark.xdist_group("engines"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:pyspark"),
]

RNG = np.random.default_rng(32)
SCORES = np.round(RNG.gamma(0.5, 2.0, 900) - 1, 2)  # skewed, with ties
LABELS = np.where(RNG.random(900) < expit(SCORES - 1.5), "bad", "good")
MONTHS = np.repeat(["january", "february", "march"], 300)


@pytest.fixture(scope="module")
def model():
    s = np.round(np.random.default_rng(1).gamma(0.5, 2.0, 600) - 1, 2)
    y = np.where(np.random.default_rng(2).random(600) < expit(s - 1.5), "bad", "good")
    table = ScoreTable.from_arrays(s, y, pos_label="bad")
    return Model.from_fitted(PlattCalibrator().fit_table(table), table=table)


@pytest.fixture
def frame(held):
    return held(pa.table({"score": SCORES, "label": LABELS, "month": MONTHS}))


def test_an_engine_expects_what_arrays_do(frame, model):
    found = expected_performance(model, frame, score="score", thresholds=[0.2, 0.5])
    assert found.to_dict() == expected_performance(model, SCORES, thresholds=[0.2, 0.5]).to_dict()
    by = expected_performance(model, frame, score="score", by="month").chunks
    for name in set(MONTHS):
        alone = expected_performance(model, SCORES[name == MONTHS]).measures
        for measure, one in by[name].measures.items():
            assert one.value == pytest.approx(alone[measure].value, rel=1e-12, nan_ok=True), measure


def test_an_engine_is_watched_as_arrays_are(frame, model):
    table = ScoreTable.from_frame(frame, score="score", label="label", pos_label="bad")
    assert Monitor(model).update_table(table).to_dict() == Monitor(model).update(SCORES, LABELS).to_dict()
    tables = tables_from_frame(frame, "score", "label", by="month", pos_label="bad")
    by = Monitor(model, by_segment=True).update_table(tables)
    rows = Monitor(model, by_segment=True).update(SCORES, LABELS, segments=MONTHS)
    assert [each.segment for each in by.findings] == [None, "february", "january", "march"]
    for one, other in zip(by.findings, rows.findings, strict=True):
        assert one.evidence == pytest.approx(other.evidence, rel=1e-9)
        assert (one.segment, one.rows, one.positives) == (other.segment, other.rows, other.positives)


def test_rows_are_expected_and_watched_by_one_aggregate_query(duck, model, monkeypatch):
    """Another one asks for the range of the scores."""
    from oddsmith.frames.engines.duckdb import DuckDB

    asked, fetch = [], DuckDB.fetch

    def counted(self, planned):
        asked.append(planned)
        return fetch(self, planned)

    monkeypatch.setattr(DuckDB, "fetch", counted)
    frame = duck.from_arrow(pa.table({"score": SCORES, "label": LABELS, "month": MONTHS}))
    expected_performance(model, frame, score="score")
    assert len(asked) <= 2
    asked.clear()
    expected_performance(model, frame, score="score", by="month")
    assert len(asked) <= 2
    asked.clear()
    Monitor(model).update_table(ScoreTable.from_frame(frame, score="score", label="label", pos_label="bad"))
    assert len(asked) == 1
