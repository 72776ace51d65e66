"""What a command says and where: results on standard output, everything else on standard error."""

import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from oddsmith._check import visible
from oddsmith.cli._terminal import Terminal
from oddsmith.errors import OddsmithWarning
from oddsmith.report.render import json_text

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but the result.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace output that exists.")]


#: What ``-o -`` means.
STANDARD_OUTPUT = Path("-")


@contextmanager
def standing_for(output: Path, suffix: str) -> Iterator[Path]:
    """Give the file to write: the output itself, or for "-" one that is copied to standard output when it is whole."""
    if output != STANDARD_OUTPUT:
        yield output
        return
    with tempfile.TemporaryDirectory(prefix="oddsmith-") as folder:
        file = Path(folder) / f"output{suffix}"
        yield file
        with _unheard(sys.stdout), file.open("rb") as content:
            shutil.copyfileobj(content, sys.stdout.buffer)
            sys.stdout.buffer.flush()


class Voice:
    """How a command speaks: remarks and progress, unless it was told to be quiet, and one result."""

    def __init__(self, *, quiet: bool, as_json: bool, output: Path | None = None) -> None:
        self.quiet, self.as_json = quiet, as_json
        self.aside = Terminal(stderr=True, quiet=quiet)
        # Where standard output is the file that is written, what is said about it goes elsewhere.
        self._is_taken = output == STANDARD_OUTPUT
        self.out = self.aside if self._is_taken else Terminal()

    def remark(self, text: str) -> None:
        """Say something beside the result."""
        if text:
            with _unheard(sys.stderr):
                say(self.aside, visible(text))

    def result(self, content: dict[str, Any], show: Callable[[Console], None]) -> None:
        """Print the result: as JSON, or as people read it."""
        stream = sys.stderr if self._is_taken else sys.stdout
        with _unheard(stream):
            if not self.as_json:
                show(self.out)
            elif not (self._is_taken and self.quiet):
                stream.write(json_text(content) + "\n")
            stream.flush()

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[[float], None]]:
        """Show a bar and the time left while something long is done; it is told the share that is done."""
        words = TextColumn("{task.description}", markup=False)
        columns = (words, BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        silent = self.quiet or not self.aside.is_terminal
        with Progress(*columns, console=self.aside, transient=True, disable=silent) as bar:
            task = bar.add_task(visible(what), total=1.0)
            yield lambda share: bar.update(task, completed=share)

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """Show that something is being done of which nobody knows how long it takes."""
        if self.quiet or not self.aside.is_terminal:
            yield
            return
        with self.aside.status(f"{what} …"):
            yield

    @contextmanager
    def odd_things_said(self, about: str = "") -> Iterator[None]:
        """Turn the library's warnings into remarks."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", OddsmithWarning)
            yield
        for warning in caught:
            if issubclass(warning.category, OddsmithWarning):
                self.remark(f"Warning: {about}{warning.message}")
            else:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def say(console: Console, text: str) -> None:
    """Print sentences: broken at words in a terminal, and as they are where a program reads them."""
    console.print(text, soft_wrap=not console.is_terminal)


@contextmanager
def _unheard(stream: IO[str]) -> Iterator[None]:
    """Let nobody listen: what is said to a closed pipe is lost, and nothing else."""
    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
