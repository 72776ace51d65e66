"""Cut-offs and base rates from the command line."""

import json

import numpy as np
import polars as pl
import pytest
from cli_files import csv_text

from oddsmith import HistogramCalibrator, PlattCalibrator, ScoreTable, TemperatureScaling
from oddsmith.bands import pointwise_band
from oddsmith.base_rates import base_rates, estimate_prior, shift_prior, undo_weights
from oddsmith.cutoffs import least_cost, threshold
from oddsmith.decide import binary_costs
from oddsmith.model import Model
from samples import ours_allowed


@pytest.fixture
def table(scores):
    return ScoreTable.from_arrays(*np.loadtxt(scores, delimiter=",", skiprows=1, usecols=(0, 1)).T)


@pytest.mark.parametrize(("name", "target"), [("precision", 0.7), ("recall", 0.9), ("fpr", 0.2), ("share", 0.1)])
def test_threshold_is_the_librarys(run, scores, table, name, target):
    told = run("threshold", scores, f"--{name}", target, "--json")
    expected = threshold(table, **{name: target})
    assert told.json["sentence"] == str(expected)
    assert {key: told.json[key] for key in expected.to_dict()} == json.loads(json.dumps(expected.to_dict()))
    low, high = pointwise_band(table).limits([expected.cut])[0]
    assert (told.json["probability"]["low"], told.json["probability"]["high"]) == (low, high)
    shown = run("threshold", scores, f"--{name}", target, "-q")
    assert shown.out.startswith(f"score >= {expected.cut!r}\nP at the cut-off is ")
    assert f"It selects {expected.selected:,} of 400 rows" in shown.out
    assert str(expected) in shown.out


def test_threshold_gives_p_of_a_model(run, scores, model, table):
    told = run("threshold", scores, "--recall", "0.9", "--model", model, "--json").json
    assert told["probability"]["model"] == Model.load(model).probability([told["cut"]])[0]
    assert "by the model." in run("threshold", scores, "--recall", "0.9", "--model", model).out


def test_threshold_of_least_cost(run, scores, table, tmp_path):
    (tmp_path / "costs.csv").write_text("0,1\n0,4\n1,0\n")
    told = run("threshold", scores, "--costs", "costs.csv", "--json").json
    expected = least_cost(table, binary_costs(false_positive=1, false_negative=4))
    assert (told["cut"], told["mean_cost"]) == (expected.cut, expected.mean_cost)
    assert "Cost per row of the file" in run("threshold", scores, "--costs", "costs.csv").out


def test_where_nothing_can_be_guaranteed(run, scores):
    told = run("threshold", scores, "--precision", "0.9999")
    assert "needs at least 36,887 rows in a row from the highest score down" in told.out
    assert run("threshold", scores, "--precision", "0.9999", "--json").json["cut"] is None


def test_bad_targets_are_refused(run, scores):
    assert "exactly one of --precision" in run("threshold", scores).error
    assert "got --recall and --fpr" in run("threshold", scores, "--recall", "0.9", "--fpr", "0.1").error
    assert "precision must be below 1" in run("threshold", scores, "--precision", "1").error
    assert "one column per class, two or more" in run("threshold", scores, "--scores", "s*", "--recall", "0.9").error


def test_shift_to_a_rate(run, model):
    told = run("shift", model, "--to-rate", "0.02", "-o", "new.json")
    fitted, new = Model.load(model), Model.load("new.json")
    assert new == shift_prior(fitted, 0.02)
    assert f"1 {base_rates(fitted)[1]:.4g} → 0.02" in told.out
    told = run("shift", "new.json", "--to-rate", "0.3", "-o", "again.json", "--json").json
    assert told["from_rates"] == {"0": 0.98, "1": 0.02}
    other = run("shift", model, "--to-rate", "0.02", "--from-rate", "0.5", "-o", "other.json", "--json").json
    assert other["from_rates"] == {"0": 0.5, "1": 0.5}
    np.testing.assert_allclose(Model.load("other.json").log_odds([0.0]), fitted.log_odds([0.0]) + np.log(0.02 / 0.98))
    assert run("show", "new.json").code == 0
    assert run("export", "new.json", "--to", "sql").code == 0


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("--scale-pos-weight", 10), {"scale_pos_weight": 10}),
        (("--class-weight", "0=0.5,1=5"), {"class_weight": {0: 0.5, 1: 5}}),
        (("--kept", 0.1), {"kept": 0.1}),
        (("--kept", "0=0.1,1=1", "--scale-pos-weight", 2), {"kept": {0: 0.1, 1: 1}, "scale_pos_weight": 2}),
        (("--kept", 0.1, "--scores-are", "log-odds"), {"kept": 0.1, "input": "log_odds"}),
    ],
)
def test_shift_undoes_weights(run, given, expected):
    told = run("shift", *given, "-o", "undone.json")
    assert Model.load("undone.json") == undo_weights(**expected)
    assert "Model that undoes --" in told.out
    assert set(run("shift", *given, "-o", "undone.json", "-f", "--json").json["undone"]) == set(expected) - {"input"}


