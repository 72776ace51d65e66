"""The pages on what to choose know every method, and name none that does not exist."""

import re
from pathlib import Path

import pytest

import oddsmith
from oddsmith import calibrators, decide, metrics, plots
from oddsmith.calibrators.registry import METHODS

DOCS = Path(__file__).parents[2] / "docs"
OURS = [*(DOCS / "choose").glob("*.md"), *(DOCS / "recipes").glob("*.md"), *(DOCS / "start").glob("*.md")]


def test_every_calibrator_is_among_the_choices():
    page = (DOCS / "choose" / "index.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+Calibrator)\b", page))
    assert named == {name for name in oddsmith.__all__ if name.endswith("Calibrator") and name != "Calibrator"}


def test_every_scaling_is_among_the_choices():
    page = (DOCS / "recipes" / "network-logits.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`(\w+Scaling)\b", page)) == {
        name for name in calibrators.__all__ if name.endswith("Scaling")
    }


@pytest.mark.parametrize("path", OURS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_names_of_ours_exist(path):
    known = {*dir(oddsmith), *calibrators.__all__, *metrics.__all__, *plots.__all__, *decide.__all__}
    named = set(re.findall(r"`(\w+(?:Calibrator|Scaling|Display|Stream|Table)|\w+_test)\b", path.read_text("utf-8")))
    assert named <= known


def test_every_recipe_is_in_the_overview():
    folder = DOCS / "recipes"
    overview = (folder / "index.md").read_text(encoding="utf-8")
    linked = re.findall(r"^\| .+ \| \[.+\]\((.+)\.md\) \|$", overview, re.M)
    assert sorted(linked) == sorted(path.stem for path in folder.glob("*.md") if path.stem != "index")


def test_methods_that_recipes_pass_by_name_exist():
    named = {
        name
        for path in OURS
        for name in re.findall(r"CalibratedClassifier\([^()]*(?:\(\))?, \"([\w-]+)\"", path.read_text("utf-8"))
    }
    assert named
    assert named <= {*METHODS, "sigmoid"}
