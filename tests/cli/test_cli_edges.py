"""The command line where people trip over it: standard output as a file, odd labels, closed streams, wrong options."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from cli_files import csv_text, many_rows

from oddsmith import ScoreTable
from oddsmith.cli._exit import EXIT_CODES
from oddsmith.model import Model

PROGRAM = [sys.executable, "-c", "from oddsmith.cli import main; main()"]


@pytest.fixture
def model(run, scores):
    assert run("fit", scores, "-o", "model.json", "-m", "platt").code == 0
    return Path("model.json")


def test_fit_writes_the_model_to_standard_output(run, scores, model):
    told = run("fit", scores, "-o", "-", "-m", "platt")
    assert told.out == model.read_text()
    assert "PlattCalibrator fitted to 400 rows" in told.err
    assert run("fit", scores, "-o", "-", "-m", "platt", "--json", "-q") == (0, model.read_text(), "")
    assert not Path("-").exists()


@pytest.mark.parametrize("end", ["csv", "jsonl"])
def test_apply_writes_rows_to_standard_output(run, scores, model, end):
    assert run("apply", model, scores, "-o", f"out.{end}").code == 0
    told = run("apply", model, scores if end == "csv" else "out.jsonl", "-o", "-", "--name", "p", "--score", "score")
    assert told.code == 0
    lines = told.out.splitlines()
    assert len(lines) == 401 if end == "csv" else 400
    assert lines[0].endswith(",p") if end == "csv" else "p" in json.loads(lines[0])


@pytest.mark.parametrize("to", ["sql", "python"])
def test_export_writes_to_standard_output(run, model, to):
    assert run("export", model, "--to", to, "-o", "-").out == run("export", model, "--to", to).out


def test_a_table_may_be_qualified(run, model):
    assert '"a"."b"."c.d"' in run("export", model, "--to", "sql", "--table", 'a.b."c.d"').out
    for wrong in ("a..b", "a.b.c.d", 'a"b', ""):
        assert re.search("--?table must be|table must be", run("export", model, "--to", "sql", "--table", wrong).error)


def test_one_label_against_the_rest(run):
    label = np.array(["a", "b", "c"])[np.arange(90) % 3]
    Path("three.csv").write_text(csv_text({"score": np.arange(90) / 7, "label": label}))
    told = run("fit", "three.csv", "-o", "model.json").error
    assert "got labels a 30, b 30, c 30. Hint: list the positive ones, joined by commas (--positive)" in told
    assert run("fit", "three.csv", "-o", "model.json", "--positive", "a").code == 0
    fitted = Model.load("model.json")
    assert fitted.labels == ("not a", "a")
    assert fitted.data.prevalence == pytest.approx(1 / 3)


def test_segments_that_are_rows_are_one_message(run):
    Path("a.csv").write_text(csv_text({"id": range(50), "score": range(50), "label": np.arange(50) % 2}))
    told = run("fit", "a.csv", "-o", "model.json", "--by", "id")
    assert "--by must name a column that groups rows; got 'id', with 50 values in as many rows" in told.error
    assert len(told.err.splitlines()) == 2
    Path("b.csv").write_text(csv_text({"id": np.arange(60) // 2, "score": range(60), "label": np.arange(60) % 2}))
    told = run("fit", "b.csv", "-o", "model.json", "--by", "id", "-m", "platt")
    assert told.code == 0
    assert sum("Warning" in line for line in told.err.splitlines()) == 2
    assert "30 segments ('0', '1', '10', …): PlattCalibrator: A threshold separates" in told.err
    assert "30 segments ('0', '1', '10', …): fewer than 50 rows" in told.err


@pytest.mark.parametrize("command", ["report", "compare", "evaluate"])
def test_a_seed_is_not_negative(run, scores, command):
    assert "Invalid value for '--seed'" in run(command, scores, "--seed", "-1").error


def test_hints_name_the_options_of_the_command_line(run, scores, model):
    Path("a.csv").write_text("foo,label\n1,0\n2,1\n")
    assert run("fit", "a.csv", "-o", "b.json").error.endswith("Hint: pass --score.")
    assert run("evaluate", scores).error.endswith("Hint: pass --probability.")
    assert run("fit", scores, "-o", model).error.endswith("Hint: use another name, or --force to replace it.")
    Path("b.csv").write_text("score,label\n1,1\n2,3\n")
    assert run("fit", "b.csv", "-o", "b.json").error.endswith("Hint: pass --positive 3.")
    Path("c.csv").write_text("score,label\n1,1\nx,0\n")
    assert run("fit", "c.csv", "-o", "b.json").error.endswith("pass --bad-rows skip to leave them out.")
    assert run("export", model, "--to", "sql", "--segment", "x").error.endswith("Hint: leave --segment out.")
    assert run("fit", scores, "-o", "parts.json", "--by", "region", "-m", "platt").code == 0
    for segment in ([], ["--segment", "west"]):
        told = run("export", "parts.json", "--to", "python", *segment).error
        assert told.endswith("Hint: pass --segment NAME, one of 'north', 'south'.")


def test_streams_may_be_closed(model):
    silent = subprocess.run([*PROGRAM, "show", str(model)], preexec_fn=lambda: os.close(1), stderr=subprocess.PIPE)
    assert (silent.returncode, silent.stderr) == (0, b"")
    lost = subprocess.run(
        [*PROGRAM, "apply", str(model), "scores.csv", "-o", "-"], preexec_fn=lambda: os.close(1), stderr=subprocess.PIPE
    )
    assert lost.returncode == 2
    assert b"standard output must be open; got a closed one. Hint: name a file after -o." in lost.stderr
    deaf = subprocess.run([*PROGRAM, "fit", "-", "-o", "x.json"], preexec_fn=lambda: os.close(0), capture_output=True)
    assert deaf.returncode == 2
    assert b"standard input must be open; got a closed one" in deaf.stderr


def test_an_interrupt_at_any_moment_prints_no_traceback(model):
    for wait in (0.15, 0.4, 0.8, 1.2):
        started = subprocess.Popen([*PROGRAM, "show", str(model)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(wait)
        started.send_signal(signal.SIGINT)
        _, err = started.communicate()
        # Before the program itself runs, Python has the word.
        assert b"Traceback" not in err or b"oddsmith/cli" not in err


def test_exit_codes_are_listed_and_kept(run, scores, model, monkeypatch):
    told = " ".join(run("--help").out.split())
    for code, words in EXIT_CODES.items():
        assert f"{code} {words}" in told
    assert list(EXIT_CODES) == [0, 1, 2, 130, 143]
    assert run("show", model).code == 0
    assert run("show", "nowhere.json").code == 2
    run("apply", model, scores, "-o", "out.csv")
    assert run("check", "out.csv", "-p", "probability", "--max-log-loss", "0").code == 1

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("oddsmith.model.load", stop)
    assert run("show", model).code == 130


def test_evaluate_counts_what_there_is_and_says_that_it_worked_on_cells(run):
    many_rows(Path("many.parquet"), 600_000)
    import duckdb

    duckdb.sql("COPY (SELECT (score + 5.5) / 11 AS p, label FROM 'many.parquet') TO 'p.parquet'")
    distinct = duckdb.sql("SELECT count(DISTINCT p) FROM 'p.parquet'").fetchall()[0][0]
    told = run("evaluate", "p.parquet", "--json")
    assert told.json["data"]["distinct"] == told.json["measures"]["distinct_outputs"]["value"] == distinct
    assert told.json["data"]["cells"] < 50_000 < distinct
    text = run("evaluate", "p.parquet").out
    assert f"{distinct:,} distinct probabilities; measured on {told.json['data']['cells']:,} cells" in " ".join(
        text.split()
    )


def test_too_few_cases_are_said_first(run):
    rng = np.random.default_rng(0)
    p = rng.random(40)
    Path("few.csv").write_text(csv_text({"p": p, "label": (rng.random(40) < p).astype(int)}))
    Path("one-class.csv").write_text(csv_text({"p": p, "label": np.ones(40, int)}))
    assert run("compare", "few.csv", "-m", "platt").out.startswith("Cannot tell: 40 cases (")
    assert run("evaluate", "few.csv").out.startswith("Cannot tell: 40 cases (")
    told = run("evaluate", "one-class.csv").out
    assert told.startswith("Cannot tell: 40 cases (40 positive, 0 negative) are too few")
    assert "Next: " not in told


def test_a_reversed_score_names_the_other_label_where_there_is_one(run):
    p = np.linspace(0, 1, 300)
    label = np.where(np.random.default_rng(0).random(300) < p, "bad", "good")
    Path("two.csv").write_text(csv_text({"p": p, "label": label}))
    told = " ".join(run("evaluate", "two.csv", "--positive", "good").out.split())
    assert told.startswith("The probability is reversed: it is lower for positives than for negatives (area")
    assert "Next: take 1 − p, or pass --positive bad" in told
    told = " ".join(run("compare", "two.csv", "--positive", "good", "-m", "platt").out.split())
    assert "negate the score, or take bad as the positive label: oddsmith report two.csv --score p" in told
    label[::7] = "unknown"
    Path("three.csv").write_text(csv_text({"p": p, "label": label}))
    told = " ".join(run("evaluate", "three.csv", "--positive", "good").out.split())
    assert "Next: take 1 − p 300 rows" in told
    told = " ".join(run("compare", "three.csv", "--positive", "good", "-m", "platt").out.split())
    assert "Next: negate the score 300 cases" in told


def test_what_refutes_calibration_names_the_command_that_calibrates(run):
    rng = np.random.default_rng(0)
    p = rng.random(600)
    Path("p.csv").write_text(csv_text({"p": p, "label": (rng.random(600) < p**3).astype(int)}))
    told = " ".join(run("evaluate", "p.csv").out.split())
    end = "Next: fit a calibrator to other rows, and apply it to these: oddsmith fit other_rows.csv -o model.json"
    assert f"{end} --score p --label label 600 rows" in told  # the verdict comes first


@pytest.mark.parametrize("kind", ["reversed", "noise"])
@pytest.mark.parametrize("command", ["report", "compare", "evaluate"])
def test_reversed_scores_and_noise_are_said_first(run, command, kind):
    rng = np.random.default_rng(0)
    p = rng.random(800)
    y = (rng.random(800) < p).astype(int)
    options = ("-o", "out.md", "-f", "-m", "auto", "-m", "platt") if command == "report" else ()
    options = ("-m", "auto", "-m", "platt") if command == "compare" else options
    labels, words = (1 - y, "is reversed") if kind == "reversed" else (rng.permutation(y), "has no signal")
    Path("p.csv").write_text(csv_text({"p": p, "label": labels}))
    told = run(command, "p.csv", *options)
    assert told.code == 0
    assert words in " ".join(told.out.split())[:80]


def test_the_verdict_of_a_file_ends_with_its_command(run, scores):
    told = run("compare", scores, "-m", "auto", "-m", "histogram", "--bad-rows", "skip")
    end = f"Next: oddsmith fit {scores} -o model.json --score score --label label --bad-rows skip"
    assert " ".join(told.out.split()).endswith(end)
    assert "base rate" in told.out
    assert "uncalibrated" in run("compare", scores, "-m", "auto", "--scores-are", "log-odds").out


def test_text_that_is_not_utf_8_stops_only_what_writes_it_again(run, scores):
    lines = scores.read_text().splitlines()
    names = [lines[0] + ",name", *(f"{line},Müller" for line in lines[1:])]
    scores.write_bytes("\n".join(names).encode("latin-1"))
    assert run("fit", scores, "-o", scores.with_name("model.json")).code == 0
    told = run("apply", scores.with_name("model.json"), scores, "-o", scores.with_name("out.csv"))
    assert told.code == 2
    assert "pass --encoding latin-1" in told.error


def test_table_prints_a_query_that_runs(run):
    options = ("--score", "s", "--label", "y", "--by", "day", "--dialect", "sqlite")
    told = run("table", "main.scores", *options, "--print-sql")
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE scores AS SELECT 0.2 AS s, 0 AS y, 1 AS day UNION ALL SELECT 0.9, 1, 1")
    assert ScoreTable.from_query(connection, told.out)[1].rows == 2
    connection.close()
    assert "add --print-sql" in run("table", "main.scores", *options).error
