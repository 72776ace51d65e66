"""Commands that another package might add, and ways to get it wrong."""

import typer


def add_to(app):
    @app.command(epilog="Example: oddsmith greet")
    def greet(name: str = "you"):
        """Greet somebody."""
        typer.echo(f"Hello, {name}.")


def add_other(app):
    @app.command()
    def other():
        """Be called otherwise."""


def add_none(app):
    raise ZeroDivisionError("no\ncommand")
