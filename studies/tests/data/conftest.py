"""Data folders: an empty one with nothing behind it, and the real one where the machine has it."""

import functools
import os

import pytest

from oddsmith_studies.data import find
from oddsmith_studies.data.checking import LOADERS


@pytest.fixture
def lonely(tmp_path, monkeypatch):
    """Return an empty data folder; no other one can be found."""
    monkeypatch.delenv("ODDSMITH_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def where():
    """Return a function that says where a real data set lies: without one a test skips, or fails in CI."""

    def locate(name):
        found = find(name)
        if found is None:
            (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(
                f"no {name}: set ODDSMITH_DATA to a folder that holds it"
            )
        return found

    return locate


@pytest.fixture(scope="session")
def real(where):
    """Return a function that loads a real data set, once in a session."""

    @functools.cache
    def load(name):
        where(name)
        return LOADERS[name](None)

    return load
