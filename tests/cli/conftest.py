"""Run commands as the program does, in an empty folder, and files to run them on."""

import io
import json
import sys
from typing import NamedTuple

import numpy as np
import pytest
from cli_files import csv_text, sample

from oddsmith.cli import judging, main
from oddsmith.report import summary

#: Not a module to look for doctests in: every folder may have one of this name.
collect_ignore = ["conftest.py"]


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))

    @property
    def error(self):
        """The one line that an error is."""
        assert self.code == 2, self
        line = self.err.splitlines()[-1]
        assert line.startswith("Error: "), self
        assert "Traceback" not in self.err
        return line


@pytest.fixture(autouse=True)
def few_samples(monkeypatch):
    """Let intervals be made of few samples: what they are worth is tested elsewhere."""
    monkeypatch.setattr(judging, "_SAMPLES", 40)
    monkeypatch.setattr(summary, "_SAMPLES", 40)


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Return a function that runs the program and returns its exit code and what it said."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*args, stdin=None):
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(arg) for arg in args])
        return Outcome(left.value.code, *capsys.readouterr())

    return run


@pytest.fixture
def scores(tmp_path):
    """A file of scores, labels and segments."""
    score, label, region = sample()
    path = tmp_path / "scores.csv"
    path.write_text(csv_text({"score": score.tolist(), "label": label.tolist(), "region": region.tolist()}))
    return path


@pytest.fixture
def predictions(tmp_path):
    """A file of well calibrated probabilities and labels."""
    rng = np.random.default_rng(1)
    p = rng.random(500).round(6)
    path = tmp_path / "predictions.csv"
    path.write_text(csv_text({"p": p.tolist(), "label": (rng.random(500) < p).astype(int).tolist()}))
    return path


@pytest.fixture
def model(run, scores):
    """A model file."""
    assert run("fit", scores, "-o", "model.json", "-m", "platt", "-q").code == 0
    return scores.parent / "model.json"
