"""Which data sets the studies use: where each is published, under what terms, and in which files it may lie.

The list is ``sources.toml``. A data set may be packed in several ways (its *forms*): as published, or repacked in a
local copy; any one form is enough. Checksums belong to files, the digest to what is inside them, however packed.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType


@dataclass(frozen=True)
class File:
    """One file of a data set.

    Parameters
    ----------
    name : str
        Its name inside the folder of the data set.
    url : str or None
        Where it is published; None for a form that is only found in local copies.
    sha256 : tuple of str
        Accepted checksums, that of ``url`` first; empty where nobody has published one.
    size : int or None
        In bytes, where known.
    """

    name: str
    url: str | None = None
    sha256: tuple[str, ...] = ()
    size: int | None = None


@dataclass(frozen=True)
class Source:
    """A data set: what it is, who made it, and the files it may lie in.

    Parameters
    ----------
    name : str
        As on the command line.
    title : str
    folder : str
        Where its files lie below the data folder.
    what : str
        Contents in one line.
    used_for : str
        The study that needs it.
    licence, citation, home : str
        Terms, whom to cite, and the page that describes it.
    forms : tuple of tuple of File
        Ways of packing it, any of which is enough.
    digest : str or None
        SHA-256 of the parsed contents, for forms without a published checksum.
    """

    name: str
    title: str
    folder: str
    what: str
    used_for: str
    licence: str
    citation: str
    home: str
    forms: tuple[tuple[File, ...], ...]
    digest: str | None = None

    @property
    def downloads(self) -> tuple[tuple[File, ...], ...]:
        """The forms that can be fetched."""
        return tuple(form for form in self.forms if form and all(file.url for file in form))


def _read_sources() -> dict[str, Source]:
    text = files("oddsmith_studies.data").joinpath("sources.toml").read_text(encoding="utf-8")
    found = {}
    for name, entry in tomllib.loads(text).items():
        forms = tuple(
            tuple(File(**{**file, "sha256": tuple(file.get("sha256", ()))}) for file in form)
            for form in entry.pop("forms")
        )
        found[name] = Source(name=name, forms=forms, **entry)
    return found


#: Every data set by name.
SOURCES: Mapping[str, Source] = MappingProxyType(_read_sources())
