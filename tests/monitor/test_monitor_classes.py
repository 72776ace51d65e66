"""The monitor of models with several columns: several classes, segments by several columns, pooled segments."""

import numpy as np
import pytest
from scipy.special import expit, softmax

from oddsmith import PlattCalibrator, ScoreTable, TemperatureScaling, VectorScaling
from oddsmith.data import ScoreRows
from oddsmith.errors import InvalidInputError
from oddsmith.model import Model
from oddsmith.monitor import Monitor, page
from oddsmith.pooling import PooledCalibrator

LABELS = ("a", "b", "c")


def rows(n, seed=0, temperature=1.0, moved=0.0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 3)) * 1.5
    true = z / temperature + [moved, 0, 0]
    y = (rng.random(n)[:, None] > np.cumsum(softmax(true, axis=1), axis=1)).sum(axis=1).clip(0, 2)
    return z, y


def text(y):
    return np.array(LABELS)[y]


@pytest.fixture(scope="module")
def fitted():
    z, y = rows(2000, 99)
    model = Model.from_fitted(VectorScaling().fit(z, text(y)))
    return model, ScoreRows(z, y, LABELS, None, ("", "", ""), "log_odds")


def watched(fitted, days, **lost):
    model, calibration = fitted
    monitor = Monitor(model, calibration=calibration)
    for seed in range(days):
        z, y = rows(300, seed, **(lost if seed >= days // 2 else {}))
        found = monitor.update(z, text(y), batch=f"day {seed}")
    return monitor, found


def test_a_calm_run_of_several_classes(fitted):
    monitor, found = watched(fitted, 12)
    assert not found.alarm
    assert [each.target for each in found.findings] == ["decided class", "class a", "class b", "class c"]
    assert sum(1 / each.threshold for each in found.findings) == pytest.approx(0.05)
    assert found.findings[1].positives + found.findings[2].positives + found.findings[3].positives == 3600
    assert "class b" in page(monitor).lower()


def test_overconfidence_is_found_in_the_decided_class(fitted):
    _, found = watched(fitted, 24, temperature=2.5)
    by = {each.target: each for each in found.findings}
    assert by["decided class"].alarm
    assert by["decided class"].direction in ("too high", "too extreme")
    assert abs(by["decided class"].since_row - 3601) <= 300
    assert "decided class: ALARM" in str(found)


def test_a_more_frequent_class_is_named(fitted):
    _, found = watched(fitted, 24, moved=1.0)
    by = {each.target: each for each in found.findings}
    assert by["class a"].direction == "too low"
    assert by["class a"].base_rate


def test_each_finding_is_that_of_its_own_monitor(fitted):
    """One class against the rest is a stream of two classes."""
    model = fitted[0]
    z, y = rows(500, 5)
    monitor = Monitor(model.map)
    found = monitor.update_table(ScoreRows(z, y, tuple(range(3)), None, ("", "", ""), "log_odds"))
    p = model.predict_proba(z)
    for k in range(3):
        alone = Monitor().update(p[:, k], y == k)
        assert found.findings[1 + k].evidence == pytest.approx(alone.findings[0].evidence, rel=1e-6)
    best = p.argmax(axis=1)
    alone = Monitor().update(p.max(axis=1), y == best)
    assert found.findings[0].evidence == pytest.approx(alone.findings[0].evidence, rel=1e-6)


def test_the_state_of_several_classes_goes_on(fitted, tmp_path):
    model, calibration = fitted
    one, other = (Monitor(model, calibration=calibration) for _ in range(2))
    for seed in range(3):
        z, y = rows(100, seed)
        for each in (one, other):
            each.update(z, text(y), batch=f"day {seed}")
        other.save(tmp_path / "watch.json")
        other = Monitor.load(tmp_path / "watch.json", model, calibration=calibration)
    assert other.result().to_dict() == one.result().to_dict()
    assert other.update(z, text(y), batch="day 2").to_dict() == one.result().to_dict()
    with pytest.raises(InvalidInputError, match="a batch that was counted cannot change"):
        other.update(z, text((y + 1) % 3), batch="day 2")


def test_bad_rows_of_several_classes_are_refused_and_change_nothing(fitted):
    model = fitted[0]
    monitor = Monitor(model)
    z, y = rows(50, 3)
    before = monitor.update(z, text(y)).to_dict()
    for scores, labels, weight, words in (
        (z[:, :2], text(y), None, "3 columns"),
        (z, np.full(50, "d"), None, "labels must be those of the model; got 'd'"),
        (z, text(y)[:9], None, "as long as"),
        (z, text(y), np.full(50, 0.5), "labels must be counted"),
        (z * np.nan, text(y), None, "NaN"),
        (z[:, 0], text(y), None, "scores"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            monitor.update(scores, labels, weight)
    with pytest.raises(InvalidInputError, match="rows must be ScoreRows"):
        monitor.update_table(ScoreTable.from_arrays(z[:, 0], y > 0))
    with pytest.raises(InvalidInputError, match="calibration rows of this model must be ScoreRows"):
        Monitor(model, calibration=ScoreTable.from_arrays(z[:, 0], y > 0))
    assert monitor.result().to_dict() == before


def test_counts_are_rows_of_several_classes(fitted):
    model, calibration = fitted
    z, y = rows(60, 8)
    weight = np.random.default_rng(0).integers(1, 4, 60)
    counted = Monitor(model, calibration=calibration).update(z, text(y), weight)
    repeated = Monitor(model, calibration=calibration).update(z.repeat(weight, axis=0), text(y.repeat(weight)))
    for one, other in zip(counted.findings, repeated.findings, strict=True):
        assert one.evidence == pytest.approx(other.evidence, rel=1e-9)


def test_probabilities_of_exactly_zero_and_masked_classes_are_read():
    model = Model.from_fitted(TemperatureScaling().fit(*rows(200, 1)))
    z, y = rows(100, 2)
    z[np.arange(100), (y + 1) % 3] = -np.inf
    found = Monitor(model).update(z, y)
    assert all(np.isfinite(each.evidence) for each in found.findings)


def segmented(n, seed=0, lost=0.0):
    rng = np.random.default_rng(seed)
    keys = np.column_stack([rng.choice(["x", "y"], n), rng.choice(["1", "2"], n)])
    s = rng.normal(size=n)
    shift = np.where(keys[:, 0] == "x", 0.5, -0.5) + lost * (keys[:, 1] == "2")
    return s, (rng.random(n) < expit(s + shift)).astype(int), keys


@pytest.mark.parametrize("pooled", [True, False])
def test_segments_by_several_columns(pooled, tmp_path):
    s, y, keys = segmented(2000, 9)
    names = [tuple(each) for each in keys.tolist()]
    tables = {
        key: ScoreTable.from_arrays(*(each[[one == key for one in names]] for each in (s, y))) for key in set(names)
    }
    if pooled:
        model = PooledCalibrator(["first", "second"], "platt").fit_tables(tables).model_
    else:
        table = ScoreTable.from_arrays(s, y)
        parts = {key: Model.from_fitted(PlattCalibrator().fit_table(each), table=each) for key, each in tables.items()}
        whole = Model.from_fitted(PlattCalibrator().fit_table(table), table=table)
        model = whole.with_segments(["first", "second"], parts)
    monitor = Monitor(model, by_segment=True)
    for seed in range(6):
        assert not monitor.update(*segmented(800, seed)[:2], segments=segmented(800, seed)[2]).alarm
    for seed in range(6, 12):
        s, y, keys = segmented(800, seed, 1.2)
        found = monitor.update(s, y, segments=keys)
        monitor.save(tmp_path / "watch.json")
        monitor = Monitor.load(tmp_path / "watch.json", model)
    lost = {each.segment for each in found.findings if each.alarm}
    assert lost >= {("x", "2"), ("y", "2")}
    assert not lost & {("x", "1"), ("y", "1")}
    assert "segment x, 2: ALARM" in str(found)
    assert "Segment x, 2" in page(monitor)
    with pytest.raises(InvalidInputError, match="must be watched by segment"):
        Monitor(model)
    with pytest.raises(InvalidInputError, match="as long as the scores"):
        monitor.update(s, y, segments=keys[:, 0])


def test_a_segment_has_the_error_of_its_own_rows():
    """Rows of all segments do not make the map of one more exact."""
    s, y, keys = segmented(4000, 9)
    at = keys[:, 0] == "x"
    own, all_rows = ScoreTable.from_arrays(s[at][:200], y[at][:200]), ScoreTable.from_arrays(s, y)
    part = Model.from_fitted(PlattCalibrator().fit_table(own), table=own)
    model = Model.from_fitted(PlattCalibrator().fit_table(all_rows), table=all_rows).with_segments("first", {"x": part})
    monitor = Monitor(model, calibration=all_rows, by_segment=True)
    s, y, keys = segmented(500, 1)
    monitor.update(s, y, segments=keys[:, 0])
    root = monitor._tracks["x", ""].evidence.error.root
    assert (root @ root.T)[0, 0] == pytest.approx(4.9 / 200, rel=0.4)
