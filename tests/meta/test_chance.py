"""Tests see the same numbers in whatever order, and on however many workers, they run."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = sorted([*(ROOT / "tests").rglob("*.py"), *(ROOT / "studies" / "tests").rglob("*.py")])


def shared_draws(source):
    """Return where functions draw from a generator that belongs to their module, as (function, line)."""
    tree = ast.parse(source)
    shared = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        for target in node.targets
        if isinstance(target, ast.Name) and ast.unparse(node.value.func).endswith(("default_rng", "RandomState"))
    }
    return [
        (function.name if isinstance(function, ast.FunctionDef) else "lambda", name.lineno)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.Lambda)
        for name in ast.walk(function)
        if isinstance(name, ast.Name) and name.id in shared - {argument.arg for argument in function.args.args}
    ]


@pytest.mark.parametrize("path", TESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_test_draws_from_a_generator_that_others_draw_from(path):
    assert shared_draws(path.read_text()) == []


def test_a_shared_generator_is_found():
    source = "R = np.random.default_rng(0)\nA = R.normal()\ndef f(R):\n    R\ndef g():\n    return R.normal()\n"
    assert shared_draws(source) == [("g", 6)]
