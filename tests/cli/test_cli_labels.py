"""Labels as people write them: none is taken for the other side in silence."""

from pathlib import Path

import numpy as np
import pytest
from cli_files import csv_text

from oddsmith.model import Model


def write_labels(name, labels, seed=5):
    """Write random scores with these labels."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=len(labels)).round(4).tolist()
    Path(name).write_text(csv_text({"score": score, "label": labels}))


SPELLINGS = ["ja"] * 94 + ["nein"] * 23 + ["JA"] * 6


@pytest.mark.parametrize("odd", ["JA", "ja  ", " Ja"])
def test_labels_that_differ_by_case_or_blanks_are_not_divided(run, odd):
    write_labels("in.csv", [odd if each == "JA" else each for each in SPELLINGS])
    told = run("fit", "in.csv", "-o", "m.json", "-m", "platt", "--positive", "ja")
    quoted = f"'ja,{odd}'" if " " in odd else f"ja,{odd}"
    assert "labels that differ by case or blanks only must be on the same side" in told.error
    assert "ja 94, nein 23," in told.error
    assert f"Hint: pass --positive {quoted}, or write them in the same way in the file." in told.error
    told = run("fit", "in.csv", "-o", "m.json", "-m", "platt", "--positive", f"ja,{odd}", "--json")
    assert told.json["prevalence"] == pytest.approx(100 / 123)
    assert Model.load("m.json").labels == ("nein", "ja")


def test_the_census_of_labels_is_printed(run, scores):
    write_labels("in.csv", SPELLINGS)
    told = run("fit", "in.csv", "-o", "m.json", "-m", "platt", "--positive", "ja,JA")
    assert "Labels: ja 94, nein 23, JA 6; positive: ja, JA." in told.err.splitlines()
    assert "Labels" not in run("fit", "in.csv", "-o", "q.json", "-m", "platt", "--positive", "ja,JA", "-q").err
    assert "Labels" not in run("fit", scores, "-o", "plain.json", "-m", "platt").err


def test_several_labels_are_positive(run):
    labels = ["yes"] * 10 + ["Yes"] * 5 + ["1"] * 5 + ["no"] * 20
    write_labels("in.csv", labels)
    told = run("fit", "in.csv", "-o", "m.json", "-m", "platt", "--positive", "yes,Yes, 1", "--json")
    assert told.json["prevalence"] == 0.5
    assert Model.load("m.json").labels == ("no", "yes")
    error = run("fit", "in.csv", "-o", "n.json", "--positive", "yes,Yes,one").error
    assert "positive must name labels that occur; got 'one' with labels no 20, yes 10, '1' 5, Yes 5" in error
    Path("evaluated.csv").write_text(csv_text({"p": [0.2, 0.7] * 20, "label": labels}))
    assert run("evaluate", "evaluated.csv", "--positive", "yes,Yes,1", "--json").json["data"]["prevalence"] == 0.5


def test_a_label_with_a_comma_is_one_label(run):
    write_labels("in.csv", ['"a,b"'] * 10 + ["a"] * 10 + ["b"] * 10)
    told = run("fit", "in.csv", "-o", "m.json", "-m", "platt", "--positive", "a,b", "--json")
    assert told.json["prevalence"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        (["0", "1", "no", "yes"], "1,yes"),
        (["0", "1", "No", "Yes", "no", "yes"], "1,Yes,yes"),
        (["ja", "nein"], "ja"),
        (["bad", "good"], "good"),
        (["Bad", "bad", "good"], "good"),
        (["3", "5"], "5"),
        (["true", "false", "1", "0"], "1,true"),
    ],
)
def test_the_hint_names_all_labels_of_one_side(run, labels, positive):
    write_labels("in.csv", labels * 10)
    error = run("fit", "in.csv", "-o", "m.json").error
    assert f"Hint: pass --positive {positive}." in error
    assert run("fit", "in.csv", "-o", "m.json", "-m", "platt", "--positive", positive).code == 0


def test_labels_of_no_known_kind_get_no_example_to_follow(run):
    write_labels("in.csv", ["cat", "dog", "cow"] * 10)
    error = run("fit", "in.csv", "-o", "m.json").error
    assert "got labels cat 10, cow 10, dog 10." in error
    assert "Hint: list the positive ones, joined by commas (--positive): all others are negative" in error


def test_one_kind_of_label_alone(run):
    write_labels("in.csv", ["no"] * 10)
    told = run("fit", "in.csv", "-o", "m.json", "-m", "platt", "--positive", "yes")
    assert told.code == 0
    assert "Labels: no 10." in told.err
    assert (
        "got 'NO' with labels no 10. Hint: pass --positive no."
        in run("fit", "in.csv", "-o", "n.json", "--positive", "NO").error
    )
