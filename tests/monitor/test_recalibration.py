"""Recalibration: the least change that rows support, and a new model that names its parent."""

import hashlib

import numpy as np
import pytest
from scipy.special import expit

from oddsmith import BetaCalibrator, IsotonicCalibrator, PlattCalibrator, ScoreTable, load
from oddsmith.errors import InvalidInputError
from oddsmith.model import Model
from oddsmith.monitor import Monitor, recalibrate


def rows(n, truth, seed=0):
    rng = np.random.default_rng(seed)
    s = rng.normal(size=n)
    return ScoreTable.from_arrays(s, (rng.random(n) < expit(truth(s))).astype(int))


def model(method=PlattCalibrator):
    table = rows(5000, lambda s: 1.5 * s, 99)
    return Model.from_fitted(method().fit_table(table), table=table)


@pytest.mark.parametrize(
    ("truth", "change"),
    [
        (lambda s: 1.5 * s, "none"),
        (lambda s: 1.5 * s - 0.7, "shift"),
        (lambda s: 0.7 * s, "slope"),
        (lambda s: 0.7 * s + 0.8, "slope"),
    ],
)
def test_the_least_change_that_rows_support(truth, change):
    found = recalibrate(model(), rows(4000, truth))
    assert found.change == change
    if change != "none":
        assert 0 < found.low < found.gain < found.high
        at = np.linspace(-1.5, 1.5, 7)
        np.testing.assert_allclose(found.model.log_odds(at), truth(at), atol=0.2)


def test_another_curve_needs_a_refit():
    found = recalibrate(model(), rows(8000, lambda s: 1.5 * np.abs(s) - 1), refit=IsotonicCalibrator())
    assert found.change == "refit"
    assert recalibrate(model(IsotonicCalibrator), rows(4000, lambda s: 0.5 * s)).change == "refit"


@pytest.mark.parametrize("method", [PlattCalibrator, BetaCalibrator, IsotonicCalibrator])
def test_the_new_model_names_its_parent_and_is_saved(method, tmp_path):
    parent = model(method)
    found = recalibrate(parent, rows(4000, lambda s: 1.5 * s - 1.0))
    found.model.save(tmp_path / "new.json")
    new = load(tmp_path / "new.json")
    assert new.parameters["parent"] == hashlib.sha256(parent.to_json().encode()).hexdigest()
    assert new.parameters["change"] == found.change == "shift"
    assert new.data.rows == 4000
    assert recalibrate(new, rows(2000, lambda s: 1.5 * s - 1.0, 5)).change == "none"


def test_a_recalibrated_model_is_watched_anew():
    since = rows(3000, lambda s: 1.5 * s + 0.8)
    new = recalibrate(model(), since).model
    monitor = Monitor(new)
    assert not monitor.update_table(rows(3000, lambda s: 1.5 * s + 0.8, 8)).alarm
    with pytest.raises(InvalidInputError, match="rows that the fit did not see"):
        monitor.update_table(since)


def test_no_change_is_rarely_supported_where_none_is_needed():
    changed = [recalibrate(model(), rows(1000, lambda s: 1.5 * s, seed)).change != "none" for seed in range(60)]
    assert sum(changed) <= 8


def test_too_few_rows_and_weights_are_refused():
    few = rows(12, lambda s: s)
    with pytest.raises(InvalidInputError, match="10 rows of each class"):
        recalibrate(model(), few)
    with pytest.raises(InvalidInputError, match="rows must be counted"):
        recalibrate(model(), rows(100, lambda s: s).scale(0.5))
