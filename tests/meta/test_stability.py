"""What docs/stability.md promises: versions agree, and model files of every age are read."""

import json
import re
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import numpy as np
import pytest

import oddsmith
from oddsmith._foreign_names import SEARCHED

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "_ext"))
import reference_pages

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "stability.md").read_text()
#: Every committed model file; beside them are the probabilities that they must give.
MODELS = {
    path: content
    for path in (ROOT / "tests" / "golden" / "models").rglob("*.json")
    if "format" in (content := json.loads(path.read_text()))
}


def test_versions_agree():
    library, studies = (
        tomllib.loads((ROOT / path / "pyproject.toml").read_text())["project"] for path in ("", "studies")
    )
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1]
    assert oddsmith.__version__ == library["version"] == studies["version"] == cited
    assert f"oddsmith[cli]=={cited}" in studies["dependencies"]


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_every_committed_model_file_is_read_and_predicts(path):
    content, model = MODELS[path], oddsmith.load(path)
    if content["schema"] == 1 and content["format"] == "oddsmith calibration model":
        prob = model.map.probability(np.array([0.25, 0.75]))
        assert prob.shape == (2,)
    else:
        columns = model.map.columns
        names = None if model.effects is None else np.full((2, len(model.by)), None)  # values that no fit has seen
        prob = model.predict_proba(np.full((2, columns), 1 / max(columns, 2)), names)
        np.testing.assert_allclose(prob.sum(axis=1), 1)
    assert np.all((prob >= 0) & (prob <= 1))


def test_the_page_names_every_layout():
    layouts = {(content["format"], content["schema"]) for content in MODELS.values()}
    assert ("oddsmith calibration model", 1) in layouts
    for form, schema in layouts:
        assert (f"| {schema} |" if form == "oddsmith calibration model" else f"`{form}`") in PAGE


def test_the_page_names_the_public_modules_and_those_that_are_not():
    public, private = (modules(part) for part in PAGE.partition("## Versions")[0].split("## What is not"))
    assert public == set(reference_pages.MODULES)
    rooms = {f"oddsmith.{room.name}" for room in iter_modules(oddsmith.__path__) if not room.name.startswith("_")}
    assert private - public == rooms - public


def test_public_modules_are_attributes_whose_names_are_searched():
    rooms = {module.removeprefix("oddsmith.") for module in reference_pages.MODULES if module.count(".") == 1}
    assert rooms == set(oddsmith._ROOMS)
    assert all(getattr(oddsmith, room) is import_module(f"oddsmith.{room}") for room in oddsmith._ROOMS)
    assert {f"oddsmith.{room}" for room in rooms - {"calibrators", "checks"}} <= set(SEARCHED)


def modules(text):
    """Return the modules of the library that a text names."""
    return set(re.findall(r"`(oddsmith(?:\.\w+)*)`", text)) - {"oddsmith.commands"}  # a group of entry points


def test_the_tests_that_hold_security_promises_exist():
    page = (ROOT / "SECURITY.md").read_text()
    folders = re.findall(r"`(tests/[\w/]+)/", page)
    named = re.findall(r"`(?:tests/[\w/]+/)?(test_\w+\.py)`", page)
    assert len(named) >= 5
    for name in named:
        assert any((ROOT / folder / name).exists() for folder in folders), name