def test_weights_are_undone_once(run, model, scores, tmp_path):
    refused = run("shift", model, "--scale-pos-weight", 10, "-o", "x.json").error
    assert "calibration on unweighted rows has undone already" in refused
    rng = np.random.default_rng(0)
    p = rng.random(300)
    y = rng.random(300) < p
    weighted = PlattCalibrator().fit(p, y, np.where(y, 10.0, 1.0))
    weighted.save("weighted.json")
    assert run("shift", "weighted.json", "--scale-pos-weight", 10, "-o", "undone.json").code == 0
    assert Model.load("undone.json") == undo_weights(weighted, scale_pos_weight=10)
    assert "--to-rate is for shifts" in run("shift", "--kept", 0.1, "--to-rate", "0.2", "-o", "x.json").error
    told = run("shift", "weighted.json", "--kept", 0.1, "--scores-are", "log-odds", "-o", "x.json").error
    assert "--scores-are is for scores without a model" in told
    told = run("shift", model, "--to-rate", 0.1, "--scores-are", "log-odds", "-o", "x.json").error
    assert "--scores-are is for weights of the training" in told
    assert "must name the classes 0, 1" in run("shift", "--class-weight", "no=1,yes=9", "-o", "x.json").error
    assert "a model must be given" in run("shift", "--to-rate", 0.1, "-o", "x.json").error
    assert not (tmp_path / "x.json").exists()


def test_a_model_without_a_fit_is_shown_and_applied(run, tmp_path):
    undo_weights(scale_pos_weight=10).save("undo.json")
    told = run("show", "undo.json")
    assert "not fitted to any" in told.out
    assert run("show", "undo.json", "--json").json["data"] is None
    (tmp_path / "new.csv").write_text("score\n0.5\n")
    assert run("apply", "undo.json", "new.csv", "-o", "-", "-q").out.startswith("score,probability\n0.5,0.0909090909")
    assert run("export", "undo.json", "--to", "sql").code == 0


def test_shift_to_data(run, model, tmp_path):
    new = np.random.default_rng(1).normal(0.5, 2, 300)
    pl.DataFrame({"id": np.arange(300), "score": new}).write_parquet("new.parquet")
    told = run("shift", model, "--to-data", "new.parquet", "-o", "new.json", "--json").json
    expected = estimate_prior(Model.load(model), new)
    assert told["estimate"]["rates"] == list(expected.rates)
    assert told["estimate"]["low"][1] < expected.rates[1] < told["estimate"]["high"][1]
    assert Model.load("new.json") == shift_prior(Model.load(model), expected.rates[1])
    shown = run("shift", model, "--to-data", "new.parquet", "-o", "other.json")
    assert "Estimated share of 1 among 300 rows" in shown.err


