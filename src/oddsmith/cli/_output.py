"""What a command says and where: results on standard output, everything else on standard error."""

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from oddsmith.errors import OddsmithError, OddsmithWarning

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but the result.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace output that exists.")]

#: Exit codes.
CHECK_FAILED = 1
BAD_INPUT = 2


class Voice:
    """How a command speaks: remarks and progress, unless it was told to be quiet, and one result."""

    def __init__(self, *, quiet: bool, as_json: bool) -> None:
        self.quiet, self.as_json = quiet, as_json
        self.aside = Console(stderr=True, quiet=quiet, highlight=False)
        self.out = Console(highlight=False, soft_wrap=True)

    def remark(self, text: str) -> None:
        """Say something beside the result."""
        if text:
            self.aside.print(text, markup=False, soft_wrap=True)

    def result(self, content: dict[str, Any], show: Callable[[Console], None]) -> None:
        """Print the result: as JSON, or as people read it."""
        if self.as_json:
            typer.echo(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))
        else:
            show(self.out)

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[[float], None]]:
        """Show a bar while something long is done; it is told the share that is done."""
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        silent = self.quiet or not self.aside.is_terminal
        with Progress(*columns, console=self.aside, transient=True, disable=silent) as bar:
            task = bar.add_task(what, total=1.0)
            yield lambda share: bar.update(task, completed=share)

    @contextmanager
    def odd_things_said(self) -> Iterator[None]:
        """Turn the library's warnings into remarks."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", OddsmithWarning)
            yield
        for warning in caught:
            if issubclass(warning.category, OddsmithWarning):
                self.remark(f"Warning: {warning.message}")
            else:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


@contextmanager
def fail_cleanly() -> Iterator[None]:
    """Turn an error of the library into one line and an exit code, and leave quietly when nobody reads on."""
    try:
        yield
    except OddsmithError as error:
        Console(stderr=True, highlight=False).print(f"Error: {error}", markup=False, soft_wrap=True)
        sys.exit(BAD_INPUT)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
