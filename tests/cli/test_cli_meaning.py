"""What scores are: declared with ``--scores-are``, never ignored, and named so in hints."""

import json
from pathlib import Path

import numpy as np
import pytest
from cli_files import csv_text

from oddsmith import PlattCalibrator
from oddsmith.model import Model
from oddsmith.model.strict_json import render


def probabilities(name, n=300, seed=8):
    rng = np.random.default_rng(seed)
    p = rng.beta(0.8, 1.2, n).clip(0.001, 0.999).round(6)
    y = (rng.random(n) < p).astype(int)
    Path(name).write_text(csv_text({"score": p.tolist(), "label": y.tolist()}))
    return p, y


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("auto", "score"),
        ("score", "score"),
        ("probability", "probability"),
        ("probabilities", "probability"),
        ("log-odds", "log_odds"),
        ("logits", "log_odds"),
    ],
)
def test_fit_declares_what_scores_of_two_classes_are(run, given, meant):
    p, y = probabilities("in.csv")
    assert run("fit", "in.csv", "-o", "m.json", "-m", "platt", "--scores-are", given).code == 0
    model = Model.load("m.json")
    assert model.parameters["input"] == meant
    expected = PlattCalibrator(input=meant).fit(p, y).predict_proba(p)[:, 1]
    np.testing.assert_allclose(model.probability(p), expected, rtol=1e-9)


def test_scores_that_are_not_probabilities_are_refused_as_such(run, scores):
    error = run("fit", scores, "-o", "m.json", "-m", "platt", "--scores-are", "probability").error
    assert "scores must lie in [0, 1] with --scores-are probability; got" in error
    assert "Hint: pass --scores-are score for margins." in error
    assert run("fit", scores, "-o", "m.json", "-m", "platt", "--scores-are", "score").code == 0


def test_certain_probabilities_have_no_log_odds(run):
    Path("in.csv").write_text("score,label\n" + "0,0\n0.3,1\n0.2,0\n1,1\n" * 10)
    error = run("fit", "in.csv", "-o", "m.json", "-m", "platt", "--scores-are", "probability").error
    assert "20 rows of exactly 0 or 1. Hint: leave --scores-are out" in error
    assert run("fit", "in.csv", "-o", "m.json", "-m", "platt").code == 0


def test_apply_hints_at_options_not_at_parameters(run):
    probabilities("in.csv")
    Path("new.csv").write_text("score\n-3\n0.5\n4\n")
    assert run("fit", "in.csv", "-o", "auto.json").code == 0
    error = run("apply", "auto.json", "new.csv", "-o", "out.csv").error
    assert "input=" not in error
    assert "2 of 3 rows cannot be used (score is not a probability that the model takes" in error
    assert "Hint: fit with --scores-are log-odds if scores are not probabilities, or pass --bad-rows skip" in error
    Path("all.csv").write_text("score\n-3\n4\n")
    assert run("apply", "auto.json", "all.csv", "-o", "out.csv").error.endswith("if scores are not probabilities.")
    assert run("fit", "in.csv", "-o", "odds.json", "--scores-are", "log-odds").code == 0
    assert run("apply", "odds.json", "new.csv", "-o", "out.csv").code == 0


@pytest.mark.parametrize("command", ["evaluate", "check"])
def test_probabilities_of_two_classes_take_no_meaning(run, predictions, command):
    bound = ["--max-ece", "1"] if command == "check" else []
    error = run(command, predictions, *bound, "--scores-are", "logits").error
    assert "--scores-are is for several classes" in error
    assert run(command, predictions, *bound).code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "scores.csv", "--n-folds", "100000"], "Invalid value for '--n-folds'"),
        (["compare", "scores.csv", "--n-folds", "1"], "Invalid value for '--n-folds'"),
        (
            ["check", "predictions.csv", "--max-ece", "-1"],
            "--max-ece must be at least 0, or it always fails; got -1.",
        ),
        (["check", "predictions.csv", "--max-log-loss", "-1"], "--max-log-loss must be at least 0"),
        (["check", "predictions.csv", "--min-p", "2"], "--min-p must be at most 1, or it always fails; got 2."),
        (["check", "predictions.csv", "--min-auc", "nan"], "--min-auc must be finite; got nan"),
        (["check", "predictions.csv", "--max-slope", "inf"], "--max-slope must be finite"),
        (
            ["decide", "predictions.csv", "--costs", "costs.csv", "-o", "d.csv", "--abstain-cost", "-3"],
            "--abstain-cost must not be below every cost; got -3 with costs from 0 to 5.",
        ),
        (["show", "twins.json"], "labels of the model must differ"),
    ],
)
def test_what_cannot_be_meant_is_refused(run, scores, predictions, model, arguments, words):
    Path("costs.csv").write_text("0,1\n0,5\n1,0\n")
    content = json.loads(model.read_text())
    content["labels"] = [1, 1]
    Path("twins.json").write_text(render({key: value for key, value in content.items() if key != "checksum"}))
    assert words in run(*arguments).error
    assert not Path("d.csv").exists()


def test_abstaining_may_pay_where_decisions_do(run, predictions):
    Path("costs.csv").write_text("0,1\n0,5\n-9,0\n")
    told = run("decide", predictions, "--costs", "costs.csv", "-o", "d.csv", "--abstain-cost", "-3")
    assert told.code == 0, told.err
