"""Everything public has a page in the reference."""

import builtins
import inspect
import sys
import typing
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


def callables():
    """Yield everything public that has types: functions, constructors, methods and properties."""
    for home in sorted(set(reference_pages.homes().values())):
        module, _, name = home.rpartition(".")
        value = getattr(import_module(module), name)
        value = getattr(value, "_function", value)  # of a measure
        if inspect.isfunction(value):
            yield home, inspect.unwrap(value)
        elif inspect.isclass(value) and value.__module__.startswith("oddsmith."):
            yield home, value.__init__
            for member in dir(value):
                static = inspect.getattr_static(value, member)
                static = getattr(static, "fget", getattr(static, "func", getattr(static, "__func__", static)))
                if inspect.isfunction(static) and not member.startswith("_"):
                    yield f"{home}.{member}", static


def classes_in(hint):
    """Yield the classes that a type is made of."""
    if inspect.isclass(hint):
        yield hint
    for part in typing.get_args(hint):
        yield from classes_in(part)


class HasAny(type):
    """A class whose attributes are types, as those of a module are."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return typing.Any


class Elsewhere(metaclass=HasAny):
    """A class or a module of another package."""

    def __class_getitem__(cls, item):
        return typing.Any


class Names(dict):
    """Names that only type checkers import: classes of ours by their names, anything else as from elsewhere."""

    def __init__(self, known):
        modules = [module for name, module in sys.modules.items() if name.startswith("oddsmith.")]
        ours = {name: one for module in modules for name, one in vars(module).items() if inspect.isclass(one)}
        super().__init__({name: one for name, one in ours.items() if name not in known})
        self.known = known

    def __missing__(self, name):
        if name in self.known or hasattr(builtins, name) or name.startswith("__"):
            raise KeyError(name)
        return Elsewhere


def test_types_of_public_functions_are_public():
    """Users can import every class that they meet, from the module whose page describes it."""
    homes = reference_pages.homes()
    public = {id(getattr(import_module(module), name)) for module, name in homes}
    opened_for_them = {"oddsmith.files.ScoreFile"}
    passed_to_engines = {"JointPlan", "Maps", "ScoredFrame"}  # may change: see docs/stability.md
    hidden, looked = set(), 0
    for where, function in callables():
        hints = typing.get_type_hints(function, localns=Names(getattr(function, "__globals__", {})))
        looked += 1
        for name, hint in hints.items():
            ours = {one for one in classes_in(hint) if one.__module__.startswith("oddsmith.") and id(one) not in public}
            if not name.startswith("_") and where not in opened_for_them:
                hidden |= {f"{one.__name__} of {where}" for one in ours if one.__name__ not in passed_to_engines}
    assert looked > 900
    assert sorted(hidden) == []


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
