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


#: Run commands one after another, where the toys are registered as a plug-in's import would, and tell what each said.
PROGRAM = """
import contextlib, io, json, sys
import toys
from oddsmith.cli import main
from oddsmith.metrics import evaluation
from oddsmith.report import summary
evaluation._SAMPLES = summary._SAMPLES = 40
said = []
for command in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            main(command)
        except SystemExit as left:
            assert left.code == 0, (command, left.code)
    said.append(out.getvalue())
print(json.dumps(said))
"""


def run(*commands):
    """Return what the program says to each command."""
    texts = [[str(word) for word in command] for command in commands]
    return json.loads(python("-c", PROGRAM, json.dumps(texts)))


def python(*arguments, installed=()):
    """Run Python in a process that finds the toys, and what is installed in folders."""
    search = os.pathsep.join([*map(str, installed), str(HERE), *sys.path])
    command, environment = [sys.executable, *arguments], {**os.environ, "PYTHONPATH": search}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    return done.stdout


def test_the_calibrator_is_fitted_compared_and_reported_by_name(scores, tmp_path):
    usage, _, compared, _ = run(
        ["fit", "--help"],
        ["fit", scores, "--method", "halves", "-o", tmp_path / "model.json"],
        ["compare", scores, "--method", "halves", "--method", "platt"],
        ["report", scores, "--method", "halves", "--method", "auto", "-o", tmp_path / "report.html"],
    )
    assert "halves" in usage
    assert json.loads((tmp_path / "model.json").read_text())["method"] == "HalvesCalibrator"
    assert "halves" in compared
    assert "halves" in (tmp_path / "report.html").read_text()


def test_the_measure_is_evaluated_and_checked_and_the_language_exported_to(scores, tmp_path):
    model, forecast = tmp_path / "model.json", tmp_path / "p.csv"
    *_, measured, _, usage, exported = run(
        ["fit", scores, "--method", "halves", "-o", model],
        ["apply", model, scores, "-o", forecast],
        ["evaluate", forecast, "-p", "probability", "--json"],
        ["check", forecast, "-p", "probability", "--max", "mean_certainty=0.5"],
        ["export", "--help"],
        ["export", model, "--to", "lua"],
    )
    assert 0 < json.loads(measured)["measures"]["mean_certainty"]["value"] < 0.5
    assert "lua" in usage
    assert "function probability(score)" in exported


def test_the_laws_hold_for_the_calibrator():
    laws = ["-p", "no:cacheprovider", "-q", "-k", "Halves", "tests/laws/test_calibrator_laws.py"]
    said = python("-m", "pytest", "-p", "toys", *laws)
    assert int(re.search(r"(\d+) passed", said)[1]) > 10


def test_a_calibrator_of_an_installed_package_is_known_by_its_entry_point(scores, tmp_path):
    package = tmp_path / "halves-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: halves\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[oddsmith.calibrators]\nhalves = toys:HalvesCalibrator\n")
    model, page = tmp_path / "model.json", tmp_path / "report.html"
    program = "from oddsmith.cli import main; import sys; main(sys.argv[1:])"
    for command in (
        ["fit", scores, "--method", "halves", "-o", model],
        ["compare", scores, "--method", "halves", "--method", "platt"],
        ["report", scores, "--method", "halves", "--method", "platt", "-o", page],
    ):
        python("-c", program, *map(str, command), installed=[tmp_path])
    assert json.loads(model.read_text())["method"] == "HalvesCalibrator"
    assert "halves" in page.read_text()


def test_a_package_that_cannot_be_loaded_is_left_out_with_a_warning(tmp_path):
    package = tmp_path / "broken-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(
        "[oddsmith.calibrators]\nbroken = nowhere:B\nname = collections:Counter\n"
    )
    program = """
import warnings
from oddsmith.calibrators.registry import METHODS, find_method
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    assert "platt" in METHODS and "broken" not in METHODS
    find_method("platt")
print(*[warning.message for warning in seen], sep="\\n")
"""
    first, second = python("-c", program, installed=[tmp_path]).splitlines()
    assert first == "The calibrator 'broken' of broken cannot be loaded and is left out " + first[first.index("(") :]
    assert "ModuleNotFoundError: No module named 'nowhere'" in first
    assert "a registered class must be a Calibrator" in second


def test_contributing_shows_these_lines():
    page, toys = (ROOT / "CONTRIBUTING.md").read_text(), (HERE / "toys.py").read_text()
    for kind in ("calibrator", "measure"):
        shown = re.search(rf"## Add a {kind}\n.*?```python\n(.*?)```", page, re.DOTALL)
        lines = shown[1].strip()
        assert lines in toys, f"what CONTRIBUTING.md shows of a {kind} is not in tests/meta/toys.py"
