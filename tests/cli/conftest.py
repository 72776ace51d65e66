"""Run commands as the program does, in an empty folder, and files to run them on."""

import io
import json
import sys
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
import pytest

from oddsmith.cli import judging, main
from oddsmith.report import summary


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


def sample(n=400, seed=0):
    """Scores, labels and segments."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=n) * 2
    label = (rng.random(n) < 1 / (1 + np.exp(-0.8 * score + 0.3))).astype(int)
    return score, label, np.array(["north", "south"])[rng.integers(2, size=n)]


def csv_text(columns, separator=","):
    rows = zip(*columns.values(), strict=True)
    return "".join(f"{separator.join(str(field) for field in row)}\n" for row in (columns, *rows))


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


def many_rows(path: Path, rows: int) -> Path:
    """Write a large file of scores and labels, quickly."""
    query = (
        "SELECT (hash(i) % 1000003) / 100000.0 - 5 AS score, (hash(i + 7) % 100 < 30)::INT AS label, "
        f"hash(i) % 5 AS part FROM range({rows}) t(i)"
    )
    duckdb.sql(f"COPY ({query}) TO '{path}'")
    return path
