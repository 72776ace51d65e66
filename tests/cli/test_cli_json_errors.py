"""With ``--json`` errors are JSON too: the last line of standard error, and nothing on standard output."""

import json
from pathlib import Path

import pytest

from oddsmith import files


def last_line(told):
    return json.loads(told.err.splitlines()[-1])


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (["fit", "missing.csv", "-o", "m.json"], "the file must exist; got missing.csv", "check the path"),
        (["fit", "scores.csv"], "Missing option '--output' / '-o'", "see oddsmith fit --help"),
        (["fit", "scores.csv", "-o", "m.json", "-s", "scroe"], "scores must name a column", "did you mean 'score'"),
        (["check", "scores.csv", "--ouch"], "No such option: --ouch", "see oddsmith check --help"),
        (["nonsense"], "No such command 'nonsense'", "see oddsmith --help"),
    ],
)
def test_errors_are_json(run, scores, arguments, error, hint):
    told = run(*arguments, "--json")
    assert (told.code, told.out) == (2, "")
    found = last_line(told)
    assert list(found) == ["error", "hint"]
    assert found["error"].startswith(error)
    assert found["hint"] == hint


def test_a_stopped_run_is_json_too(run, scores, model, monkeypatch):
    def stop(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "apply_model", stop)
    told = run("apply", model, scores, "-o", "out.csv", "--json")
    assert (told.code, last_line(told)) == (130, {"error": "Stopped.", "hint": ""})


def test_a_file_called_so_is_no_option(run):
    told = run("show", "--", "--json")
    assert "the model file '--json' must be readable" in told.error


def test_infinity_is_text(run):
    Path("sure.csv").write_text("p,label\n" + "0,1\n1,1\n0.5,0\n0.2,0\n" * 5)
    told = run("evaluate", "sure.csv", "--json")
    assert told.json["measures"]["log_loss"]["value"] == "inf"
