"""``evaluate`` says what the library measures, and ``check`` holds it against bounds."""

import re
from pathlib import Path
from xml.etree import ElementTree

import duckdb
import numpy as np
import pytest
from cli_files import csv_text
from scipy.special import softmax

from oddsmith.metrics import (
    MEASURES,
    calibration_error,
    forecast_from_arrays,
    log_loss,
    measure,
    register_measure,
    spiegelhalter_test,
    squared_error,
    verdict,
)


@pytest.fixture
def forecast(predictions):
    p, y = np.loadtxt(predictions, delimiter=",", skiprows=1).T
    return forecast_from_arrays(y, p)


def test_evaluate_gives_measures_intervals_tests_and_a_picture(run, predictions, forecast):
    told = run("evaluate", predictions)
    content = run("evaluate", predictions, "--json").json
    assert content["measures"]["log_loss"]["value"] == log_loss.of(forecast)
    assert content["measures"]["calibration_error"]["value"] == float(calibration_error.of(forecast))
    assert content["tests"]["spiegelhalter_test"]["p_value"] == spiegelhalter_test.of(forecast).p_value
    for name in ("log_loss", "squared_error", "roc_auc"):
        found = content["measures"][name]["interval"]
        assert found["low"] < content["measures"][name]["value"] < found["high"]
    assert sum(content["reliability"]["weight"]) == 500
    assert f"{log_loss.of(forecast):.4f}" in told.out
    assert content["verdict"] == verdict(forecast).words
    assert content["judged"]["kind"] == "inconclusive"
    assert told.out.startswith(content["verdict"])
    picture = told.out[told.out.index("1.0 ┤") :]
    assert picture.count("o") >= 8
    assert re.search("cases[▁▂▃▄▅▆▇█]{50}", picture)


def test_evaluate_refutes_what_is_off(run):
    rng = np.random.default_rng(2)
    p = rng.random(2000)
    columns = {"probability": p.tolist(), "outcome": np.where(rng.random(2000) < p**3, "yes", "no").tolist()}
    Path("off.csv").write_text(csv_text(columns))
    assert "Hint: pass --positive yes." in run("evaluate", "off.csv").error
    told = run("evaluate", "off.csv", "--positive", "yes", "--json")
    assert told.json["verdict"].startswith(
        "Miscalibrated (slope 1.34, intercept −1.98, p < 0.0001); recalibrating gains"
    )
    turned = run("evaluate", "off.csv", "--positive", "no", "--json")
    assert turned.json["data"]["prevalence"] == pytest.approx(1 - told.json["data"]["prevalence"])


