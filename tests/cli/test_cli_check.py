"""Bounds of values, bias-corrected values and ends of intervals."""

import numpy as np
import pytest
from cli_files import csv_text

from oddsmith.metrics import calibration_error, evaluation, forecast_from_arrays, interval


@pytest.fixture
def perfect(tmp_path, monkeypatch):
    """Write 200 rows of perfectly calibrated probabilities, each in five copies."""
    monkeypatch.setattr(evaluation, "_SAMPLES", 1000)
    rng = np.random.default_rng(0)
    p = rng.beta(2, 5, 200)
    y = (rng.random(200) < p).astype(int)
    at = np.repeat(np.arange(200), 5)
    path = tmp_path / "perfect.csv"
    path.write_text(csv_text({"probability": p, "label": y}))
    copied = tmp_path / "copied.csv"
    copied.write_text(csv_text({"probability": p[at], "label": y[at], "patient": at}))
    return path, copied, y, p


def bound(told):
    return told.json["bounds"][0]


def test_few_rows_break_a_bound_of_the_value_that_perfect_probabilities_keep(run, perfect):
    path, _, y, p = perfect
    raw = run("check", path, "--max-ece", 0.08, "--json")
    assert raw.code == 1
    assert bound(raw)["value"] == pytest.approx(calibration_error(y, p))
    found = interval(calibration_error, forecast_from_arrays(y, p), n_resamples=1000, random_state=0)
    for of, value, code in (("corrected", found.corrected, 0), ("lower", found.low, 0), ("upper", found.high, 1)):
        told = run("check", path, "--max-ece", 0.08, "--of", of, "--json")
        assert told.code == code
        assert bound(told)["value"] == pytest.approx(value, abs=0.02)
        assert {"corrected": "bias-corrected", "lower": "lower end", "upper": "upper end"}[of] in bound(told)["measure"]


def test_both_sides_and_tests_have_their_bounds(run, perfect):
    path, *_ = perfect
    told = run("check", path, "--min-auc", 0.5, "--max", "roc_auc=0.99", "--min-p", 0.001, "--of", "lower", "--json")
    assert told.code == 0
    first, test, second = told.json["bounds"]
    assert first["value"] == second["value"] < 0.99
    assert test["measure"].startswith("p-value")


def test_groups_widen_what_bounds_are_of(run, perfect):
    _, copied, *_ = perfect
    options = ("--max-ece", 0.5, "--of", "upper", "--json")
    alone, grouped = (run("check", copied, *options, *more) for more in ((), ("--groups", "patient")))
    assert bound(grouped)["value"] > bound(alone)["value"]


def test_what_is_not_there_is_refused(run, perfect):
    path, *_ = perfect
    told = run("check", path, "--max-brier", 0.3, "--of", "corrected")
    assert told.code == 2
    assert "needs a measure with a bias" in told.error
    told = run("check", path, "--max", "distinct_outputs=3", "--of", "upper")
    assert "needs a measure with an interval" in told.error


def test_several_classes(run, tmp_path):
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(3), 200)
    truth = (rng.random((200, 1)) > np.cumsum(p, axis=1)).sum(axis=1)
    path = tmp_path / "classes.csv"
    path.write_text(csv_text({"p_0": p[:, 0], "p_1": p[:, 1], "p_2": p[:, 2], "label": truth}))
    values = [
        bound(run("check", path, "--scores", "p_*", "--max-classwise-ece", 1, "--of", of, "--json"))["value"]
        for of in ("lower", "corrected", "upper", "value")
    ]
    assert values[0] <= values[1] <= values[2]
    assert values[1] < values[3]
