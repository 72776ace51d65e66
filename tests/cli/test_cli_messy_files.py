"""Files as people have them."""

import gzip
import json
from pathlib import Path

import duckdb
import numpy as np
import pytest
from cli_files import csv_text, sample

from oddsmith.model import Model

SCORE, LABEL, _ = sample(60, seed=3)
COLUMNS = {"score": SCORE.tolist(), "label": LABEL.tolist()}
PLAIN = csv_text(COLUMNS)


def zstd(text):
    path = Path("made.csv.zst")
    Path("plain.csv").write_text(text)
    duckdb.sql(f"COPY (FROM read_csv('plain.csv', all_varchar=true)) TO '{path}' (FORMAT csv, COMPRESSION zstd)")
    return path.read_bytes()


MESSES = {
    "plain.csv": PLAIN.encode,
    "crlf.csv": lambda: PLAIN.replace("\n", "\r\n").encode(),
    "bom.csv": lambda: b"\xef\xbb\xbf" + PLAIN.encode(),
    "semicolons.csv": lambda: PLAIN.replace(",", ";").encode(),
    "tabs.tsv": lambda: PLAIN.replace(",", "\t").encode(),
    "tabs.txt": lambda: PLAIN.replace(",", "\t").encode(),
    "no-end.csv": lambda: PLAIN.rstrip("\n").encode(),
    "blank-lines.csv": lambda: b"\n\n" + PLAIN.encode(),
    "excel.csv": lambda: b"\xef\xbb\xbf" + PLAIN.replace(",", ";").replace("\n", "\r\n").encode(),
    "quoted.csv": lambda: "".join(
        ",".join(f'"{field}"' for field in line.split(",")) + "\n" for line in PLAIN.splitlines()
    ).encode(),
    "notes.csv": lambda: csv_text({**COLUMNS, "note": ['"a\nb, ""c"""'] * 60}).encode(),
    "lines.jsonl": lambda: "".join(
        json.dumps({"label": int(y), "score": s}) + "\n" for s, y in zip(SCORE, LABEL, strict=True)
    ).encode(),
    "gone.csv.gz": lambda: gzip.compress(PLAIN.encode()),
    "gone.csv.zst": lambda: zstd(PLAIN),
    "without-end": PLAIN.encode,
    "named wrongly.dat": lambda: gzip.compress(PLAIN.encode()),
}


@pytest.fixture
def expected(run):
    Path("expected.csv").write_text(PLAIN)
    assert run("fit", "expected.csv", "-o", "expected.json", "-m", "platt").code == 0
    return Path("expected.json").read_bytes()


@pytest.mark.parametrize("name", MESSES)
def test_the_same_rows_give_the_same_model(run, expected, name):
    Path(name).write_bytes(MESSES[name]())
    told = run("fit", name, "-o", "m.json", "-m", "platt")
    assert told.code == 0, told.err
    assert Path("m.json").read_bytes() == expected


@pytest.mark.parametrize("name", ["plain.csv", "lines.jsonl", "gone.csv.gz", "tabs.tsv", "bom.csv"])
def test_standard_input(run, expected, name):
    told = run("fit", "-", "-o", "m.json", "-m", "platt", stdin=MESSES[name]())
    assert told.code == 0, told.err
    assert Path("m.json").read_bytes() == expected


def test_several_files_at_once(run, expected):
    head, *rows = PLAIN.splitlines(keepends=True)
    for part in range(3):
        Path(f"part-{part}.csv").write_text(head + "".join(rows[part::3]))
    assert run("fit", "part-*.csv", "-o", "m.json", "-m", "platt").code == 0
    assert Path("m.json").read_bytes() == expected


@pytest.mark.parametrize("name", ["Größe", "得分", "score (×10⁶)", "l'été", "a b", "😀"])
def test_names_in_any_writing(run, name):
    Path("any.csv").write_text(csv_text({name: SCORE.tolist(), "Läbel": LABEL.tolist()}), encoding="utf-8")
    assert run("fit", "any.csv", "-o", "m.json", "-s", name, "-y", "Läbel", "-m", "platt").code == 0
    told = run("apply", "m.json", "any.csv", "-s", name, "-o", "out.csv")
    assert told.code == 0, told.err
    assert Path("out.csv").read_text(encoding="utf-8").splitlines()[0] == f"{name},Läbel,probability"


def test_apply_leaves_everything_else_as_it_was(run, expected):
    text = 'id;score;note\r\n007;0.50;"a\nb"\r\n008;-1e0;"say ""x"""\r\n'
    Path("new.csv").write_text(text, newline="")
    assert run("apply", "expected.json", "new.csv", "-o", "out.csv").code == 0
    with open("out.csv", newline="") as file:
        out = file.read()
    p = Model.load("expected.json").probability([0.5, -1.0])
    for value in ("007", "0.50", '"a\nb"', "-1e0", '"say ""x"""', *map(repr, p.tolist())):
        assert value in out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file must contain rows; got an empty file"),
        ("\n\n", "the file must contain rows"),
        ("score,label\n", "must contain rows; got none"),
        ("score,label\n,\n", "1 of 1 rows cannot be used"),
        ("score,label\n1,0\nx,1\n", "line 3: score is not a number: x"),
        ("score,label\n1,0\n1e999,1\n", "score is not finite"),
        ("score,label\n1,0\n2\n", "1 of 2 rows cannot be used"),
        ("score,label\n1,0\n2,1\n3,2\n", "positive must name the positive ones"),
        ("score,label\n0,5;1\n", "Hint"),
    ],
)
def test_what_cannot_be_used_is_said(run, text, words):
    Path("bad.csv").write_text(text)
    assert words in run("fit", "bad.csv", "-o", "m.json", "-m", "platt").error
    assert not Path("m.json").exists()


