"""What docs/stability.md promises: versions agree, and model files of every age are read."""

import json
import re
import tomllib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import oddsmith

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "stability.md").read_text()
#: Every committed model file; beside them are the probabilities that they must give.
MODELS = {
    path: content
    for path in (ROOT / "tests" / "golden" / "models").rglob("*.json")
    if "format" in (content := json.loads(path.read_text()))
}


def test_versions_agree():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1]
    assert oddsmith.__version__ == declared == cited


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_every_committed_model_file_is_read_and_predicts(path):
    content, model = MODELS[path], oddsmith.load(path)
    if content["schema"] == 1 and content["format"] == "oddsmith calibration model":
        prob = model.map.probability(np.array([0.25, 0.75]))
        assert prob.shape == (2,)
    else:
        columns = model.map.columns
        prob = model.predict_proba(np.full((2, columns), 1 / max(columns, 2)))
        np.testing.assert_allclose(prob.sum(axis=1), 1)
    assert np.all((prob >= 0) & (prob <= 1))


def test_the_page_names_every_layout():
    layouts = {(content["format"], content["schema"]) for content in MODELS.values()}
    assert ("oddsmith calibration model", 1) in layouts
    for form, schema in layouts:
        assert (f"| {schema} |" if form == "oddsmith calibration model" else f"`{form}`") in PAGE


def test_the_page_names_every_public_room():
    rooms = {name for name in dir(oddsmith) if isinstance(getattr(oddsmith, name), ModuleType)}
    assert "calibrators" in rooms
    assert rooms <= set(re.findall(r"\w+", PAGE))


def test_the_tests_that_hold_security_promises_exist():
    page = (ROOT / "SECURITY.md").read_text()
    folders = re.findall(r"`(tests/[\w/]+)/", page)
    named = re.findall(r"`(?:tests/[\w/]+/)?(test_\w+\.py)`", page)
    assert len(named) >= 5
    for name in named:
        assert any((ROOT / folder / name).exists() for folder in folders), name
