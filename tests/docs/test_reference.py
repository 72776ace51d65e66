"""Everything public has a page in the reference."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

import oddsmith

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "_ext"))
import command_pages
import reference_pages
from escaping import escaped

from oddsmith.cli._app import COMMANDS

PAGES = dict(reference_pages.pages())
MODULES = (*reference_pages.MODULES, *reference_pages.STUDY_MODULES)


def test_every_room_that_users_look_into_is_shown():
    rooms = {name for name in dir(oddsmith) if name.islower() and not name.startswith("_")}
    rooms -= set(oddsmith.__all__)
    assert len(rooms) > 10
    assert {f"oddsmith.{room}" for room in rooms} <= set(reference_pages.MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_a_page(module):
    names = import_module(module).__all__
    assert names
    for name in names:
        home = reference_pages.homes()[module, name]
        where, _, last = home.rpartition(".")
        assert last == name
        assert getattr(import_module(where), name) is getattr(import_module(module), name)
        assert f":: {name}" in PAGES[home]
        assert f"<{home}>" in PAGES[module]


def test_every_page_is_listed_once():
    listed = [line.strip() for page in PAGES.values() for line in page.partition(".. toctree::")[2].splitlines()]
    for home in set(reference_pages.homes().values()):
        assert listed.count(home) == 1, home


def test_every_module_is_listed():
    index = (Path(__file__).parents[2] / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
    for module in MODULES:
        assert index.count(f"/reference/{module}\n") == 1, module


def test_every_command_is_shown_with_its_options():
    page = command_pages.page()
    for name in COMMANDS:
        assert f"\n## {name}\n" in page
    assert "venn-abers" in page
    assert "{methods}" not in page


@pytest.mark.parametrize(
    ("prose", "markup"),
    [
        ("|s − k| and |t|", r"\|s − k\| and \|t\|"),
        ("J. Platt, in: A. Smola", r"J\. Platt, in: A. Smola"),
        ("of coef_, not of `coef_` or ``a_|b|``", r"of coef\_, not of `coef_` or ``a_|b|``"),
        ("a_b and __init__ stay", r"a_b and __init_\_ stay"),
    ],
)
def test_prose_is_not_taken_for_markup(prose, markup):
    assert escaped(prose) == markup
