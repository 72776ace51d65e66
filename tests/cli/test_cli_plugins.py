"""Other packages add commands; one that is missing or broken is one line."""

from importlib.metadata import EntryPoint

import pytest

from oddsmith.cli import _plugins


@pytest.fixture
def installed(monkeypatch):
    """Return a function that says which commands other packages add, and counts how often they are asked for."""

    def install(**commands):
        asked = []

        def found(*, group):
            asked.append(group)
            return [EntryPoint(name, value, group) for name, value in commands.items()]

        monkeypatch.setattr(_plugins, "entry_points", found)
        return asked

    return install


def test_commands_are_added_after_the_own_ones(run, installed):
    installed(zebra="toy_commands:add_to", greet="toy_commands:add_to")
    shown = run("--help").out
    assert shown.index("report") < shown.index("greet      Greet somebody.") < shown.index("zebra")
    assert run("greet", "--name", "Ann").out == "Hello, Ann.\n"
    assert "Example: oddsmith greet" in run("greet", "-h").out
    assert "No such option: --nmae" in run("greet", "--nmae", "Ann").error


def test_own_commands_are_not_replaced_and_load_nothing(run, installed):
    asked = installed(show="toy_commands:add_to")
    assert "Describe a model and its origin" in run("show", "--help").out
    assert asked == []
    assert run("--help").out.count(" show ") == 1
    assert asked == [_plugins.GROUP]


@pytest.mark.parametrize("arguments", [[], ["list"], ["--help"], ["course-project", "--quick", "-j", "2"]])
@pytest.mark.parametrize("name", ["study", "data"])
def test_what_is_not_installed_says_how_to_install_it(run, installed, name, arguments):
    installed()
    told = run(name, *arguments)
    assert told.error.startswith(f"Error: oddsmith {name} needs the package oddsmith-studies; got none installed. Hint")
    assert "pip install ./studies" in told.error
    assert (told.out, len(told.err.splitlines())) == ("", 1)
    assert name not in run("--help").out.split()


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("no_such_package:add_to", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("toy_commands:no_such_function", "AttributeError"),
        ("toy_commands:add_none", "ZeroDivisionError: no command"),
        ("toy_commands:add_other", "KeyError: 'study'"),
    ],
)
def test_what_is_broken_is_one_line_and_breaks_nothing_else(run, installed, value, problem):
    installed(study=value, greet="toy_commands:add_to")
    for arguments in ([], ["list"], ["--help"]):
        told = run("study", *arguments)
        assert "oddsmith study must be loaded from" in told.error
        assert f"got {problem}" in told.error
        assert (told.out, len(told.err.splitlines())) == ("", 1)
    assert run("greet").out == "Hello, you.\n"
    shown = run("--help")
    assert (shown.code, shown.err) == (0, "")
    assert "study      Cannot be loaded; oddsmith study shows the error." in shown.out