def test_bad_rows_are_counted_shown_and_skipped(run):
    rows = PLAIN.splitlines()
    rows[5:5] = ["abc,1", ",0", "inf,1", "1,"]
    Path("bad.csv").write_text("\n".join(rows) + "\n")
    refused = run("fit", "bad.csv", "-o", "m.json", "-m", "platt").error
    assert "4 of 64 rows cannot be used" in refused
    assert "line 6: score is not a number: abc; line 7: score is missing; line 8: score is not finite: inf" in refused
    told = run("fit", "bad.csv", "-o", "m.json", "-m", "platt", "--bad-rows", "skip", "--json")
    assert told.json["rows"] == 60
    assert "Left out: 4 of 64 rows cannot be used" in told.err
    told = run("apply", "m.json", "bad.csv", "-o", "out.csv", "--bad-rows", "skip")
    assert told.out == "62 rows written to out.csv\n"  # labels are not asked for, and ±∞ has a limit
    assert "Left out: 2 of 64 rows cannot be used" in told.err
    Path("predicted.csv").write_text("p,y\n" + "0.2,0\n0.9,1\n" * 20 + "NA,1\n")
    assert "line 42: score is not a number: NA" in run("evaluate", "predicted.csv").error
    assert run("check", "predicted.csv", "--bad-rows", "skip", "--max-ece", 1).code == 0


def test_nothing_to_learn_from_still_fits(run):
    Path("constant.csv").write_text("score,label\n" + "3,1\n3,0\n" * 5)
    told = run("fit", "constant.csv", "-o", "constant.json")
    assert told.code == 0
    assert "All scores equal 3" in told.err
    assert Model.load("constant.json").probability([-1.0, 3.0, 9.0]).tolist() == pytest.approx([0.5] * 3)
    assert run("show", "constant.json").code == 0
    Path("one.csv").write_text("score,label\n1,1\n2,1\n")
    told = run("fit", "one.csv", "-o", "one.json")
    assert told.code == 0
    assert "All labels are positive; predicting a constant" in told.err
    for command in ("compare", "report"):
        assert "each class must have two cases or more" in run(command, "one.csv").error


def test_constant_scores_can_be_compared_and_reported(run):
    Path("constant.csv").write_text("score,label\n" + "3,1\n3,0\n" * 10)
    assert run("compare", "constant.csv", "-m", "platt", "-m", "isotonic").code == 0
    assert run("report", "constant.csv", "-m", "platt", "-o", "out.html").code == 0


def test_labels_in_words(run, expected):
    words = np.where(LABEL == 1, "bad", "good").tolist()
    Path("words.csv").write_text(csv_text({"score": SCORE.tolist(), "outcome": words}))
    assert "--positive" in run("fit", "words.csv", "-o", "m.json").error
    told = run("fit", "words.csv", "-o", "m.json", "-m", "platt", "--positive", "bad")
    assert told.code == 0
    mine, theirs = Model.load("m.json"), Model.load("expected.json")
    assert (mine.map, mine.labels) == (theirs.map, ("good", "bad"))


def test_whole_weights_are_counts_and_others_are_not(run):
    Path("w.csv").write_text(csv_text({**COLUMNS, "n": [2] * 60, "w": [0.5] * 60}))
    assert run("fit", "w.csv", "-o", "n.json", "-m", "platt", "--weight", "n", "--json").json["rows"] == 120
    assert run("fit", "w.csv", "-o", "w.json", "-m", "platt", "--weight", "w", "--json").json["rows"] == 60
    assert run("compare", "w.csv", "-m", "platt", "--weight", "w").code == 0


def test_a_quote_without_an_end_takes_lines_with_it(run):
    """They are counted, for they are lost."""
    rows = [f"{i / 100},{i % 2}" for i in range(300)]
    Path("open.csv").write_text("\n".join(["score,label", *rows[:50], '"0.3,1', *rows[50:]]) + "\n")
    Path("later.csv").write_text("\n".join(["score,label", *rows[:50], '"0.3,1', *rows[50:90], '"0.4",1', *rows[90:]]))
    for file, lost in (("open.csv", "251 of 301"), ("later.csv", "42 of 302")):
        error = run("fit", file, "-o", "m.json", "-m", "platt").error
        assert f"got {lost} rows cannot be used" in error
        assert "Hint: end the quoted text with a quote" in error
        assert f"Left out: {lost} rows" in run("fit", file, "-o", f"{file}.json", "--bad-rows", "skip").err


def test_two_columns_called_score_must_be_renamed(run):
    Path("twice.csv").write_text("score,score,label\n1,2,0\n")
    assert "got several: 'score', 'score'. Hint: rename one of them." in run("fit", "twice.csv", "-o", "m.json").error
