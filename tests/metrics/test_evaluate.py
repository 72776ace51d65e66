"""The evaluation: the measures themselves, as plain JSON and as text."""

import json

import numpy as np
import pytest
from scipy.special import expit

from oddsmith import PlattCalibrator, ScoreTable, metrics
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import evaluate, forecast_of, interval
from oddsmith.metrics.result import plain


class Identity:
    @staticmethod
    def log_odds(scores):
        return scores


def forecast(seed=0, n=400, weight=None):
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-0.5, 1.5, n)
    return ScoreTable.from_arrays(log_odds, (rng.random(n) < 1 / (1 + np.exp(-0.7 * log_odds))).astype(int), weight)


@pytest.fixture(scope="module")
def found():
    return evaluate(forecast(), n_resamples=130, random_state=0)


def test_values_are_those_of_the_measures(found):
    table = forecast()
    for name, part in found["measures"].items():
        assert part["value"] == float(metrics.MEASURES[name].of(table))
        assert metrics.MEASURES[name] is getattr(metrics, name)
        assert part["definition"]
    for name, part in found["tests"].items():
        assert part == getattr(metrics, name).of(table).to_dict()
    assert found["data"] == {
        "rows": 400,
        "weight": 400,
        "kind": "count",
        "classes": 2,
        "prevalence": table.prevalence,
        "cells": None,
        "distinct": 400,
        "resolution": None,
    }
    assert (found["level"], found["in_sample"]) == (0.95, False)


def test_intervals_are_of_both_kinds(found):
    parts = {name: part["interval"] for name, part in found["measures"].items() if "interval" in part}
    assert set(found["measures"]) - set(parts) == {"distinct_outputs"}
    nonnegative = {name for name, part in parts.items() if part["consistency"] is not None}
    assert nonnegative == {
        "calibration_error",
        "e90",
        "integrated_calibration_index",
        "log_loss_discrimination",
        "log_loss_miscalibration",
        "smooth_calibration_error",
    }
    assert all(part["low"] <= part["high"] for part in parts.values())
    alone = interval(metrics.roc_auc, forecast(), n_resamples=130, random_state=0)
    assert (parts["roc_auc"]["low"], parts["roc_auc"]["high"]) == (alone.low, alone.high)


def test_is_plain_json(found):
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_without_intervals_nothing_is_resampled():
    found = evaluate(forecast(), intervals=False)
    assert found["level"] is None
    assert not any("interval" in part for part in found["measures"].values())


def test_float_weights():
    found = evaluate(forecast(weight=np.random.default_rng(1).uniform(0.5, 2, 400)), n_resamples=60, random_state=0)
    assert found["data"]["kind"] == "weight"
    assert all("reason" not in part for part in (*found["measures"].values(), *found["tests"].values()))


def test_what_is_undefined_says_why():
    table = metrics.forecast_from_arrays([0, 0, 1, 0, 0], [0.1, 0.2, 0.0, 0.4, 1.0])
    found = evaluate(table, n_resamples=60, random_state=0)
    assert found["measures"]["log_loss"]["value"] == "inf"
    assert "finite" in found["measures"]["log_loss"]["interval"]["reason"]
    assert "finite" in found["measures"]["calibration_slope"]["reason"]
    assert "interval" not in found["measures"]["calibration_slope"]
    assert found["tests"]["kuiper_test"]["value"] == "inf"
    json.dumps(found, allow_nan=False)
    one_class = evaluate(metrics.forecast_from_arrays([0, 0], [0.1, 0.2]), n_resamples=60, random_state=0)
    assert "both classes" in one_class["measures"]["roc_auc"]["reason"]
    assert one_class["measures"]["squared_error"]["interval"]["low"] >= 0