def test_shift_of_several_classes(run, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    rows = 2 * np.eye(3)[y] + rng.normal(size=(300, 3))
    fitted = TemperatureScaling().fit(rows, np.array(["a", "b", "c"])[y])
    Model.from_fitted(fitted, column_names=("z_a", "z_b", "z_c")).save("several.json")
    run("shift", "several.json", "--to-rate", "a=0.2,b=0.5,c=0.3", "-o", "new.json")
    np.testing.assert_allclose(base_rates(Model.load("new.json")), [0.2, 0.5, 0.3])
    (tmp_path / "new.csv").write_text(csv_text({f"z_{c}": rows[:, i].tolist() for i, c in enumerate("abc")}))
    told = run("shift", "several.json", "--to-data", "new.csv", "-o", "other.json", "--json")
    assert "has no intercept per class" in told.err
    with ours_allowed():
        np.testing.assert_allclose(told.json["estimate"]["rates"], estimate_prior(fitted, rows).rates)
    assert "must have one share per class" in run("shift", "several.json", "--to-rate", "0.2", "-o", "x.json").error


def test_bad_shifts_are_refused(run, model, scores, tmp_path):
    (tmp_path / "other.csv").write_text("id,amount\n1,2\n")
    for rate in ("0", "1", "nan", "2"):
        assert "to_rate must be" in run("shift", model, "--to-rate", rate, "-o", "x.json").error
    assert "must be a number, or label=number" in run("shift", model, "--to-rate", "much", "-o", "x.json").error
    assert "one of --to-rate and --to-data" in run("shift", model, "-o", "x.json").error
    assert "score" in run("shift", model, "--to-data", "other.csv", "-o", "x.json").error
    both = run("shift", model, "--to-data", scores, "--from-rate", "0.2", "-o", "x.json")
    assert "--from-rate goes with --to-rate" in both.error
    assert "must not exist yet" in run("shift", model, "--to-rate", "0.1", "-o", model).error
    assert not (tmp_path / "x.json").exists()


def test_limits_of_p_are_kept_applied_and_exported(run, scores, table):
    run("fit", scores, "-o", "band.json", "--method", "platt", "--keep-band")
    kept = Model.load("band.json")
    assert kept.band == pointwise_band(table)
    assert "95 %, pointwise" in run("show", "band.json").out
    assert run("show", "band.json", "--json").json["band"] == {"level": 0.95, "simultaneous": False}
    run("apply", "band.json", scores, "-o", "out.csv", "--limits", "--name", "p")
    rows = pl.read_csv("out.csv")
    np.testing.assert_array_equal(rows["p"], kept.probability(rows["score"]))
    np.testing.assert_array_equal(rows.select("p_low", "p_high"), kept.predict_interval(rows["score"]))
    assert "PlattCalibrator-lower-limit" in run("export", "band.json", "--to", "sql", "--limit", "lower").out
    run("fit", scores, "-o", "plain.json", "--method", "platt")
    for command in (("apply", "plain.json", scores, "-o", "x.csv", "--limits"), ("export", "plain.json", "--to", "c")):
        asked = command if command[0] == "apply" else (*command, "--limit", "upper")
        assert "must keep a band to have intervals" in run(*asked).error


def test_limits_by_segment(run, tmp_path):
    rng = np.random.default_rng(0)
    score, key = rng.random(300), rng.choice(["a", "b"], 300)
    y = (rng.random(300) < score).astype(int)
    (tmp_path / "by.csv").write_text(csv_text({"score": score.tolist(), "label": y.tolist(), "key": key.tolist()}))
    run("fit", "by.csv", "-o", "by.json", "--by", "key", "--method", "platt", "--keep-band")
    run("apply", "by.json", "by.csv", "-o", "out.csv", "--limits")
    rows = pl.read_csv("out.csv").filter(pl.col("key") == "b")
    limits = Model.load("by.json").of_segment("b").predict_interval(rows["score"])
    np.testing.assert_array_equal(rows.select("probability_low", "probability_high"), limits)
    told = run("show", "by.json", "--score-at", "0.5").out
    assert f"b: score >= {Model.load('by.json').of_segment('b').score_at(0.5)!r}" in told
    assert "other segments: score >=" in told
    pooled = run("fit", "by.csv", "-o", "x.json", "--by", "key", "--pool", "--keep-band")
    assert "--keep-band must not be combined with --pool" in pooled.error


def test_which_score_has_a_probability(run, model, tmp_path):
    HistogramCalibrator().fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1]).save("bounded.json")
    cut = Model.load(model).score_at(0.5)
    assert run("show", model, "--score-at", "0.5").out == f"score >= {cut!r}\n"
    assert run("show", model, "--score-at", "0.5", "--json").json == {"prob": 0.5, "scores": {"": [[cut, "inf"]]}}
    assert run("show", model, "--score-at", "0").out == "every score\n"
    assert "no score reaches 0.999" in run("show", "bounded.json", "--score-at", "0.999").out
    assert "prob must be in [0, 1]" in run("show", model, "--score-at", "1.5").error
    rng = np.random.default_rng(0)
    score, u, v = rng.normal(size=600), rng.integers(0, 3, 600), rng.integers(0, 2, 600)
    y = (rng.random(600) < 1 / (1 + np.exp(-score - 2 * u))).astype(int)
    (tmp_path / "both.csv").write_text(
        csv_text({"score": score.tolist(), "label": y.tolist(), "u": u.tolist(), "v": v.tolist()})
    )
    run("fit", "both.csv", "-o", "pooled.json", "--method", "platt", "--by", "u,v", "--pool")
    told = run("show", "pooled.json", "--score-at", "0.3").out
    assert "2, other: score >= " in told
    assert "other segments:" in told


def test_reversed_scores_are_warned_of(run, tmp_path):
    score = np.random.default_rng(0).random(400)
    y = (np.random.default_rng(1).random(400) > score).astype(int)
    (tmp_path / "reversed.csv").write_text(csv_text({"score": score.tolist(), "label": y.tolist()}))
    assert "Higher scores go with the negative class" in run("threshold", "reversed.csv", "--precision", "0.9").err
