"""A calibrator, a measure and a language that another package registers are seen everywhere."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    rng = np.random.default_rng(0)
    s = rng.normal(size=300)
    y = (rng.random(300) < 1 / (1 + np.exp(-s))).astype(int)
    path = tmp_path_factory.mktemp("plug-ins") / "scores.csv"
    path.write_text("score,label\n" + "".join(f"{a},{b}\n" for a, b in zip(s.tolist(), y.tolist(), strict=True)))
    return path


def run(*arguments, cwd=None):
    """Run the command line in a process where the toys are registered, as a plug-in's import would."""
    code = "import toys; from oddsmith.cli import main; main()"
    search = os.pathsep.join([str(HERE), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": search},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_calibrator_is_fitted_compared_and_reported_by_name(scores, tmp_path):
    assert "halves" in run("fit", "--help")
    run("fit", scores, "--method", "halves", "-o", tmp_path / "model.json")
    assert json.loads((tmp_path / "model.json").read_text())["method"] == "HalvesCalibrator"
    assert "halves" in run("compare", scores, "--method", "halves", "--method", "platt")
    run("report", scores, "--method", "halves", "--method", "auto", "-o", tmp_path / "report.html")
    assert "halves" in (tmp_path / "report.html").read_text()


def test_the_measure_is_evaluated_and_checked(scores, tmp_path):
    run("fit", scores, "--method", "platt", "-o", tmp_path / "model.json")
    run("apply", tmp_path / "model.json", scores, "-o", tmp_path / "p.csv")
    found = json.loads(run("evaluate", tmp_path / "p.csv", "-p", "probability", "--json"))
    assert 0 < found["measures"]["mean_certainty"]["value"] < 0.5
    run("check", tmp_path / "p.csv", "-p", "probability", "--max", "mean_certainty=0.5")


def test_the_language_is_exported_to(scores, tmp_path):
    run("fit", scores, "--method", "halves", "-o", tmp_path / "model.json")
    assert "lua" in run("export", "--help")
    assert "function probability(score)" in run("export", tmp_path / "model.json", "--to", "lua")


def test_the_laws_hold_for_the_calibrator():
    search = os.pathsep.join([str(HERE), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "toys", "-q", "-k", "Halves", "tests/laws/test_calibrator_laws.py"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": search},
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 10


def test_contributing_shows_these_lines():
    page, toys = (ROOT / "CONTRIBUTING.md").read_text(), (HERE / "toys.py").read_text()
    for kind in ("calibrator", "measure", "language"):
        shown = re.search(rf"## Add a {kind}\n.*?```python\n(.*?)```", page, re.DOTALL)
        lines = shown[1].strip()
        assert lines in toys, f"what CONTRIBUTING.md shows of a {kind} is not in tests/meta/toys.py"
