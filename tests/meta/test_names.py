"""Two things never share a name."""

import ast
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "oddsmith"


def test_no_two_classes_share_a_name():
    names = Counter(
        node.name.lstrip("_")
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    )
    assert names["ScoreTable"] == 1
    assert {name for name, times in names.items() if times > 1} == set()


def test_private_names_of_scikit_learn_are_imported_in_one_module():
    found = {
        path.name
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").split(".")[0] == "sklearn"
        and any(part.startswith("_") for part in [*(node.module or "").split("."), *(each.name for each in node.names)])
    }
    assert found == {"_sklearn_compat.py"}
