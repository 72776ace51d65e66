"""``oddsmith data``: the data sets of the studies."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from oddsmith.cli.plugin import CHECK_FAILED, AsJson, CommandOutput, Quiet, print_text

_data = typer.Typer(help="List, fetch and check the studies' data sets.")


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(_data, name="data")


class _Downloaded:
    """What a downloader tells of its progress, in bytes."""

    def __init__(self, progress: Callable[[float], None]) -> None:
        self.total, self._done, self._progress = 0, 0, progress

    def update(self, n: int) -> None:
        self._done += n
        self._progress(min(self._done / max(self.total, 1), 1.0))

    def reset(self) -> None:
        self._done = 0

    def close(self) -> None:
        self._done = 0  # there may be another file


Folder = Annotated[
    Path | None, typer.Option("--data", help="Folder of a local copy. [default: ODDSMITH_DATA, or the cache]")
]


@_data.command("list", epilog="Example: oddsmith data list")
def list_(data: Folder = None, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """List the data sets, and say where they lie on this machine."""
    from oddsmith_studies.data import SOURCES, find

    output = CommandOutput(quiet=quiet, as_json=as_json)
    found = {name: find(name, data) for name in SOURCES}

    def show(console: Console) -> None:
        table = Table("name", "what", "here")
        for name, source in SOURCES.items():
            place = found[name]
            table.add_row(name, source.what, "no" if place is None else str(place.folder))
        console.print(table)

    content = {
        name: {"what": source.what, "folder": None if (place := found[name]) is None else str(place.folder)}
        for name, source in SOURCES.items()
    }
    output.result({"data": content}, show)


@_data.command(epilog="Example: oddsmith data fetch sentiment")
def fetch(
    names: Annotated[list[str], typer.Argument(help="Names of data sets; see oddsmith data list.")],
    data: Folder = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Download data sets from their official addresses, and compare their checksums."""
    from oddsmith_studies.data import fetch as download

    output = CommandOutput(quiet=quiet, as_json=as_json)
    places = {}
    for name in names:
        with output.progress(f"Fetching {name}") as progress:
            places[name] = str(download(name, data, _Downloaded(progress)).folder)

    def show(console: Console) -> None:
        for name, place in places.items():
            print_text(console, f"{name}: {place}")

    output.result({"fetched": places}, show)


@_data.command(epilog="Example: oddsmith data check sentiment")
def check(
    names: Annotated[list[str] | None, typer.Argument(help="Names of data sets. [default: all that are here]")] = None,
    data: Folder = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare data sets on this machine with what they must be; exit code 1 if one differs."""
    from oddsmith_studies.data import SOURCES, find
    from oddsmith_studies.data import check as compare

    output = CommandOutput(quiet=quiet, as_json=as_json)
    chosen = names or [name for name in SOURCES if find(name, data) is not None]
    results = {name: compare(name, data) for name in chosen}

    def show(console: Console) -> None:
        for name, result in results.items():
            print_text(console, f"{name}: {'intact' if result.ok else '; '.join(result.problems)}")

    content = {name: {"ok": result.ok, "problems": list(result.problems)} for name, result in results.items()}
    output.result({"checked": content}, show)
    if not all(result.ok for result in results.values()):
        raise typer.Exit(CHECK_FAILED)