@pytest.mark.parametrize("several", [False, True])
def test_evaluate_compares_before_and_after_calibration(run, several):
    rng = np.random.default_rng(3)
    z = rng.normal(size=(600, 3 if several else 2))
    y = (z + rng.gumbel(size=z.shape)).argmax(axis=1)
    p = softmax(2 * z, axis=1)
    table = {f"p_{k}": p[:, k].tolist() for k in range(3)} if several else {"p": p[:, 1].tolist()}
    columns = {**table, "label": y.tolist(), "patient": (np.arange(600) // 3).tolist()}
    Path("sure.csv").write_text(csv_text(columns))
    options = ["sure.csv", "--scores", "p_*" if several else "p", "--label", "label", "--groups", "patient"]
    told, found = run("evaluate", *options), run("evaluate", *options, "--json").json
    before, after = found["measures"], found["calibrated"]["measures"]
    compared = run("compare", *options, "--method", "auto", "--json").json
    assert found["calibrated"]["gain"] == compared["advice"]["gain"]
    for name in ("log_loss", "squared_error"):
        means = compared["mean"][name]
        assert before[name]["value"] == pytest.approx(means["uncalibrated"])
        assert after[name]["value"] == pytest.approx(means["auto"])
    assert after["log_loss"]["value"] < before["log_loss"]["value"] - 0.02
    assert re.search(f"log-loss +│ {before['log_loss']['value']:.4f} │ {after['log_loss']['value']:.4f} │", told.out)
    assert found["calibrated"]["words"] in " ".join(told.out.split())


def test_rows_that_cannot_be_dealt_to_folds_have_no_measures_after_calibration(run):
    Path("one.csv").write_text("p,y\n" + "0.2,0\n" * 30 + "0.7,1\n")
    told, found = run("evaluate", "one.csv"), run("evaluate", "one.csv", "--json").json
    assert found["calibrated"]["reason"] in told.out
    assert "before" not in told.out


def test_certain_and_wrong_is_infinitely_wrong(run):
    Path("sure.csv").write_text("p,y\n" + "0,0\n1,1\n0.5,1\n0.5,0\n" * 20 + "1,0\n")
    content = run("evaluate", "sure.csv", "--json").json
    assert content["measures"]["log_loss"]["value"] == "inf"
    assert content["tests"]["spiegelhalter_test"]["p_value"] == 0
    assert "∞" in run("evaluate", "sure.csv").out
    failed = run("check", "sure.csv", "--max-log-loss", 1e300, "--json")
    assert failed.code == 1
    assert failed.json["bounds"][0]["value"] == "inf"


def test_weights_count(run, predictions, forecast):
    text = predictions.read_text().splitlines()
    weighted = [f"{text[0]},times,importance", *(f"{line},2,0.5" for line in text[1:])]
    Path("weighted.csv").write_text("\n".join(weighted) + "\n")
    doubled = run("evaluate", "weighted.csv", "--weight", "times", "--json").json
    light = run("check", "weighted.csv", "-w", "importance", "--max-brier", 1, "--json").json
    assert doubled["data"]["rows"] == 1000
    assert doubled["measures"]["squared_error"]["value"] == pytest.approx(squared_error.of(forecast))
    assert (light["data"]["kind"], light["data"]["weight"]) == ("weight", 250)


def test_one_class_still_has_measures(run):
    Path("one.csv").write_text("p,y\n0.9,1\n0.8,1\n0.7,1\n")
    content = run("evaluate", "one.csv", "--json").json
    assert "both classes must be present" in content["measures"]["roc_auc"]["reason"]
    assert content["measures"]["squared_error"]["value"] == pytest.approx(0.14 / 3)
    assert "both classes must be present" in run("check", "one.csv", "--min-auc", 0.5).error


def test_probabilities_must_be_some(run, scores):
    assert "no probability column recognized" in run("evaluate", scores).error
    assert "probabilities must lie in [0, 1]" in run("evaluate", scores, "-p", "score").error


def test_check_passes_and_fails(run, predictions, forecast):
    error = float(calibration_error.of(forecast))
    passed = run("check", predictions, "--max-ece", error, "--min-p", 0.01, "--json")
    assert (passed.code, passed.json["passed"]) == (0, True)
    first, second = passed.json["bounds"]
    assert (first["value"], first["limit"], first["holds"]) == (error, error, True)
    assert "15 bins" in first["definition"]
    assert second["value"] == spiegelhalter_test.of(forecast).p_value
    failed = run("check", predictions, "--max-ece", error - 1e-9, "--min-p", 0.01)
    assert failed.code == 1
    assert "BROKEN" in failed.out
    assert "holds" in failed.out
    assert "1 of 2 bounds hold." in failed.out


def test_every_bound_can_break_and_hold(run, predictions):
    for option in ("ece", "smooth-ece", "log-loss", "brier", "slope"):
        assert run("check", predictions, f"--max-{option}", 9).code == 0
        assert run("check", predictions, f"--max-{option}", 0).code == 1
    for option, high in (("auc", 1), ("slope", 9), ("p", 1)):
        assert run("check", predictions, f"--min-{option}", 0).code == 0
        assert run("check", predictions, f"--min-{option}", high).code == 1
    for test in ("hosmer-lemeshow", "cox", "kolmogorov-smirnov", "kuiper"):
        told = run("check", predictions, "--min-p", 0, "--test", test, "--json")
        assert test.split("-")[0].capitalize() in told.json["bounds"][0]["measure"]


def test_every_measure_can_be_a_bound_also_one_from_outside(run, predictions):
    @register_measure
    @measure("weight of all rows")
    def toy_weight(forecast):
        return forecast.n_pos + forecast.n_neg

    try:
        told = run(
            "check", predictions, "--max", "toy_weight=1e9", "--min", "lift=0", "--min", "toy_weight=1", "--json"
        )
        assert told.code == 0
        assert told.json["bounds"][0]["definition"] == "weight of all rows"
        assert run("check", predictions, "--max", "toy_weight=1").code == 1
        assert "toy_weight" in run("evaluate", predictions, "--json").json["measures"]
        assert "toy_weight" in run("check", predictions, "--max", "other=1").error
    finally:
        del MEASURES["toy_weight"]
    for limit in ("lift", "lift=", "lift=x", "lift=nan"):
        assert "write --min lift=0.1" in run("check", predictions, "--min", limit).error


def test_check_needs_a_bound_that_is_a_number(run, predictions):
    assert "at least one bound must be given" in run("check", predictions).error
    for value in ("nan", "inf", "much"):
        assert "--max-ece" in run("check", predictions, "--max-ece", value).error


def test_check_writes_junit(run, predictions, tmp_path):
    duckdb.sql(f"COPY (FROM '{predictions}') TO '{tmp_path}/predictions.parquet'")
    told = run("check", "predictions.parquet", "--max-brier", 0.001, "--min-auc", 0.5, "--junit", "out.xml")
    assert told.code == 1
    root = ElementTree.parse("out.xml").getroot()
    suite = root.find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    broken, held = suite.findall("testcase")
    assert broken.get("classname") == "predictions.parquet"
    assert broken.get("name") == "Brier score ≤ 0.001"
    assert "got 0.1" in broken.find("failure").get("message")
    assert held.find("failure") is None
    assert "must not exist yet" in run("check", predictions, "--max-brier", 1, "--junit", "out.xml").error
    assert run("check", predictions, "--max-brier", 1, "--junit", "out.xml", "--force").code == 0
    assert ElementTree.parse("out.xml").getroot().get("failures") == "0"


def test_long_files_are_measured_in_cells(run, tmp_path):
    path = tmp_path / "long.parquet"
    query = "SELECT (hash(i) % 1000000) / 999999.0 AS p, (hash(i + 5) % 1000000) / 1e6 < p AS y FROM range(300000) t(i)"
    duckdb.sql(f"COPY ({query}) TO '{path}'")
    rows = duckdb.sql(f"FROM '{path}'").fetchnumpy()
    exact = forecast_from_arrays(rows["y"], rows["p"])
    told = run("check", path, "--max-brier", 1, "--max-ece", 1, "--json")
    brier, error = (bound["value"] for bound in sorted(told.json["bounds"], key=lambda bound: bound["measure"]))
    assert brier == pytest.approx(squared_error.of(exact), abs=1e-7)
    assert error == pytest.approx(float(calibration_error.of(exact)), abs=1e-4)
