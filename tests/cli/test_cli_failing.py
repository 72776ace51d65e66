"""Whatever goes wrong is one line and an exit code."""

import io
import os
import sys
from pathlib import Path

import pytest

from oddsmith import files
from oddsmith.cli import main


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], "No such command 'nonsense'. Hint: see oddsmith --help."),
        (["fit"], "Missing argument 'FILE'. Hint: see oddsmith fit --help."),
        (["fit", "scores.csv"], "Missing option '--output' / '-o'"),
        (["fit", "scores.csv", "--ouput", "x"], "No such option: --ouput"),
        (["export", "model.json", "--to", "java"], "--to must be one of 'sql', 'dbt', 'onnx'"),
        (["compare", "scores.csv", "--n-folds", "many"], "--n-folds"),
        (["fit", "scores.csv", "-o", "nowhere/m.json"], "the folder of the output must exist"),
        (["fit", "scores.csv", "-o", "."], "the output must be a plain file"),
        (["fit", "missing.csv", "-o", "m.json"], "the file must exist; got missing.csv"),
        (["fit", "score.csv", "-o", "m.json"], "did you mean scores.csv"),
        (["fit", ".", "-o", "m.json"], "the path must be a file; got the folder"),
        (["fit", "scores.csv", "-o", "m.json", "--score", "scroe"], "did you mean 'score'"),
        (["fit", "scores.csv", "-o", "m.json", "--by", "Region"], "did you mean 'region'"),
        (["fit", "scores.csv", "-o", "m.json", "--resolution", "fine"], "resolution must be 'auto', 'exact' or"),
        (["fit", "scores.csv", "-o", "m.json", "--resolution", "0.3"], "power of two"),
        (["fit", "scores.csv", "-o", "m.json", "--label", "region"], "--positive"),
        (["fit", "scores.csv", "-o", "m.json", "--positive", "yes"], "positive"),
        (["show", "scores.csv"], "a model file must be whole, well-formed JSON"),
        (["show", "."], "must be readable"),
        (["apply", "scores.csv", "scores.csv", "-o", "out.csv"], "a model file must be"),
        (["demo", "-o", "nowhere/demo.html"], "the folder of the output must exist"),
    ],
)
def test_bad_usage_and_bad_input_are_one_line(run, scores, arguments, words):
    before = sorted(scores.parent.iterdir())
    told = run(*arguments)
    assert words in told.error
    assert len([line for line in told.err.splitlines() if not line.startswith("Using column")]) == 1
    assert told.out == ""
    assert sorted(scores.parent.iterdir()) == before


def test_apply_says_what_it_can_write(run, scores, model):
    assert ".parquet" in run("apply", model, scores, "-o", "out.xlsx").error


def test_a_file_without_rights(run, scores):
    scores.chmod(0)
    if os.access(scores, os.R_OK):
        pytest.skip("whoever runs this may read everything")
    assert "the file must be readable" in run("fit", scores, "-o", "m.json").error


def test_a_folder_without_rights(run, scores, tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    if os.access(folder, os.W_OK):
        pytest.skip("whoever runs this may write everywhere")
    assert "must be writable" in run("fit", scores, "-o", folder / "m.json").error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(28, "No space left on device", "out.csv"), "Error: the disk is full. Hint: free some space"),
        (MemoryError(), "Error: there is not enough memory."),
        (ZeroDivisionError("division\nby zero"), "Error: ZeroDivisionError: division by zero. Hint: this should not"),
    ],
)
def test_what_nobody_foresaw_is_one_line_too(run, model, monkeypatch, error, words):
    def fail(path):
        raise error

    monkeypatch.setattr("oddsmith.model.load", fail)
    told = run("show", model)
    assert told.error.startswith(words)
    assert len(told.err.splitlines()) == 1


def test_a_traceback_is_shown_on_request(model, monkeypatch):
    def fail(path):
        raise ZeroDivisionError

    monkeypatch.setattr("oddsmith.model.load", fail)
    monkeypatch.setenv("ODDSMITH_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        main(["show", str(model)])


def test_stopped_from_the_keyboard(run, scores, model, monkeypatch, tmp_path):
    def stop(*args, **options):
        raise KeyboardInterrupt

    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr(files, "apply_model", stop)
    told = run("apply", model, scores, "-o", "out.csv")
    assert (told.code, told.err.splitlines()[-1]) == (130, "Stopped.")
    assert sorted(tmp_path.iterdir()) == before


def test_a_query_that_was_stopped_from_the_keyboard(run, scores, model, monkeypatch):
    def stop(*args, **options):
        raise RuntimeError("Query interrupted")  # as DuckDB has it

    monkeypatch.setattr(files, "apply_model", stop)
    told = run("apply", model, scores, "-o", "out.csv")
    assert (told.code, told.err.splitlines()[-1]) == (130, "Stopped.")


def test_nobody_reads_on(model, monkeypatch):
    """A reader that left is no error: the command did what it was told."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        with pytest.raises(SystemExit) as left:
            main(["export", str(model), "--to", "python"])
        assert left.value.code == 0
        with pytest.raises(SystemExit) as left:
            main(["--help"])
        assert left.value.code == 0
        monkeypatch.undo()


def test_a_terminal_without_greek(model, monkeypatch, capsys):
    plain = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", plain)
    with pytest.raises(SystemExit) as left:
        main(["show", str(model)])
    assert left.value.code == 0
    plain.flush()
    shown = plain.buffer.getvalue()
    assert b"PlattCalibrator" in shown
    assert b"?" not in shown
    assert b"1.0 |" in shown


@pytest.mark.parametrize("name", ["LC_ALL", "LANG"])
def test_pictures_are_ascii_in_the_locale_c(run, model, predictions, monkeypatch, name):
    for other in ("LC_ALL", "LC_CTYPE", "LANG", "PYTHONIOENCODING"):
        monkeypatch.delenv(other, raising=False)
    assert "┤" in run("show", model).out
    monkeypatch.setenv("LC_CTYPE", "C.UTF-8")  # as Python does where LANG is C
    assert "┤" in run("show", model).out
    monkeypatch.setenv(name, "C")
    picture = run("show", model).out.split("Probability by score:")[1]
    assert picture.isascii()
    assert "*" in picture
    picture = run("evaluate", predictions, "-q").out.split("by predicted probability")[1].rpartition("\n\n")[0]
    assert picture.isascii()
    assert "#" in picture
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")
    assert "┤" in run("show", model).out


def test_columns_are_guessed_or_asked_for(run, tmp_path):
    Path("odd.csv").write_text("a,b\n1,0\n2,1\n")
    assert (
        "no score column recognized; got columns 'a', 'b'. Hint: pass --score."
        in run("fit", "odd.csv", "-o", "m.json").error
    )
    Path("twice.csv").write_text("score,logit,y\n1,2,0\n2,1,1\n")
    assert "several: 'score', 'logit'" in run("fit", "twice.csv", "-o", "m.json").error
    assert run("fit", "twice.csv", "-o", "m.json", "-s", "logit", "-m", "platt").code == 0
