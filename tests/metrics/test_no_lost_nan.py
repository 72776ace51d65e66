"""A NaN says that something went wrong: no minimum or maximum may turn it into a plausible number."""

import ast
from pathlib import Path

import pytest

import oddsmith
from oddsmith_studies import learners

ROOT = Path(oddsmith.__file__).parent
LEARNERS = Path(learners.__file__).parent
FILES = sorted([*ROOT.glob("metrics/*.py"), *LEARNERS.glob("*.py"), ROOT / "decide.py", ROOT / "combine.py"])


def losing_calls(text):
    """Name calls that lose a NaN: min(1.0, nan) is 1.0, though min(nan, 1.0) is NaN; and those made to lose it."""
    for call in ast.walk(ast.parse(text)):
        if not isinstance(call, ast.Call):
            continue
        name = ast.unparse(call.func)
        first = call.args[0] if call.args else None
        limit_first = isinstance(first, ast.Constant) and isinstance(first.value, float) and name in ("min", "max")
        if limit_first or name in ("np.fmin", "np.fmax", "np.nanmin", "np.nanmax", "np.nan_to_num"):
            yield f"line {call.lineno}: {ast.unparse(call)}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_limits_come_second(path):
    assert list(losing_calls(path.read_text(encoding="utf-8"))) == []


def test_the_rule_finds_what_it_is_for():
    assert len(list(losing_calls("min(1.0, p)\nmax(p, 0.0)\nmax(1, n)\nnp.nanmax(p)"))) == 2
