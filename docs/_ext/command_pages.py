"""The page of the command line, written from what `--help` says."""

import contextlib
import io

import typer

from oddsmith.cli._app import COMMANDS, app


def page() -> str:
    """Return the page: each command with its arguments, options and example."""
    program = typer.main.get_command(app)
    commands = {name: program.commands[name] for name in COMMANDS}  # none of other packages
    parts = [f"# Command line\n\n{program.help}\n\n{program.epilog}"]
    for name, command in commands.items():
        context = command.context_class(command, info_name=f"oddsmith {name}")
        with contextlib.redirect_stdout(io.StringIO()):
            command.get_help(context)  # fills in the names of methods and languages
        records = [option.get_help_record(context) for option in command.get_params(context)]
        listed = "\n\n".join(f"`{names}`\n: {told}" for names, told in filter(None, records))
        usage = command.get_usage(context).removeprefix("Usage: ")
        example = (command.epilog or "").removeprefix("Example: ")
        parts.append(f"## {name}\n\n{command.help}\n\n```text\n{usage}\n```\n\n{listed}\n\n```text\n$ {example}\n```")
    return "\n\n".join(parts) + "\n"
