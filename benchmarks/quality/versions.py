"""The version of a calibrator under development: results of another one are computed again."""

import ast
import functools
import hashlib
import importlib
import sys
from pathlib import Path

#: Modules that change no number.
_WORDS_ONLY = {"oddsmith.errors"}


def source_version(cls: type) -> str:
    """Name the code that a class of this library depends on: its file and those that it imports, and so on.

    A change elsewhere in the library, or in words alone, leaves the name as it is.
    """
    todo: list[str] = [cls.__module__]
    seen: dict[str, str] = {}
    while todo:
        module = todo.pop()
        file = Path(importlib.import_module(module).__file__ or "")
        # A package's opening file only gathers names: what is taken from it is followed to where it is defined.
        if module in seen or module in _WORDS_ONLY or file.name == "__init__.py":
            continue
        seen[module], imported = _read(file.read_bytes(), cls.__module__.partition(".")[0])
        todo += imported
    content = hashlib.sha256()
    for module in sorted(seen):
        content.update(seen[module].encode())
    return content.hexdigest()[:16]


@functools.cache
def _read(source: bytes, package: str) -> tuple[str, list[str]]:
    """Return the code of a file without its words, and the modules of a package that it takes names from."""
    tree = _without_words(ast.parse(source))
    return ast.dump(tree), _imported(tree, package)


def _without_words(tree: ast.Module) -> ast.Module:
    """Take the docstrings out; comments are not in a tree."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            del node.body[0]
    return tree


def _imported(tree: ast.Module, package: str) -> list[str]:
    """Return the modules of a package that a file takes names from."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.partition(".")[0] == package]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == package:
            found += [_home(str(node.module), alias.name) for alias in node.names]
    return found


def _home(module: str, name: str) -> str:
    value = getattr(importlib.import_module(module), name, None)
    if f"{module}.{name}" in sys.modules:
        return f"{module}.{name}"
    home = getattr(value, "__module__", None)
    return home if isinstance(home, str) and home.partition(".")[0] == module.partition(".")[0] else module
