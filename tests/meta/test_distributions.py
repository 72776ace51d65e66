"""What is in the sdists and the wheels, and that two builds have the same bytes."""

import sys
import tomllib
from email.parser import HeaderParser
from pathlib import Path
from zipfile import ZipFile

import pytest

from optional import needs

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import distributions

needs("hatchling")
pytestmark = pytest.mark.skipif(not (distributions.ROOT / ".git").exists(), reason="not a checkout")


@pytest.fixture(scope="module", params=distributions.FOLDERS.items(), ids=distributions.FOLDERS)
def built(request, tmp_path_factory):
    """One distribution: its package, its folder, what pyproject.toml says of it, its sdist and its wheel."""
    package, folder = request.param
    wheel, sdist = distributions.build(folder, tmp_path_factory.mktemp(package))
    return package, folder, tomllib.loads((folder / "pyproject.toml").read_text())["project"], sdist, wheel


def test_the_wheel_holds_the_package_and_nothing_else(built):
    package, folder, project, _, wheel = built
    found = distributions.contents(wheel)
    assert found == distributions.wheel_contents(folder, package, project["version"])
    assert {f"{package}/__init__.py", f"{package}/py.typed"} <= found


def test_the_sdist_holds_what_is_under_version_control(built):
    _, folder, _, sdist, _ = built
    assert distributions.contents(sdist) - {"PKG-INFO", ".gitignore"} == distributions.tracked(folder) - {".gitignore"}


def test_the_metadata_say_who_what_and_on_which_versions(built):
    package, _, project, _, wheel = built
    with ZipFile(wheel) as archive:
        text = archive.read(f"{package}-{project['version']}.dist-info/METADATA").decode()
    metadata = HeaderParser().parsestr(text)
    assert metadata["Author"] == "The Oddsmith developers"
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert metadata["Requires-Python"] == ">=3.11"
    assert "Typing :: Typed" in metadata.get_all("Classifier")


def test_two_builds_have_the_same_bytes(built, tmp_path):
    _, folder, _, sdist, wheel = built
    again = distributions.build(folder, tmp_path / "tree", "sdist")
    again += distributions.build_from_sdist(sdist, tmp_path / "sdist")
    assert distributions.digests(again) == distributions.digests([sdist, wheel])
