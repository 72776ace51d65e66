"""The house rules: what is exported, who imports whom, what an import costs."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import oddsmith
from oddsmith_studies import learners

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from house_map import UPWARD, imported, room_of

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "oddsmith"
MODULES = sorted(PACKAGE.rglob("*.py"))
STUDIES = ROOT / "studies" / "src" / "oddsmith_studies"
STUDY_MODULES = sorted(STUDIES.rglob("*.py"))
#: The front of the package puts the rooms together, and may name any of them.
INSIDE = [path for path in MODULES if path != PACKAGE / "__init__.py"]

#: Rooms of a layer import rooms of lower layers, and not each other.
LAYERS = [
    {"errors", "_docstrings", "_foreign_names", "_short_repr", "_types", "_version", "_sklearn_compat"},
    {"_check"},
    {"_compiled", "_extras", "atomic", "checks"},
    {"_kernels"},
    {"data"},
    {"formula"},
    {"maps"},
    {"bands", "fitting", "model"},
    {"calibrators"},
    {"metrics"},
    {"base_rates", "classify", "combine", "decide", "explain", "monitor", "planning"},
    {"cutoffs"},
    {"export"},
    {"frames"},
    {"audit", "pooling"},
    {"files", "plots"},
    {"expected", "report"},
    {"demo"},
    {"cli"},
]
STUDY_LAYERS = [{"data", "learners"}, {"studies"}, {"cli"}]


def layer(module, layers=LAYERS):
    return next(i for i, names in enumerate(layers) if module in names)


def test_exports_are_sorted_and_complete():
    assert oddsmith.__all__ == sorted(oddsmith.__all__)
    assert all(hasattr(oddsmith, name) for name in oddsmith.__all__)
    assert set(oddsmith.calibrators.__all__) <= set(oddsmith.__all__)


@pytest.mark.parametrize("path", MODULES + STUDY_MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_lists_of_names_are_sorted(path):
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node).startswith("__all__ = ["):
            names = ast.literal_eval(node.value)
            assert names == sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))


@pytest.mark.parametrize("path", INSIDE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path):
    mine, name = room_of(path), path.relative_to(PACKAGE).as_posix()
    for other in {name[0] for name in imported(path)} - {mine}:
        if (name, other) in UPWARD:
            continue
        assert layer(other) < layer(mine), f"{path.name} imports {other}"


@pytest.mark.parametrize("path", INSIDE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_rooms_import_each_other_through_their_facade(path):
    for name in imported(path):
        if name[0] != room_of(path) and (PACKAGE / name[0]).is_dir():
            assert len(name) == 2, f"{path.name} imports {'.'.join(name)}"
            assert not name[-1].startswith("_"), f"{path.name} imports {'.'.join(name)}"


def module_of(path):
    """Return the name of a module within the package."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def test_modules_import_each_other_without_cycles():
    """Imports at the top of modules, also those for type checking, form no cycle.

    But for one: an engine of frames reads the frame with scores, which knows its engine.
    """
    known = {module_of(path) for path in INSIDE}
    graph = {}
    for path in INSIDE:
        names = (".".join(name) for name in imported(path, nested=False))
        found = (name if name in known else name.rpartition(".")[0] for name in names)
        graph[module_of(path)] = {name for name in found if name in known} - {module_of(path)}
    for name in [name for name in graph if name.startswith("frames.engines")]:
        graph[name].discard("frames.scored_frame")
    while leaves := {name for name, others in graph.items() if not others}:
        graph = {name: others - leaves for name, others in graph.items() if name not in leaves}
    assert graph == {}


def test_no_module_is_named_after_a_number_of_classes():
    names = [part for path in MODULES for part in path.relative_to(PACKAGE).with_suffix("").parts]
    assert not [name for name in names if "class_" in name or "joint" in name]


@pytest.mark.parametrize("path", [path for path in STUDY_MODULES if path.parent != STUDIES])
def test_imports_of_the_studies_point_one_way(path):
    for other in {name[0] for name in imported(path, STUDIES)}:
        assert layer(other, STUDY_LAYERS) <= layer(room_of(path, STUDIES), STUDY_LAYERS), f"{path} imports {other}"


@pytest.mark.parametrize("path", STUDY_MODULES, ids=lambda path: str(path.relative_to(STUDIES)))
def test_the_studies_use_nothing_private(path):
    tree = ast.parse(path.read_text())
    modules = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    used = {f"{node.module}.{alias.name}" for node in modules for alias in node.names}
    ours = [name for name in used if name.split(".")[0] == "oddsmith"]
    assert not [name for name in ours if "._" in name and not name.endswith("__version__")]


