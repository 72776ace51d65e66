"""A report in one call, of two classes and of several, equal to the one in two steps."""

import json

import numpy as np
import pytest
from scipy.special import softmax

from oddsmith import PlattCalibrator, ScoreTable, TemperatureScaling
from oddsmith.data import ScoreRows
from oddsmith.errors import InvalidInputError
from oddsmith.report import summarize, to_html, write_report
from oddsmith.report import summary as summary_module

RNG = np.random.default_rng(0)
Z = 2 * RNG.normal(size=(300, 3))
Y = np.argmax(Z / 2 + RNG.gumbel(size=Z.shape), axis=1)
PLATT, TEMPERATURE = {"platt": PlattCalibrator()}, {"temperature": TemperatureScaling()}


@pytest.fixture(autouse=True)
def few_samples(monkeypatch):
    monkeypatch.setattr(summary_module, "_SAMPLES", 20)


def test_two_classes(tmp_path):
    path, p = tmp_path / "report.html", softmax(Z, axis=1)[:, 0]
    found = write_report(Y == 0, p, path, methods=PLATT)
    expected = summarize(ScoreTable.from_arrays(p, Y == 0), PLATT)
    assert found == expected
    assert path.read_text("utf-8") == to_html(expected)
    with pytest.raises(InvalidInputError, match="force"):
        write_report(Y == 0, p, path, methods=PLATT)
    write_report(Y == 0, p, path, methods=PLATT, force=True)


@pytest.mark.parametrize("kind", ["logits", "probabilities"])
def test_several_classes(tmp_path, kind):
    path, names = tmp_path / "report.json", np.array(["ant", "bee", "cat"])
    values = Z if kind == "logits" else softmax(Z, axis=1)
    found = write_report(names[Y], values, path, methods=TEMPERATURE, labels=names)
    meaning = "log_odds" if kind == "logits" else "probability"
    rows = ScoreRows(values, Y, tuple(names), None, tuple(names), meaning)
    assert found == summarize(rows, TEMPERATURE) == json.loads(path.read_text("utf-8"))


def test_what_is_refused_leaves_no_file(tmp_path):
    for path, options, words in (
        ("report.pdf", {}, "must end in .html, .md or .json"),
        ("report.md", {"input": "logits"}, "input"),
        ("report.md", {"labels": [0, 1]}, "labels must name the 3 columns"),
        ("report.md", {"input": "probability"}, "prob"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            write_report(Y, Z, tmp_path / path, methods=TEMPERATURE, **options)
    assert not list(tmp_path.iterdir())
