"""Run commands as the program does, in an empty folder, and files to run them on."""

import cli_running
import numpy as np
import pytest
from cli_files import csv_text, sample

from oddsmith.metrics import evaluation
from oddsmith.report import pictures, summary

#: Not a module to look for doctests in: every folder may have one of this name.
collect_ignore = ["conftest.py"]

run = cli_running.run


@pytest.fixture(autouse=True)
def few_samples(monkeypatch):
    """Let intervals be made of few samples: what they are worth is tested elsewhere."""
    for module, name in (
        (evaluation, "_SAMPLES"),
        (evaluation, "_LABEL_SAMPLES"),
        (summary, "_SAMPLES"),
        (pictures, "_SAMPLES"),
    ):
        monkeypatch.setattr(module, name, 40)


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
