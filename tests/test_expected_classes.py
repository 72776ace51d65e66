"""Expected performance of several classes: the definitions row by row, every kind of data, and coverage."""

import numpy as np
import polars as pl
import pytest
from scipy.special import softmax
from sklearn import metrics as sk

from oddsmith import TemperatureScaling, VectorScaling
from oddsmith.data import ScoreRows
from oddsmith.errors import InvalidInputError
from oddsmith.expected import expected_performance, importance_weights, observed_performance, promises
from oddsmith.model import Model

LABELS = ("a", "b", "c")
WEIGHTS = np.array([[1.0, -0.5, 0.2], [0.1, 1.3, -1.0]])


def draw(n, seed=0, bias=(0.5, 0.0, -1.0)):
    """Return logits that are too extreme, and the true class."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 2)) @ WEIGHTS + np.array(bias)
    y = (rng.random(n)[:, None] > np.cumsum(softmax(z, axis=1), axis=1)).sum(axis=1).clip(0, 2)
    return 1.7 * (z - np.array(bias)) + [0.5, 0.0, -1.0], y


def rows(z, y):
    return ScoreRows(z, y, LABELS, None, ("za", "zb", "zc"), "log_odds")


def fitted(n=1000, seed=9):
    z, y = draw(n, seed)
    return Model.from_fitted(VectorScaling().fit(z, np.array(LABELS)[y])), rows(z, y)


def test_each_measure_is_its_expectation_over_labels():
    model, _ = fitted()
    z, _ = draw(60)
    p, costs = model.predict_proba(z), np.array([[0, 1, 4], [2, 0, 1], [1, 1, 0]])
    found = expected_performance(model, z, costs=costs).measures
    chosen = p.argmax(axis=1)
    right = np.array([p[chosen == c, c].sum() for c in range(3)])
    decided = np.bincount(chosen, minlength=3)
    expected = {
        "accuracy": p.max(axis=1).mean(),
        "macro_precision": np.mean(right[decided > 0] / decided[decided > 0]),
        "macro_recall": np.mean(right / p.sum(axis=0)),
        "macro_f1": np.mean(2 * right / (decided + p.sum(axis=0))),
        "log_loss": -(p * np.log(p)).sum(axis=1).mean(),
        "brier": (1 - (p**2).sum(axis=1)).mean(),
        "cost": (p @ costs.T).min(axis=1).mean(),
    }
    assert {name: one.value for name, one in found.items()} == pytest.approx(expected, rel=1e-12)


def test_the_spread_of_the_sums_is_that_of_drawn_labels():
    """Of a map that is taken as exact, intervals are quantiles of what labels show."""
    z, _ = draw(400)
    model = fitted()[0].map
    p, rng = Model("", {}, model, (0, 1, 2), None).predict_proba(z), np.random.default_rng(2)
    found = expected_performance(model, z).measures
    seen = []
    for _ in range(2000):
        y = (rng.random(400)[:, None] > np.cumsum(p, axis=1)).sum(axis=1).clip(0, 2)
        drawn = ScoreRows(z, y, (0, 1, 2), None, ("", "", ""), "log_odds")
        seen.append(observed_performance(model, drawn))
    for name, one in found.items():
        low, high = np.quantile([each[name] for each in seen], [0.025, 0.975])
        assert high - low == pytest.approx(one.high - one.low, rel=0.12), name
        assert low == pytest.approx(one.low, abs=0.15 * (high - low)), name


def test_observed_measures_are_scikit_learns():
    model, _ = fitted()
    z, y = draw(500, 3)
    p = model.predict_proba(z)
    found = observed_performance(model, rows(z, y))
    said = p.argmax(axis=1)
    assert found["accuracy"] == pytest.approx(sk.accuracy_score(y, said))
    assert found["macro_precision"] == pytest.approx(sk.precision_score(y, said, average="macro"))
    assert found["macro_recall"] == pytest.approx(sk.recall_score(y, said, average="macro"))
    assert found["macro_f1"] == pytest.approx(sk.f1_score(y, said, average="macro"))
    assert found["log_loss"] == pytest.approx(sk.log_loss(y, p))
    assert found["brier"] == pytest.approx(((np.eye(3)[y] - p) ** 2).sum(axis=1).mean())


def test_arrays_frames_and_files_give_the_same(tmp_path):
    model, calibration = fitted()
    z, y = draw(300)
    frame = pl.DataFrame(z, schema=["za", "zb", "zc"]).with_columns(month=pl.Series(np.repeat(["x", "y"], 150)))
    frame.write_parquet(tmp_path / "new.parquet")
    first = expected_performance(model, z, calibration=calibration)
    columns = ["za", "zb", "zc"]
    for data in (frame, frame.lazy(), frame.to_pandas(), frame.to_arrow(), tmp_path / "new.parquet"):
        assert expected_performance(model, data, score=columns, calibration=calibration).to_dict() == first.to_dict()
    assert expected_performance(model, rows(z, y), calibration=calibration).to_dict() == first.to_dict()
    by = expected_performance(model, frame, score=columns, by="month", calibration=calibration)
    assert list(by.chunks) == ["x", "y"]
    assert by.measures["accuracy"].value == pytest.approx(first.measures["accuracy"].value)
    parts = [by.chunks[name].measures["accuracy"].value for name in "xy"]
    assert np.mean(parts) == pytest.approx(first.measures["accuracy"].value)
    assert by.headline == "300 rows, expected 44.8% a, 38.8% b, 16.4% c"


def test_probabilities_and_logits_are_the_same_rows():
    z, y = draw(800)
    model = Model.from_fitted(TemperatureScaling(input="probabilities").fit(softmax(z, axis=1), y))
    direct = expected_performance(model, softmax(z, axis=1))
    turned = expected_performance(model, ScoreRows(z, y, (0, 1, 2), None, ("", "", ""), "log_odds"))
    assert turned.measures["log_loss"].value == pytest.approx(direct.measures["log_loss"].value)


def test_promises_are_kept_until_the_relation_moves():
    model, calibration = fitted(3000)
    kept = promises(model, rows(*draw(2000, 7)), calibration=calibration)
    assert all(one.kept for one in kept.values())
    broken = promises(model, rows(*draw(2000, 8, bias=(-1.5, 0.0, 1.0))), calibration=calibration)
    assert not broken["accuracy"].kept


def test_intervals_cover():
    """A few of the runs of ``python -m benchmarks.expected --classes``."""
    held = []
    for seed in range(40):
        model, calibration = fitted(500, 1000 + seed)
        z, y = draw(1000, 5000 + seed)
        seen = observed_performance(model, rows(z, y))
        for known in (calibration, None):
            found = expected_performance(model, z, calibration=known, random_state=seed)
            assert found.has_map_error
            held.append([one.low <= seen[name] <= one.high for name, one in found.measures.items()])
    assert np.mean(held) > 0.88


def test_rows_that_differ_in_other_columns_are_believed_by_a_reweighted_model():
    model, calibration = fitted(2000)
    weight = importance_weights(calibration.values, calibration.values[calibration.values[:, 0] > 0])
    own = VectorScaling().fit(calibration.values, np.array(LABELS)[calibration.truth], weight)
    reweighted = ScoreRows(calibration.values, calibration.truth, LABELS, weight, ("za", "zb", "zc"), "log_odds")
    found = expected_performance(model, draw(500)[0], calibration=reweighted, believed=own)
    assert found.measures["log_loss"].low < found.measures["log_loss"].value < found.measures["log_loss"].high


def test_bad_input_is_refused():
    model, _ = fitted()
    z, y = draw(30)
    other = ScoreRows(z, y, ("b", "a", "c"), None, ("", "", ""), "log_odds")
    for data, options, words in (
        (z[:, :2], {}, "rows must have 3 columns"),
        (z[:0], {}, "at least one"),
        (np.where(z > 2, np.nan, z), {}, "NaN"),
        (z, {"thresholds": 0.3}, "thresholds are for two classes"),
        (z, {"by": "month"}, "by needs a frame"),
        (z, {"costs": np.eye(2)}, "costs must have 3 columns"),
        (z, {"calibration": z}, "must be ScoreRows"),
        (pl.DataFrame({"za": [0.1]}), {}, "score must name 3 columns"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            expected_performance(model, data, **options)
    with pytest.raises(InvalidInputError, match="labels must be those of the model"):
        observed_performance(model, other)


def test_classes_without_any_row_have_no_part_in_means():
    model, _ = fitted()
    z = np.array([[50.0, 0.0, 0.0]] * 5)
    found = expected_performance(model, z).measures
    assert found["macro_precision"].value == pytest.approx(1.0)
    assert np.isfinite(found["macro_recall"].high)
