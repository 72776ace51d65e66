"""What a command prints and where: results on standard output, everything else on standard error."""

import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from oddsmith._check import fail, visible
from oddsmith.cli._exit import in_options
from oddsmith.cli._terminal import Terminal
from oddsmith.errors import OddsmithWarning

#: What ``-o -`` means.
STANDARD_OUTPUT = Path("-")


@contextmanager
def writable_file(output: Path, suffix: str) -> Iterator[Path]:
    """Yield the file to write: the output itself, or for "-" one that is copied to standard output when complete."""
    if output != STANDARD_OUTPUT:
        yield output
        return
    if getattr(sys.stdout, "name", None) == os.devnull:  # what `main` puts in the place of a closed stream
        fail("standard output must be open", "a closed one", "name a file after -o")
    with tempfile.TemporaryDirectory(prefix="oddsmith-") as folder:
        file = Path(folder) / f"output{suffix}"
        yield file
        with _ignore_broken_pipe(sys.stdout), file.open("rb") as content:
            shutil.copyfileobj(content, sys.stdout.buffer)
            sys.stdout.buffer.flush()


class CommandOutput:
    """The output of a command: warnings, one result, and unless it is quiet, remarks and progress.

    Parameters
    ----------
    quiet : bool
        Whether to print results and warnings alone.
    as_json : bool
        Whether results are JSON.
    output : Path, optional
        The file that the command writes.

    See Also
    --------
    print_text : Prints text alone.
    """

    def __init__(self, *, quiet: bool, as_json: bool, output: Path | None = None) -> None:
        self.quiet: bool = quiet
        self.as_json: bool = as_json
        self._err = Terminal(stderr=True, quiet=quiet)
        self._warnings = Terminal(stderr=True)
        # Where standard output is the file that is written, the result goes to standard error.
        self._is_taken = output == STANDARD_OUTPUT
        self._out = self._err if self._is_taken else Terminal()
        self._shows_progress = self._err.is_terminal and not quiet

    def remark(self, text: str) -> None:
        """Print a remark on standard error, unless the command is quiet.

        Parameters
        ----------
        text : str
            What to print.
        """
        self._print(self._err, text)

    def warn(self, text: str) -> None:
        """Print a warning on standard error, also where the command is quiet.

        Parameters
        ----------
        text : str
            What to print.
        """
        self._print(self._warnings, f"Warning: {text}")

    def _print(self, console: Terminal, text: str) -> None:
        if text:
            with _ignore_broken_pipe(sys.stderr):
                print_text(console, visible(in_options(text)))

    def result(self, content: dict[str, Any], show: str | Callable[[Console], None]) -> None:
        """Print the result: as JSON, or as people read it, in sentences or by a function.

        Parameters
        ----------
        content : mapping
            The result as JSON has it.
        show : callable
            Prints the result for people.
        """
        stream = sys.stderr if self._is_taken else sys.stdout
        with _ignore_broken_pipe(stream):
            if self.as_json:
                from oddsmith.report import json_text

                if not (self._is_taken and self.quiet):
                    stream.write(json_text(content) + "\n")
            elif isinstance(show, str):
                print_text(self._out, show)
            else:
                show(self._out)
            stream.flush()

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[[float], None]]:
        """Show a bar and the time left; yield a function that takes the share that is done.

        Parameters
        ----------
        what : str
            What is being done.
        """
        text = TextColumn("{task.description}", markup=False)
        columns = (text, BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        with Progress(*columns, console=self._err, transient=True, disable=not self._shows_progress) as bar:
            task = bar.add_task(visible(what), total=1.0)
            yield lambda share: bar.update(task, completed=share)

    def waiting(self, what: str) -> AbstractContextManager[object]:
        """Show that something is being done whose duration is unknown.

        Parameters
        ----------
        what : str
            What is being done.

        Returns
        -------
        AbstractContextManager[object]
        """
        return self._err.status(f"{what} …") if self._shows_progress else nullcontext()

    @contextmanager
    def show_warnings(self) -> Iterator[list[str]]:
        """Print the library's warnings; yield a list that contains them at the end."""
        found: list[str] = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", OddsmithWarning)
            yield found
        for warning in caught:
            if issubclass(warning.category, OddsmithWarning):
                found.append(str(warning.message))
                self.warn(str(warning.message))
            else:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def print_text(console: Console, text: str) -> None:
    """Print sentences, wrapped at words in a terminal only.

    Parameters
    ----------
    console : Console
        Where to print.
    text : str
        What to print.

    See Also
    --------
    CommandOutput : Prints results, as text or JSON.
    """
    console.print(text, soft_wrap=not console.is_terminal)


def table_of(
    names: Sequence[str], figures: Sequence[str], rows: Iterable[Sequence[RenderableType]], **options: Any
) -> Table:
    """Return a table: columns of names, which are folded where they are long, then columns of figures."""
    table = Table(**options)
    for title in names:
        table.add_column(title, overflow="fold")
    for title in figures:
        table.add_column(title, justify="right")
    for row in rows:
        table.add_row(*row)
    return table


@contextmanager
def _ignore_broken_pipe(stream: IO[str]) -> Iterator[None]:
    """Ignore writes to a closed pipe."""
    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