#: Where names that were moved to the studies are said to be.
SIGNPOSTS = {PACKAGE / "_foreign_names.py", PACKAGE / "learners.py"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_library_knows_nothing_of_the_studies(path):
    imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)]
    text = "\n".join(map(ast.unparse, imports)) if path in SIGNPOSTS else path.read_text()
    assert STUDIES.name not in text


def test_learners_are_found_in_the_studies():
    classifiers = [name for name in learners.__all__ if name not in ("TreeCounts", "smooth_leaves")]
    assert len(classifiers) == 5
    for name in classifiers:
        with pytest.raises(ImportError, match=f"{name!r}; use oddsmith_studies.learners.{name}"):
            exec(f"from oddsmith import {name}")
    for name in learners.__all__:
        with pytest.raises(ImportError, match=r"is now oddsmith_studies\.learners, in the distribution"):
            exec(f"from oddsmith.learners import {name}")
    with pytest.raises(AttributeError, match=r"use oddsmith_studies\.learners, in the distribution oddsmith-studies"):
        _ = oddsmith.learners


def test_nothing_below_the_command_line_prints():
    below = [path for path in MODULES if room_of(path) not in {"cli", "demo", "__init__"}]
    for path in below + [path for path in STUDY_MODULES if room_of(path, STUDIES) != "cli"]:
        calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        assert not any(isinstance(func, ast.Name) and func.id == "print" for func in calls), path


def modules_after(code):
    """Return the top-level modules that a fresh interpreter has loaded after some code."""
    loaded = "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))"
    code = f"import sys; before = set(sys.modules)\n{code}\n{loaded}"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_import_pulls_in_nothing_heavy():
    found = modules_after("import oddsmith")
    assert not found & {"numpy", "scipy", "sklearn", "matplotlib", "typer", "rich", "duckdb", "narwhals", "pandas"}


def test_a_model_is_loaded_and_applied_without_scikit_learn(tmp_path):
    path = tmp_path / "model.json"
    oddsmith.AutoCalibrator().fit([0.1, 0.9, 0.4, 0.6, 0.5, 0.2], [0, 1, 1, 0, 1, 0]).save(path)
    found = modules_after(f"import oddsmith; oddsmith.load({str(path)!r}).predict_proba([0.2, 0.7])")
    assert "numpy" in found
    assert not found & {"sklearn", "pandas", "matplotlib", "duckdb", "sqlglot", "narwhals"}
    logits = [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [2.0, 0.0, 1.0]]
    oddsmith.TemperatureScaling().fit(logits, ["a", "b", "c"]).save(path, force=True)
    found = modules_after(f"import oddsmith; oddsmith.load({str(path)!r}).predict_proba({logits})")
    assert not found & {"sklearn", "pandas", "matplotlib", "duckdb", "sqlglot", "narwhals"}


def test_dir_shows_public_names_only():
    assert not [name for name in dir(oddsmith) if name.startswith("_") and name != "__version__"]


def test_contributing_lists_every_room_with_a_file_that_exists():
    table = (ROOT / "CONTRIBUTING.md").read_text().split("<!-- rooms -->")[1].split("<!-- end of rooms -->")[0]
    rows = re.findall(r"^\| `(\w+)` \| .+ \| `([\w/.]+)` \|$", table, re.M)
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert {room for room, _ in rows} == rooms | {"_check"}
    assert all((PACKAGE / first).is_file() and first.startswith(room) for room, first in rows)
    layers = [layer(room) for room, _ in rows]
    assert layers == sorted(layers)


def test_contributing_lists_every_public_module():
    table = (ROOT / "CONTRIBUTING.md").read_text().split("<!-- modules -->")[1].split("<!-- end of modules -->")[0]
    named = {name for row in re.findall(r"^\| (`.+?) \|", table, re.M) for name in re.findall(r"`(\w+)`", row)}
    assert named == {path.stem for path in PACKAGE.glob("[a-z]*.py")}


@pytest.mark.parametrize(
    "page", ["CONTRIBUTING.md", *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/inside/*.md"))]
)
def test_paths_on_pages_about_the_inside_exist(page):
    text = (ROOT / page).read_text()
    paths = re.findall(r"(?<![\w/(.])(?:src|tests|studies|benchmarks|tools)/[\w/.-]*\w", text)
    assert not [path for path in paths if not (ROOT / path).exists()]


def test_everything_public_is_documented():
    for name in oddsmith.__all__:
        cls = getattr(oddsmith, name)
        assert cls.__doc__, name
        if name.endswith("Calibrator"):
            assert "Parameters" in cls.__doc__, name
            assert name == "Calibrator" or "Examples" in cls.__doc__, name
