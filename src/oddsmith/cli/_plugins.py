"""Commands that other packages add, by the entry-point group ``oddsmith.commands``.

An entry has the name of its command, and names a function ``add_to(app)`` that adds it to a `typer.Typer`. A package
is loaded when its command is called or listed; one that cannot be loaded says so, and leaves the other commands alone.
"""

from collections.abc import Callable
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

GROUP = "oddsmith.commands"

#: Commands of the package beside this one, which may not be installed.
_STUDIES = frozenset({"data", "study"})


class ExtensibleGroup(TyperGroup):
    """Own commands, then those of other packages in order of their names; an own command is never replaced."""

    @cached_property
    def _entries(self) -> dict[str, EntryPoint]:
        return {entry.name: entry for entry in sorted(entry_points(group=GROUP)) if entry.name not in self.commands}

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands that are installed."""
        return [*super().list_commands(ctx), *self._entries]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, from wherever it comes."""
        if (own := super().get_command(ctx, cmd_name)) is not None:
            return own
        if cmd_name in self._entries:
            return _load(self._entries[cmd_name])
        if cmd_name not in _STUDIES:
            return None
        must = f"oddsmith {cmd_name} needs the package oddsmith-studies"
        hint = "run pip install ./studies in a checkout of Oddsmith"
        return _failing_command(cmd_name, "Comes with oddsmith-studies.", must, "none installed", hint)


def _load(entry: EntryPoint) -> Any:
    """Return the command of an entry, or one that gives the reason if there is none."""
    try:
        return _command(entry.name, entry.load())
    except Exception as error:  # whatever another package does wrong
        package = entry.dist.name if entry.dist else entry.module
        return _failing_command(
            entry.name,
            f"Cannot be loaded; oddsmith {entry.name} shows the error.",
            f"oddsmith {entry.name} must be loaded from {package}",
            f"{type(error).__name__}: {error}",
            f"install {package} again; python -c 'import {entry.module}' may show where it fails",
        )


def _failing_command(name: str, summary: str, must: str, got: str, hint: str) -> Any:
    """Return a command that fails, whatever it is given."""

    def fail() -> NoReturn:
        from oddsmith import _check

        _check.fail(must, got, hint)

    def add_to(app: typer.Typer) -> None:
        anything = {"ignore_unknown_options": True, "allow_extra_args": True}
        app.command(name, help=summary, add_help_option=False, context_settings=anything)(fail)

    return _command(name, add_to)


def _command(name: str, add_to: Callable[[typer.Typer], None]) -> Any:
    app = typer.Typer(rich_markup_mode="markdown")
    add_to(app)
    return typer.main.get_group(app).commands[name]
