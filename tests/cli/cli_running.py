"""Run commands as the program does, in an empty folder."""

import io
import json
import shlex
import sys
from typing import NamedTuple

import pytest
import typer

from oddsmith.cli import main


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))

    @property
    def error(self):
        """The one line that an error is."""
        assert self.code == 2, self
        line = self.err.splitlines()[-1]
        assert line.startswith("Error: "), self
        assert "Traceback" not in self.err
        return line


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Return a function that runs the program and returns its exit code and what it said."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*args, stdin=None):
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(arg) for arg in args])
        return Outcome(left.value.code, *capsys.readouterr())

    return run


def commands_of(group):
    """Every command of a group, with the words that call it; of groups within, their commands."""
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        for inner, sub in getattr(command, "commands", {"": command}).items():
            yield f"{name} {inner}".strip(), sub


def added_by(add_to):
    """Every command that a function adds to an app, with the words that call it."""
    app = typer.Typer()
    add_to(app)
    return dict(commands_of(typer.main.get_group(app)))


def check_help(run, name, command):
    """A command has help with an example, JSON and quiet."""
    shown = run(*name.split(), "--help")
    assert shown.code == 0
    assert command.epilog.startswith(f"Example: oddsmith {name}")
    assert command.epilog.split() == shown.out.split()[-len(command.epilog.split()) :]
    for option in ("--json", "--quiet"):
        assert option in shown.out


def check_example(run, command, folder):
    """The example of a command works, as text and as JSON."""
    arguments = shlex.split(command.epilog.removeprefix("Example: oddsmith"))
    before = set(folder.iterdir())
    told = run(*arguments)
    assert told.code == 0, told.err
    assert told.out
    for path in set(folder.iterdir()) - before:
        path.rename(folder / f"old-{path.name}")
    asked = run(*arguments, "--json", "--quiet")
    assert asked.code == 0
    assert asked.err == ""
    assert isinstance(asked.json, dict)
