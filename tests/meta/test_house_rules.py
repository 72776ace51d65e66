"""The house rules: what is exported, who imports whom, what an import costs."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import oddsmith

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "oddsmith"
MODULES = sorted(PACKAGE.rglob("*.py"))
STUDIES = ROOT / "studies" / "src" / "oddsmith_studies"
STUDY_MODULES = sorted(STUDIES.rglob("*.py"))

#: Lower layers never import higher ones.
LAYERS = [
    {"errors"},
    {"_check"},
    {"_pieces"},
    {"_kernels", "_compiled", "_locate"},
    {"rows", "grid", "near_ties", "atomic"},
    {"table"},
    {"formula"},
    {"maps", "resample"},
    {"input_maps", "log_basis", "blend"},
    {"soft_logit"},
    {"solvers"},
    {"calibrators", "metrics", "decide", "combine", "learners"},
    {"modelfile"},
    {"classify", "export", "frames", "plots", "streaming"},
    {"files", "report"},
    {"cli", "demo"},
]
STUDY_LAYERS = [{"data"}, {"studies"}, {"cli"}]


#: Methods that hand over to a higher floor, when they are called.
DOORS = {("table", "frames"), ("modelfile", "frames"), ("calibrators", "streaming")}


def layer(module, layers=LAYERS):
    return next(i for i, names in enumerate(layers) if module in names)


def module_of(path, package):
    """Return the first-level module of a package that a file belongs to."""
    return path.relative_to(package).parts[0].removesuffix(".py")


def imports_of(path, package=PACKAGE):
    """Return the first-level modules of its package that a file imports, at any place in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == package.name:
            rest = node.module.split(".")[1:]
            found |= {rest[0]} if rest else {alias.name for alias in node.names}
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith(f"{package.name}.")}
    return found


def test_exports_are_sorted_and_complete():
    assert oddsmith.__all__ == sorted(oddsmith.__all__)
    assert all(hasattr(oddsmith, name) for name in oddsmith.__all__)
    assert set(oddsmith.calibrators.__all__) <= set(oddsmith.__all__)
    ours = {name for name, value in vars(oddsmith).items() if getattr(value, "__module__", "").startswith("oddsmith.")}
    assert {name for name in ours if not name.startswith("_")} <= set(oddsmith.__all__)


@pytest.mark.parametrize("path", MODULES + STUDY_MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_lists_of_names_are_sorted(path):
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            names = ast.literal_eval(node.value)
            assert names == sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))


@pytest.mark.parametrize("path", [path for path in MODULES if path.name != "__init__.py" or path.parent != PACKAGE])
def test_imports_point_one_way(path):
    mine = module_of(path, PACKAGE)
    for other in imports_of(path) - {mine, "__version__"} - {other for here, other in DOORS if here == mine}:
        if hasattr(oddsmith, other) and isinstance(getattr(oddsmith, other), type):
            continue  # a public name, taken from the top of the package
        assert layer(other) <= layer(mine), f"{path.name} imports {other}"


@pytest.mark.parametrize("path", [path for path in STUDY_MODULES if path.parent != STUDIES])
def test_imports_of_the_studies_point_one_way(path):
    for other in imports_of(path, STUDIES):
        assert layer(other, STUDY_LAYERS) <= layer(module_of(path, STUDIES), STUDY_LAYERS), f"{path} imports {other}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_library_knows_nothing_of_the_studies(path):
    assert STUDIES.name not in path.read_text()


def test_nothing_below_the_command_line_prints():
    below = [path for path in MODULES if module_of(path, PACKAGE) not in {"cli", "demo", "__init__"}]
    for path in below + [path for path in STUDY_MODULES if module_of(path, STUDIES) != "cli"]:
        calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        assert not any(isinstance(func, ast.Name) and func.id == "print" for func in calls), path


def test_import_pulls_in_nothing_heavy():
    code = (
        "import sys, sklearn.base; before = set(sys.modules); import oddsmith;"
        "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert set(found) <= {"oddsmith"}
    for heavy in ("matplotlib", "typer", "rich", "duckdb", "numba", "jinja2", "sqlglot", "pyspark", "dask"):
        assert heavy not in found


def test_every_file_is_on_the_map():
    """A file has its own line, or its folder has one."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    names = [path.relative_to(PACKAGE) for path in MODULES] + [
        path.relative_to(STUDIES.parent) for path in STUDY_MODULES
    ]
    on_map = set(re.findall(r"^\| `(\S+)` \|", text, re.MULTILINE))
    missing = [str(name) for name in names if not on_map & {str(name), *(f"{folder}/" for folder in name.parents)}]
    assert not missing, f"CONTRIBUTING.md does not say what these are: {missing}"


def test_everything_public_is_documented():
    for name in oddsmith.__all__:
        cls = getattr(oddsmith, name)
        assert cls.__doc__, name
        if name.endswith("Calibrator"):
            assert "Parameters" in cls.__doc__, name
            assert name == "Calibrator" or "Examples" in cls.__doc__, name
