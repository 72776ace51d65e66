"""What a distribution imports it declares, and it declares nothing else."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

from oddsmith._extras import EXTRAS

ROOT = Path(__file__).parents[2]

#: Each distribution: its folder and its package.
LIBRARY, STUDIES = (ROOT, ROOT / "src" / "oddsmith"), (ROOT / "studies", ROOT / "studies" / "src" / "oddsmith_studies")
BOTH = pytest.mark.parametrize(("folder", "package"), [LIBRARY, STUDIES], ids=["library", "studies"])

#: Modules that are not called as their distribution is.
CALLED = {"ibis": "ibis-framework", "markdown_it": "markdown-it-py", "sklearn": "scikit-learn"}

#: Extras for those who work on the library, not for those who use it.
FOR_DEVELOPERS = {"bench", "engines", "lint", "test"}

#: Files, and rooms, that are loaded only where an extra is installed.
OF_EXTRAS = {
    "_compiled.py": {"numba"},
    "cli": {"rich", "typer"},
    "export/segments.py": {"sqlglot"},
    "formula/sql.py": {"sqlglot"},
}


def project(folder):
    return tomllib.loads((folder / "pyproject.toml").read_text())["project"]


def distributions(requirements):
    return {re.match(r"[\w.-]+", requirement)[0].lower() for requirement in requirements}


def imports_in(nodes):
    """Return the distributions that statements import from."""
    modules = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    modules += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    names = {module.partition(".")[0] for module in modules} - sys.stdlib_module_names
    return {CALLED.get(name, name) for name in names}


def files_of(package):
    for path in sorted(package.rglob("*.py")):
        yield path, ast.parse(path.read_text())


def imported(package):
    """Return the distributions that a package imports from, anywhere in it."""
    return {name for _, tree in files_of(package) for name in imports_in([*ast.walk(tree)])} - {package.name}


@BOTH
def test_every_import_is_declared(folder, package):
    declared = project(folder)
    extras = declared.get("optional-dependencies", {})
    offered = [each for name, requirements in extras.items() if name not in FOR_DEVELOPERS for each in requirements]
    assert imported(package) <= distributions([*declared["dependencies"], *offered])


@BOTH
def test_every_dependency_is_imported(folder, package):
    assert distributions(project(folder)["dependencies"]) <= imported(package)


@BOTH
def test_what_is_imported_at_once_is_no_extra(folder, package):
    always = distributions(project(folder)["dependencies"]) | {package.name}
    for path, tree in files_of(package):
        place = path.relative_to(package).as_posix()
        extra = OF_EXTRAS.get(place, set()) | OF_EXTRAS.get(place.partition("/")[0], set())
        assert imports_in(tree.body) <= always | (extra if package.name == "oddsmith" else set()), path


def test_every_optional_package_has_an_extra():
    extras = project(ROOT)["optional-dependencies"]
    for package, (extra, _) in EXTRAS.items():
        named = re.findall(r"oddsmith\[([\w,]+)\]", " ".join(extras[extra]))
        inner = [one for names in named for name in names.split(",") for one in extras[name]]
        assert package in distributions([*extras[extra], *inner])


def test_the_two_are_released_together():
    library, studies = project(LIBRARY[0]), project(STUDIES[0])
    assert studies["version"] == library["version"]
    assert f"oddsmith[cli]=={library['version']}" in studies["dependencies"]
    assert (STUDIES[0] / "LICENSE").read_text() == (LIBRARY[0] / "LICENSE").read_text()