@pytest.mark.parametrize("n", [400, 3000])
@pytest.mark.parametrize("form", ["probability", "log-odds"])
@pytest.mark.parametrize("weighted", [False, True])
def test_forecasts_that_round_to_one_lose_no_interval(n, form, weighted):
    # What Platt's sigmoid gives far out: log-odds of 40 and more, of which a double makes P = 1.
    rng = np.random.default_rng(2)
    fitted = PlattCalibrator().fit(scores := rng.normal(size=n), rng.random(n) < expit(10 * scores))
    log_odds = fitted.log_odds(5 * scores)
    prob = fitted.predict_proba(5 * scores)[:, 1]
    y = (rng.random(n) < expit(0.6 * np.clip(log_odds, -40, 25))).astype(int)
    y[prob == 1.0] = 1
    assert (prob == 1.0).sum() > n / 10
    weight = rng.uniform(0.5, 2, n) if weighted else None
    of_prob = metrics.forecast_from_arrays(y, prob, weight)
    table = of_prob if form == "probability" else ScoreTable.from_arrays(log_odds, y, weight)
    found = evaluate(table, n_resamples=120, random_state=0)
    for name, part in found["measures"].items():
        assert "reason" not in part, part
        if name != "distinct_outputs":
            limits = part["interval"]
            assert np.isfinite([limits["low"], limits["high"]]).all(), name
            assert limits["low"] <= limits["high"]
    assert all("reason" not in part for part in found["tests"].values())
    # Both forms say the same, where rounding leaves it.
    other = ScoreTable.from_arrays(log_odds, y, weight) if form == "probability" else of_prob
    for name in ("log_loss", "calibration_slope", "calibration_intercept", "log_loss_miscalibration"):
        expected = getattr(metrics, name).of(other)
        assert found["measures"][name]["value"] == pytest.approx(expected, rel=1e-4, abs=1e-6)
    assert found["tests"]["cox_test"]["value"] == pytest.approx(float(metrics.cox_test.of(other)), rel=1e-3)


def test_in_sample_forecasts_have_no_p_values():
    found = evaluate(forecast_of(forecast(), Identity, in_sample=True), intervals=False)
    assert found["in_sample"]
    assert all("fitted on are refused" in part["reason"] for part in found["tests"].values())


def test_results_become_plain_json_all_the_way_down():
    part = metrics.calibration_error.of(forecast())
    nested = plain({"a": [part, (np.int64(3), np.float32(0.5))], 1: np.array([[1.0, -np.inf]]), "n": np.nan})
    assert nested == {"a": [part.to_dict(), [3, 0.5]], "1": [[1.0, "-inf"]], "n": "nan"}
    assert json.loads(json.dumps(nested, allow_nan=False)) == nested


def test_bad_input():
    for call, words in (
        (lambda: evaluate([0.1, 0.2]), "ScoreTable, ClassForecast or ScoreRows"),
        (lambda: evaluate(forecast(), level=2.0), "level"),
        (lambda: evaluate(forecast(), n_resamples=1), "n_resamples"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            call()


def _dependent_rows(kind, seed=3):
    """Return a calibrated forecast whose rows are copies, or clusters, and its groups."""
    rng = np.random.default_rng(seed)
    if kind == "copies":
        p = rng.beta(1, 2, 300)
        y = rng.random(300) < p
        return metrics.forecast_from_arrays(np.tile(y, 10), np.tile(p, 10)), None
    p, group = rng.beta(1, 2, 1200), np.repeat(np.arange(60), 20)
    y = np.where(rng.random(1200) < 2 / 3, rng.random(60)[group], rng.random(1200)) < p
    return metrics.forecast_from_arrays(y, p), {
        one: metrics.forecast_from_arrays(y[group == one], p[group == one]) for one in range(60)
    }


@pytest.mark.parametrize("kind", ["copies", "clusters"])
def test_tests_of_dependent_rows_agree_with_the_verdict(kind):
    """The tests counted rows, and rejected with p < 0.0001 next to a verdict that no test rejects."""
    forecast, groups = _dependent_rows(kind, 2)
    found = evaluate(forecast, intervals=False, groups=groups)
    assert metrics.cox_test.of(forecast).p_value < 0.05 < found["judged"]["p_value"]
    assert found["tests"]["cox_test"]["p_value"] == pytest.approx(found["judged"]["p_value"])
    assert "by groups" in found["tests"]["cox_test"]["definition"]
    others = [part for name, part in found["tests"].items() if name != "cox_test"]
    assert all("do not depend on each other" in part["reason"] for part in others)


def test_intervals_of_copies_are_those_of_the_rows_that_were_copied():
    forecast, _ = _dependent_rows("copies")
    once = metrics.forecast_from_arrays(forecast.pos > 0, expit(forecast.scores))
    found = evaluate(forecast, n_resamples=200, random_state=0)["measures"]["log_loss"]["interval"]
    expected = metrics.interval(metrics.log_loss, once, n_resamples=200, random_state=0)
    assert found["high"] - found["low"] == pytest.approx(expected.high - expected.low, rel=0.25)
