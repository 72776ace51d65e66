"""Where a data set lies on this machine."""

import os
from dataclasses import dataclass
from pathlib import Path

from oddsmith import checks
from oddsmith_studies.data.sources import SOURCES, File, Source

#: The environment variable that names a folder with local copies.
DATA_VARIABLE = "ODDSMITH_DATA"

Folder = str | os.PathLike[str] | None
"""A data folder, which holds one folder a data set; None looks only where data are usually kept."""


@dataclass(frozen=True)
class Found:
    """A data set on this machine.

    Parameters
    ----------
    source : Source
    folder : Path
        The folder that holds its files.
    files : tuple of File
        The form that is there.
    """

    source: Source
    folder: Path
    files: tuple[File, ...]

    def path(self, file: File) -> Path:
        """Return where a file of it lies."""
        return self.folder / file.name


def cache_folder() -> Path:
    """Return the data folder that downloads go to: ``oddsmith`` below the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "oddsmith"


def data_folders(folder: Folder = None) -> tuple[Path, ...]:
    """Return the data folders in the order they are searched: given, environment variable, cache."""
    given = (folder, os.environ.get(DATA_VARIABLE), cache_folder())
    return tuple(Path(place).expanduser() for place in given if place)


def source(name: str) -> Source:
    """Return the data set of a name.

    Examples
    --------
    >>> from oddsmith_studies.data import source
    >>> source("letter").what
    '20,000 printed capitals, 16 attributes, 26 letters'
    """
    checks.one_of(name, "name", tuple(SOURCES))
    return SOURCES[name]


def find(name: str, folder: Folder = None) -> Found | None:
    """Return where a data set lies, or None.

    Parameters
    ----------
    name : str
        One of ``SOURCES``.
    folder : path, default=None
        A data folder to look in before the one of the environment variable ``ODDSMITH_DATA`` and the cache.

    Returns
    -------
    Found or None

    Examples
    --------
    >>> from oddsmith_studies.data import find
    >>> find("adult", folder="my/data")  # doctest: +SKIP
    Found(source=Source(name='adult', ...
    """
    wanted = source(name)
    for root in data_folders(folder):
        for form in wanted.forms:
            place = root / wanted.folder
            if all((place / file.name).exists() for file in form):
                return Found(wanted, place, form)
    return None


def locate(name: str, folder: Folder = None) -> Found:
    """Return where a data set lies, or say which files to put where."""
    found = find(name, folder)
    if found is None:
        wanted, searched = source(name), data_folders(folder)
        hint = by_hand(wanted, searched[0])
        checks.fail(
            f"data set {name!r} must be in one of the data folders",
            f"none in {', '.join(str(root) for root in searched)}",
            f"run 'oddsmith data fetch {name}', or {hint}" if wanted.downloads else hint,
        )
    return found


def by_hand(wanted: Source, root: Path) -> str:
    """Say which files to put where, and where they are published."""
    place = root / wanted.folder
    if not wanted.downloads:
        names = ", ".join(file.name for file in wanted.forms[0])
        return f"put {names} into {place}; {wanted.home} says how to get them"
    pages = " and ".join(str(file.url) for file in wanted.downloads[0])
    return f"put {pages} into {place}"
